package tests

import (
	"testing"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// With the worker's cache off, every task of a plan is replayed from the first event: what was not deterministic, or lived
// outside the state, would show.
func TestEveryTaskReplayed(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, "ERRAND_STICKY_CACHE=0")
	for name, f := range map[string]robot.Fault{
		"MainJob":              {},
		"CaseC01":              {Kind: robot.FaultDropAnswer, Method: "setMoveTo"},
		"CaseC03":              {Kind: robot.FaultDelayAnswer, Method: "setMoveTo"},
		"Law07EveryEventTwice": {Kind: robot.FaultDuplicateEvent, Times: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.Robot(t)
			if f.Kind != "" {
				r.Fault(t, f)
			}
			wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
			wantEffects(t, r, "arrived", "purified", "docked")
		})
	}
}
