package plan

import "slices"

// clone copies what Step may change in place: it is made for every input, so the operations of all steps share one copy.
// Maps, events, reports and what was seen are replaced, never changed, so they are shared.
func (s State) clone() State {
	n := 0
	for i := range s.Steps {
		n += len(s.Steps[i].Ops)
	}
	steps, ops := make([]StepState, len(s.Steps)), make([]Operation, 0, n)
	copy(steps, s.Steps)
	for i := range steps {
		if own := steps[i].Ops; own != nil {
			ops = append(ops, own...)
			steps[i].Ops = slices.Clip(ops[len(ops)-len(own):]) // a new one moves them, and leaves the next step's alone
		}
	}
	s.Steps = steps
	s.Pauses = slices.Clone(s.Pauses)
	s.Journal = slices.Clip(s.Journal)
	s.Cancel = copied(s.Cancel)
	s.Ending = copied(s.Ending)
	s.Boundary = copied(s.Boundary)
	return s
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
