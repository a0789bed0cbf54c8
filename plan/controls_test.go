package plan_test

import (
	"slices"
	"testing"

	"errand/plan"
)

// A step that cannot be withdrawn is not, and why is said in words.
func TestWhyAStepCannotBeWithdrawn(t *testing.T) {
	withdraw := plan.CancelStep{StepID: "move", By: "kim"}
	const over, already, done = "the plan is over, or on its way there", "the plan goes on without it already", "it is completed"
	for name, c := range map[string]struct {
		step string
		want string
		do   func(*sim)
	}{
		"it runs":         {"move", "", func(*sim) {}},
		"it is to come":   {"dock", "", func(*sim) {}},
		"it is not there": {"nosuch", "the plan has no step nosuch", func(*sim) {}},
		"cancelling":      {"move", over, func(s *sim) { s.take(plan.CancelRequest{By: "kim"}) }},
		"ending":          {"move", over, func(s *sim) { s.happens(plan.EventBlocked, 80, "MOVE_POLICY_NOT_ALLOWED", true) }},
		"over":            {"move", over, func(s *sim) { s.settle() }},
		"being stopped":   {"move", already, func(s *sim) { s.take(more("more", "dock")); s.take(withdraw) }},
		"withdrawn":       {"dock", already, func(s *sim) { s.take(plan.CancelStep{StepID: "dock"}) }},
		"completed":       {"move", done, func(s *sim) { s.until("done", func() bool { return s.phase("move") == plan.StepCompleted }) }},
		"verifying":       {"purify", done, func(s *sim) { s.until("verifying", func() bool { return s.phase("purify") == plan.StepVerifying }) }},
	} {
		s := runningMove(t)
		c.do(s)
		if got := s.state.CancelStepRefusal(plan.CancelStep{StepID: c.step}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// To withdraw the step that all the rest hangs on, directly or through others, is to cancel the plan.
func TestWithdrawingAllThereIsCancelsThePlan(t *testing.T) {
	backwards := func() *plan.Document {
		doc := threeSteps()
		slices.Reverse(doc.Steps)
		return doc
	}
	for name, c := range map[string]struct {
		doc     *plan.Document
		first   string // withdrawn before
		step    string
		cancels bool
	}{
		"the rest hangs on it":             {threeSteps(), "", "move", true},
		"in whatever order they stand":     {backwards(), "", "move", true},
		"the last is left out":             {threeSteps(), "", "dock", false},
		"those in the middle are left out": {threeSteps(), "", "purify", false},
		"the rest was withdrawn":           {threeSteps(), "purify", "move", true},
	} {
		s := newSim(t, c.doc)
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		if c.first != "" {
			s.take(plan.CancelStep{StepID: c.first, By: "kim"})
		}
		s.take(plan.CancelStep{StepID: c.step, By: "kim"})
		if got := s.state.Cancel; (got != nil) != c.cancels || got != nil && (got.By != "kim" || got.Why != "step "+c.step || got.Source != "api") {
			t.Errorf("%s: the cancel is %+v, want one: %v", name, got, c.cancels)
		}
	}
}

// What is asked about a step goes with the step, and with no other.
func TestAWithdrawnStepTakesItsQuestionAlong(t *testing.T) {
	for step, goes := range map[string]bool{"purify": true, "dock": false} {
		for _, decider := range []string{"", "model"} {
			doc := threeSteps()
			doc.Steps[2].DependsOn = []string{"move"}
			s := newDecidedSim(t, doc, decider)
			s.device.fail["purify"] = &plan.Report{Code: "ASK_ME", RequiresDecision: true}
			s.until("a boundary", func() bool { return s.state.Boundary != nil })
			s.take(plan.CancelStep{StepID: step, By: "kim"})
			withdrawn := commanded[plan.WithdrawQuestion](s)
			if (s.state.Boundary == nil) != goes || (s.state.Question == nil) != (goes || decider != "") || withdrawn != (goes && decider == "") {
				t.Errorf("%s withdrawn (decider %q): boundary %+v, question %+v, withdrawn: %v", step, decider, s.state.Boundary, s.state.Question, withdrawn)
			}
		}
	}
}

// Of several states at once the first of the design's order shows (design §6).
func TestOfSeveralStatesTheFirstShows(t *testing.T) {
	s := decidedSim(t)
	wantPhase := func(want plan.Phase) {
		t.Helper()
		if got := s.state.Phase(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	wantPhase(plan.Running)
	s.take(plan.DeviceChange{Gone: s.device.connection})
	wantPhase(plan.WaitingDevice)
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1"})
	wantPhase(plan.WaitingReplan)
	s.decide(plan.Decided{Decision: plan.DecideAsk})
	wantPhase(plan.WaitingUser)
	s.take(plan.Pause{Token: "x"})
	wantPhase(plan.Paused)
	s.take(plan.CancelRequest{By: "kim"})
	wantPhase(plan.Cancelling)
	if s.state.Question != nil || s.state.Boundary != nil {
		t.Errorf("while it is stopped nothing is to be decided: %+v, %+v", s.state.Question, s.state.Boundary)
	}
}

// A plan whose time is over takes its question back. One that was answered, or expired, needs no taking back.
func TestAQuestionIsTakenBackOnlyWhileItStands(t *testing.T) {
	askedAboutMove := func() *sim {
		s := runningMove(t)
		s.happens(plan.EventBlocked, 80, "ASK_ME", true)
		s.all = nil
		return s
	}
	s := askedAboutMove()
	s.state.Deadline = s.now + 60_000
	s.now += 60_000
	s.take(plan.DeadlinePassed{})
	if !commanded[plan.WithdrawQuestion](s) || s.state.Question != nil || s.state.Boundary != nil {
		t.Errorf("past its deadline the question is %+v, the boundary %+v", s.state.Question, s.state.Boundary)
	}
	for name, end := range map[string]func(*sim){
		"answered": func(s *sim) { s.take(plan.Answer{QuestionID: "p-1.1", Choice: "stop", By: "kim"}) },
		"expired":  func(s *sim) { s.tick(120_000) },
	} {
		s := askedAboutMove()
		end(s)
		if commanded[plan.WithdrawQuestion](s) || s.state.Question != nil || s.state.Ending == nil {
			t.Errorf("%s: taken back: %v, question %+v, ending %+v", name, commanded[plan.WithdrawQuestion](s), s.state.Question, s.state.Ending)
		}
	}
}

// Only one of the choices that were given answers the question that was asked.
func TestAnAnswerIsOneOfTheChoices(t *testing.T) {
	s := runningMove(t)
	s.happens(plan.EventFailed, 80, "ASK_ME", true)
	if q := s.state.Question; q.Kind != "decision" || q.StepID != "move" || q.OperationID != "p-1/move/1" || !slices.Equal(q.Choices, []string{"retry", "stop"}) {
		t.Fatalf("asked %+v", q)
	}
	for _, in := range []plan.Answer{{QuestionID: "p-1.2", Choice: "retry"}, {QuestionID: "p-1.1", Choice: "skip"}, {QuestionID: "p-1.1"}} {
		s.take(in)
		if s.state.Question == nil || s.submits["p-1/move/2"] != 0 || s.state.Ending != nil {
			t.Fatalf("%+v was taken: %s", in, describe(s.state))
		}
	}
	s.take(plan.Answer{QuestionID: "p-1.1", Choice: "retry", By: "kim"})
	if s.submits["p-1/move/2"] != 1 || s.state.Decided != 2 { // the table's, and the person's
		t.Errorf("submits %v, %d spent", s.submits, s.state.Decided)
	}
	if st := s.state.View().Steps[0]; st.Reason != nil || st.OperationID != "p-1/move/2" {
		t.Errorf("tried again, and it is told as %+v", st)
	}
}
