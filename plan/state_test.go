package plan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"errand/plan"
)

func TestTheStateDoesNotGrowWithTheDevicesBoots(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	for epoch := int64(2); epoch < 120; epoch++ {
		s.take(plan.Event{EventID: "n", DeviceID: testDevice, Epoch: epoch, Seq: 1, Name: plan.EventQueued, OperationID: "p-1/dock/9"})
	}
	for seq := int64(2); seq < 120; seq++ {
		s.take(plan.Event{EventID: "n", DeviceID: testDevice, Epoch: 1, Seq: 100 + seq, Name: plan.EventQueued, OperationID: "p-1/dock/9"})
	}
	if len(s.state.Seen) > 8 || len(s.state.Journal) > 200 || s.state.Entries < 230 {
		t.Errorf("%d boots, %d of %d entries", len(s.state.Seen), len(s.state.Journal), s.state.Entries)
	}
	for _, boot := range s.state.Seen {
		if len(boot.Seqs) > 64 {
			t.Errorf("%d numbers of boot %d are remembered", len(boot.Seqs), boot.Epoch)
		}
	}
}

// TestStepLeavesItsArgumentAlone runs a whole plan with luck of every kind and checks each state after the next was made.
func TestStepLeavesItsArgumentAlone(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.Pause{Token: "a", By: "kim"})
	s.take(plan.Pause{Token: "b", By: "kim"})
	event := func(seq int64, name plan.EventName) plan.Event {
		return plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: seq, Name: name, OperationID: "p-1/move/1", Report: &plan.Report{Code: "ASK_ME", RequiresDecision: true}}
	}
	inputs := []plan.Input{plan.Resume{Token: "a"}, event(80, plan.EventRunning), event(79, plan.EventRunning), event(90, plan.EventBlocked),
		plan.Answer{QuestionID: "p-1.1", Choice: "wait"}, event(91, plan.EventBlocked), event(92, plan.EventFailed), plan.CancelRequest{By: "kim"},
		more("more", "dock"), plan.DeviceChange{Gone: 1}, plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1"}}
	for _, in := range inputs {
		given, _ := json.Marshal(s.state)
		state := s.state
		for _, other := range inputs { // each on the same state
			plan.Step(state, s.now, other)
		}
		if after, _ := json.Marshal(state); !bytes.Equal(given, after) {
			t.Fatalf("Step changed the state it was given:\n%s\n%s", given, after)
		}
		s.take(in)
	}
}

func TestHugeTimesAreBounded(t *testing.T) {
	const huge = int64(1) << 62
	slice := testSlice()
	for i := range slice.Capabilities {
		slice.Capabilities[i].Timeouts.RunMs = huge
		slice.Capabilities[i].Timeouts.QueueMs = huge
	}
	s := newSim(t, threeSteps())
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: askedAt, DeadlineMs: 1<<63 - 1, StartByMs: 1<<63 - 1, Document: threeSteps(), Slice: slice})
	s.out = nil
	s.take(plan.Begin{})
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	if s.state.Wake <= s.now {
		t.Errorf("wakes at %d, now %d", s.state.Wake, s.now)
	}
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s (%v), want completed", o.State, o.Reason)
	}
}

func TestAPlanWithoutUsableIdsMovesNothing(t *testing.T) {
	for _, id := range []string{"", "a/b", "a b", strings.Repeat("x", 65)} {
		s := plan.New(plan.Start{PlanID: id, DeviceID: testDevice, AskedAt: askedAt, Document: threeSteps(), Slice: testSlice()})
		s, _ = plan.Step(s, askedAt, plan.Begin{})
		if s.Outcome == nil || s.Outcome.State != plan.Failed {
			t.Errorf("plan id %q: %s; no answer about its operations could ever be matched", id, s.Phase())
		}
	}
}
