package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"errand/deviceio/registry"
)

// DeviceList is every device there is, the oldest first.
type DeviceList struct {
	Devices []registry.Device `json:"devices"`
}

type deviceIn struct {
	ID string `path:"id" doc:"device id or friendly name"`
}

type (
	devicesOut struct{ Body DeviceList }
	deviceOut  struct{ Body registry.Device }
)

func (a *API) deviceRoutes() {
	get(a, huma.Operation{OperationID: "list-devices", Path: "/v1/devices", Summary: "List devices",
		Errors: []int{401, 503}}, a.devices)
	get(a, huma.Operation{OperationID: "show-device", Path: "/v1/devices/{id}", Summary: "Show one device, its rooms included",
		Errors: []int{401, 404, 409, 503}}, a.device)
}

func (a *API) devices(ctx context.Context, _ *struct{}) (*devicesOut, error) {
	all, err := a.Registry.Devices(ctx)
	return &devicesOut{DeviceList{Devices: append([]registry.Device{}, all...)}}, err
}

func (a *API) device(ctx context.Context, in *deviceIn) (*deviceOut, error) {
	d, err := a.anyDevice(ctx, in.ID)
	return &deviceOut{d}, err
}

// anyDevice finds a device to look at. By its id, one that is not approved too: it is the one a person wants to look at.
func (a *API) anyDevice(ctx context.Context, name string) (registry.Device, error) {
	if d, err := a.Registry.Device(ctx, name); err == nil {
		return d, nil
	}
	return a.resolve(ctx, name)
}
