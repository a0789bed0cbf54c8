package plan_test

import (
	"slices"
	"testing"

	"errand/plan"
)

func leasedSim(t *testing.T, policy plan.LeasePolicy) *sim {
	t.Helper()
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}, leases: true}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: threeSteps(),
		Slice: testSlice(), LeasePolicy: policy, Priority: 3})
	s.take(plan.Begin{})
	return s
}

func TestLaw21NothingIsSentBeforeItIsThePlansTurn(t *testing.T) {
	s := leasedSim(t, plan.LeaseReplace)
	want := plan.RequestLease{Request: plan.LeaseRequest{PlanID: testPlan, DeviceID: testDevice, Policy: plan.LeaseReplace, Priority: 3}}
	if len(s.out) != 1 || s.out[0] != plan.Command(want) {
		t.Fatalf("out: %+v", s.out)
	}
	if v := s.state.View(); v.State != plan.WaitingDevice || v.Plan.WaitingFor != "lease" {
		t.Errorf("Law18: %s, waits for %q", v.State, v.Plan.WaitingFor)
	}
	s.take(plan.LeaseAnswer{Granted: true})
	if o := s.settle(); o.State != plan.Completed || s.released == nil || len(s.released.Unsettled) != 0 {
		t.Errorf("%s, released %+v", o.State, s.released)
	}
}

func TestLaw21ARefusedLeaseEndsThePlan(t *testing.T) {
	s := leasedSim(t, plan.LeaseReject)
	s.take(plan.LeaseAnswer{Holder: "p-9"})
	if o := s.settle(); o.State != plan.Failed || o.Reason.Code != "DEVICE_BUSY" || o.Reason.Params["holder"] != "p-9" || len(s.submits) != 0 {
		t.Errorf("%s %+v, submits %v", o.State, o.Reason, s.submits)
	}
}

func TestLaw21APlanThatEndsBeforeItsTurnGivesItUp(t *testing.T) {
	s := leasedSim(t, "")
	s.take(plan.CancelRequest{By: "kim"})
	if s.finish == nil || s.finish.State != plan.Cancelled || s.released == nil {
		t.Errorf("outcome %+v, released %+v", s.finish, s.released)
	}
	s = leasedSim(t, "")
	s.tick(10 * 60_000)
	if s.finish == nil || s.finish.Reason.Code != "START_TOO_LATE" || s.released == nil {
		t.Errorf("Law18: outcome %+v, released %+v", s.finish, s.released)
	}
}

func TestLaw21WhatMayStillMoveIsNamedAtTheRelease(t *testing.T) {
	s := leasedSim(t, "")
	s.take(plan.LeaseAnswer{Granted: true})
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.DeviceChange{Gone: 1})
	s.take(plan.CancelRequest{By: "kim"})
	for s.finish == nil {
		s.tick(s.state.Wake - s.now)
	}
	if s.finish.State != plan.Unresolved || s.released == nil || !slices.Equal(s.released.Unsettled, []string{"p-1/move/1"}) {
		t.Errorf("%s, released %+v", s.finish.State, s.released)
	}
}

// A step that was never sent cannot move: it is not named.
func TestLaw21WhatWasNeverSentIsSettled(t *testing.T) {
	s := leasedSim(t, "")
	s.device.online = false
	s.take(plan.LeaseAnswer{Granted: true})
	if s.phase("move") != plan.StepReady || len(s.state.Steps[0].Ops) != 1 {
		t.Fatalf("%s", describe(s.state))
	}
	s.take(plan.CancelRequest{By: "kim"})
	if s.finish == nil || s.finish.State != plan.Cancelled || s.released == nil || len(s.released.Unsettled) != 0 {
		t.Errorf("outcome %+v, released %+v", s.finish, s.released)
	}
}

// An answer to nothing that was asked, or once it is the plan's turn, changes nothing.
func TestLaw21ALeaseIsAnsweredOnce(t *testing.T) {
	s := leasedSim(t, "")
	s.take(plan.LeaseAnswer{Granted: true})
	s.take(plan.LeaseAnswer{Holder: "p-9"})
	if s.state.Ending != nil || !s.state.Lease.Held || s.state.Lease.Since != s.now {
		t.Errorf("%s, lease %+v", describe(s.state), s.state.Lease)
	}
	s = asked(t, map[string]any{})
	s.leases = true
	s.take(plan.LeaseAnswer{Granted: true})
	if s.state.Lease.Held || s.state.Lease.Asked {
		t.Errorf("nobody asked: %+v", s.state.Lease)
	}
	s = leasedSim(t, plan.LeaseReject)
	s.take(plan.LeaseAnswer{Reason: "DEVICE_QUARANTINED"})
	if r := s.finish.Reason; r.Code != "DEVICE_QUARANTINED" || r.Params != nil || r.Detail == "" {
		t.Errorf("%+v", r)
	}
}
