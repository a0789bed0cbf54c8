package plan_test

import (
	"bytes"
	"reflect"

	"errand/plan"
)

// checkLaws holds every step of every simulation against the laws that can be seen from outside the machine.
func (s *sim) checkLaws(before plan.State, in plan.Input, commands []plan.Command) {
	s.t.Helper()
	s.checkSubmits(before, commands)
	s.checkOneInFlight()
	s.checkRanks(before)
	s.checkWaits()
	s.checkNoRawResults()
	s.checkDuplicate(in)
}

// Laws 1, 11 and 15: order, one id for one effect, nothing new once the plan is being stopped.
func (s *sim) checkSubmits(before plan.State, commands []plan.Command) {
	for _, c := range commands {
		submit, ok := c.(plan.Submit)
		if !ok {
			continue
		}
		for i, spec := range s.state.Document.Steps {
			if spec.ID != submit.StepID {
				continue
			}
			for _, dep := range spec.DependsOn {
				if s.phase(dep) != plan.StepCompleted {
					s.t.Fatalf("Law01: %s submitted while %s is %s", spec.ID, dep, s.phase(dep))
				}
			}
			for _, op := range s.state.Steps[i].Ops[:len(s.state.Steps[i].Ops)-1] {
				if !op.Phase.Dead() || op.Lost {
					s.t.Fatalf("Law11: %s submitted while %s is %s", submit.OperationID, op.ID, op.Phase)
				}
			}
		}
		if before.Cancel != nil || before.Ending != nil {
			s.t.Fatalf("Law15: %s submitted while the plan is being stopped", submit.OperationID)
		}
	}
}

// Law 2: at most one operation is not dead.
func (s *sim) checkOneInFlight() {
	var live []string
	for _, st := range s.state.Steps {
		for _, op := range st.Ops {
			if !op.Phase.Dead() && op.Phase != plan.OpUnsent {
				live = append(live, op.ID)
			}
		}
	}
	if len(live) > 1 {
		s.t.Fatalf("Law02: in flight at once: %v", live)
	}
}

// Ranks: a lower rank never overwrites a higher one, and a terminal stays unless an earlier one contradicts it.
func (s *sim) checkRanks(before plan.State) {
	rank := map[plan.OpPhase]int{plan.OpAccepted: 1, plan.OpRunning: 2, plan.OpBlocked: 2, plan.OpCompleted: 3,
		plan.OpFailed: 3, plan.OpCancelled: 3, plan.OpTimedOut: 3, plan.OpRefused: 3}
	for i, st := range before.Steps {
		for j, op := range st.Ops {
			if j >= len(s.state.Steps[i].Ops) {
				continue // withdrawn before it was sent
			}
			if now := s.state.Steps[i].Ops[j]; rank[now.Phase] < rank[op.Phase] {
				s.t.Fatalf("ranks: %s went from %s to %s", op.ID, op.Phase, now.Phase)
			}
		}
	}
}

// Law 18: a plan that is not over always has a time at which it moves by itself, and tells it.
func (s *sim) checkWaits() {
	if !s.state.Begun || s.finish != nil {
		return
	}
	if s.state.Wake <= s.now {
		s.t.Fatalf("Law18: %s, and its next wake is at %d, now %d", describe(s.state), s.state.Wake, s.now)
	}
	s.checkTold(s.state.View())
}

// Law 4: the raw payload never reaches the state.
func (s *sim) checkNoRawResults() {
	if bytes.Contains(s.raw, []byte("secret")) {
		s.t.Fatalf("Law04: a field that no contract lists is in the state")
	}
}

// Law 7: the same event again changes nothing. The machine is a function, so this can be tried at every step.
func (s *sim) checkDuplicate(in plan.Input) {
	ev, ok := in.(plan.Event)
	if !ok || s.finish != nil || ev.DeviceID != testDevice || ev.Seq <= 0 { // the wire admits no event without a number
		return
	}
	defer func(raw []byte) { s.raw = raw }(s.raw)
	again, commands := plan.Step(s.state, s.now, ev)
	for _, c := range commands {
		if _, wake := c.(plan.SetDeadline); !wake {
			s.t.Fatalf("Law07: event %s again commands %T", ev.EventID, c)
		}
	}
	if !reflect.DeepEqual(s.stored(again), s.state) {
		s.t.Fatalf("Law07: event %s again changes the state", ev.EventID)
	}
}
