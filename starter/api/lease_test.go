package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"errand/plan"
	"errand/plan/lease"
	"errand/starter/api"
	"errand/starter/plans"
)

// Lease is held by p-1, unless requests fail or the test says something else.
func (f *fakePlans) Lease(_ context.Context, deviceID string) (lease.View, error) {
	if f.lease != nil {
		return f.lease(), f.err
	}
	return lease.View{DeviceID: deviceID, State: lease.Held, Holder: &lease.HoldView{WaitView: lease.WaitView{PlanID: "p-1"}}, Queue: []lease.WaitView{}}, f.err
}

func (f *fakePlans) Forget(_ context.Context, deviceID string, forget lease.Forget) (lease.View, error) {
	f.taken = append(f.taken, forget)
	return lease.View{DeviceID: deviceID, State: lease.Free, Queue: []lease.WaitView{}}, f.err
}

func TestADeviceIsShownWithItsLease(t *testing.T) {
	h := newHouse(t, "robot")
	var got api.DeviceAnswer
	h.ask("GET", "/v1/devices/robot", "").into(t, &got)
	if got.ID != "id-robot" || got.Lease == nil || got.Lease.State != lease.Held || got.Lease.Holder.PlanID != "p-1" || got.Lease.DeviceID != "id-robot" {
		t.Errorf("%+v, lease %+v", got, got.Lease)
	}
}

// A device is shown without its lease rather than not at all.
func TestADeviceIsShownThoughItsLeaseCannotBeRead(t *testing.T) {
	for err, says := range map[error]string{
		fmt.Errorf("ask: %w", plans.ErrNoWorker): "no worker answers",
		errors.New("secret cause"):               "the log of `errand serve` says how",
	} {
		h := newHouse(t, "robot")
		h.plans.err = err
		var got api.DeviceAnswer
		h.ask("GET", "/v1/devices/robot", "").into(t, &got)
		if got.ID != "id-robot" || got.Lease != nil || !strings.Contains(got.LeaseUnknown, says) || strings.Contains(got.LeaseUnknown, "secret") {
			t.Errorf("after %v: lease %+v, %q", err, got.Lease, got.LeaseUnknown)
		}
	}
}

func TestForgetIsSignedAndSaysWhy(t *testing.T) {
	h := newHouse(t, "robot")
	for body, want := range map[string]lease.Forget{
		`{"why":"it is in the workshop"}`:            {By: "tester", Why: "it is in the workshop"},
		`{"why":"it is in the workshop","by":"Kim"}`: {By: "Kim (tester)", Why: "it is in the workshop"},
	} {
		var got lease.View
		h.ask("POST", "/v1/devices/robot/forget", body).into(t, &got)
		if taken := h.plans.taken[len(h.plans.taken)-1]; taken != want || got.State != lease.Free || got.DeviceID != "id-robot" {
			t.Errorf("%s: taken %+v, answered %+v; want %+v", body, taken, got, want)
		}
	}
	h.plans.taken = nil
	for body, path := range map[string]string{`{}`: "why", `{"why":""}`: "why", `{"why":"  "}`: "why", `{"why":7}`: "why", `{"why":"x","by":7}`: "by"} {
		got := h.ask("POST", "/v1/devices/robot/forget", body)
		if p := got.problem(t); got.status != 422 || len(p.Errors) == 0 || p.Errors[0].Path != path {
			t.Errorf("%s: %d %+v, want 422 with a fault at %s", body, got.status, p.Errors, path)
		}
	}
	if got := h.ask("POST", "/v1/devices/nobody/forget", `{"why":"x"}`); got.status != 404 || got.problem(t).Code != "unknown_device" {
		t.Errorf("an unknown device: %d", got.status)
	}
	if len(h.plans.taken) != 0 {
		t.Errorf("taken: %+v", h.plans.taken)
	}
	h.plans.err = fmt.Errorf("device id-robot: %w", plans.ErrNotQuarantined)
	if got := h.ask("POST", "/v1/devices/robot/forget", `{"why":"x"}`); got.status != 409 || got.problem(t).Code != "not_quarantined" {
		t.Errorf("nothing to forget: %d", got.status)
	}
}

const onePlan = `{"steps":[{"id":"dock","action":{"capability_id":"return_to_station","operation_id":"start"}}]`

// Law 21: what a request says of its turn reaches the plan, and what no lease knows is refused with its path.
func TestLaw21ARequestSaysWhatItDoesWhenTheDeviceIsTaken(t *testing.T) {
	for _, r := range []struct{ path, body string }{{"/v1/plans", onePlan}, {"/v1/utterances", `{"recognized_text":"` + seedText + `"`}} {
		h := newHouse(t, "robot")
		var got api.Started
		h.ask("POST", r.path, r.body+`,"lease_policy":"replace","priority":7}`).into(t, &got)
		if s := h.plans.started[got.PlanID]; s.LeasePolicy != plan.LeaseReplace || s.Priority != 7 {
			t.Errorf("%s: started with policy %q, priority %d", r.path, s.LeasePolicy, s.Priority)
		}
		for field, fault := range map[string]string{
			`"lease_policy":"steal"`: "lease_policy", `"lease_policy":""`: "lease_policy", `"priority":11`: "priority",
			`"priority":-1`: "priority", `"priority":1.5`: "priority", `"priority":"high"`: "priority",
		} {
			refused := h.ask("POST", r.path, r.body+","+field+"}")
			if p := refused.problem(t); refused.status != 422 || len(p.Errors) != 1 || p.Errors[0].Path != fault {
				t.Errorf("%s with %s: %d %+v, want 422 with one fault at %s", r.path, field, refused.status, p.Errors, fault)
			}
		}
		if len(h.plans.started) != 1 {
			t.Errorf("%s: %d plans were started", r.path, len(h.plans.started))
		}
	}
}

// The turn is part of the request: the same key with another one is another wish.
func TestAnotherTurnUnderTheSameKeyIsAConflict(t *testing.T) {
	h := newHouse(t, "robot")
	var got api.Started
	h.ask("POST", "/v1/plans", onePlan+`}`, "Idempotency-Key", "k").into(t, &got)
	if again := h.ask("POST", "/v1/plans", onePlan+`,"priority":10}`, "Idempotency-Key", "k"); again.status != 409 {
		t.Errorf("answered %d", again.status)
	}
}
