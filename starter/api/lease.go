package api

import (
	"context"
	"errors"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"errand/catalog/fresh"
	"errand/deviceio/registry"
	"errand/internal/border"
	"errand/plan"
	"errand/plan/lease"
	"errand/starter/plans"
)

// Turn is what a request says of its turn on the device (law 21).
type Turn struct {
	LeasePolicy plan.LeasePolicy `json:"lease_policy,omitempty" enum:"queue,replace,reject" doc:"when the device is another plan's: wait, have the others cancelled, or fail with DEVICE_BUSY; default queue"`
	Priority    int              `json:"priority,omitempty" minimum:"0" maximum:"10" doc:"goes before all that wait with a lower one; 10 is for stop and safety"`
}

// DeviceAnswer is one device with its lease, as GET /v1/devices/{id} tells it.
type DeviceAnswer struct {
	registry.Device
	Route *plan.Route `json:"route,omitempty" doc:"the gateway that holds its connection now, and the epochs of the connection and of its boot; missing while it is not connected"`
	// Sources ages with the API's clock.
	Sources   []fresh.Source `json:"sources,omitempty" doc:"how fresh its sources are, by what it told last (device-source-freshness.v1); missing where it never told"`
	SourcesAt *time.Time     `json:"sources_at,omitempty" doc:"when it told that"`
	Lease     *lease.View    `json:"lease,omitempty" doc:"who may move it, who waits, and what keeps it in quarantine; times are Unix ms"`
	// LeaseUnknown says why the lease is missing.
	LeaseUnknown string `json:"lease_unknown,omitempty" doc:"why the lease cannot be told now"`
}

// ForgetBody is the body of POST /v1/devices/{id}/forget.
type ForgetBody struct {
	Why string `json:"why" minLength:"1" maxLength:"500" doc:"how it is known that nothing moves the device; for the record"`
	By  string `json:"by,omitempty" maxLength:"128" doc:"the person, where the token is not theirs alone; for the record"`
}

type forgetIn struct {
	body
	ID string `path:"id" doc:"device id or friendly name"`
}

type leaseOut struct{ Body lease.View }

func (a *API) leaseRoutes() {
	post[ForgetBody](a, huma.Operation{OperationID: "forget-device", Path: "/v1/devices/{id}/forget", Summary: "End a device's quarantine by a person's word",
		Description: "A device whose operation nobody knows the end of is granted to nobody until it says itself that it stands still. Where it " +
			"never will, a person who sees that it does may say so, on record. Answers how the lease stands then.",
		Errors: []int{400, 401, 403, 404, 409, 413, 422, 503}}, a.forget)
}

func (a *API) forget(ctx context.Context, in *forgetIn) (*leaseOut, error) {
	var b ForgetBody
	if err := border.Decode(in.RawBody, bodyLimits, forgetSchema, &b); err != nil {
		return nil, refusal(err)
	}
	d, err := a.anyDevice(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := a.allow(ctx, toRelease, d.HomeID)
	if err != nil {
		return nil, err
	}
	by := p.name
	if b.By != "" {
		by = b.By + " (" + by + ")" // the token's owner is certain, the name is what they say
	}
	view, err := a.Plans.Forget(ctx, d.ID, lease.Forget{By: by, Why: b.Why})
	return &leaseOut{view}, err
}

// withLease adds the lease. A device is shown without it rather than not at all.
func (a *API) withLease(ctx context.Context, d registry.Device) DeviceAnswer {
	view, err := a.Plans.Lease(ctx, d.ID)
	switch {
	case err == nil:
		return DeviceAnswer{Device: d, Lease: &view}
	case errors.Is(err, plans.ErrNoWorker):
		return DeviceAnswer{Device: d, LeaseUnknown: plans.ErrNoWorker.Error()}
	}
	a.Log.ErrorContext(ctx, "the lease of a device cannot be read", "device", d.ID, "error", err)
	return DeviceAnswer{Device: d, LeaseUnknown: "Temporal did not answer as it should; the log of `errand serve` says how"}
}
