package explore

import (
	"reflect"

	"errand/plan"
)

// Laws 12, 13, 14 and 16: who decides, how often, and over what.

const (
	maxDecisions = 5
	maxTries     = 3
)

// decide holds law 12: somebody is asked only where meaning changed, and nothing else is left.
func (c *court) decide(t *Transition, cmd *plan.Decide) {
	c.meets(12)
	b := &cmd.Boundary
	s := &t.After.State
	if s.Boundary == nil || s.Boundary.StepID != b.StepID || !s.Boundary.Asked {
		c.violated(12, "a decision is asked for, and none is due")
	}
	if !b.Report.RequiresDecision {
		c.violated(12, "a decision is asked for about %s of %s, and nobody needs one", b.Report.Code, b.StepID)
	}
	if b.Observed != nil && !b.Observed.RequiresDecision {
		c.violated(12, "a decision is asked for about what was seen, and nobody needs one")
	}
}

// questions holds laws 13 and 16.
func (c *court) questions(t *Transition) {
	s := &t.After.State
	c.bounds(t)
	q := t.Before.State.Question
	if q == nil {
		return
	}
	stopping := s.Cancel != nil || s.Ending != nil
	if t.After.World.Now >= q.ExpiresAt && t.Input != nil && s.Outcome == nil && !resolves(t.Input) {
		c.meets(16)
		if !stopping {
			c.violated(16, "a question was not answered in its time, and the plan goes on")
		}
	}
	in, ok := t.Input.(plan.Answer)
	if !ok || s.Outcome != nil {
		return
	}
	c.meets(16)
	if !c.sameAs(t.After, in) {
		c.violated(16, "the answer %q again changed the plan", in.Choice)
	}
}

// resolves reports whether an input can end what a question is about: then the question goes with it.
func resolves(in plan.Input) bool {
	switch in.(type) {
	case plan.Event, plan.Submitted, plan.StatusReported, plan.CancelAnswered, plan.Decided, plan.Amend:
		return true
	}
	return false
}

func (c *court) bounds(t *Transition) {
	s := &t.After.State
	if s.Decided > 0 {
		c.meets(13)
	}
	if t.After.World.Decides > maxDecisions {
		c.violated(13, "%d decisions were asked for", t.After.World.Decides)
	}
	if s.Decided > maxDecisions+2 { // a person may answer the last one, and one more finds that all are spent
		c.violated(13, "%d decisions were spent", s.Decided)
	}
	for i := range s.Steps {
		tries := len(s.Steps[i].Ops)
		if tries > 1 {
			c.meets(13)
		}
		if tries > maxTries+recoveries(&s.Steps[i])+s.Steps[i].Prepared {
			c.violated(13, "step %s is tried for the %dth time", s.Steps[i].ID, tries)
		}
	}
	if s.LLMCalls > t.Before.State.LLMCalls {
		switch t.Input.(type) {
		case plan.Decided, plan.Planned:
		default:
			c.violated(12, "%T cost a model call", t.Input)
		}
	}
}

// recoveries is how many tries the reason table allowed.
func recoveries(st *plan.StepState) (n int) {
	for _, tried := range st.Recovered {
		n += tried
	}
	return n
}

// plans holds law 14: whatever becomes the plan has passed the gate, and what was begun stays as it is.
func (c *court) plans(t *Transition) {
	old, now := t.Before.State.Document, t.After.State.Document
	if old == now {
		return
	}
	c.meets(14)
	if faults := plan.Validate(*now, t.After.State.Slice, plan.Grounding{DeviceID: device}); len(faults) > 0 {
		c.violated(14, "a plan with faults was taken: %v", faults)
	}
	for i := range t.Before.State.Steps {
		st := &t.Before.State.Steps[i]
		if len(st.Ops) == 0 {
			continue
		}
		if i >= len(now.Steps) || !reflect.DeepEqual(old.Steps[i], now.Steps[i]) {
			c.violated(14, "step %s was begun, and the plan says something else now", st.ID)
		}
	}
}
