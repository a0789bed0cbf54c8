package plan_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
)

// TestLawsHoldInRandomHistories lets the network, the device, people and time do what they like for a while, in any
// order, and then lets everything go well. Every step is held against the laws (checkLaws), the end against the effects.
func TestLawsHoldInRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newDecidedSim(t, shapes[rapid.IntRange(0, len(shapes)-1).Draw(t, "shape")](), rapid.SampledFrom([]string{"", "model"}).Draw(t, "decider"))
		s.device.verdict = rapid.SampledFrom([]plan.Verdict{plan.Verified, plan.Unverified, plan.Contradicted, "perhaps"}).Draw(t, "verdict")
		t.Repeat(happenings(s))
		s.take(plan.Resume{Token: "x", By: "kim"})
		judge(t, s, s.settle())
	})
}

var decisions = []plan.DecisionKind{plan.DecideRetry, plan.DecideAsk, plan.DecideCancel, plan.DecideReplan, plan.DecideReturn, "", "nonsense"}

// proposal is what a decider may propose: a good plan, one with an id that was used, or none.
func proposal(t *rapid.T) []plan.StepSpec {
	id := rapid.SampledFrom([]string{"new", "newer", "move"}).Draw(t, "id")
	return rapid.SampledFrom([][]plan.StepSpec{nil, {spec(id, "dock", nil, nil)},
		{spec(id, "move", nil, nil), spec(id+"2", "unlock", []string{id}, nil)}}).Draw(t, "proposal")
}

// awaits reports whether the answer could be one to a request that is out: the shell gives those once, in its order.
func (s *sim) awaits(in plan.Input) bool {
	return slices.ContainsFunc(s.out, func(c plan.Command) bool {
		switch c := c.(type) {
		case plan.Submit:
			in, ok := in.(plan.Submitted)
			return ok && in.OperationID == c.OperationID
		case plan.QueryStatus:
			in, ok := in.(plan.StatusReported)
			return ok && in.OperationID == c.OperationID
		case plan.CancelTask:
			in, ok := in.(plan.CancelAnswered)
			return ok && in.OperationID == c.OperationID
		case plan.Verify:
			in, ok := in.(plan.VerifiedResult)
			return ok && in.OperationID == c.OperationID
		case plan.AwaitDevice:
			_, ok := in.(plan.DeviceFound)
			return ok
		case plan.Decide:
			_, ok := in.(plan.Decided)
			return ok
		}
		return false
	})
}

var shapes = []func() *plan.Document{
	threeSteps,
	func() *plan.Document {
		return &plan.Document{Steps: []plan.StepSpec{spec("dock", "dock", []string{"move", "purify"}, nil),
			spec("move", "move", nil, nil), spec("purify", "unlock", nil, nil)}}
	},
	func() *plan.Document { return &plan.Document{Steps: []plan.StepSpec{spec("move", "move", nil, nil)}} },
	func() *plan.Document {
		doc := threeSteps()
		doc.Steps[1].Optional = true
		doc.Steps[2].DependsOn = []string{"move"}
		return doc
	},
}

// noise is an input that belongs to nothing: of another plan, another attempt, another device, or out of the blue.
func noise(t *rapid.T) plan.Input {
	id := rapid.SampledFrom([]string{"p-2/move/1", "p-1/move/9", "p-1/nosuch/1", "garbage", ""}).Draw(t, "operation")
	return rapid.SampledFrom([]plan.Input{
		plan.Event{EventID: "n", DeviceID: testDevice, Name: plan.EventCompleted, OperationID: id, StepID: "move"},
		plan.Event{EventID: "n", DeviceID: "robot-2", Name: plan.EventFailed, OperationID: "p-1/move/1"},
		plan.Submitted{OperationID: id, Delivery: plan.DeliveryAccepted, TaskID: "t9"},
		plan.StatusReported{OperationID: id, Finding: plan.StatusNotFound, StoreID: storeA},
		plan.CancelAnswered{OperationID: id, Case: plan.CancelTombstoned, StoreID: storeA},
		plan.VerifiedResult{OperationID: id, Verdict: plan.Verified},
		plan.Decided{Decision: plan.DecideReplan},
		plan.Planned{Document: threeSteps(), Slice: testSlice()},
		plan.ContextFetched{Context: map[string]any{}},
		plan.Answer{QuestionID: "p-1.99", Choice: "continue"},
		plan.Doubt{DeviceID: testDevice, OperationID: id, Why: "unreadable"},
		plan.DeviceChange{Gone: 1},
		plan.DeviceFound{Route: plan.Route{GatewayID: "old", ConnectionEpoch: 0}},
		plan.Event{EventID: "n", DeviceID: testDevice, Epoch: 1, Seq: -5, Name: plan.EventRunning, OperationID: id, WorkflowID: testPlan, StepID: "move", TaskID: id},
		plan.StatusReported{OperationID: "p-1/move/1", Finding: "nonsense", Status: "nonsense", Epoch: -1, AsOfSeq: 1 << 62},
		plan.Submitted{OperationID: "p-1/move/1", Delivery: "nonsense"},
		plan.CancelAnswered{OperationID: "p-1/move/1", Case: "nonsense"},
		plan.Planned{}, plan.Amend{}, plan.CancelStep{}, plan.Pause{}, plan.Resume{}, plan.Answer{}, plan.CancelAnswered{}, nil,
		plan.DeadlinePassed{},
		plan.Begin{},
	}).Draw(t, "noise")
}

// judge holds an outcome against what the device physically did.
func judge(t *rapid.T, s *sim, o plan.Outcome) {
	effects := map[string]int{}
	for _, id := range s.device.effects {
		effects[id]++
	}
	for id, n := range effects {
		if n > 1 {
			t.Fatalf("Law11: %d effects of %s", n, id)
		}
	}
	for i, st := range o.Steps {
		done := 0
		for _, op := range s.state.Steps[i].Ops {
			done += effects[op.ID]
		}
		if done > 1 {
			t.Fatalf("Law11: step %s has %d effects: %v", st.ID, done, s.device.effects)
		}
		contradicted := st.Reason != nil && st.Reason.Code == "VERIFY_CONTRADICTED"
		if st.Phase == plan.StepCompleted && done != 1 {
			t.Fatalf("Law20: %s is reported completed without an effect", st.ID)
		}
		if done == 1 && st.Phase != plan.StepCompleted && st.Phase != plan.StepUnknown && !contradicted {
			t.Fatalf("Law19: %s has an effect and is reported %s", st.ID, st.Phase)
		}
	}
	if o.State == plan.Completed && slices.ContainsFunc(o.Steps, func(st plan.StepOutcome) bool { return st.Phase != plan.StepCompleted && st.Excused == "" }) {
		t.Fatalf("Law20: completed, with %+v", o.Steps)
	}
	if s.decides > 5 || o.LLMCalls > 5 {
		t.Fatalf("Law13: %d decisions asked for, %d calls", s.decides, o.LLMCalls)
	}
	before := len(s.device.effects)
	for len(s.delayed) > 0 {
		s.arrive(0)
	}
	for s.device.busy() {
		s.work()
	}
	if unknown := slices.ContainsFunc(o.Steps, func(st plan.StepOutcome) bool { return st.Phase == plan.StepUnknown }); len(s.device.effects) > before && !unknown {
		t.Fatalf("Law15: something moved after the reported outcome %s", o.State)
	}
}

// TestStepIsAFunction takes random inputs in the blue and checks that Step neither changes its argument nor depends on
// anything else.
func TestStepIsAFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		for range rapid.IntRange(0, 12).Draw(t, "prefix") {
			switch {
			case len(s.out) > 0:
				s.answer(0, fine)
			case len(s.events) > 0:
				s.deliver(0, false)
			default:
				s.work()
			}
		}
		in := noise(t)
		frozen := s.state
		copied, _ := plan.Step(frozen, s.now, plan.DeadlinePassed{})
		a, ca := plan.Step(s.state, s.now, in)
		b, cb := plan.Step(s.state, s.now, in)
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(ca, cb) {
			t.Fatalf("two runs of Step differ on %T", in)
		}
		again, _ := plan.Step(frozen, s.now, plan.DeadlinePassed{})
		if !reflect.DeepEqual(copied, again) {
			t.Fatalf("Step changed the state it was given, on %T", in)
		}
	})
}
