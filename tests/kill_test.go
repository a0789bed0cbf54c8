package tests

import (
	"testing"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// A program is killed (kill -9) while the robot stands half way to the first room, stays away until the robot arrived,
// and comes back. Each step has one effect.
func TestKilledMidPlan(t *testing.T) {
	t.Parallel()
	for name, victim := range map[string]func(*stack.Stack) *stack.Process{
		"Worker":  func(s *stack.Stack) *stack.Process { return s.WorkerProc },
		"Gateway": func(s *stack.Stack) *stack.Process { return s.GatewayProc },
		"Starter": func(s *stack.Stack) *stack.Process { return s.StarterProc },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stack.Start(t)
			r, p, hold := moving(t, s, robot.FaultHold)
			victim(s).Kill(t)
			r.Release(t, hold)
			r.AwaitEffects(t, 1)
			victim(s).Start(t)
			wantOutcome(t, p, plan.Completed, "completed")
			wantEffects(t, r, "arrived", "purified", "docked")
		})
	}
}

// The robot itself is killed half way, and resumes from where it stood.
func TestRobotKilledMidMove(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r, p, _ := moving(t, s, robot.FaultHold)
	r.Kill(t)
	r.Start(t)
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}
