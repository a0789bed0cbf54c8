package plan_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
)

// A cancel at any moment: nothing new is sent after it; it is over only once nothing can move any more; what was done is
// reported as done; and after the outcome nothing that comes makes the plan do anything.
func TestLaw15ACancelAtAnyMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		s.device.stubborn = rapid.Bool().Draw(t, "takes cancels and goes on")
		s.jumble(t, 30)
		over, sent := s.finish != nil, len(s.order)
		s.take(plan.CancelRequest{By: "kim"})
		s.jumble(t, 20)
		o := s.anyEnd(t)
		if len(s.order) != sent {
			t.Fatalf("sent %v after the cancel", s.order[sent:])
		}
		if (o.Cancel == nil) != over { // it may have ended by itself before
			t.Fatalf("%s, the cancel on record is %+v", o.State, o.Cancel)
		}
		unknown := false
		for i, st := range o.Steps {
			unknown = unknown || st.Phase == plan.StepUnknown
			if done := slices.Contains(s.device.effects, "p-1/"+st.ID+"/1"); done != (st.Phase == plan.StepCompleted) && st.Phase != plan.StepUnknown {
				t.Fatalf("step %d took effect: %v; it is reported %s", i, done, st.Phase)
			}
		}
		for _, in := range slices.Concat(s.answers, []plan.Input{plan.CancelRequest{By: "lee"}, plan.DeadlinePassed{}, s.event(9, 1, plan.EventCompleted, "p-1/move/1")}) {
			if _, commands := plan.Step(s.state, s.now, in); len(commands) > 0 {
				t.Fatalf("after the outcome %T commands %v", in, commands)
			}
		}
		if s.moves() && !unknown {
			t.Fatalf("the device moved after the outcome %s: %v", o.State, s.device.effects)
		}
	})
}

// anyEnd lets the rest go well, or lets nothing be heard of the device any more.
func (s *sim) anyEnd(t *rapid.T) plan.Outcome {
	if rapid.Bool().Draw(t, "the device is gone for good") {
		s.abandon()
		return *s.finish
	}
	return s.settle()
}

// abandon lets the device never be heard of again, until the plan is over.
func (s *sim) abandon() {
	s.device.online, s.device.silent, s.events = false, true, nil
	for range 1000 {
		switch {
		case s.finish != nil:
			return
		case len(s.out) > 0 && request[plan.AwaitDevice](s) != 0:
			s.answer(0, vanish)
		default:
			s.tick(max(s.state.Wake-s.now, 1000))
		}
	}
	s.t.Fatalf("no end: %s", describe(s.state))
}

// What the device's answer to a cancel says is no end: only that it has ended is.
func TestLaw15AMereYesIsNoEnd(t *testing.T) {
	s := runningMove(t)
	s.device.stubborn = true
	s.take(plan.CancelRequest{By: "kim"})
	s.answer(request[plan.CancelTask](s), fine)
	if s.finish != nil {
		t.Fatalf("closed as %s on the word that it is being cancelled", s.finish.State)
	}
	if o := s.settle(); o.Steps[0].Phase != plan.StepCompleted || o.State != plan.Cancelled {
		t.Errorf("%s with move %s: it arrived before it could stop", o.State, o.Steps[0].Phase)
	}
}

// Each operation that was sent ends, in the outcome, as what the device said, or as unknown if it never said; and then the
// plan is unresolved, and says so.
func TestLaw19WhatWasSentHasAnEndAndUnknownIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		s.jumble(t, 30)
		if rapid.Bool().Draw(t, "cancelled") {
			s.take(plan.CancelRequest{By: "kim"})
		}
		s.abandon()
		for i, st := range s.finish.Steps {
			said := slices.ContainsFunc(s.state.Steps[i].Ops, func(op plan.Operation) bool { return op.Phase.Dead() })
			loose := slices.ContainsFunc(s.delayed, func(d delayed) bool { // one that is too old to start by now is none
				return strings.HasPrefix(d.submit.OperationID, "p-1/"+st.ID+"/") && s.now < d.until
			})
			switch {
			case !said && (s.device.tasks["p-1/"+st.ID+"/1"] != nil || loose):
				if st.Phase != plan.StepUnknown || s.finish.State != plan.Unresolved {
					t.Fatalf("%s may have moved, nobody knows, and it is told as %s, the plan as %s", st.ID, st.Phase, s.finish.State)
				}
			case st.Phase == plan.StepUnknown && s.submits["p-1/"+st.ID+"/1"] == 0:
				t.Fatalf("%s was never sent, and is told as unknown", st.ID)
			}
		}
	})
}

// Every event that changes no step leaves a line that names it, and why.
func TestLaw19AnEventThatChangesNothingIsOnRecord(t *testing.T) {
	for name, c := range map[string]struct {
		ev  plan.Event
		why string
	}{
		"of another device": {plan.Event{DeviceID: "robot-2", Name: plan.EventCompleted, OperationID: "p-1/move/1"}, "another device"},
		"of no operation":   {plan.Event{DeviceID: testDevice, Name: plan.EventCompleted, OperationID: "p-1/nosuch/1"}, "no operation"},
		"of an older try":   {plan.Event{DeviceID: testDevice, Name: plan.EventCompleted, OperationID: "p-1/move/1"}, "superseded"},
		"of no meaning":     {plan.Event{DeviceID: testDevice, Name: "DANCING", OperationID: "p-1/move/2"}, "says nothing"},
	} {
		s := runningMove(t)
		s.happens(plan.EventFailed, 80, "TRY_AGAIN", false)
		s.until("running again", func() bool { return s.phase("move") == plan.StepRunning && s.submits["p-1/move/2"] == 1 })
		c.ev.EventID, c.ev.Epoch, c.ev.Seq = "the-event", 1, 90
		s.take(c.ev)
		if !journalHas(s, "note", "the-event") || !journalHas(s, "note", c.why) {
			t.Errorf("an event %s is not on record: %+v", name, s.state.Journal[len(s.state.Journal)-1])
		}
	}
	s := newSim(t, threeSteps())
	s.until("completed", func() bool { return s.phase("move") == plan.StepCompleted })
	s.take(s.event(1, 90, plan.EventFailed, "p-1/move/1"))
	if !journalHas(s, "note", "contradiction: event b1-90") {
		t.Error("a second, different end is not on record")
	}
}

// A task that was told to stop and says that it goes on is asked about soon: its end may be lost on the way.
func TestLaw15ProgressPutsOffNoQuestionAboutWhatIsToStop(t *testing.T) {
	for _, way := range []string{"plan", "step"} {
		s := newSim(t, threeSteps())
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		if way == "plan" {
			s.take(plan.CancelRequest{By: "kim", Source: "api"})
		} else {
			s.take(plan.CancelStep{StepID: "move", By: "kim"})
		}
		if way == "step" && request[plan.CancelTask](s) < 0 { // it is all that is left: then it is the plan's cancel
			t.Fatalf("nobody is told to stop: %s", describe(s.state))
		}
		out[plan.CancelTask](s)
		s.take(plan.CancelAnswered{OperationID: "p-1/move/1", Case: plan.CancelStopping, StoreID: storeA})
		s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 90, Name: plan.EventProgress, OperationID: "p-1/move/1", Progress: 0.9})
		if wait := s.state.Wake - s.now; wait > 30_000 {
			t.Errorf("cancel of the %s: the device is asked in %d s", way, wait/1000)
		}
	}
}
