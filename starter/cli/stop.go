package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"time"

	"errand/deviceio/registry"
	"errand/starter/api"
)

// deviceStop is errand device stop.
type deviceStop struct {
	Device string `arg:"" help:"Device id or friendly name."`
	Why    string `help:"Why, for the record."`
}

// Run stops the device.
func (d *deviceStop) Run(s *session) error {
	body, err := json.Marshal(api.StopBody{Why: d.Why})
	if err != nil {
		return err
	}
	device, err := latchDevice(s, d.Device, "stop", body)
	if err != nil {
		return err
	}
	printStop(s.stdout, device)
	fmt.Fprintf(s.stdout, "nothing moves it until a person releases it: errand device release %s\n", clean(d.Device))
	if !device.Online {
		fmt.Fprintln(s.stdout, "it is not connected now: what it does is cancelled when it comes back")
	}
	return nil
}

// deviceRelease is errand device release.
type deviceRelease struct {
	Device string `arg:"" help:"Device id or friendly name."`
}

// Run releases the device.
func (d *deviceRelease) Run(s *session) error {
	device, err := latchDevice(s, d.Device, "release", nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "%s is released; nothing begins again by itself\n", clean(device.ID))
	return nil
}

func latchDevice(s *session, name, how string, body []byte) (registry.Device, error) {
	var device registry.Device
	c, err := newClient()
	if err == nil {
		err = c.post(s.ctx, "/v1/devices/"+url.PathEscape(name)+"/"+how, body, &device)
	}
	return device, err
}

// printStop prints the emergency stop that is in force, if one is.
func printStop(out io.Writer, d registry.Device) {
	if stop := d.Stopped; stop != nil {
		fmt.Fprintf(out, "STOPPED    by %s at %s%s\n", clean(stop.By), stop.At.Local().Format(time.DateTime), because(stop.Why))
	}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + oneLine(why)
}

// stateOf is a device's state for the list: a stop is what a person must see first.
func stateOf(d registry.Device) string {
	if d.Stopped != nil {
		return "STOPPED"
	}
	if d.OtherKey != nil {
		return string(d.State) + ", OTHER KEY"
	}
	return string(d.State)
}
