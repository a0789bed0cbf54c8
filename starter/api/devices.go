package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"errand/deviceio/registry"
	"errand/internal/border"
)

// DeviceList is every device there is, the oldest first.
type DeviceList struct {
	Devices []registry.Device `json:"devices"`
}

type deviceIn struct {
	ID string `path:"id" doc:"device id or friendly name"`
}

// ApproveBody is the body of POST /v1/devices/{id}/approve.
type ApproveBody struct {
	Commands []string `json:"commands,omitempty" maxItems:"500" doc:"what it may be asked to do; each must be one that it advertises. Default: all of them" example:"[\"taskmanager.submitTask\"]"`
}

type approveIn struct {
	body
	ID string `path:"id" doc:"device id or friendly name"`
}

type (
	devicesOut struct{ Body DeviceList }
	deviceOut  struct{ Body registry.Device }
	shownOut   struct{ Body DeviceAnswer }
)

func (a *API) deviceRoutes() {
	get(a, huma.Operation{OperationID: "list-devices", Path: "/v1/devices", Summary: "List the devices that one may hear of; an operator hears of all",
		Errors: []int{401, 503}}, a.devices)
	get(a, huma.Operation{OperationID: "show-device", Path: "/v1/devices/{id}", Summary: "Show one device, its rooms and its lease included",
		Errors: []int{401, 403, 404, 409, 503}}, a.device)
	post[ApproveBody](a, huma.Operation{OperationID: "approve-device", Path: "/v1/devices/{id}/approve", Summary: "Let a device in",
		Description: "A device that waits to be let in retries by itself, and is in within seconds. What is approved is what it advertises now, " +
			"or the commands given; what it advertises later is not asked of it before it is approved again. The body may be left out.",
		RequestBody: &huma.RequestBody{}, Errors: []int{400, 401, 403, 404, 409, 413, 422, 503}}, a.approve)
	register(a, huma.Operation{OperationID: "revoke-device", Method: "POST", Path: "/v1/devices/{id}/revoke", Summary: "Throw a device out",
		Description: "Its tokens are void and nothing is sent to it any more, at once; its connection is cut within a second. Plans that need it wait for it.",
		Errors:      []int{401, 403, 404, 409, 503}}, a.revoke)
}

func (a *API) approve(ctx context.Context, in *approveIn) (*deviceOut, error) {
	var b ApproveBody
	if len(in.RawBody) > 0 {
		if err := border.Decode(in.RawBody, bodyLimits, approveSchema, &b); err != nil {
			return nil, refusal(err)
		}
	}
	return a.change(ctx, in.ID, toAdminister, func(ctx context.Context, id, _ string) error {
		if b.Commands == nil {
			return unapprovable(a.Registry.Approve(ctx, id))
		}
		return unapprovable(a.Registry.ApproveOnly(ctx, id, b.Commands))
	})
}

// unapprovable says why a device cannot be let in as asked.
func unapprovable(err error) error {
	switch {
	case errors.Is(err, registry.ErrKeyChanged):
		return problem(http.StatusConflict, "key_changed", err.Error())
	case errors.Is(err, registry.ErrNotAdvertised):
		return problem(http.StatusUnprocessableEntity, "not_advertised", err.Error())
	}
	return err
}

func (a *API) revoke(ctx context.Context, in *deviceIn) (*deviceOut, error) {
	return a.change(ctx, in.ID, toAdminister, func(ctx context.Context, id, _ string) error { return a.Registry.Revoke(ctx, id) })
}

// change does something to a device that needs a right, and answers with the device as it is then.
func (a *API) change(ctx context.Context, name string, r right, change func(ctx context.Context, id, by string) error) (*deviceOut, error) {
	d, err := a.anyDevice(ctx, name)
	if err != nil {
		return nil, err
	}
	p, err := a.allow(ctx, r, d.HomeID)
	if err != nil {
		return nil, err
	}
	if err := change(ctx, d.ID, p.name); err != nil {
		return nil, err
	}
	d, err = a.Registry.Device(ctx, d.ID)
	return &deviceOut{d}, err
}

func (a *API) devices(ctx context.Context, _ *struct{}) (*devicesOut, error) {
	p, err := a.who(ctx)
	if err != nil {
		return nil, err
	}
	all, err := a.Registry.Devices(ctx)
	all = slices.DeleteFunc(all, func(d registry.Device) bool { return !p.may(toLook, d.HomeID) })
	return &devicesOut{DeviceList{Devices: append([]registry.Device{}, all...)}}, err
}

func (a *API) device(ctx context.Context, in *deviceIn) (*shownOut, error) {
	d, err := a.anyDevice(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if _, err := a.allow(ctx, toLook, d.HomeID); err != nil {
		return nil, err
	}
	shown := a.withLease(ctx, d)
	route, ok, err := a.Registry.Route(ctx, d.ID)
	if ok {
		shown.Route = &route
	}
	if err != nil {
		return nil, err
	}
	if err := a.withSources(ctx, &shown); err != nil {
		return nil, err
	}
	return &shownOut{shown}, nil
}

// withSources adds how fresh the device's sources are.
func (a *API) withSources(ctx context.Context, shown *DeviceAnswer) error {
	sources, at, err := a.Registry.Sources(ctx, shown.ID, a.Now())
	if err != nil || at.IsZero() {
		return err
	}
	shown.Sources, shown.SourcesAt = sources, &at
	return nil
}

// anyDevice finds a device to look at or to let in: one that is not approved too, and by its id one that is revoked.
func (a *API) anyDevice(ctx context.Context, name string) (registry.Device, error) {
	if d, err := a.Registry.Device(ctx, name); err == nil {
		return d, nil
	}
	return a.named(ctx, name)
}
