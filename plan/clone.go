package plan

import "slices"

// clone copies what Step may change in place. Maps, events and reports are replaced, never changed, so they are shared.
func (s State) clone() State {
	steps := make([]StepState, len(s.Steps))
	for i, step := range s.Steps {
		step.Ops = slices.Clone(step.Ops)
		steps[i] = step
	}
	s.Steps = steps
	s.Pauses = slices.Clone(s.Pauses)
	s.Seen = slices.Clone(s.Seen)
	for i := range s.Seen {
		s.Seen[i].Seqs = slices.Clone(s.Seen[i].Seqs)
	}
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
