package plan_test

import (
	"strings"
	"testing"

	"errand/plan"
)

// atBoundary is a plan whose decider was asked about a failed purify; the move is done.
func atBoundary(t *testing.T) *sim {
	t.Helper()
	s := newDecidedSim(t, threeSteps(), "model")
	s.device.fail["purify"] = &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}
	s.until("a decision", func() bool { return request[plan.Decide](s) >= 0 })
	delete(s.device.fail, "purify")
	return s
}

func (s *sim) decide(d plan.Decided) {
	out[plan.Decide](s)
	d.LLMCalls = 1
	s.take(d)
}

func replan(steps ...plan.StepSpec) plan.Decided {
	return plan.Decided{Decision: plan.DecideReplan, Steps: steps, Reason: "another way"}
}

func TestReplanTakesThePlaceOfWhatIsLeft(t *testing.T) {
	s := atBoundary(t)
	s.decide(replan(spec("tidy", "clean", []string{"move"}, map[string]string{"arrival": "arrival.result"}), spec("home", "dock", []string{"tidy"}, nil)))
	o := s.settle()
	if o.State != plan.Completed || o.Revision != 2 || len(o.Steps) != 5 || o.LLMCalls != 1 {
		t.Fatalf("%s, revision %d, %d steps: %+v", o.State, o.Revision, len(o.Steps), o.Steps)
	}
	if o.Steps[1].Excused != plan.ExcuseReplaced || o.Steps[2].Phase != plan.StepSkipped || o.Steps[4].Phase != plan.StepCompleted {
		t.Errorf("steps %+v", o.Steps)
	}
	if got := strings.Join(s.order, " "); got != "move purify tidy home" {
		t.Errorf("order %q: the old dock must not run", got)
	}
	if o.TTSResponse != "Done. Could not. Done. Done. Done otherwise." {
		t.Errorf("Law20: said %q", o.TTSResponse)
	}
}

func TestLaw14AProposalPassesTheGate(t *testing.T) {
	for name, steps := range map[string][]plan.StepSpec{
		"unknown capability":             {spec("tidy", "fly", nil, nil)},
		"undeclared slot":                {spec("tidy", "dock", nil, map[string]string{"wings": "arrival.result.area_id"})},
		"unlisted field":                 {spec("tidy", "purify", []string{"move"}, map[string]string{"area_id": "arrival.result.raw_pose"})},
		"a source that is no dependency": {spec("tidy", "purify", nil, map[string]string{"area_id": "arrival.result.area_id"})},
		"a finished step":                {spec("move", "dock", nil, nil)},
		"an id of an earlier revision":   {spec("dock", "dock", nil, nil)},
		"after the failed step":          {spec("tidy", "dock", []string{"purify"}, nil)},
		"after a replaced step":          {spec("tidy", "dock", []string{"dock"}, nil)},
		"a loop":                         {spec("a", "dock", []string{"b"}, nil), spec("b", "dock", []string{"a"}, nil)},
		"none":                           nil,
		"500 steps":                      many(500),
	} {
		s := atBoundary(t)
		s.decide(replan(steps...))
		if s.decides != 2 || s.state.Boundary == nil || s.state.Boundary.Refused == "" || s.state.Decided != 1 || len(s.state.Steps) != 3 {
			t.Errorf("%s: asked %d times, %d spent, %d steps, refused for %+v", name, s.decides, s.state.Decided, len(s.state.Steps), s.state.Boundary)
			continue
		}
		s.decide(replan(steps...))
		if o := s.settle(); o.State != plan.Failed || len(s.device.effects) != 1 || s.decides != 2 {
			t.Errorf("%s: %s after %d decisions, effects %v", name, o.State, s.decides, s.device.effects)
		}
	}
}

func many(n int) []plan.StepSpec {
	steps := make([]plan.StepSpec, n)
	for i := range steps {
		steps[i] = spec("s"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26), "dock", nil, nil)
	}
	return steps
}

func TestLaw13TheSamePlanAgainStopsAndAsks(t *testing.T) {
	s := atBoundary(t)
	again := threeSteps().Steps[1:]
	again[0].ID, again[1].ID, again[1].DependsOn = "purify2", "dock2", []string{"purify2"}
	s.decide(replan(again...))
	if s.state.Question == nil || len(s.state.Steps) != 3 {
		t.Fatalf("the plan that just failed came back under other names: %s", describe(s.state))
	}

	s = atBoundary(t)
	s.device.fail["tidy"] = &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}
	s.decide(replan(spec("tidy", "clean", nil, nil), spec("home", "dock", []string{"tidy"}, nil)))
	s.until("the next decision", func() bool { return request[plan.Decide](s) >= 0 })
	s.decide(replan(spec("tidy2", "clean", nil, nil), spec("home2", "dock", []string{"tidy2"}, nil)))
	if s.state.Question == nil {
		t.Errorf("c11: %s", describe(s.state))
	}
}

func TestReplanOfABlockedTaskSeesItDeadFirst(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventBlocked, 80, "MOVE_POLICY_NOT_ALLOWED", true)
	s.decide(replan(spec("home", "dock", nil, nil)))
	if s.submits["p-1/home/1"] != 0 || request[plan.CancelTask](s) < 0 {
		t.Fatalf("Law02: submits %v", s.submits)
	}
	if o := s.settle(); o.State != plan.Completed || o.Steps[0].Phase != plan.StepCancelled || len(s.device.effects) != 1 {
		t.Errorf("%s: %+v", o.State, o.Steps)
	}
}

func TestLaw14WhatAModelPutAboveReversibleIsConfirmed(t *testing.T) {
	for choice, want := range map[string]plan.Phase{"yes": plan.Completed, "no": plan.Failed} {
		s := atBoundary(t)
		s.decide(replan(spec("open", "unlock", nil, nil)))
		s.until("a question", func() bool { return s.state.Question != nil })
		if s.submits["p-1/open/1"] != 0 || s.state.Question.Kind != "confirm" {
			t.Fatalf("submits %v, question %+v", s.submits, s.state.Question)
		}
		s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: choice, By: "kim", MayConfirm: true})
		if o := s.settle(); o.State != want || (s.submits["p-1/open/1"] == 1) != (choice == "yes") {
			t.Errorf("%s: %s, submits %v", choice, o.State, s.submits)
		}
	}
}

func TestReturnGoesHomeAndEndsReturned(t *testing.T) {
	for name, blocked := range map[string]bool{"failed": false, "blocked": true} {
		s := newSim(t, threeSteps())
		if blocked {
			s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
			s.happens(plan.EventBlocked, 80, "GO_HOME", true)
		} else {
			s.device.fail["move"] = &plan.Report{Code: "GO_HOME", RequiresDecision: true}
		}
		o := s.settle()
		if o.State != plan.Returned || o.Reason == nil || o.Reason.Code != "GO_HOME" || len(s.device.effects) != 1 || s.device.effects[0] != "p-1/return/1" {
			t.Errorf("%s: %s %+v, effects %v", name, o.State, o.Reason, s.device.effects)
		}
		if !strings.HasSuffix(o.TTSResponse, "Came back. Low battery.") {
			t.Errorf("%s: said %q", name, o.TTSResponse)
		}
	}
}

func TestWithoutASafeReturnAPlanFails(t *testing.T) {
	slice := testSlice()
	slice.SafeReturn = nil
	s := newSim(t, threeSteps())
	s.state.Slice = slice
	s.device.fail["move"] = &plan.Report{Code: "GO_HOME", RequiresDecision: true}
	if o := s.settle(); o.State != plan.Failed || len(s.device.effects) != 0 {
		t.Errorf("%s, effects %v", o.State, s.device.effects)
	}
	s = newSim(t, &plan.Document{Steps: []plan.StepSpec{spec("dock", "dock", nil, nil)}})
	s.device.fail["dock"] = &plan.Report{Code: "GO_HOME", RequiresDecision: true}
	if o := s.settle(); o.State != plan.Failed || len(o.Steps) != 1 {
		t.Errorf("what failed is the way home itself: %s, %+v", o.State, o.Steps)
	}
}

func TestAmendMayReplaceWhatIsNotFrozen(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	in := more("tidy", "clean", "move")
	in.Replace = true
	s.take(in)
	if o := s.settle(); o.State != plan.Completed || strings.Join(s.order, " ") != "move tidy" || o.Steps[1].Excused != plan.ExcuseReplaced {
		t.Errorf("%s, order %v, %+v", o.State, s.order, o.Steps)
	}
	s = newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	in = more("tidy", "clean", "purify")
	in.Replace = true
	if faults := s.state.AmendFaults(in); len(faults) != 1 || faults[0].Path != "steps[0].depends_on[0]" {
		t.Errorf("faults %v; want the dependency on a step that is replaced, counted from the new steps", faults)
	}
}

func TestAStepIsWithdrawn(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.CancelStep{StepID: "dock", By: "kim"})
	if o := s.settle(); o.State != plan.Completed || o.Steps[2].Phase != plan.StepCancelled || len(s.device.effects) != 2 {
		t.Errorf("pending: %s, %+v", o.State, o.Steps)
	}

	doc := threeSteps()
	doc.Steps[2].DependsOn = nil
	s = newSim(t, doc)
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.CancelStep{StepID: "move", By: "kim"})
	o := s.settle()
	if o.State != plan.Completed || o.Steps[0].Phase != plan.StepCancelled || o.Steps[1].Excused != plan.ExcuseSkipped || len(s.device.effects) != 1 {
		t.Errorf("in flight: %s, %+v, effects %v", o.State, o.Steps, s.device.effects)
	}

	s = newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.CancelStep{StepID: "move", By: "kim", Why: "no"})
	if o := s.settle(); o.State != plan.Cancelled || o.Cancel == nil || o.Cancel.Why != "no" {
		t.Errorf("all there is: %s, %+v", o.State, o.Cancel)
	}
	for _, id := range []string{"nosuch", "move"} {
		if s.state.CancelStepRefusal(plan.CancelStep{StepID: id}) == "" {
			t.Errorf("%s could be withdrawn from a plan that is over", id)
		}
	}
}

// A step is withdrawn while its submit is out; the submit surely did not arrive, and the device says so too.
func TestLaw09AWithdrawnStepThatNeverArrivedIsNotUnknown(t *testing.T) {
	doc := threeSteps()
	doc.Steps[2].DependsOn = nil
	s := newSim(t, doc)
	s.until("a submit", func() bool { return request[plan.Submit](s) >= 0 })
	s.take(plan.CancelStep{StepID: "move", By: "kim"})
	submit, cancel := out[plan.Submit](s), out[plan.CancelTask](s)
	s.take(plan.Submitted{OperationID: submit.OperationID, Delivery: plan.DeliveryUndelivered, ConnectionEpoch: submit.Route.ConnectionEpoch})
	s.take(s.device.cancel(cancel.OperationID))
	if op := s.state.Steps[0].Ops[0]; op.Lost || s.phase("move") != plan.StepCancelled {
		t.Errorf("move is %s, its operation %+v", s.phase("move"), op)
	}
	if o := s.settle(); o.State != plan.Completed || len(s.device.effects) != 1 {
		t.Errorf("%s, effects %v", o.State, s.device.effects)
	}
}

// A device that refuses and moves all the same is found out before the outcome.
func TestLaw15ARefusalIsTestedBeforeTheOutcome(t *testing.T) {
	s := newSim(t, threeSteps())
	s.hostile = true // its refusal is taken back: ranks do not hold against a liar
	s.until("a submit", func() bool { return request[plan.Submit](s) >= 0 })
	c := out[plan.Submit](s)
	s.device.submit(c)
	s.collect()
	s.take(plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Report: &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}})
	if s.finish != nil || request[plan.CancelTask](s) < 0 {
		t.Fatalf("the plan ended on the device's refusal alone: %s", describe(s.state))
	}
	defer func() {
		if !journalHas(s, "note", "was refused, and yet the device has it") {
			t.Error("that the refusal was none is not on record")
		}
	}()
	if o := s.settle(); o.Steps[0].Phase != plan.StepCancelled || len(s.device.effects) != 0 || s.device.busy() {
		t.Errorf("%s, move %s, effects %v, busy %t", o.State, o.Steps[0].Phase, s.device.effects, s.device.busy())
	}
}

func TestLaw11AnOlderTryThatIsAliveIsTheOneThatCounts(t *testing.T) {
	s := newSim(t, threeSteps())
	s.hostile = true
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 50, Name: plan.EventFailed, OperationID: "p-1/move/1", Report: &plan.Report{Code: "TRY_AGAIN"}})
	c := out[plan.Submit](s)
	if c.OperationID != "p-1/move/2" {
		t.Fatalf("sent %s", c.OperationID)
	}
	s.take(plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused,
		Report: &plan.Report{Code: "GENERATION_ALIVE", Params: map[string]any{"alive": "p-1/move/1"}}})
	if request[plan.QueryStatus](s) < 0 {
		t.Fatalf("the device is not asked about the first try: %s", describe(s.state))
	}
	if o := s.settle(); o.State != plan.Completed || len(s.device.effects) != 3 || s.device.effects[0] != "p-1/move/1" {
		t.Errorf("%s, effects %v", o.State, s.device.effects)
	}
}
