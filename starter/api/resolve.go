package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"errand/catalog"
	"errand/deviceio/registry"
)

// resolve finds the device that a request wants to command, by id or friendly name, or, with no name, the only one there is in the
// home of who asks; and refuses who may not. It need not be connected: the plan waits for it. Names of devices are resolved
// here and nowhere else (design §6).
func (a *API) resolve(ctx context.Context, name string) (registry.Device, person, error) {
	p, err := a.who(ctx)
	if err != nil {
		return registry.Device{}, p, err
	}
	var device registry.Device
	if name == "" {
		device, err = a.onlyDevice(ctx, p)
	} else {
		device, err = a.named(ctx, name)
	}
	if err == nil && !p.may(toCommand, device.HomeID) {
		err = a.forbidden(ctx, p, toCommand, device.HomeID)
	}
	if err == nil && device.State != registry.Approved {
		err = problem(http.StatusConflict, "device_not_approved",
			fmt.Sprintf("device %q is %s: approve it before it is asked to do anything", name, device.State))
	}
	return device, p, err
}

// named finds a device by id or name, let in or not.
func (a *API) named(ctx context.Context, name string) (registry.Device, error) {
	device, err := a.Registry.Resolve(ctx, name)
	switch {
	case errors.Is(err, registry.ErrNoDevice):
		return device, a.deviceProblem(ctx, http.StatusNotFound, "unknown_device", fmt.Sprintf("no device has the id or name %q", name))
	case errors.Is(err, registry.ErrAmbiguous):
		return device, a.deviceProblem(ctx, http.StatusConflict, "ambiguous_device", fmt.Sprintf("several devices have the name %q: use the id", name))
	}
	return device, err
}

func (a *API) onlyDevice(ctx context.Context, p person) (registry.Device, error) {
	all, err := a.Registry.Devices(ctx)
	if err != nil {
		return registry.Device{}, err
	}
	var approved []registry.Device
	for _, d := range all {
		if d.State == registry.Approved && d.HomeID == p.home {
			approved = append(approved, d)
		}
	}
	switch len(approved) {
	case 1:
		return approved[0], nil
	case 0:
		return registry.Device{}, a.deviceProblem(ctx, http.StatusNotFound, "unknown_device",
			"device_id is not given and no device is approved: connect one to the gateway first")
	}
	return registry.Device{}, a.deviceProblem(ctx, http.StatusConflict, "device_required",
		"device_id is not given and there is more than one device: name one")
}

// deviceProblem says what is wrong, and which devices there are to choose from, as far as that is for who asks to know.
func (a *API) deviceProblem(ctx context.Context, status int, code, text string) error {
	p, err := a.who(ctx)
	if err != nil {
		return err
	}
	all, err := a.Registry.Devices(ctx)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(all))
	for _, d := range all {
		if p.sees(d) {
			names = append(names, describe(d))
		}
	}
	if len(names) == 0 {
		text += "; there is no device at all"
	} else {
		text += "; there are: " + strings.Join(names, ", ")
	}
	return problem(status, code, text)
}

func describe(d registry.Device) string {
	where := string(d.State)
	if d.State == registry.Approved {
		where = "offline"
		if d.Online {
			where = "online"
		}
	}
	return fmt.Sprintf("%q (%s, %s)", d.Name(), short(d.ID), where)
}

// rooms is the device's room catalog, or nil if it was never read: the device itself then refuses an unknown room.
func rooms(d registry.Device) []catalog.Room {
	if d.RoomsAt.IsZero() {
		return nil
	}
	return append([]catalog.Room{}, d.Rooms...)
}
