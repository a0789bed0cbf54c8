package plan_test

import (
	"slices"
	"testing"

	"errand/plan"
)

// fails lets a step end as FAILED with the code, n times.
func failing(t *testing.T, decider, step, code string) *sim {
	t.Helper()
	s := newDecidedSim(t, threeSteps(), decider)
	s.device.fail[step] = &plan.Report{Code: code}
	return s
}

func TestRecoveryRetriesByTheTableWithBackoff(t *testing.T) {
	s := failing(t, "model", "move", "PASSES")
	s.until("the first failure", func() bool { return len(s.state.Steps[0].Ops) == 2 })
	if wait := s.state.Wake - s.now; s.submits["p-1/move/2"] != 0 || wait != 10_000 {
		t.Errorf("the second try is due in %d ms, submits %v; want in 10 s and not before", wait, s.submits)
	}
	s.until("the second failure", func() bool { return len(s.state.Steps[0].Ops) == 3 })
	if wait := s.state.Wake - s.now; wait != 20_000 {
		t.Errorf("the third try is due in %d ms, want the backoff doubled", wait)
	}
	delete(s.device.fail, "move")
	if o := s.settle(); o.State != plan.Completed || s.decides != 0 || s.state.Decided != 0 {
		t.Errorf("%s, %d decisions asked for, %d spent: recovery spends none", o.State, s.decides, s.state.Decided)
	}
}

func TestLaw12ExhaustedRecoverySetsTheBoundaryItself(t *testing.T) {
	s := failing(t, "model", "move", "PASSES")
	s.until("a decision", func() bool { return s.decides > 0 })
	b := s.state.Boundary
	if len(s.state.Steps[0].Ops) != 3 || b == nil || !b.Report.RequiresDecision || b.Report.Detail == "" {
		t.Errorf("after %d tries the boundary is %+v", len(s.state.Steps[0].Ops), b)
	}
}

func TestLaw12WithoutTheDevicesWordNoModelIsAsked(t *testing.T) {
	s := failing(t, "model", "move", "ASK_ME")
	s.until("a question", func() bool { return len(s.asked) > 0 })
	if s.decides != 0 {
		t.Errorf("%d decisions asked for; the device did not ask for one, and the table asks the person", s.decides)
	}
}

func TestRecoveryGivesABlockedTaskTime(t *testing.T) {
	for name, goesOn := range map[string]bool{"goes on": true, "stays": false} {
		s := newSim(t, threeSteps())
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.happens(plan.EventBlocked, 80, "WAIT_FOR_IT", false)
		if wait := s.state.Wake - s.now; wait != 60_000 || s.state.Boundary != nil {
			t.Errorf("%s: it has %d ms, want 3 times 20 s; boundary %+v", name, wait, s.state.Boundary)
		}
		if goesOn {
			s.happens(plan.EventRunning, 81, "", false)
			if o := s.settle(); o.State != plan.Completed || len(s.asked) > 0 {
				t.Errorf("%s: %s, %d questions", name, o.State, len(s.asked))
			}
			continue
		}
		s.tick(60_000)
		if q := s.state.Question; q == nil || !slices.Equal(q.Choices, []string{"wait", "stop"}) {
			t.Errorf("%s: the question is %+v", name, q)
		}
	}
}

func TestLaw12AWaitThatWasInVainAsksTheDecider(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventBlocked, 80, "WAIT_FOR_IT", false)
	s.tick(59_000)
	if s.decides != 0 {
		t.Fatal("asked before its time")
	}
	s.tick(1000)
	if s.decides != 1 || !s.state.Boundary.Report.RequiresDecision {
		t.Errorf("%d decisions asked for: %s", s.decides, describe(s.state))
	}
}

func TestRecoveryOfABlockedTaskSeesItDeadFirst(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.happens(plan.EventBlocked, 80, "PASSES", false)
	if request[plan.CancelTask](s) < 0 || len(s.state.Steps[0].Ops) != 1 {
		t.Fatalf("out: %v", s.out)
	}
	if o := s.settle(); o.State != plan.Completed || s.submits["p-1/move/2"] != 1 {
		t.Errorf("%s, submits %v", o.State, s.submits)
	}
}

func TestAStepThatIsStoppedForAnotherTryMayCompleteInstead(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.happens(plan.EventBlocked, 80, "PASSES", false)
	s.device.stubborn = true
	if o := s.settle(); o.State != plan.Completed || s.submits["p-1/move/2"] != 0 || len(s.device.effects) != 3 {
		t.Errorf("Law10: %s, submits %v, effects %v", o.State, s.submits, s.device.effects)
	}
}

func TestAnOptionalStepIsLeftOut(t *testing.T) {
	doc := threeSteps()
	doc.Steps[1].Optional = true
	s := newSim(t, doc)
	s.device.fail["purify"] = &plan.Report{Code: "ASK_ME"}
	o := s.settle()
	if o.State != plan.Completed || o.Steps[1].Excused != plan.ExcuseSkipped || o.Steps[2].Excused != plan.ExcuseSkipped || len(s.asked) > 0 {
		t.Errorf("%s: %+v; want the optional step and what depends on it left out, unasked", o.State, o.Steps)
	}
	if o.TTSResponse != "Done. Could not. Done otherwise." {
		t.Errorf("Law20: said %q", o.TTSResponse)
	}
	s = newSim(t, &plan.Document{Steps: []plan.StepSpec{{ID: "move", Optional: true, Action: spec("move", "move", nil, nil).Action}}})
	s.device.fail["move"] = &plan.Report{Code: "ASK_ME"}
	if o := s.settle(); o.State != plan.Failed || o.Reason == nil || o.Reason.Code != "ASK_ME" {
		t.Errorf("Law20: nothing was done, and it ended %s with %+v", o.State, o.Reason)
	}
}

func TestAPersonMayLeaveOutAnOptionalStep(t *testing.T) {
	doc := threeSteps()
	doc.Steps[1].Optional, doc.Steps[2].DependsOn = true, []string{"move"}
	s := newSim(t, doc)
	s.device.fail["purify"] = &plan.Report{Code: "ASK_ME", RequiresDecision: true}
	s.until("a question", func() bool { return s.state.Question != nil })
	if q := s.state.Question; !slices.Equal(q.Choices, []string{"retry", "skip", "stop"}) {
		t.Fatalf("choices %v", q.Choices)
	}
	s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: "skip", By: "kim"})
	if o := s.settle(); o.State != plan.Completed || o.Steps[2].Phase != plan.StepCompleted || o.Steps[1].Phase != plan.StepFailed {
		t.Errorf("%s: %+v", o.State, o.Steps)
	}
}
