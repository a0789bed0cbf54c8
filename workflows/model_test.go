package workflows_test

import (
	"testing"
	"time"

	"errand/llm"
	"errand/llm/temporalerr"
	"errand/plan"
)

// modelShell is a plan that is to be made of a sentence that no routine takes.
func modelShell(t *testing.T, byModel func(attempt int) (plan.Planned, error)) *shell {
	t.Helper()
	s := newShell(t)
	s.start.Document, s.start.Slice, s.start.Utterance = nil, nil, &plan.Utterance{Text: "?", DeviceContext: map[string]any{"snapshot_ts": 1.0}}
	s.stub(plan.ActivityPlan, func(plan.MakePlan) (plan.Planned, error) {
		return plan.Planned{ForModel: true, Sentence: "later, please", Report: &plan.Report{Code: "PLANNER_FAILED"}}, nil
	})
	attempts := 0
	s.stub(plan.ActivityPlanByModel, func(plan.MakePlan) (plan.Planned, error) {
		attempts++
		return byModel(attempts)
	})
	return s
}

// Law 18: a model that stays down ends the plan in time, with a name, and the person hears what the first planner left for
// that case. Every call that was made is counted.
func TestLaw18AModelThatStaysDownEndsInSomethingNamed(t *testing.T) {
	asked := 0
	s := modelShell(t, func(attempt int) (plan.Planned, error) {
		asked = attempt
		return plan.Planned{}, temporalerr.Of(&llm.Error{Kind: llm.Unavailable, Status: 503}, attempt)
	})
	began := s.Now()
	o, err := s.run(t)
	if err == nil || o.State != plan.Failed || o.Reason.Code != "PLANNER_FAILED" || o.TTSResponse != "later, please" {
		t.Errorf("%+v, %v", o, err)
	}
	if waited := s.Now().Sub(began); asked < 3 || o.LLMCalls != asked || waited > 4*time.Minute {
		t.Errorf("%d calls counted of %d, after %s", o.LLMCalls, asked, waited)
	}
}

// The timing of a 429 as the plan sees it: the next try comes when the model's server said, to the fraction.
func TestAModelIsAskedAgainWhenItsServerSays(t *testing.T) {
	const named = 38922534355 * time.Nanosecond
	var at []time.Time
	var s *shell
	s = modelShell(t, func(attempt int) (plan.Planned, error) {
		at = append(at, s.Now())
		if attempt == 1 {
			return plan.Planned{}, temporalerr.Of(&llm.Error{Kind: llm.RateLimited, Status: 429, RetryAfter: named}, attempt)
		}
		return plan.Planned{Sentence: "I do not know how", LLMCalls: attempt}, nil
	})
	o, _ := s.run(t)
	if len(at) != 2 || at[1].Sub(at[0]) < named || at[1].Sub(at[0]) > named+time.Second {
		t.Fatalf("asked at %v", at)
	}
	if o.TTSResponse != "I do not know how" || o.LLMCalls != 2 || o.Reason.Code != "NO_PLAN" {
		t.Errorf("%+v", o)
	}
}

// What is final is asked once: an answer ends it, and so does an error that is not retryable.
func TestWhatIsFinalIsNotAskedAgain(t *testing.T) {
	asked := 0
	s := modelShell(t, func(attempt int) (plan.Planned, error) {
		asked = attempt
		return plan.Planned{}, temporalerr.Of(&llm.Error{Kind: llm.QuotaSpent, RetryAfter: time.Second}, attempt)
	})
	if o, _ := s.run(t); asked != 1 || o.TTSResponse != "later, please" || o.LLMCalls != 1 {
		t.Errorf("asked %d times: %+v", asked, o)
	}
}
