package explore

import (
	"strings"

	"errand/plan"
)

// Laws 15, 19 and 20, at the end of a plan.

func (c *court) outcome(n *Node) {
	c.meets(15)
	c.meets(20)
	o := n.State.Outcome
	unknown, open := false, false
	for i := range o.Steps {
		step := &o.Steps[i]
		unknown = unknown || step.Phase == plan.StepUnknown
		open = open || (step.Phase != plan.StepCompleted && step.Excused == "")
		if !step.Phase.Terminal() && step.Phase != plan.StepUnknown {
			c.violated(19, "step %s ends as %s", step.ID, step.Phase)
		}
		c.operations(n, i, step)
	}
	c.close(n, o, unknown, open)
	c.words(n, o)
	if len(o.Steps) != len(n.State.Steps) {
		c.violated(19, "%d steps are in the outcome of %d", len(o.Steps), len(n.State.Steps))
	}
}

// operations holds one step's end against what the device did, and may still do.
func (c *court) operations(n *Node, i int, step *plan.StepOutcome) {
	var done int8
	ops := n.State.Steps[i].Ops
	for j := range ops {
		op := &ops[j]
		done += n.World.effect(opOf(op.ID)).Done
		if op.Sends == 0 {
			continue
		}
		c.meets(19)
		onTheWay := op.Phase != plan.OpUnsent || op.Loose // surely not delivered is not submitted
		if !op.Phase.Dead() && onTheWay && step.Phase != plan.StepUnknown {
			c.violated(19, "%s was submitted, is %s, and step %s is reported %s", op.ID, op.Phase, step.ID, step.Phase)
		}
		if n.World.canMove(opOf(op.ID)) && step.Phase != plan.StepUnknown {
			c.violated(15, "step %s is reported %s, and %s may still move the device", step.ID, step.Phase, op.ID)
		}
		if j == len(ops)-1 && step.OperationID != op.ID {
			c.violated(19, "%s was submitted, and the outcome does not name it", op.ID)
		}
	}
	contradicted := step.Receipt != nil && step.Receipt.Verdict == plan.Contradicted
	switch {
	case step.Phase == plan.StepCompleted && done == 0:
		c.violated(20, "step %s is reported completed, and was not", step.ID)
	case step.Phase == plan.StepCompleted && step.Receipt == nil && !ops[len(ops)-1].Cloud:
		c.violated(20, "step %s is reported completed without a receipt", step.ID)
	case done > 0 && step.Phase != plan.StepCompleted && step.Phase != plan.StepUnknown && !contradicted:
		c.violated(19, "step %s was done, and is reported %s", step.ID, step.Phase)
	}
}

// close holds how the plan ended against how its steps did.
func (c *court) close(n *Node, o *plan.Outcome, unknown, open bool) {
	s := &n.State
	switch {
	case unknown != (o.State == plan.Unresolved):
		c.violated(20, "the plan is %s, and a step is unknown: %v", o.State, unknown)
	case o.State == plan.Completed && open:
		c.violated(20, "the plan is completed, and a step is not")
	case o.State == plan.Cancelled && s.Cancel == nil:
		c.violated(20, "the plan is cancelled, and nobody asked for that")
	case s.Cancel != nil && o.State != plan.Cancelled && o.State != plan.Unresolved:
		c.violated(15, "a person cancelled, and the plan is %s", o.State)
	case s.Cancel != nil && o.Cancel == nil:
		c.violated(15, "a person cancelled, and the outcome does not say so")
	case (o.State == plan.Failed || o.State == plan.Unresolved) && o.Reason == nil:
		c.violated(20, "the plan is %s, and nobody knows why", o.State)
	case !o.State.Closed():
		c.violated(20, "the plan is over, and is %s", o.State)
	}
	if _, commands := c.step(*s, n.World.Now+1, plan.CancelRequest{By: "kim"}); len(commands) > 0 {
		c.violated(15, "a plan that is over commands %T", commands[0])
	}
}

// words holds what the person is told against what is so. A sentence of a step is its capability's name with a mark:
// a full stop for done, a question mark for probably, an exclamation mark for not.
func (c *court) words(n *Node, o *plan.Outcome) {
	said := o.TTSResponse
	verified, unsure, excused := 0, false, false
	so := make(map[string]int, 4)
	for i := range o.Steps {
		step := &o.Steps[i]
		_, spec := n.spec(step.ID)
		sure := step.Receipt != nil && step.Receipt.Verdict == plan.Verified
		capability, _ := n.State.Slice.Capability(spec.Action.CapabilityID)
		switch {
		case step.Phase == plan.StepCompleted && !sure && capability.Verify != "":
			so[capability.ID+"?"]++
			unsure = true
		case step.Phase == plan.StepCompleted:
			so[capability.ID+"."]++
		case step.Phase == plan.StepFailed:
			so[capability.ID+"!"]++
		}
		excused = excused || step.Excused != ""
		if sure {
			verified++
		}
	}
	for i := range o.Steps {
		_, spec := n.spec(o.Steps[i].ID)
		for _, mark := range []string{".", "?", "!"} {
			if sentence := spec.Action.CapabilityID + mark; strings.Count(said, sentence) != so[sentence] {
				c.violated(20, "%q is said, and %q is so of %d steps", said, sentence, so[sentence])
			}
		}
	}
	if o.State == plan.Completed && strings.HasPrefix(said, "done:") != (!unsure && !excused) {
		c.violated(20, "%q is said; not all is sure: %v, something was left out: %v", said, unsure, excused)
	}
	if o.State != plan.Completed && strings.HasPrefix(said, "done") {
		c.violated(20, "%q is said, and the plan is %s", said, o.State)
	}
	if o.Verified != verified {
		c.violated(20, "%d steps are told as verified, %d were", o.Verified, verified)
	}
}
