package plan

import (
	"fmt"
	"slices"
)

func (m *machine) pause(in Pause) {
	if !slices.Contains(m.s.Pauses, in.Token) {
		m.s.Pauses = append(m.s.Pauses, in.Token)
		m.note("", "paused by "+in.By)
	}
}

func (m *machine) resume(in Resume) {
	if i := slices.Index(m.s.Pauses, in.Token); i >= 0 {
		m.s.Pauses = slices.Delete(m.s.Pauses, i, i+1)
		m.note("", "resumed by "+in.By)
	}
}

// cancelStep withdraws a step. One in flight is stopped, and what physically happened is what is reported (law 15). When
// nothing else is left to do, it is a cancel of the plan.
func (m *machine) cancelStep(in CancelStep) {
	if refusal := m.s.CancelStepRefusal(in); refusal != "" {
		m.note(in.StepID, "cancel of a step refused: "+refusal)
		return
	}
	i := m.s.index(in.StepID)
	if m.s.onlyLeft(i) && len(m.s.FollowUps) == 0 {
		m.cancelRequested(CancelRequest{By: in.By, Why: orText(in.Why, "step "+in.StepID), Source: "api"})
		return
	}
	m.note(in.StepID, fmt.Sprintf("withdrawn by %s: %s", in.By, in.Why))
	st := &m.s.Steps[i]
	if b := m.s.Boundary; b != nil && b.StepID == in.StepID {
		m.s.Boundary = nil
	}
	if q := m.s.Question; q != nil && q.StepID == in.StepID {
		m.withdrawQuestion()
	}
	if st.inFlight() {
		st.Then = ThenWithdraw
		return
	}
	m.excuse(i, ExcuseWithdrawn)
}

// CancelStepRefusal says why a step cannot be withdrawn; "" means that it can.
func (s *State) CancelStepRefusal(in CancelStep) string {
	i := s.index(in.StepID)
	switch {
	case s.Outcome != nil || s.Cancel != nil || s.Ending != nil:
		return "the plan is over, or on its way there"
	case i < 0:
		return "the plan has no step " + in.StepID
	case s.Steps[i].Excused != "" || s.Steps[i].Then == ThenWithdraw:
		return "the plan goes on without it already"
	case s.Steps[i].done() || s.Steps[i].VerifyBy > 0:
		return "it is completed"
	}
	return ""
}

// onlyLeft reports whether withdrawing a step leaves nothing done and nothing to do.
func (s *State) onlyLeft(i int) bool {
	left := map[string]bool{s.Steps[i].ID: true}
	for range s.Steps { // what depends on it, directly or through others
		for _, spec := range s.Document.Steps {
			if slices.ContainsFunc(spec.DependsOn, func(id string) bool { return left[id] }) {
				left[spec.ID] = true
			}
		}
	}
	return !slices.ContainsFunc(s.Steps, func(st StepState) bool { return st.Excused == "" && !left[st.ID] })
}
