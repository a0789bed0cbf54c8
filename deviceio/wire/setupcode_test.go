package wire_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
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

// A setup code tells how the gateway is known, by the name under which an OpenClaw node reads it.
func TestASetupCodeTellsTheGatewaysFingerprint(t *testing.T) {
	t.Parallel()
	const fingerprint = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	text, err := wire.SetupCode{URL: "wss://house", BootstrapToken: "b", TLSFingerprint: fingerprint}.Text()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if want := `{"url":"wss://house","bootstrapToken":"b","tlsFingerprint":"` + fingerprint + `"}`; err != nil || string(plain) != want {
		t.Errorf("%s, %v, want %s", plain, err, want)
	}
	if code, err := wire.ParseSetupCode(text); err != nil || code.TLSFingerprint != fingerprint {
		t.Errorf("read back %+v, %v", code, err)
	}
	if text, err = (wire.SetupCode{URL: "wss://house", BootstrapToken: "b", TLSFingerprint: "abc"}).Text(); err != nil {
		t.Fatal(err)
	}
	if code, err := wire.ParseSetupCode(text); !errors.Is(err, wire.ErrSetupCode) {
		t.Errorf("a broken fingerprint: %+v, %v", code, err)
	}
}

func TestAFingerprintIsReadInItsUsualSpellings(t *testing.T) {
	t.Parallel()
	const plain = "ab23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	pairs := ""
	for i := 0; i < len(plain); i += 2 {
		pairs += ":" + strings.ToUpper(plain[i:i+2])
	}
	for _, text := range []string{plain, "sha256:" + plain, " SHA256:" + strings.ToUpper(plain) + "\n", pairs[1:]} {
		if got, err := wire.ParseFingerprint(text); got != plain || err != nil {
			t.Errorf("ParseFingerprint(%q) = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "none", plain[1:], plain + "00", strings.Replace(plain, "a", "g", 1)} {
		if got, err := wire.ParseFingerprint(text); !errors.Is(err, wire.ErrFingerprint) {
			t.Errorf("ParseFingerprint(%q) = %q, %v", text, got, err)
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
