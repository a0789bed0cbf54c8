package plan_test

import (
	"slices"
	"testing"

	"errand/plan"
)

// seen is what the robot saw, and what needs a decision.
func seen(seq int64) plan.Observation {
	return plan.Observation{EventID: "o", DeviceID: testDevice, Epoch: 1, Seq: seq, Kind: "pet_in_the_way", Confidence: 0.8, Place: "안방",
		RequiresDecision: true, Facts: map[string]any{"pet": "cat"}}
}

// deciding is the Decide that is out.
func deciding(t *testing.T, s *sim) plan.Decide {
	t.Helper()
	if request[plan.Decide](s) < 0 {
		t.Fatalf("no decision is asked for: %s", describe(s.state))
	}
	return out[plan.Decide](s)
}

func TestLaw12AnObservationIsDecidedOnlyIfItMustBe(t *testing.T) {
	idle := seen(90)
	idle.RequiresDecision = false
	foreign := seen(91)
	foreign.DeviceID = "robot-2"
	for name, in := range map[string]plan.Observation{"nobody must decide": idle, "another device saw it": foreign} {
		s := decidedSim(t)
		s.take(in)
		if s.decides != 0 || s.state.Boundary != nil {
			t.Errorf("%s: a decision is asked for", name)
		}
		if o := s.settle(); o.State != plan.Completed || o.LLMCalls != 0 {
			t.Errorf("%s: %s with %d calls", name, o.State, o.LLMCalls)
		}
	}
	s := newSim(t, threeSteps()) // and nobody can, where there is no decider
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(seen(90))
	if s.state.Boundary != nil || !journalHas(s, "note", "pet_in_the_way") {
		t.Error("an observation without a decider is a boundary, or is not on record")
	}
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s", o.State)
	}
}

func TestAnObservationReachesTheDeciderWithWhatWasSeen(t *testing.T) {
	s := decidedSim(t)
	s.take(seen(90))
	d := deciding(t, s)
	if d.Boundary.Observed == nil || d.Boundary.Observed.Facts["pet"] != "cat" || d.Boundary.StepID != "move" || d.Boundary.Report.Code != "OBSERVED" {
		t.Errorf("boundary %+v", d.Boundary)
	}
	if want := []plan.DecisionKind{"ask", "cancel", "replan", "retry", "return"}; !slices.Equal(d.Options, want) || d.Left != 5 {
		t.Errorf("options %v, %d left", d.Options, d.Left)
	}
	if d.Context == nil || d.Document == nil {
		t.Error("the decider is not told how the device is, or what the plan is")
	}
}

func TestLaw07AnObservationToldTwiceIsDecidedOnce(t *testing.T) {
	s := decidedSim(t)
	s.take(seen(90))
	deciding(t, s)
	s.take(plan.Decided{Decision: plan.DecideRetry, LLMCalls: 1})
	s.take(seen(90))
	if s.decides != 1 || s.state.Boundary != nil {
		t.Errorf("%d decisions", s.decides)
	}
}

// What is under way when something is seen goes on, whatever the decider says and though it may fail, until it says to stop.
func TestTheDecisionsOnAnObservation(t *testing.T) {
	for name, test := range map[string]struct {
		say    plan.Decided
		answer string
		want   plan.Phase
		tries  int // of the step that was under way
	}{
		"retry":            {say: plan.Decided{Decision: plan.DecideRetry}, want: plan.Completed, tries: 1},
		"a broken decider": {say: plan.Decided{}, want: plan.Completed, tries: 1},
		"ask, go on":       {say: plan.Decided{Decision: plan.DecideAsk, Question: "계속할까요?"}, answer: "continue", want: plan.Completed, tries: 1},
		"ask, stop":        {say: plan.Decided{Decision: plan.DecideAsk, TTSResponse: "계속할까요?"}, answer: "stop", want: plan.Failed, tries: 1},
		"ask, no answer":   {say: plan.Decided{Decision: plan.DecideAsk}, want: plan.Failed, tries: 1},
		"cancel":           {say: plan.Decided{Decision: plan.DecideCancel, TTSResponse: "그만할게요."}, want: plan.Failed, tries: 1},
		"return":           {say: plan.Decided{Decision: plan.DecideReturn}, want: plan.Returned, tries: 1},
		"replan":           {say: plan.Decided{Decision: plan.DecideReplan, Steps: []plan.StepSpec{spec("dock2", "dock", nil, nil)}}, want: plan.Completed, tries: 1},
	} {
		s := decidedSim(t)
		s.take(seen(90))
		deciding(t, s)
		s.take(test.say)
		if test.say.Decision == plan.DecideAsk {
			q := s.state.Question
			if q == nil || !slices.Equal(q.Choices, []string{"continue", "stop"}) || s.state.Taken.TTSResponse != q.Text {
				t.Fatalf("%s: question %+v, on record %+v", name, q, s.state.Taken)
			}
			if test.answer != "" {
				s.take(plan.Answer{QuestionID: q.ID, Choice: test.answer, By: "kim"})
			} else {
				s.tick(3_600_000)
			}
		}
		if o := s.settle(); o.State != test.want || len(s.state.Steps[0].Ops) != test.tries {
			t.Errorf("%s: %s after %d tries, want %s after %d", name, o.State, len(s.state.Steps[0].Ops), test.want, test.tries)
		}
	}
}

// While it is decided, what runs may end: it stays done, and nothing new is sent until the decision is there.
func TestLaw14WhatIsDoneMeanwhileStaysDone(t *testing.T) {
	s := decidedSim(t)
	s.take(seen(90))
	d := deciding(t, s)
	s.until("the step is done", func() bool { return s.phase("move") == plan.StepCompleted })
	if s.submits["p-1/purify/1"] != 0 {
		t.Error("a step was sent while it was being decided")
	}
	after := spec("dock2", "dock", []string{"move"}, nil)
	s.take(plan.Decided{Decision: plan.DecideReplan, Steps: []plan.StepSpec{after}})
	if s.state.Revision != 2 {
		t.Fatalf("the new plan was refused: %+v", s.state.Journal[len(s.state.Journal)-3:])
	}
	if o := s.settle(); o.State != plan.Completed || s.phase("move") != plan.StepCompleted || s.submits["p-1/dock2/1"] != 1 {
		t.Errorf("%s: %s (boundary about %s)", o.State, describe(s.state), d.Boundary.StepID)
	}
}

func TestLaw13ObservationsSpendThePlansOneBudget(t *testing.T) {
	s := decidedSim(t)
	for seq := int64(90); seq < 100; seq++ {
		s.take(seen(seq))
		if request[plan.Decide](s) >= 0 {
			out[plan.Decide](s)
			s.take(plan.Decided{Decision: plan.DecideRetry, LLMCalls: 1})
		}
	}
	if s.decides != 5 || s.state.LLMCalls != 5 || s.state.Boundary != nil {
		t.Errorf("%d decisions, %d calls, boundary %v", s.decides, s.state.LLMCalls, s.state.Boundary)
	}
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s", o.State)
	}
}

func TestAFailureOutranksWhatWasSeen(t *testing.T) {
	s := decidedSim(t)
	s.take(seen(90))
	deciding(t, s)
	s.happens(plan.EventFailed, 91, "MOVE_POLICY_NOT_ALLOWED", true)
	s.take(plan.Decided{Decision: plan.DecideRetry, LLMCalls: 1}) // about what was seen: spent, and settles nothing
	d := deciding(t, s)
	if d.Boundary.Observed != nil || d.Boundary.Report.Code != "MOVE_POLICY_NOT_ALLOWED" || d.Left != 4 {
		t.Errorf("asked about %+v with %d left", d.Boundary.Report, d.Left)
	}
}

// What is seen while a step is under way is about that step, wherever it stands in the plan; else about the first to come.
func TestAnObservationIsAboutWhatIsUnderWay(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{spec("dock", "dock", []string{"move"}, nil), spec("move", "move", nil, nil)}}
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}, leases: true}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: askedAt, Document: doc, Slice: testSlice(), Decider: "model"})
	s.take(plan.Begin{})
	s.take(seen(80))
	if b := s.state.Boundary; b == nil || b.StepID != "dock" {
		t.Errorf("before it is the plan's turn it is about %+v", b)
	}
	s = newDecidedSim(t, doc, "model")
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(seen(80))
	if b := s.state.Boundary; b == nil || b.StepID != "move" {
		t.Errorf("while move runs it is about %+v", b)
	}
}

// How sure the device is of what it saw is told where it says so.
func TestAnObservationSaysHowSureItIs(t *testing.T) {
	for confidence, want := range map[float64]string{0.8: "the device saw pet_in_the_way: 안방, with confidence 0.80", 0: "the device saw pet_in_the_way: 안방"} {
		s := decidedSim(t)
		in := seen(80)
		in.Confidence = confidence
		s.take(in)
		if b := s.state.Boundary; b == nil || b.Report.Detail != want {
			t.Errorf("%v: %+v, want %q", confidence, b, want)
		}
	}
}

// What was asked about something seen is settled by the answer, once: the plan goes on, or stops.
func TestAnAnswerSettlesWhatWasSeen(t *testing.T) {
	for choice, want := range map[string]plan.Phase{"continue": plan.Completed, "stop": plan.Failed} {
		s := decidedSim(t)
		s.take(seen(80))
		deciding(t, s)
		s.take(plan.Decided{Decision: plan.DecideAsk, Question: "Shall I go on?"})
		if s.state.Question == nil {
			t.Fatalf("%s", describe(s.state))
		}
		s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: choice, By: "kim"})
		if choice == "continue" && (s.state.Boundary != nil || s.state.Question != nil) {
			t.Errorf("boundary %+v, question %+v", s.state.Boundary, s.state.Question)
		}
		if o := s.settle(); o.State != want || s.decides != 1 || len(s.asked) != 1 {
			t.Errorf("%s: %s after %d decisions and %d questions", choice, o.State, s.decides, len(s.asked))
		}
	}
}

// What failed while a person was asked about something seen is what is asked about then: an answer to the old question, or none,
// must not leave the plan with a step that nobody decides about (law 18).
func TestLaw18AFailureIsDecidedThoughAPersonIsAskedAboutWhatWasSeen(t *testing.T) {
	for name, answer := range map[string]string{"go on": "continue", "nothing": ""} {
		s := decidedSim(t)
		s.take(seen(90))
		deciding(t, s)
		s.take(plan.Decided{Decision: plan.DecideAsk, Question: "Shall I go on?"})
		old := s.state.Question
		s.happens(plan.EventFailed, 91, "MOVE_POLICY_NOT_ALLOWED", true)
		if answer != "" {
			s.take(plan.Answer{QuestionID: old.ID, Choice: answer, By: "kim"})
		}
		d := deciding(t, s)
		if d.Boundary.Observed != nil || d.Boundary.Report.Code != "MOVE_POLICY_NOT_ALLOWED" {
			t.Fatalf("%s: asked about %+v", name, d.Boundary)
		}
		s.take(plan.Decided{Decision: plan.DecideRetry})
		if o := s.settle(); o.State != plan.Completed || len(s.state.Steps[0].Ops) != 2 {
			t.Errorf("%s: %s after %d tries", name, o.State, len(s.state.Steps[0].Ops))
		}
	}
}

// What started a plan is told again when its acknowledgement was lost: the plan has the device by then, and is not to decide about it.
func TestLaw07WhatStartedAPlanIsNoNewsToIt(t *testing.T) {
	saw := seen(80)
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: askedAt, Document: threeSteps(), Slice: testSlice(), Decider: "model", Saw: &saw})
	s.take(plan.Begin{})
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(seen(80))
	if s.decides != 0 || s.state.Boundary != nil || !journalHas(s, "note", "started by a watch: the device saw pet_in_the_way") {
		t.Errorf("%d decisions, boundary %+v, journal %+v", s.decides, s.state.Boundary, s.state.Journal)
	}
	s.take(seen(81))
	if s.decides != 1 {
		t.Error("what was seen later is not decided")
	}
}
