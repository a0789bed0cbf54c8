package plan

import "errand/catalog"

// op returns the live operation of a step: the last one, as a rule that of the highest generation; nil before there is one.
func (st *StepState) op() *Operation {
	if len(st.Ops) == 0 {
		return nil
	}
	return &st.Ops[len(st.Ops)-1]
}

// derivePhase says where a step stands. It is the only place that turns operations into a step's phase.
func (st *StepState) derivePhase(ready bool) StepPhase {
	op := st.op()
	switch {
	case st.Closed != "":
		return st.Closed
	case st.Confirming:
		return StepConfirming
	case op == nil && ready:
		return StepReady
	case op == nil:
		return StepPending
	case op.Phase == OpCompleted && st.VerifyBy > 0:
		return StepVerifying
	case !op.Phase.Dead() && op.Lost:
		return StepUnknown
	}
	switch op.Phase {
	case OpSent:
		if op.Cloud {
			return StepRunning // there is no admission to wait for
		}
		return StepSubmitting
	case OpAccepted:
		return StepAccepted
	case OpRunning:
		return StepRunning
	case OpBlocked:
		return StepBlocked
	case OpCompleted:
		return StepCompleted
	case OpCancelled:
		return StepCancelled
	case OpFailed, OpTimedOut, OpRefused:
		return StepFailed
	default:
		return StepReady // unsent
	}
}

// done reports whether the step is completed, verdict included: only then do its dependants run (laws 1 and 5).
func (st *StepState) done() bool { return st.derivePhase(false) == StepCompleted }

// inFlight reports whether the step has an operation that is not dead, or waits for its verdict.
func (st *StepState) inFlight() bool {
	op := st.op()
	return op != nil && st.Closed == "" && (!op.Phase.Dead() || st.VerifyBy > 0)
}

// current returns the index of the one step in flight, or -1 (law 2).
func (s *State) current() int {
	for i := range s.Steps {
		if s.Steps[i].inFlight() {
			return i
		}
	}
	return -1
}

// ready reports whether every step in depends_on is completed (law 1).
func (s *State) ready(i int) bool {
	for _, id := range s.Document.Steps[i].DependsOn {
		j := s.index(id)
		if j < 0 || !s.Steps[j].done() {
			return false
		}
	}
	return true
}

func (s *State) index(stepID string) int {
	for i := range s.Steps {
		if s.Steps[i].ID == stepID {
			return i
		}
	}
	return -1
}

// find returns the step and the operation of an operation id, of any generation; -1 and nil if it is not this plan's.
func (s *State) find(operationID string) (int, *Operation) {
	for i := range s.Steps {
		for k := range s.Steps[i].Ops {
			if s.Steps[i].Ops[k].ID == operationID {
				return i, &s.Steps[i].Ops[k]
			}
		}
	}
	return -1, nil
}

// generations is the highest generation there was.
func (st *StepState) generations() int {
	highest := 0
	for _, op := range st.Ops {
		highest = max(highest, op.Generation)
	}
	return highest
}

// timeouts returns the times of a step's task, within bounds.
func (s *State) timeouts(i int) catalog.Timeouts {
	t := s.capability(i).Timeouts
	return catalog.Timeouts{QueueMs: min(max(t.QueueMs, 0), longest), RunMs: min(max(t.RunMs, 0), longest)}
}

// capability returns the capability of a step. Validation made sure that it is in the slice.
func (s *State) capability(i int) *catalog.Capability {
	c, _ := s.Slice.Capability(s.Document.Steps[i].Action.CapabilityID)
	return c
}
