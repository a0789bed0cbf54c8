package plan_test

import (
	"slices"
	"testing"

	"errand/catalog/load"
	"errand/plan"
)

// gated is a plan under the built-in reason table, whose first submit is refused at a gate.
func gated(t *testing.T, code string) *sim {
	t.Helper()
	s := newSim(t, threeSteps())
	slice := *s.state.Slice
	slice.Reasons = load.Builtin().Reasons
	s.state.Slice = &slice
	s.refuseSubmit(code)
	return s
}

// refuseSubmit lets the next submit be refused, as a gateway tells it: whether that needs a decision, the table says.
func (s *sim) refuseSubmit(code string) {
	s.t.Helper()
	s.until("a submit", func() bool { return request[plan.Submit](s) >= 0 })
	i := request[plan.Submit](s)
	c, _ := s.out[i].(plan.Submit) // request found one
	s.out = slices.Delete(s.out, i, i+1)
	s.take(plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, ConnectionEpoch: c.Route.ConnectionEpoch, Unasked: true,
		Report: &plan.Report{Code: code, RequiresDecision: s.state.Slice.Reason(code).RequiresDecision}})
}

// An app that is not on the screen may be opened in a moment: the plan waits for that twice, and then asks. Nothing has failed.
func TestAnAppInTheBackgroundIsWaitedFor(t *testing.T) {
	s := gated(t, "NODE_BACKGROUND_UNAVAILABLE")
	for _, wait := range []int64{15_000, 30_000} {
		if got := s.state.Wake - s.now; got != wait || s.state.Question != nil || s.finish != nil {
			t.Fatalf("it waits %d ms with the question %v, want %d ms and none", got, s.state.Question, wait)
		}
		s.tick(wait)
		s.refuseSubmit("NODE_BACKGROUND_UNAVAILABLE")
	}
	if q := s.state.Question; q == nil || !slices.Contains(q.Choices, "retry") || s.state.Phase() != plan.WaitingUser {
		t.Fatalf("the question is %+v, the plan %s", q, s.state.Phase())
	}
	s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: "retry", By: "kim"})
	if o := s.settle(); o.State != plan.Completed || len(s.device.effects) != 3 {
		t.Errorf("once the app is open it is %s with the effects %v", o.State, s.device.effects)
	}
}

// What a person can change is asked of a person, and goes on once it is changed.
func TestAGateThatAPersonOpensAsks(t *testing.T) {
	for _, code := range []string{"COMMAND_NOT_APPROVED", "PERMISSION_REQUIRED", "CAMERA_PERMISSION_REQUIRED", "LOCATION_PERMISSION_REQUIRED",
		"CONTACTS_PERMISSION_REQUIRED", "LOCATION_DISABLED"} {
		t.Run(code, func(t *testing.T) {
			s := gated(t, code)
			q := s.state.Question
			if q == nil || s.finish != nil || !slices.Contains(q.Choices, "retry") {
				t.Fatalf("the question is %+v, want to be asked at once", q)
			}
			s.take(plan.Answer{QuestionID: q.ID, Choice: "retry", By: "kim"})
			if o := s.settle(); o.State != plan.Completed || len(s.device.effects) != 3 {
				t.Errorf("%s with the effects %v", o.State, s.device.effects)
			}
		})
	}
}

// What the device does not have, or what is switched off, ends the plan with a sentence, and nothing was done.
func TestAGateThatStaysShutEndsThePlan(t *testing.T) {
	for _, code := range []string{"COMMAND_NOT_OFFERED", "CAPABILITY_DISABLED", "SYSTEM_RUN_DENIED"} {
		t.Run(code, func(t *testing.T) {
			o := gated(t, code).settle()
			if o.State != plan.Failed || o.Reason == nil || o.Reason.Code != code || o.TTSResponse == "" {
				t.Errorf("%s with %+v, said %q", o.State, o.Reason, o.TTSResponse)
			}
		})
	}
}
