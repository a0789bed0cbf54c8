package plan_test

import (
	"slices"
	"testing"

	"errand/plan"
)

// While somebody looks at what a step would act on, other steps take its place, or it is withdrawn, or all is cancelled: what was
// seen then concerns nobody, and nothing of it is sent.
func TestLaw15WhatIsLookedAtMayBeReplaced(t *testing.T) {
	other := plan.StepSpec{ID: "other", Action: plan.Action{CapabilityID: "ring", OperationID: "start", Arguments: map[string]any{"label": "운동"}}}
	for name, c := range map[string]struct {
		meanwhile plan.Input
		state     plan.Phase
		sent      []string
	}{
		"replaced":  {plan.Amend{Steps: []plan.StepSpec{other}, Replace: true, By: "kim"}, plan.Completed, []string{"p-1/other/1 b at 1"}},
		"withdrawn": {plan.CancelStep{StepID: "act", By: "kim"}, plan.Cancelled, nil},
		"cancelled": {plan.CancelRequest{By: "kim", Source: "api"}, plan.Cancelled, nil},
	} {
		for _, how := range []how{fine, notSent} {
			s := acting(t, "ring", twoAtSeven(), map[string]any{"label": "출근"})
			s.until("looks", func() bool { return request[plan.Prepare](s) >= 0 })
			s.take(c.meanwhile)
			if i := request[plan.Prepare](s); i >= 0 {
				s.answer(i, how)
			}
			if o := s.settle(); o.State != c.state || !slices.Equal(s.sent(), c.sent) || len(s.asked) != 0 {
				t.Errorf("%s, the look was %v: %s, sent %v, asked %v", name, how, o.State, s.sent(), s.asked)
			}
		}
	}
}

// A yes at the very moment that its question runs out is too late, whichever of the two is taken first; a moment before it counts.
func TestLaw16AtTheMomentOfExpiry(t *testing.T) {
	for early, want := range map[int64]plan.Phase{0: plan.Failed, 1: plan.Completed} {
		s := acting(t, "arm", twoAtSeven(), nil)
		q := s.asks("confirm")
		yes := plan.Answer{QuestionID: q.ID, Choice: "yes", By: "kim", MayConfirm: true}
		s.now = q.ExpiresAt - early
		if refusal := s.state.AnswerRefusal(yes, s.now); (refusal == nil) != (want == plan.Completed) {
			t.Errorf("%d ms before: refused as %+v", early, refusal)
		}
		s.take(yes)
		if o := s.settle(); o.State != want || (len(s.submits) != 0) != (want == plan.Completed) {
			t.Errorf("%d ms before: %s, sent %v", early, o.State, s.submits)
		}
	}
}
