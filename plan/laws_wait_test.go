package plan_test

import (
	"maps"
	"slices"
	"testing"

	"errand/plan"
)

// waits are all the states in which a plan can wait, those of stuck and what the reason table's recovery adds.
func waits() map[string]func(t *testing.T) *sim {
	all := maps.Clone(stuck)
	all["blocked, with time to go on by itself"] = func(t *testing.T) *sim {
		s := runningMove(t)
		s.happens(plan.EventBlocked, 80, "WAIT_FOR_IT", false)
		return s
	}
	all["before another try"] = func(t *testing.T) *sim {
		s := runningMove(t)
		s.happens(plan.EventFailed, 80, "PASSES", false)
		return s
	}
	all["stopped for another try"] = func(t *testing.T) *sim {
		s := runningMove(t)
		s.device.stubborn = true
		s.happens(plan.EventBlocked, 80, "PASSES", false)
		return s
	}
	all["the link is lost"] = func(t *testing.T) *sim {
		s := runningMove(t)
		s.take(plan.DeviceChange{Gone: s.device.connection})
		return s
	}
	return all
}

// In every state a plan waits in, the view names what for, until when, and what the plan does by itself then. The plan is
// followed to its end with nobody answering, and each time it does what it had told.
func TestLaw18EveryWaitIsToldWithItsNextMove(t *testing.T) {
	moved := map[plan.Move]bool{}
	for name, reach := range waits() {
		for _, cancelled := range []bool{false, true} {
			s := reach(t)
			if cancelled {
				s.take(plan.CancelRequest{By: "kim"})
			}
			for s.finish == nil {
				v := s.state.View()
				s.checkTold(v)
				s.all, s.now = nil, v.Next.At
				s.take(plan.DeadlinePassed{})
				if !s.did(v) {
					t.Fatalf("%s (cancelled %v): told %s at %d, and then %s", name, cancelled, v.Next.Move, v.Next.At, describe(s.state))
				}
				moved[v.Next.Move] = true
			}
			if v := s.state.View(); v.Next != nil || v.Plan.WaitingFor != "" {
				t.Errorf("%s (cancelled %v): over, and waits for %q until %+v", name, cancelled, v.Plan.WaitingFor, v.Next)
			}
		}
	}
	for _, move := range []plan.Move{plan.MoveAskDevice, plan.MoveSendAgain, plan.MoveUnverified, plan.MoveDecide,
		plan.MoveNoAnswer, plan.MoveTooLate, plan.MoveFail, plan.MoveGiveUp} {
		if !moved[move] {
			t.Errorf("no plan waited for %s", move)
		}
	}
}

// checkTold holds the view of a plan that is not over to law 18.
func (s *sim) checkTold(v plan.View) {
	s.t.Helper()
	if v.Plan.WaitingFor == "" || v.Next == nil || v.Next.Move == "" || v.Next.At <= s.now {
		s.t.Fatalf("Law18: at %d it is %s, waits for %q, next is %+v", s.now, v.State, v.Plan.WaitingFor, v.Next)
	}
	if v.Why == "" {
		s.t.Fatalf("Law18: at %d it is %s, waits for %q, and does not say why", s.now, v.State, v.Plan.WaitingFor)
	}
	for _, step := range v.Steps {
		if step.Why == "" {
			s.t.Fatalf("Law18: at %d step %s is %s, and does not say why", s.now, step.ID, step.State)
		}
		switch step.State {
		case plan.StepSubmitting, plan.StepAccepted, plan.StepRunning, plan.StepBlocked, plan.StepVerifying, plan.StepUnknown:
			if step.Until <= s.now {
				s.t.Fatalf("Law18: at %d step %s is %s until %d", s.now, step.ID, step.State, step.Until)
			}
		default: // nothing of its own is waited for
		}
	}
}

// did reports whether the plan did what the view had told.
func (s *sim) did(told plan.View) bool {
	reason := func(codes ...string) bool {
		return s.state.Ending != nil && s.state.Ending.Report != nil && slices.Contains(codes, s.state.Ending.Report.Code)
	}
	switch told.Next.Move {
	case plan.MoveAskDevice:
		return commanded[plan.QueryStatus](s) || commanded[plan.AwaitDevice](s)
	case plan.MoveSendAgain:
		return commanded[plan.Submit](s)
	case plan.MoveUnverified:
		return slices.ContainsFunc(s.state.Steps, func(st plan.StepState) bool {
			return st.Receipt != nil && st.Receipt.Verdict == plan.Unverified
		})
	case plan.MoveDecide:
		return s.state.Boundary != nil
	case plan.MoveNoAnswer:
		return s.state.Question == nil || s.state.Question.ID != told.Question.ID
	case plan.MoveTooLate:
		return reason("START_TOO_LATE")
	case plan.MoveFail:
		return reason("DEADLINE_PASSED", "DEVICE_UNREACHABLE")
	case plan.MoveGiveUp:
		return s.finish != nil
	}
	return false
}

// commanded reports whether a command of type T was given since all was emptied.
func commanded[T plan.Command](s *sim) bool {
	return slices.ContainsFunc(s.all, func(c plan.Command) bool { _, ok := c.(T); return ok })
}
