package plan_test

import (
	"testing"

	"errand/plan"
)

// A stop that a person pressed is no matter for a model or a table: the plan ends, and nothing of it is tried again.
func TestAnEmergencyStopEndsThePlanAndAsksNobody(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventFailed, 80, plan.EmergencyStop, true)
	o := s.settle()
	if o.State != plan.Failed || o.Reason.Code != plan.EmergencyStop || s.decides != 0 || len(s.asked) != 0 {
		t.Errorf("%s (%+v), %d decisions, %d questions", o.State, o.Reason, s.decides, len(s.asked))
	}
	if s.submits["p-1/move/2"] > 0 || s.submits["p-1/purify/1"] > 0 {
		t.Errorf("submits %v after the stop", s.submits)
	}
}
