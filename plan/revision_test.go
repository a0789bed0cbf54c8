package plan_test

import (
	"fmt"
	"testing"

	"errand/plan"
)

// Neither an id nor an output key of a step that was left out is ever used again.
func TestNamesAreNeverUsedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		id, key string
		path    string
	}{
		"an id":                {"dock", "", "steps[0].id"},
		"an id as a key":       {"new", "dock", "steps[0].output_key"},
		"a key":                {"new", "done", "steps[0].output_key"},
		"a key as an id":       {"done", "", "steps[0].id"},
		"one of what is there": {"purify", "", "steps[0].id"},
		"another":              {"new", "newer", ""},
		"no key":               {"new", "", ""},
	} {
		doc := threeSteps()
		doc.Steps[2].OutputKey = "done"
		s := newSim(t, doc)
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.take(plan.CancelStep{StepID: "dock", By: "kim"})
		in := more(c.id, "dock")
		in.Steps[0].OutputKey = c.key
		faults := s.state.AmendFaults(in)
		if (len(faults) == 0) != (c.path == "") || len(faults) > 0 && (faults[0].Path != c.path || faults[0].Code != "reused_id") {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

// A plan has 400 steps at most over all its revisions.
func TestRevisionsAreBounded(t *testing.T) {
	var steps []plan.StepSpec
	for i := range plan.MaxSteps {
		steps = append(steps, spec(fmt.Sprint("s", i), "dock", nil, nil))
	}
	s := newSim(t, &plan.Document{Steps: steps})
	s.until("running", func() bool { return s.phase("s0") == plan.StepRunning })
	in := plan.Amend{By: "kim", Replace: true}
	for i := range plan.MaxSteps - 1 {
		in.Steps = append(in.Steps, spec(fmt.Sprint("t", i), "dock", nil, nil))
	}
	s.take(in)
	last := more("u0", "dock")
	last.Replace = true
	if faults := s.state.AmendFaults(last); len(faults) > 0 || len(s.state.Steps) != 2*plan.MaxSteps-1 {
		t.Fatalf("with %d steps one more is refused: %v", len(s.state.Steps), faults)
	}
	s.take(last)
	last.Steps[0].ID = "u1"
	if faults := s.state.AmendFaults(last); len(faults) != 1 || faults[0].Code != "too_many_steps" || len(s.state.Steps) != 2*plan.MaxSteps {
		t.Errorf("with %d steps one more is: %v", len(s.state.Steps), faults)
	}
}

// A fault of a revision counts from its own first step; what is wrong with the whole is told as it is.
func TestARevisionsFaultsCountFromItsOwnSteps(t *testing.T) {
	s := runningMove(t)
	in := plan.Amend{Steps: []plan.StepSpec{spec("a", "dock", nil, nil), spec("b", "fly", nil, nil)}}
	if faults := s.state.AmendFaults(in); len(faults) != 1 || faults[0].Path != "steps[1].action.capability_id" {
		t.Errorf("%v", faults)
	}
	if faults := s.state.AmendFaults(plan.Amend{Steps: many(199)}); len(faults) != 1 || faults[0].Path != "steps" || faults[0].Code != "too_many_steps" {
		t.Errorf("%v", faults)
	}
}

// The way home has an id of its own, whatever the plan's steps and keys are called.
func TestTheWayHomeHasAnIDOfItsOwn(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{spec("move", "move", nil, nil), spec("return", "clean", nil, nil), spec("last", "clean", nil, nil)}}
	doc.Steps[2].OutputKey = "return_2"
	s := newSim(t, doc)
	s.device.fail["move"] = &plan.Report{Code: "GO_HOME", RequiresDecision: true}
	o := s.settle()
	if o.State != plan.Returned || o.Revision != 2 || s.submits["p-1/return_3/1"] != 1 || !journalHas(s, "note", "returning: GO_HOME") {
		t.Errorf("%s, sent %v", o.State, s.submits)
	}
	if len(o.Steps) != 4 || o.Steps[0].Excused != plan.ExcuseReplaced || o.Steps[1].Excused != plan.ExcuseReplaced || o.Steps[1].Phase != plan.StepSkipped {
		t.Errorf("%+v", o.Steps)
	}
}

// Whether a plan is the same again is told by what its steps do and in which order, not by their names.
func TestLaw13WhatMakesAPlanAnother(t *testing.T) {
	tidy := func(id string, depends ...string) plan.StepSpec { return spec(id, "clean", depends, nil) }
	for name, c := range map[string]struct {
		again []plan.StepSpec
		same  bool
	}{
		"other names":      {[]plan.StepSpec{tidy("x"), spec("y", "dock", []string{"x"}, nil)}, true},
		"without order":    {[]plan.StepSpec{tidy("x"), spec("y", "dock", nil, nil)}, false},
		"another step":     {[]plan.StepSpec{tidy("x"), spec("y", "clean", []string{"x"}, nil)}, false},
		"after a done one": {[]plan.StepSpec{tidy("x", "move"), spec("y", "dock", []string{"x"}, nil)}, false},
		"one less":         {[]plan.StepSpec{tidy("x")}, false},
	} {
		s := atBoundary(t)
		s.device.fail["tidy"] = &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}
		s.decide(replan(tidy("tidy"), spec("home", "dock", []string{"tidy"}, nil)))
		s.until("the next decision", func() bool { return request[plan.Decide](s) >= 0 })
		s.decide(replan(c.again...))
		if same := journalHas(s, "note", "the same plan was proposed again"); same != c.same || (len(s.state.Steps) == 5) != c.same {
			t.Errorf("%s: taken for the same: %v; %d steps", name, same, len(s.state.Steps))
		}
	}
	s := atBoundary(t)
	s.decide(replan(tidy("tidy")))
	if !journalHas(s, "note", "replanned: another way") || len(s.state.Proposals) != 1 || s.state.Boundary != nil {
		t.Errorf("%d proposals, boundary %+v", len(s.state.Proposals), s.state.Boundary)
	}
}

// A device that refused a try has it after all, and completed it: that is the step's end, whatever a later try came to.
func TestLaw15WhatARefusedTryDidIsReported(t *testing.T) {
	s := newSim(t, threeSteps())
	s.hostile = true
	s.until("a submit", func() bool { return request[plan.Submit](s) >= 0 })
	first := out[plan.Submit](s)
	s.take(plan.Submitted{OperationID: first.OperationID, Delivery: plan.DeliveryRefused, Report: &plan.Report{Code: "TRY_AGAIN"}})
	s.until("the second runs", func() bool { return s.submits["p-1/move/2"] == 1 && s.phase("move") == plan.StepRunning })
	s.take(s.event(1, 80, plan.EventFailed, "p-1/move/2"))
	s.take(plan.CancelRequest{By: "kim"})
	if c := out[plan.CancelTask](s); c.OperationID != "p-1/move/1" || s.finish != nil {
		t.Fatalf("asked to stop %+v; over: %v", c, s.finish)
	}
	done := s.event(1, 70, plan.EventCompleted, "p-1/move/1")
	s.take(plan.CancelAnswered{OperationID: "p-1/move/1", Case: plan.CancelAlreadyCompleted, Terminal: &done})
	if s.finish == nil || s.finish.Steps[0].Phase != plan.StepCompleted || s.finish.Steps[0].OperationID != "p-1/move/1" || s.finish.Steps[0].Result["area_id"] != "6" {
		t.Fatalf("outcome %+v", s.finish)
	}
	if !journalHas(s, "note", "p-1/move/1 was refused, and yet the device has it") {
		t.Error("it is not on record")
	}
}

// The same without its end in the answer: the device is asked how it went, a moment after it was told to stop.
func TestLaw15ARefusedTryThatIsStoppingIsAskedAbout(t *testing.T) {
	for answer, open := range map[plan.CancelCase]bool{plan.CancelStopping: true, plan.CancelDone: true, plan.CancelAlreadyFailed: true, plan.CancelTombstoned: false, plan.CancelAlreadyCancelled: false, plan.CancelRefused: false} {
		s := newSim(t, threeSteps())
		s.hostile = true
		s.until("a submit", func() bool { return request[plan.Submit](s) >= 0 })
		c := out[plan.Submit](s)
		s.take(plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Report: &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}})
		out[plan.CancelTask](s)
		s.take(plan.CancelAnswered{OperationID: c.OperationID, Case: answer, StoreID: storeA})
		if (s.finish == nil) != open {
			t.Errorf("%s: over: %v", answer, s.finish != nil)
			continue
		}
		if op := s.state.Steps[0].Ops[0]; open && (op.CheckAt != s.now+3_000 || op.CancelSent != string(answer) || !op.Lost || op.Phase != plan.OpSent || request[plan.CancelTask](s) >= 0) {
			t.Errorf("%s: %+v, now %d", answer, op, s.now)
		}
	}
}

// A refusal of our own needs no test: the device never heard of it. Nor can a device be asked that cannot be reached.
func TestLaw15WhoseRefusalIsTested(t *testing.T) {
	for name, c := range map[string]struct {
		unasked, away bool
		tested        bool
	}{"the device's": {false, false, true}, "our own": {true, false, false}, "of one that is away": {false, true, false}} {
		s := newSim(t, threeSteps())
		s.until("a submit", func() bool { return request[plan.Submit](s) >= 0 })
		op := out[plan.Submit](s).OperationID
		if c.away {
			s.take(plan.DeviceChange{Gone: s.device.connection})
		}
		s.take(plan.Submitted{OperationID: op, Delivery: plan.DeliveryRefused, Unasked: c.unasked, Report: &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}})
		if tested := request[plan.CancelTask](s) >= 0; tested != c.tested || (s.finish == nil) != c.tested {
			t.Errorf("%s: tested: %v, over: %v", name, tested, s.finish != nil)
		}
	}
}

// Only an earlier try of the same step can be alive beside the one that is refused for it; of anything else it is no reason.
func TestLaw11WhatIsSaidToBeAliveIsAnEarlierTry(t *testing.T) {
	for name, c := range map[string]struct {
		code  string
		alive any
		open  bool
	}{
		"the first try": {"GENERATION_ALIVE", "p-1/move/1", true}, "this one": {"GENERATION_ALIVE", "p-1/move/2", false}, "another step": {"GENERATION_ALIVE", "p-1/dock/1", false},
		"another plan": {"GENERATION_ALIVE", "p-2/move/1", false}, "none": {"GENERATION_ALIVE", nil, false}, "another reason": {"MOVE_POLICY_NOT_ALLOWED", "p-1/move/1", false},
	} {
		s := runningMove(t)
		s.hostile = true
		s.happens(plan.EventFailed, 50, "TRY_AGAIN", false)
		second := out[plan.Submit](s)
		s.take(plan.Submitted{OperationID: second.OperationID, Delivery: plan.DeliveryRefused, Report: &plan.Report{Code: c.code, RequiresDecision: true, Params: map[string]any{"alive": c.alive}}})
		ops := s.state.Steps[0].Ops
		if open := ops[len(ops)-1].ID == "p-1/move/1"; open != c.open || (s.phase("move") == plan.StepUnknown) != c.open {
			t.Errorf("%s: the live one is %s, move is %s", name, ops[len(ops)-1].ID, s.phase("move"))
		}
	}
}

// Where nothing of the plan is kept, what is wrong with the whole is told all the same.
func TestAFaultOfTheWholeHasNoStep(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventFailed, 80, "ASK_ME", true)
	s.decide(replan(many(500)...))
	if b := s.state.Boundary; b == nil || b.Refused == "" || s.decides != 2 || len(s.state.Steps) != 3 {
		t.Errorf("boundary %+v, asked %d times, %d steps", b, s.decides, len(s.state.Steps))
	}
}
