package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	goqr "github.com/piglig/go-qr"

	"errand/deviceio/registry"
	"errand/starter/api"
)

type deviceApprove struct {
	Device string   `arg:"" help:"Device id or friendly name."`
	Only   []string `help:"Approve these commands alone, of those that it advertises; separate them by commas."`
}

// Run lets the device in.
func (d *deviceApprove) Run(s *session) error {
	var body []byte
	if d.Only != nil {
		var err error
		if body, err = json.Marshal(api.ApproveBody{Commands: d.Only}); err != nil {
			return err
		}
	}
	return changeDevice(s, d.Device, "approve", body)
}

type deviceRevoke struct {
	Device string `arg:"" help:"Device id or friendly name."`
}

// Run throws the device out.
func (d *deviceRevoke) Run(s *session) error { return changeDevice(s, d.Device, "revoke", nil) }

func changeDevice(s *session, name, change string, body []byte) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	var device registry.Device
	if err := c.post(s.ctx, "/v1/devices/"+url.PathEscape(name)+"/"+change, body, &device); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "%s is %s\n", clean(device.ID), device.State)
	if device.State == registry.Approved {
		fmt.Fprintf(s.stdout, "it may be asked for: %s\n", orDash(strings.Join(device.ApprovedCommands, ", ")))
	}
	return nil
}

// surface counts what a device may be asked to do, and what of it waits for an approval.
func surface(d registry.Device) string {
	approved := len(slices.DeleteFunc(slices.Clone(d.Commands), func(c string) bool { return !d.Offers(c) }))
	if fresh := len(d.Unapproved()); fresh > 0 {
		return fmt.Sprintf("%d (%d not approved)", approved, fresh)
	}
	return fmt.Sprint(approved)
}

// printSurface prints what the device may be asked to do, and what it offers beyond.
func printSurface(out io.Writer, d registry.Device) {
	var offered []string
	for _, c := range d.Commands {
		if d.Offers(c) {
			offered = append(offered, c)
		}
	}
	fmt.Fprintf(out, "commands   %s\n", orDash(oneLine(strings.Join(offered, ", "))))
	if fresh := d.Unapproved(); len(fresh) > 0 {
		fmt.Fprintf(out, "unapproved %s\n", oneLine(strings.Join(fresh, ", ")))
	}
	var denied []string
	for permission, granted := range d.Permissions {
		if !granted {
			denied = append(denied, permission)
		}
	}
	if slices.Sort(denied); len(denied) > 0 {
		fmt.Fprintf(out, "denied     %s\n", oneLine(strings.Join(denied, ", ")))
	}
}

// printOtherKey prints that the device's installation came with another key, if it did.
func printOtherKey(out io.Writer, d registry.Device, zone *time.Location) {
	if other := d.OtherKey; other != nil {
		fmt.Fprintf(out, "OTHER KEY  its installation came with another key, last at %s, as %s, and was turned away: if it was set up anew, revoke this device\n",
			other.At.In(zone).Format("Jan 2, 15:04:05 MST"), clean(other.DeviceID))
	}
}

// deviceInvite is errand device invite.
type deviceInvite struct {
	URL         string `name:"url" help:"Where the device reaches a gateway, e.g. wss://gateway.example. Default: the installation's (ERRAND_GATEWAY_URL)."`
	Fingerprint string `help:"SHA-256 of the certificate that the device will be shown there; none where the usual authorities vouch for it. Default: the gateways' own."`
	NoQR        bool   `name:"no-qr" help:"Print no QR code."`
	JSON        bool   `name:"json" help:"Print the invite as JSON."`
}

// Run makes a setup code and prints it, for eyes and for a camera.
func (d *deviceInvite) Run(s *session) error {
	c, err := newClient()
	if err != nil {
		return err
	}
	body, err := json.Marshal(api.InviteBody{GatewayURL: d.URL, TLSFingerprint: d.Fingerprint})
	if err != nil {
		return err
	}
	var invite api.Invite
	if err := c.post(s.ctx, "/v1/invites", body, &invite); err != nil {
		return err
	}
	if d.JSON {
		return printJSON(s, invite)
	}
	if !d.NoQR {
		picture, err := qrCode(invite.SetupCode)
		if err != nil {
			return err
		}
		fmt.Fprint(s.stdout, picture)
	}
	printInvite(s.stdout, invite, time.Local)
	return nil
}

func printInvite(out io.Writer, i api.Invite, zone *time.Location) {
	fmt.Fprintf(out, "setup code  %s\n", clean(i.SetupCode))
	fmt.Fprintf(out, "gateway     %s\n", clean(i.GatewayURL))
	if i.TLSFingerprint != "" {
		fmt.Fprintf(out, "fingerprint %s (SHA-256; the device trusts this certificate alone)\n", clean(i.TLSFingerprint))
	}
	fmt.Fprintf(out, "good until  %s, for one device; whoever has it comes in, so show it to nobody else\n", i.ExpiresAt.In(zone).Format("15:04:05 MST"))
	fmt.Fprintf(out, "OpenClaw    openclaw node run --pair oc-pair://%s\n", clean(i.SetupCode))
}

// quiet is the light margin that a QR code needs around it, in modules.
const quiet = 2

// qrCode draws a QR code with half blocks, two rows of modules in one line of text. Light is drawn and dark is left, as on a dark
// terminal; phones read it on a light one too.
func qrCode(text string) (string, error) {
	code, err := goqr.EncodeText(text, goqr.Low)
	if err != nil {
		return "", fmt.Errorf("draw the QR code: %w", err)
	}
	light := func(x, y int) bool { return !code.Module(x, y) } // outside of it all is light
	var out strings.Builder
	for y := -quiet; y < code.Size()+quiet; y += 2 {
		for x := -quiet; x < code.Size()+quiet; x++ {
			switch above, below := light(x, y), light(x, y+1); {
			case above && below:
				out.WriteRune('█')
			case above:
				out.WriteRune('▀')
			case below:
				out.WriteRune('▄')
			default:
				out.WriteRune(' ')
			}
		}
		out.WriteRune('\n')
	}
	return out.String(), nil
}
