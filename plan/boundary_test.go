package plan_test

import (
	"slices"
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// A table has no plans: where it wants one, or something unheard of, the plan ends.
func TestATableThatWantsAPlanEndsThePlan(t *testing.T) {
	for _, action := range []string{"replan", "dance", ""} {
		s := timedSim(t, catalog.Recovery{})
		last := len(s.state.Slice.Reasons) - 1
		s.state.Slice.Reasons[last].Default = action
		s.happens(plan.EventFailed, 80, "SLOW", false)
		if s.finish == nil || s.finish.State != plan.Failed || s.finish.Reason.Code != "SLOW" || len(s.asked) != 0 {
			t.Errorf("%q: %s", action, describe(s.state))
		}
		e := entryOf(t, s, "decision")
		if e.Step != "move" || e.From != "SLOW" || e.To != "cancel" {
			t.Errorf("%q: on record %+v", action, e)
		}
		if b := entryOf(t, s, "boundary"); b.Step != "move" || b.From != "p-1/move/1" || b.Text != "SLOW" {
			t.Errorf("%q: on record %+v", action, b)
		}
	}
}

// The decider is told where the plan stands, and asks in its own words.
func TestADeciderIsToldAndAsksInItsWords(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	c := out[plan.Decide](s)
	if c.Decider != "model" || c.Boundary.StepID != "move" || c.Boundary.OperationID != "p-1/move/1" || !c.Boundary.Asked || c.Slice == nil || c.View.PlanID != testPlan || c.View.State != plan.WaitingReplan {
		t.Errorf("asked %+v", c)
	}
	s.take(plan.Decided{Decision: plan.DecideAsk, Question: "Shall I wait?", Reason: "not sure"})
	if q := s.state.Question; q == nil || q.Text != "Shall I wait?" || !slices.Equal(q.Choices, []string{"wait", "stop"}) {
		t.Errorf("asks %+v", q)
	}
	if e := entryOf(t, s, "decision"); e.To != "ask" || e.Text != "not sure" {
		t.Errorf("on record %+v", e)
	}
	s.take(plan.Decided{Decision: plan.DecideCancel, LLMCalls: 7}) // an answer to nothing that is out
	if s.state.Ending != nil || s.state.LLMCalls != 0 || s.state.Decided != 1 {
		t.Errorf("%s, %d calls, %d spent", describe(s.state), s.state.LLMCalls, s.state.Decided)
	}
	s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: "wait", By: "kim"})
	if s.state.Boundary != nil || s.state.Phase() != plan.Running {
		t.Errorf("after the wait: %s, boundary %+v", describe(s.state), s.state.Boundary)
	}
}

// What goes on, or ends, takes the question about it along, and none about another.
func TestAQuestionStandsWithItsOperation(t *testing.T) {
	s := runningMove(t)
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	s.happens(plan.EventRunning, 81, "", false)
	if s.state.Boundary != nil || s.state.Question != nil || !commanded[plan.WithdrawQuestion](s) {
		t.Errorf("it goes on: boundary %+v, question %+v", s.state.Boundary, s.state.Question)
	}
	s = atBoundary(t)
	s.take(s.event(1, 90, plan.EventFailed, "p-1/move/1")) // of a step that is done
	if s.state.Boundary == nil || s.state.Boundary.StepID != "purify" {
		t.Errorf("boundary %+v", s.state.Boundary)
	}
}

// A decision may have a step tried three times in all; what the table's recovery tried is not counted.
func TestLaw13AStepIsTriedThreeTimesByDecision(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.fail["move"] = &plan.Report{Code: "TRY_AGAIN"}
	o := s.settle()
	if len(s.state.Steps[0].Ops) != 3 || o.State != plan.Failed {
		t.Errorf("%s after %d tries", o.State, len(s.state.Steps[0].Ops))
	}
	s = newDecidedSim(t, threeSteps(), "model")
	s.device.fail["move"] = &plan.Report{Code: "PASSES"}
	for s.finish == nil && s.decides < 4 {
		s.until("a decision", func() bool { return s.finish != nil || request[plan.Decide](s) >= 0 })
		if s.finish == nil {
			s.decide(plan.Decided{Decision: plan.DecideRetry})
		}
	}
	if n := len(s.state.Steps[0].Ops); n != 5 || s.decides != 3 { // two of the table's beside the three
		t.Errorf("%d tries after %d decisions", n, s.decides)
	}
}

// What a decider wants of a device that is to stop first waits for the stop.
func TestARetryOfABlockedTaskSeesItDeadFirst(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	s.decide(plan.Decided{Decision: plan.DecideRetry})
	if s.state.Boundary != nil || s.state.Steps[0].Then != plan.ThenRetry || request[plan.CancelTask](s) < 0 || s.submits["p-1/move/2"] != 0 {
		t.Fatalf("%s, sent %v", describe(s.state), s.submits)
	}
	if o := s.settle(); o.State != plan.Completed || s.submits["p-1/move/2"] != 1 || s.state.Steps[0].Then != "" {
		t.Errorf("%s, sent %v", o.State, s.submits)
	}
}

// An optional step that a decider gives up is left out; a blocked one is alive, and given up is the plan.
func TestGivingUpAnOptionalStep(t *testing.T) {
	for name, want := range map[plan.EventName]plan.Phase{plan.EventFailed: plan.Completed, plan.EventBlocked: plan.Failed} {
		doc := threeSteps()
		doc.Steps[0].Optional = true
		doc.Steps = append(doc.Steps, spec("tidy", "dock", nil, nil))
		s := newDecidedSim(t, doc, "model")
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.happens(name, 80, "ASK_ME", true)
		s.decide(plan.Decided{Decision: plan.DecideCancel})
		o := s.settle()
		if o.State != want || (o.Steps[0].Excused == plan.ExcuseSkipped) != (want == plan.Completed) {
			t.Errorf("%s: %s, %+v", name, o.State, o.Steps)
		}
	}
}

// What a planner's model put in the plan is confirmed as well, above reversible and once.
func TestLaw14APlannersModelIsConfirmed(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{spec("dock", "dock", nil, nil), spec("open", "unlock", nil, nil), spec("look", "look", nil, nil)}}
	for _, fromModel := range []bool{true, false} {
		slice := testSlice()
		slice.Capabilities[3].Title = catalog.Text{En: "Unlock"}
		slice.Sentences["ask_confirm"] = catalog.Text{En: "{what}?"}
		look := slice.Capabilities[4]
		look.ID, look.Impact = "look", catalog.ReadOnly
		slice.Capabilities = append(slice.Capabilities, look)
		s := asked(t, map[string]any{})
		out[plan.MakePlan](s)
		s.take(plan.Planned{Document: doc, Slice: slice, FromModel: fromModel})
		s.until("a question, or unlocking", func() bool { return s.state.Question != nil || s.submits["p-1/open/1"] > 0 })
		if (s.state.Question != nil) != fromModel || s.submits["p-1/dock/1"] != 1 {
			t.Fatalf("from a model %v: %s", fromModel, describe(s.state))
		}
		if fromModel {
			if q := s.state.Question; q.Text != "Unlock?" || q.StepID != "open" || s.state.View().Steps[1].Why != "a person is asked first" {
				t.Errorf("asked %+v; the step: %q", q, s.state.View().Steps[1].Why)
			}
			s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: "yes", By: "kim", MayConfirm: true})
		}
		if o := s.settle(); o.State != plan.Completed || s.submits["p-1/open/1"] != 1 || s.submits["p-1/look/1"] != 1 || len(s.asked) > 1 {
			t.Errorf("from a model %v: %s, sent %v, %d questions", fromModel, o.State, s.submits, len(s.asked))
		}
	}
}

// A plan that is on its way home, or waits for a decision, takes no amendment; why is said.
func TestWhyAPlanTakesNoAmendment(t *testing.T) {
	in := more("more", "dock")
	s := newSim(t, threeSteps())
	s.device.fail["move"] = &plan.Report{Code: "GO_HOME", RequiresDecision: true}
	s.until("returning", func() bool { return s.state.Returning != nil })
	if faults := s.state.AmendFaults(in); len(faults) != 1 || faults[0].Code != "not_amendable" || faults[0].Message != "the plan is not running" {
		t.Errorf("returning: %v", faults)
	}
	s = atBoundary(t)
	if faults := s.state.AmendFaults(in); len(faults) != 1 || faults[0].Code != "not_amendable" || !strings.Contains(faults[0].Message, "step purify") {
		t.Errorf("at a boundary: %v", faults)
	}
	s = newSim(t, threeSteps())
	if faults := s.state.AmendFaults(plan.Amend{By: "kim"}); len(faults) != 1 || faults[0].Code != "no_steps" {
		t.Errorf("without steps: %v", faults)
	}
}

// Contradicted or not to be told while the plan is being stopped: nobody is asked any more.
func TestAPlanThatIsBeingStoppedAsksNothing(t *testing.T) {
	for _, verdict := range []plan.Verdict{plan.Contradicted, plan.Unverified} {
		s := newSim(t, &plan.Document{Steps: []plan.StepSpec{spec("open", "unlock", nil, nil), spec("dock", "dock", nil, nil)}})
		s.until("verifying", func() bool { return s.phase("open") == plan.StepVerifying })
		s.take(plan.CancelRequest{By: "kim"})
		out[plan.Verify](s)
		s.take(plan.VerifiedResult{OperationID: "p-1/open/1", Verdict: verdict, Detail: "the door"})
		if s.finish == nil || s.finish.State != plan.Cancelled || len(s.asked) != 0 || s.state.Boundary != nil {
			t.Errorf("%s: %s, boundary %+v", verdict, describe(s.state), s.state.Boundary)
		}
		if want := map[plan.Verdict]plan.StepPhase{plan.Contradicted: plan.StepContradicted, plan.Unverified: plan.StepCompleted}[verdict]; s.finish.Steps[0].Phase != want {
			t.Errorf("%s: %+v", verdict, s.finish.Steps[0])
		}
	}
}

// A blocked task that gives no reason is blocked for an unknown one, and that needs a decision.
func TestLaw12ABlockWithoutAReasonIsUnknown(t *testing.T) {
	s := decidedSim(t)
	e := s.event(1, 80, plan.EventBlocked, "p-1/move/1")
	s.take(e)
	if r := s.state.Steps[0].Reason; r == nil || r.Code != "UNKNOWN" || !r.RequiresDecision || s.decides != 1 {
		t.Errorf("blocked for %+v, %d decisions asked for", r, s.decides)
	}
}

// Each question at a boundary is the catalog's sentence for it, and names what may be answered.
func TestEveryQuestionHasItsSentence(t *testing.T) {
	for want, text := range map[string]string{"retry,stop": "Again?", "retry,skip,stop": "Again, or skip it?"} {
		doc := threeSteps()
		doc.Steps[0].Optional = strings.Contains(want, "skip")
		slice := testSlice()
		slice.Sentences["ask_decision"], slice.Sentences["ask_decision_skip"] = catalog.Text{En: "Again?"}, catalog.Text{En: "Again, or skip it?"}
		s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}}
		s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: doc, Slice: slice})
		s.take(plan.Begin{})
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.happens(plan.EventFailed, 80, "ASK_ME", true)
		if q := s.state.Question; q == nil || q.Text != text || strings.Join(q.Choices, ",") != want {
			t.Errorf("asks %+v, want %s", q, want)
		}
	}
}
