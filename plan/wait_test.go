package plan_test

import (
	"strings"
	"testing"

	"errand/plan"
)

// What an operator reads where a plan waits: its state, why, and why its first step stands where it stands.
func TestLaw18WhatAPlanWaitsForIsSaidInWords(t *testing.T) {
	for name, want := range map[string][3]string{
		"planning":               {"planning", "its steps are being planned"},
		"waiting for the device": {"waiting_device", "its device cannot be reached", "its device cannot be reached"},
		"the link is lost":       {"waiting_device", "its device cannot be reached", "the link to the device was lost"},
		"submit out":             {"running", "move: sent; the device has not answered yet", "sent; the device has not answered yet"},
		"running":                {"running", "move: under way", "under way"},
		"asking":                 {"waiting_user", "a person must answer: ", "ASK_ME"},
		"deciding":               {"waiting_replan", "a decision is due about move: ASK_ME", "ASK_ME"},
		"paused between steps":   {"paused", "paused: nothing new is sent", "the plan is paused"},
		"before another try":     {"running", "move: tried again after PASSES, 1 of 2", "tried again after PASSES, 1 of 2"},
		"stopped for another try": {"running", "move: PASSES; the device was asked to stop it, and said cancelling",
			"PASSES; the device was asked to stop it, and said cancelling"},
	} {
		t.Run(name, func(t *testing.T) {
			s := waits()[name](t)
			if name == "stopped for another try" {
				s.until("the stop is answered", func() bool { return !s.state.Steps[0].Ops[0].Cancelling })
			}
			wantWords(t, s.state.View(), want)
		})
	}
}

func TestLaw21APlanThatWaitsForItsTurnSaysSo(t *testing.T) {
	s := leasedSim(t, plan.LeaseQueue)
	wantWords(t, s.state.View(), [3]string{"waiting_device", "its turn on the device has not come", "its turn on the device has not come"})
}

func wantWords(t *testing.T, v plan.View, want [3]string) {
	t.Helper()
	got := [3]string{string(v.State), v.Why}
	if len(v.Steps) > 0 {
		got[2] = v.Steps[0].Why
	}
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// A plan that is over says at once by whom, or at which step and for which reason.
func TestAnEndSaysWhyInWords(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(s *sim)
		want    [3]string
	}{
		"completed": {func(*sim) {}, [3]string{"completed", "1 of 3 steps verified", "unverified"}},
		"failed": {func(s *sim) { s.happens(plan.EventFailed, 80, "MOVE_POLICY_NOT_ALLOWED", true) },
			[3]string{"failed", "move: MOVE_POLICY_NOT_ALLOWED: Moving is not allowed.", "MOVE_POLICY_NOT_ALLOWED: Moving is not allowed."}},
		"cancelled": {func(s *sim) { s.take(plan.CancelRequest{By: "kim", Why: "too loud"}) },
			[3]string{"cancelled", "cancelled by kim: too loud", "CANCELLED_BY_DEVICE"}},
		"cancelled without a word": {func(s *sim) { s.take(plan.CancelRequest{By: "temporal"}) },
			[3]string{"cancelled", "cancelled by temporal", "CANCELLED_BY_DEVICE"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := runningMove(t)
			c.happens(s)
			s.settle()
			wantWords(t, s.state.View(), c.want)
			for _, step := range s.state.View().Steps {
				if step.Why == "" {
					t.Errorf("step %s is %s and does not say why", step.ID, step.State)
				}
			}
		})
	}
}

// While a cancelled plan waits for its device, it says who cancelled it and what is not known yet.
func TestLaw15AStopThatIsUnderWaySaysSo(t *testing.T) {
	s := runningMove(t)
	s.take(plan.DeviceChange{Gone: s.device.connection})
	s.take(plan.CancelRequest{By: "kim"})
	const want = "cancelled by kim; how move ends is not known: its device cannot be reached"
	if v := s.state.View(); v.State != plan.Cancelling || v.Why != want {
		t.Errorf("%s: %q, want %q", v.State, v.Why, want)
	}
}

func TestEveryMoveHasWords(t *testing.T) {
	for _, m := range []plan.Move{plan.MoveAskDevice, plan.MoveSendAgain, plan.MoveUnverified, plan.MoveDecide,
		plan.MoveNoAnswer, plan.MoveTooLate, plan.MoveFail, plan.MoveGiveUp} {
		if words := m.Words(); words == string(m) || !strings.Contains(words, " ") {
			t.Errorf("%s has no words", m)
		}
	}
}

func TestAStepIsNamedWithItsArguments(t *testing.T) {
	for want, v := range map[string]plan.StepView{
		"dock":                      {CapabilityID: "dock"},
		"move (fast=true, room=안방)": {CapabilityID: "move", Arguments: map[string]any{"room": "안방", "fast": true}},
	} {
		if got := v.What(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A step that is to come says what it comes after, and no more than is still to be done.
func TestAStepToComeSaysWhatItComesAfter(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{spec("a", "move", nil, nil), spec("b", "dock", nil, nil), spec("c", "dock", []string{"a", "b"}, nil)}}
	s := newSim(t, doc)
	s.until("a runs", func() bool { return s.phase("a") == plan.StepRunning })
	if v := s.state.View(); v.Steps[1].Why != "something else is first" || v.Steps[2].Why != "after a, b" {
		t.Errorf("b: %q, c: %q", v.Steps[1].Why, v.Steps[2].Why)
	}
	s.until("b runs", func() bool { return s.phase("b") == plan.StepRunning })
	if v := s.state.View(); v.Steps[2].Why != "after b" {
		t.Errorf("c: %q", v.Steps[2].Why)
	}
}

// How far an operation is that the device has.
func TestAStepSaysHowFarTheDeviceIs(t *testing.T) {
	for want, reach := range map[string]func(s *sim){
		"the device has it, and has not said that it began": func(*sim) {},
		"under way": func(s *sim) { s.happens(plan.EventStarted, 80, "", false) },
		"blocked; the device has not said why": func(s *sim) {
			s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1"})
			out[plan.QueryStatus](s)
			s.take(plan.StatusReported{OperationID: "p-1/move/1", Finding: plan.StatusFound, Status: plan.OpBlocked, Epoch: 1, AsOfSeq: 80})
		},
		"unreadable": func(s *sim) {
			s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1", Why: "unreadable"})
			s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1", Why: "again"}) // the first reason stands
		},
		"overdue: no terminal event came in its time":                                             func(s *sim) { s.tick(s.state.Wake - s.now) },
		"the device has it, and has not said that it began; the device is being asked to stop it": func(s *sim) { s.take(plan.CancelRequest{By: "kim"}) },
	} {
		s := newSim(t, threeSteps())
		s.until("taken", func() bool { return s.phase("move") == plan.StepAccepted })
		reach(s)
		if got := s.state.View().Steps[0].Why; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A plan that is being stopped says by whom or why, and whose end it waits for; one that is over, at which step.
func TestAStopAndItsEndSayWhy(t *testing.T) {
	s := runningMove(t)
	s.happens(plan.EventBlocked, 80, "MOVE_POLICY_NOT_ALLOWED", true)
	if v := s.state.View(); v.Why != "stopping: MOVE_POLICY_NOT_ALLOWED: Moving is not allowed.; the device has not said yet how move ended" {
		t.Errorf("%q", v.Why)
	}
	s = runningMove(t)
	s.take(plan.CancelRequest{By: "kim", Why: "too loud"})
	if v := s.state.View(); v.Why != "cancelled by kim: too loud; the device has not said yet how move ended" {
		t.Errorf("%q", v.Why)
	}
	s.device.online = false
	for s.finish == nil {
		s.tick(s.state.Wake - s.now)
	}
	if v := s.state.View(); v.State != plan.Unresolved || v.Why != "move: OPERATION_UNRESOLVED" {
		t.Errorf("%s: %q", v.State, v.Why)
	}
	s = newSim(t, threeSteps())
	s.tick(s.state.Wake - s.now)
	if v := s.state.View(); v.Why != "START_TOO_LATE (nothing had started in time: the wish is too old to move a device)" {
		t.Errorf("%q", v.Why)
	}
	for i, want := range []string{"the plan ended before it", "the plan ended before it", "the plan ended before it"} {
		if v := s.state.View(); v.Steps[i].Why != want {
			t.Errorf("%s: %q", v.Steps[i].ID, v.Steps[i].Why)
		}
	}
	s = newSim(t, threeSteps())
	s.take(plan.CancelRequest{By: "kim"})
	if v := s.state.View(); v.Steps[0].Why != "never sent" {
		t.Errorf("%q", v.Steps[0].Why)
	}
}

// What was seen, looked for, left out or replaced says so.
func TestAStepSaysWhatBecameOfIt(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("verifying", func() bool { return s.phase("purify") == plan.StepVerifying })
	if got := s.state.View().Steps[1].Why; got != "the device says it is done; looking whether it is so" {
		t.Errorf("%q", got)
	}
	s.take(plan.CancelStep{StepID: "dock", By: "kim"})
	s.settle()
	if v := s.state.View(); v.Steps[0].Why != "unverified" || v.Steps[1].Why != "verified" || v.Steps[2].Why != "withdrawn" {
		t.Errorf("%q, %q, %q", v.Steps[0].Why, v.Steps[1].Why, v.Steps[2].Why)
	}
	s = runningMove(t)
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 80, Name: plan.EventFailed, OperationID: "p-1/move/1", Report: &plan.Report{Code: "NEVER_HEARD_OF", Detail: "wheel 2"}})
	if got := s.state.View().Steps[0].Why; got != "NEVER_HEARD_OF (wheel 2)" {
		t.Errorf("%q", got)
	}
	if plan.Move("dance").Words() != "dance" {
		t.Errorf("an unknown move is told as %q", plan.Move("dance").Words())
	}
}
