package api

import (
	"context"
	"crypto/rand"

	"github.com/danielgtaylor/huma/v2"

	"errand/deviceio/registry"
	"errand/internal/border"
)

// StopBody is the body of POST /v1/devices/{id}/stop.
type StopBody struct {
	Why string `json:"why,omitempty" maxLength:"500" doc:"why, for the record" example:"the cat is in its way"`
}

type stopIn struct {
	body
	ID string `path:"id" doc:"device id or friendly name"`
}

// The two routes of the emergency stop need the registry and the gateway, and nothing else: neither Temporal nor a worker.
func (a *API) stopRoutes() {
	post[StopBody](a, huma.Operation{OperationID: "stop-device", Path: "/v1/devices/{id}/stop", Summary: "Emergency stop: nothing moves the device until it is released",
		Description: "It is latched before this answers, and works while Temporal is away. Within moments the device's gateway cancels what it does, again " +
			"until it stands still, and refuses whatever would move it; what only reads is still carried out. Its plans end with the reason EMERGENCY_STOP. " +
			"The body may be left out. A device that is stopped already stays so.",
		RequestBody: &huma.RequestBody{}, Errors: []int{400, 401, 403, 404, 409, 413, 422, 503}}, a.stop)
	register(a, huma.Operation{OperationID: "release-device", Method: "POST", Path: "/v1/devices/{id}/release", Summary: "Release an emergency stop",
		Description: "By whomever it was made, the device itself included. Nothing begins again by itself: the plans of that time are over.",
		Errors:      []int{401, 403, 404, 409, 503}}, a.release)
}

func (a *API) stop(ctx context.Context, in *stopIn) (*deviceOut, error) {
	var b StopBody
	if len(in.RawBody) > 0 {
		if err := border.Decode(in.RawBody, bodyLimits, stopSchema, &b); err != nil {
			return nil, refusal(err)
		}
	}
	return a.change(ctx, in.ID, toStop, func(ctx context.Context, id, by string) error {
		return a.Registry.StopDevice(ctx, registry.Stop{DeviceID: id, ID: rand.Text(), By: by, Why: b.Why})
	})
}

func (a *API) release(ctx context.Context, in *deviceIn) (*deviceOut, error) {
	return a.change(ctx, in.ID, toRelease, func(ctx context.Context, id, by string) error {
		_, err := a.Registry.Release(ctx, id, by)
		return err
	})
}
