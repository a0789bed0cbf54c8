package wire_test

import (
	"errors"
	"fmt"
	"testing"

	"errand/deviceio/wire"
)

// An invite's text holds where to go and the secret that lets one device in.
func ExampleParseSetupCode() {
	text, err := wire.SetupCode{URL: "wss://gateway.example", BootstrapToken: "BFXBLXU3BTJYY6AQAUQNTO6DW4"}.Text()
	fmt.Println(text, err)
	code, err := wire.ParseSetupCode("oc-pair://" + text)
	fmt.Println(code.URL, code.BootstrapToken, err)
	// Output:
	// eyJ1cmwiOiJ3c3M6Ly9nYXRld2F5LmV4YW1wbGUiLCJib290c3RyYXBUb2tlbiI6IkJGWEJMWFUzQlRKWVk2QVFBVVFOVE82RFc0In0 <nil>
	// wss://gateway.example BFXBLXU3BTJYY6AQAUQNTO6DW4 <nil>
}

func TestWhatIsNoSetupCodeIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "oc-pair://", "!", "e30", "bm8", "eyJ1cmwiOiJodHRwOi8vYSIsImJvb3RzdHJhcFRva2VuIjoiYiJ9"} { // the last: an http URL
		if code, err := wire.ParseSetupCode(text); !errors.Is(err, wire.ErrSetupCode) {
			t.Errorf("ParseSetupCode(%q) = %+v, %v", text, code, err)
		}
	}
}

func TestAGatewayURLHasOneSpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ws://house/": "ws://house", "wss://Gateway.example:443/errand": "wss://gateway.example/errand", "ws://[::1]:7420/": "ws://[::1]:7420",
		"ws://house:443": "ws://house:443", "ws://house:80": "ws://house", "http://house": "", "wss://": "", "wss://u:p@house": "",
		"wss://house?a=b": "", "wss://house#a": "", "house": "", "": "",
	} {
		if got, ok := wire.GatewayURL(text); got != want || ok != (want != "") {
			t.Errorf("GatewayURL(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}
