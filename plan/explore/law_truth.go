package explore

import (
	"errand/plan"
)

// Laws 5 and 9: what the machine takes for true is the device's own word.

func (c *court) truth(t *Transition) {
	s := &t.After.State
	for i := range s.Steps {
		st := &s.Steps[i]
		for j := range st.Ops {
			op := &st.Ops[j]
			if op.Phase.Dead() {
				c.dead(t, op)
			}
		}
		if st.Phase == plan.StepCompleted && !t.After.completed(st.ID) {
			c.violated(5, "step %s is completed, and nothing of it was", st.ID)
		}
	}
	c.unknown(t.After)
	c.kept(t)
	switch in := t.Input.(type) {
	case plan.Submitted:
		if in.Delivery == plan.DeliveryAccepted && in.Terminal == nil {
			c.meets(5)
		}
	case plan.Event:
		if !in.Name.Terminal() {
			c.meets(5)
		}
	}
}

// kept holds law 19: what was sent once stays on record, and never falls in rank unless the device itself takes a refusal
// back.
func (c *court) kept(t *Transition) {
	for i := range t.Before.State.Steps {
		for j := range t.Before.State.Steps[i].Ops {
			old := &t.Before.State.Steps[i].Ops[j]
			if old.Sends == 0 {
				continue
			}
			a, b := t.After.find(old.ID)
			if a < 0 {
				c.violated(19, "%s was submitted, and is forgotten", old.ID)
				continue
			}
			if now := &t.After.State.Steps[a].Ops[b]; ranks[now.Phase] < ranks[old.Phase] && old.Phase != plan.OpRefused {
				c.violated(8, "%s went from %s back to %s", old.ID, old.Phase, now.Phase)
			}
		}
	}
}

// ranks order what a device says of one operation (design §6).
var ranks = map[plan.OpPhase]int{plan.OpAccepted: 1, plan.OpRunning: 2, plan.OpBlocked: 2, plan.OpCompleted: 3, plan.OpFailed: 3,
	plan.OpCancelled: 3, plan.OpTimedOut: 3, plan.OpRefused: 3}

// dead holds an operation that is over against what the device said of it.
func (c *court) dead(t *Transition, op *plan.Operation) {
	if i, j := t.Before.find(op.ID); i >= 0 && t.Before.State.Steps[i].Ops[j].Phase == op.Phase {
		return // held before
	}
	c.meets(9)
	w := &t.After.World
	id := opOf(op.ID)
	e := w.effect(id)
	switch {
	case op.Phase == plan.OpCompleted:
		c.meets(5)
		if e.Done == 0 {
			c.violated(5, "%s is taken for completed on %T, and it was not", op.ID, t.Input)
		}
	case op.Phase == plan.OpRefused:
		if e.Began > 0 || w.canMove(id) {
			c.violated(9, "%s is taken for refused on %T, and the device has it", op.ID, t.Input)
		}
	case op.Phase == plan.OpCancelled && e.Began == 0 && !w.canMove(id): // it never ran, and never will
	case op.Cloud && op.Phase == plan.OpTimedOut && e.Began == 0: // it only reads, and nobody told what it read
	case e.End != op.Phase:
		c.violated(9, "%s is taken for %s on %T, and the device says %q", op.ID, op.Phase, t.Input, e.End)
	}
}

// unknown holds law 9: what nobody knows is asked about, now or at a time, or somebody is looking for the device.
func (c *court) unknown(n *Node) {
	s := &n.State
	if s.Outcome != nil {
		return
	}
	for i := range s.Steps {
		ops := s.Steps[i].Ops
		if len(ops) == 0 {
			continue
		}
		op := &ops[len(ops)-1]
		if op.Phase.Dead() || !op.Lost {
			continue
		}
		c.meets(9)
		asked := op.Sending || op.Asking || op.Cancelling || s.Device.Awaiting || op.CheckAt > s.At
		if !asked {
			c.violated(9, "%s is unknown (%s), and nobody asks", op.ID, op.Why)
		}
		if s.Steps[i].Phase != plan.StepUnknown {
			c.violated(9, "%s is unknown, and its step is %s", op.ID, s.Steps[i].Phase)
		}
	}
}

// soon is how long at most nobody asks about what was told to stop.
const soon = 60_000

// stopping holds law 15 while a plan is being stopped: the cancel reaches the device.
func (c *court) stopping(t *Transition) {
	s := &t.After.State
	if s.Cancel == nil && s.Ending == nil {
		return
	}
	c.meets(15)
	if s.Outcome != nil {
		return
	}
	for i := range s.Steps {
		ops := s.Steps[i].Ops
		if len(ops) == 0 {
			continue
		}
		op := &ops[len(ops)-1]
		reached := s.Device.Route != nil || op.Cloud
		if reached && !op.Phase.Dead() && op.Phase != plan.OpUnsent && !op.Cancelling && op.CancelSent == "" {
			c.violated(15, "the plan is being stopped, and nobody is told to stop %s", op.ID)
		}
		if s.Device.Route == nil {
			continue // the device is looked for first
		}
		if out := op.Sending || op.Asking || op.Cancelling || op.Cloud; !out && !op.Phase.Dead() && op.Phase != plan.OpUnsent && op.CheckAt > s.At+soon {
			c.violated(15, "the plan is being stopped, and %s is asked about only in %d ms", op.ID, op.CheckAt-s.At)
		}
	}
}
