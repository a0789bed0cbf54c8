package plan_test

import (
	"slices"
	"testing"

	"errand/plan"
)

func decidedSim(t *testing.T) *sim {
	t.Helper()
	s := newDecidedSim(t, threeSteps(), "model")
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	return s
}

func (s *sim) happens(name plan.EventName, seq int64, code string, decision bool) {
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: seq, Name: name, OperationID: "p-1/move/1", Report: &plan.Report{Code: code, RequiresDecision: decision}})
}

func TestLaw12NoModelIsAskedWhereTheTableHelps(t *testing.T) {
	s := decidedSim(t)
	s.device.fail["move"] = &plan.Report{Code: "TRY_AGAIN"}
	s.until("second try", func() bool { return s.submits["p-1/move/2"] == 1 })
	if s.decides != 0 {
		t.Errorf("%d decisions asked for, though a retry by the table was left", s.decides)
	}
	s.until("decision", func() bool { return s.decides > 0 })
	if n := len(s.state.Steps[0].Ops); n != 3 {
		t.Errorf("asked after %d tries, want after the last", n)
	}
	if o := s.settle(); o.State != plan.Failed {
		t.Errorf("%s", o.State)
	}
}

func TestLaw13AnOldDecisionSettlesNothingNew(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	if request[plan.Decide](s) < 0 {
		t.Fatal("no decision asked for")
	}
	s.happens(plan.EventFailed, 81, "MOVE_POLICY_NOT_ALLOWED", true)
	out[plan.Decide](s)
	if s.decides != 1 {
		t.Fatalf("%d decisions are out at once", s.decides)
	}
	s.take(plan.Decided{Decision: plan.DecideRetry, LLMCalls: 1})
	if s.submits["p-1/move/2"] != 0 {
		t.Error("a decision about BLOCKED retried what FAILED since")
	}
	if s.decides != 2 || s.state.LLMCalls != 1 || s.state.Decided != 1 {
		t.Errorf("%d asked, %d spent, %d calls; want the new question asked, the old one on the bill", s.decides, s.state.Decided, s.state.LLMCalls)
	}
	s.answer(request[plan.Decide](s), fine)
	if o := s.settle(); o.State != plan.Failed || o.LLMCalls != 1 {
		t.Errorf("%s with %d calls", o.State, o.LLMCalls)
	}
}

func TestLaw13CallsOfADecisionThatCameTooLateAreCounted(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	s.take(plan.CancelRequest{By: "kim"})
	out[plan.Decide](s)
	s.take(plan.Decided{Decision: plan.DecideAsk, LLMCalls: 2})
	if o := s.settle(); o.LLMCalls != 2 || len(s.asked) != 0 {
		t.Errorf("%d calls, %d questions; want 2 and none", o.LLMCalls, len(s.asked))
	}
}

func TestAnUnknownDecisionIsTheTables(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventFailed, 80, "ASK_ME", true)
	out[plan.Decide](s)
	s.take(plan.Decided{Decision: "dance"})
	if q := s.state.Question; q == nil || q.Kind != "decision" || s.state.Decided != 1 {
		t.Errorf("question %+v, %d spent; want the table's question, and one decision spent", q, s.state.Decided)
	}
}

func TestAQuestionIsWithdrawnWhenThePlanEnds(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventFailed, 80, "ASK_ME", false)
	id := s.state.Question.ID
	s.tick(3_600_000)
	s.take(plan.CancelRequest{By: "kim"})
	withdrawn := slices.ContainsFunc(s.all, func(c plan.Command) bool { w, ok := c.(plan.WithdrawQuestion); return ok && w.QuestionID == id })
	if s.state.Question != nil || (!withdrawn && !journalHas(s, "note", "was not answered")) {
		t.Errorf("the question stands: %s", describe(s.state))
	}

	s = decidedSim(t)
	s.happens(plan.EventBlocked, 80, "ASK_ME", false)
	s.happens(plan.EventBlocked, 81, "ASK_ME", true)
	out[plan.Decide](s)
	s.take(plan.Decided{Decision: plan.DecideAsk})
	id = s.state.Question.ID
	s.take(plan.CancelRequest{By: "kim"})
	if !slices.ContainsFunc(s.all, func(c plan.Command) bool { w, ok := c.(plan.WithdrawQuestion); return ok && w.QuestionID == id }) {
		t.Error("a cancel leaves its plan's question open")
	}
}

func TestLaw13DecisionsAreBounded(t *testing.T) {
	s := decidedSim(t)
	for seq := int64(80); s.finish == nil && seq < 120; seq += 2 {
		s.happens(plan.EventBlocked, seq, "ASK_ME", true)
		if i := request[plan.Decide](s); i >= 0 {
			out[plan.Decide](s)
			s.take(plan.Decided{Decision: plan.DecideAsk, LLMCalls: 1})
		}
		if q := s.state.Question; q != nil {
			s.take(plan.Answer{QuestionID: q.ID, Choice: "wait", By: "kim"})
		}
		if request[plan.CancelTask](s) >= 0 {
			break
		}
		s.happens(plan.EventRunning, seq+1, "", false)
	}
	if o := s.settle(); o.State != plan.Failed || s.decides != 5 || len(s.asked) != 5 {
		t.Errorf("%s after %d decisions and %d questions, want failed after 5", o.State, s.decides, len(s.asked))
	}
}

func TestABindingThatFailedIsNotTriedTheSameWayAgain(t *testing.T) {
	for _, kind := range []plan.DecisionKind{plan.DecideRetry, plan.DecideAsk, plan.DecideReplan, "", "nonsense"} {
		s := newDecidedSim(t, threeSteps(), "model")
		s.device.result = nil
		s.until("decision", func() bool { return s.decides > 0 })
		out[plan.Decide](s)
		s.take(plan.Decided{Decision: kind})
		want := 1
		if kind == plan.DecideReplan { // without a plan: refused, and it may try once more
			want = 2
		}
		if o := s.settle(); o.State != plan.Failed || s.decides != want {
			t.Errorf("%q: %s after %d decisions, want failed after %d", kind, o.State, s.decides, want)
		}
	}
}

// A binding that failed leaves nothing to try again: the person chooses what becomes of the rest.
func TestAPersonMaySendTheDeviceBackAfterABindingThatFailed(t *testing.T) {
	for choice, want := range map[string]plan.Phase{"return": plan.Returned, "stop": plan.Failed} {
		s := newDecidedSim(t, &plan.Document{Steps: threeSteps().Steps[:2]}, "model")
		s.device.result = nil
		s.until("decision", func() bool { return request[plan.Decide](s) >= 0 })
		out[plan.Decide](s)
		s.take(plan.Decided{Decision: plan.DecideAsk})
		q := s.state.Question
		if q == nil || !slices.Equal(q.Choices, []string{"return", "stop"}) {
			t.Fatalf("asked %+v", q)
		}
		s.take(plan.Answer{QuestionID: q.ID, Choice: choice, By: "kim"})
		if o := s.settle(); o.State != want || s.submits["p-1/purify/1"] > 0 {
			t.Errorf("%s: %s, submits %v", choice, o.State, s.submits)
		}
	}
}

// What a person is offered can be carried out, though the question was the last decision that the plan could spend.
func TestLaw13AnAnswerToTheLastQuestionCounts(t *testing.T) {
	s := decidedSim(t)
	for seq := int64(80); seq < 84; seq++ { // four are spent on what was seen
		s.take(seen(seq))
		out[plan.Decide](s)
		s.take(plan.Decided{Decision: plan.DecideRetry})
	}
	s.happens(plan.EventFailed, 90, "MOVE_POLICY_NOT_ALLOWED", true)
	out[plan.Decide](s)
	s.take(plan.Decided{Decision: plan.DecideAsk})
	q := s.state.Question
	if q == nil || !slices.Contains(q.Choices, "retry") {
		t.Fatalf("question %+v", q)
	}
	s.take(plan.Answer{QuestionID: q.ID, Choice: "retry", By: "kim"})
	if o := s.settle(); o.State != plan.Completed || s.submits["p-1/move/2"] != 1 || s.decides != 5 {
		t.Errorf("%s after %d decisions: %s", o.State, s.decides, describe(s.state))
	}
}

// A blocked task that says so again, while a person is asked about it, spends nothing and asks nobody anew.
func TestLaw13ATaskThatIsStillBlockedIsAskedAboutOnce(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	out[plan.Decide](s)
	s.take(plan.Decided{Decision: plan.DecideAsk})
	q := s.state.Question
	for seq := int64(81); seq < 90; seq++ {
		s.happens(plan.EventBlocked, seq, "ASK_ME", true)
	}
	if s.decides != 1 || s.state.Decided != 1 || s.state.Question == nil || s.state.Question.ID != q.ID || len(s.asked) != 1 {
		t.Errorf("%d asked, %d spent, question %+v", s.decides, s.state.Decided, s.state.Question)
	}
}
