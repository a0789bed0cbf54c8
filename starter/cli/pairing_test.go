package cli

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	goqr "github.com/piglig/go-qr"

	"errand/deviceio/registry"
	"errand/plan"
	"errand/starter/api"
)

// What is printed is a QR code that a camera reads: it is read back from the text.
func TestTheQRCodeInTheTerminalCanBeRead(t *testing.T) {
	t.Parallel()
	const code = "eyJ1cmwiOiJ3c3M6Ly9nYXRld2F5LmV4YW1wbGUvIiwiYm9vdHN0cmFwVG9rZW4iOiJBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWiJ9"
	text, err := qrCode(code)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := goqr.Decode(photograph(text)); err != nil || got != code {
		t.Errorf("read back %q, %v", got, err)
	}
}

// photograph is the terminal as a picture, light where a block is drawn.
func photograph(text string) image.Image {
	const scale = 8
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	picture := image.NewGray(image.Rect(0, 0, scale*len([]rune(lines[0])), 2*scale*len(lines)))
	for row, line := range lines {
		for col, r := range []rune(line) {
			for half, light := range []bool{r == '█' || r == '▀', r == '█' || r == '▄'} {
				for i := range scale * scale {
					if light {
						picture.Set(col*scale+i%scale, (2*row+half)*scale+i/scale, color.White)
					}
				}
			}
		}
	}
	return picture
}

func TestInvitePrintsTheCodeAndItsQRCode(t *testing.T) {
	var sent []string
	fakeAPI(t, map[string]http.HandlerFunc{"POST /v1/invites": func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sent = append(sent, string(body))
		say(201, `{"setup_code":"c0de","gateway_url":"wss://gateway.example","tls_fingerprint":"9f86d0","expires_at":"2026-11-30T12:10:00Z"}`)(w, r)
	}})
	code, stdout, stderr := errand(t, "device", "invite", "--url", "wss://gateway.example")
	for _, want := range []string{"█", "setup code  c0de\n", "gateway     wss://gateway.example\n", "fingerprint 9f86d0 (SHA-256;", "openclaw node run --pair oc-pair://c0de\n", "for one device"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
	if _, stdout, _ := errand(t, "device", "invite", "--no-qr", "--fingerprint", "none"); strings.Contains(stdout, "█") {
		t.Error("drew a QR code that was not wanted")
	}
	code, stdout, _ = errand(t, "device", "invite", "--json")
	var invite api.Invite
	if err := json.Unmarshal([]byte(stdout), &invite); err != nil || code != 0 || invite.SetupCode != "c0de" {
		t.Errorf("exit %d, %v: %s", code, err, stdout)
	}
	if want := []string{`{"gateway_url":"wss://gateway.example"}`, `{"tls_fingerprint":"none"}`, `{}`}; strings.Join(sent, " ") != strings.Join(want, " ") {
		t.Errorf("sent %v, want %v", sent, want)
	}
}

func TestApproveSaysWhatWasApproved(t *testing.T) {
	var sent []string
	fakeAPI(t, map[string]http.HandlerFunc{"POST /v1/devices/d-1/approve": func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sent = append(sent, string(body))
		say(200, `{"device_id":"d-1","state":"approved","approved_commands":["system.which"]}`)(w, r)
	}})
	if code, stdout, _ := errand(t, "device", "approve", "d-1"); code != 0 || stdout != "d-1 is approved\nit may be asked for: system.which\n" {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if code, _, stderr := errand(t, "device", "approve", "d-1", "--only", "system.which,location.get"); code != 0 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if len(sent) != 2 || sent[0] != "" || sent[1] != `{"commands":["system.which","location.get"]}` {
		t.Errorf("sent %q", sent)
	}
}

// A device whose installation came with another key is marked where an operator looks.
func TestAnotherKeyIsShown(t *testing.T) {
	t.Parallel()
	d := registry.Device{ID: "d-1", State: registry.Approved, OtherKey: &registry.OtherKey{DeviceID: "d-2", At: time.Unix(0, 0)}}
	var out bytes.Buffer
	printDevice(&out, api.DeviceAnswer{Device: d, LeaseUnknown: "no worker"}, time.UTC)
	if want := "OTHER KEY  its installation came with another key, last at Jan 1, 00:00:00 UTC, as d-2, and was turned away"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
	if got := stateOf(d); got != "approved, OTHER KEY" {
		t.Errorf("in the list it is %q", got)
	}
}

func TestADeviceIsShownWithWhatItMayBeAsked(t *testing.T) {
	t.Parallel()
	d := registry.Device{Commands: []string{"system.which", "system.run", "location.get"}, ApprovedCommands: []string{"system.which", "sms.send"},
		Permissions: map[string]bool{"location": false, "camera": true}}
	var out bytes.Buffer
	printSurface(&out, d)
	const want = "commands   system.which\nunapproved system.run, location.get\ndenied     location\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if got := surface(d); got != "1 (2 not approved)" {
		t.Errorf("in the list: %q", got)
	}
	out.Reset()
	printInvite(&out, api.Invite{SetupCode: "c", GatewayURL: "ws://g/", ExpiresAt: time.Unix(0, 0)}, time.UTC)
	if !strings.Contains(out.String(), "good until  00:00:00 UTC") {
		t.Errorf("invite:\n%s", out.String())
	}
}

func TestAConnectedDeviceIsShownWithItsGateway(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	printDevice(&out, api.DeviceAnswer{Device: registry.Device{ID: "d-1", Online: true}, LeaseUnknown: "no worker",
		Route: &plan.Route{GatewayID: "gw-1", ConnectionEpoch: 12, BootEpoch: 7}}, time.UTC)
	if want := "gateway    gw-1, connection 12, boot 7\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no line %q in\n%s", want, out.String())
	}
}
