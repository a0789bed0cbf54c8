package explore

import (
	"slices"
	"strings"

	"errand/plan"
)

// Laws 1, 2, 3, 4, 9, 11, 12 and 15, at what is commanded.

func (c *court) commands(t *Transition) {
	for i, command := range t.Commands {
		d := newDigest()
		switch cmd := command.(type) {
		case plan.SetDeadline, plan.AwaitDevice, plan.StopAwaiting:
			continue
		case plan.Submit:
			c.submit(t, &cmd)
			d.value(cmd)
		case plan.Perform:
			c.perform(t, &cmd)
			d.value(cmd)
		case plan.Decide:
			c.decide(t, &cmd)
			d.value(cmd)
		case plan.ReleaseLease:
			c.release(t, &cmd)
		case plan.Finish:
			d.value(cmd)
			if i < len(t.Commands)-1 {
				c.violated(15, "%T is commanded after the outcome", t.Commands[i+1])
			}
		default:
			d.value(command)
		}
		if d.found {
			c.violated(4, "a field that no contract lists is in a %T", command)
		}
	}
	for _, e := range t.After.State.Journal {
		if strings.Contains(e.Text, secret) {
			c.violated(4, "a field that no contract lists is in the journal: %s", e.Text)
		}
	}
}

// spec is a step as the plan was written; what was appended to it counts as it was taken.
func (n *Node) spec(id string) (i int, s *plan.StepSpec) {
	doc := n.State.Document
	for i := range doc.Steps {
		if doc.Steps[i].ID == id {
			written := n.World.shape.Document
			if i < len(written.Steps) && written.Steps[i].ID == id {
				return i, &written.Steps[i]
			}
			return i, &doc.Steps[i]
		}
	}
	return -1, nil
}

func (c *court) submit(t *Transition, cmd *plan.Submit) {
	c.meets(21)
	if !t.After.World.Leased {
		c.violated(21, "%s is submitted, and it is not this plan's turn", cmd.OperationID)
	}
	c.starts(t, cmd)
}

// perform holds a step in the cloud against the same laws; it needs no turn, since it moves no device.
func (c *court) perform(t *Transition, cmd *plan.Perform) {
	if cmd.Again && cmd.TaskMethod != "tell" {
		c.violated(11, "%s is carried out again, and may have been done", cmd.OperationID)
	}
	c.starts(t, &plan.Submit{StepID: cmd.StepID, OperationID: cmd.OperationID, Arguments: cmd.Arguments})
}

func (c *court) starts(t *Transition, cmd *plan.Submit) {
	i, spec := t.After.spec(cmd.StepID)
	if spec == nil {
		c.violated(6, "%s is submitted, and there is no such step", cmd.OperationID)
		return
	}
	c.meets(2)
	if len(spec.DependsOn) > 0 {
		c.meets(1)
	}
	for _, id := range spec.DependsOn {
		if !t.After.completed(id) {
			c.violated(1, "%s is submitted before %s is completed", cmd.OperationID, id)
		}
	}
	c.first(t, i, cmd)
	c.bound(t, spec, cmd)
	c.again(t, i, cmd)
	if s := &t.Before.State; s.Cancel != nil || s.Ending != nil {
		c.violated(15, "%s is submitted while the plan is being stopped", cmd.OperationID)
	}
}

// completed reports whether a step is completed as the machine sees it, and was completed in the ledger.
func (n *Node) completed(id string) bool {
	for i := range n.State.Steps {
		st := &n.State.Steps[i]
		if st.ID != id || st.Phase != plan.StepCompleted {
			continue
		}
		for _, op := range st.Ops {
			if n.World.effect(opOf(op.ID)).Done > 0 {
				return true
			}
		}
	}
	return false
}

// first holds law 2: nothing else is in flight, and no step before it is ready.
func (c *court) first(t *Transition, i int, cmd *plan.Submit) {
	s := &t.After.State
	for j := range s.Steps {
		ops := s.Steps[j].Ops
		if j != i && len(ops) > 0 && !ops[len(ops)-1].Phase.Dead() && s.Steps[j].Closed == "" {
			c.violated(2, "%s is submitted while %s is in flight", cmd.OperationID, ops[len(ops)-1].ID)
		}
		if j >= i || len(ops) > 0 || s.Steps[j].Closed != "" || s.Steps[j].Excused != "" || len(s.Steps[i].Ops) > 1 {
			continue
		}
		_, before := t.After.spec(s.Steps[j].ID)
		ready := true
		for _, id := range before.DependsOn {
			ready = ready && t.After.completed(id)
		}
		if ready {
			c.violated(2, "%s is submitted, and %s is ready before it", cmd.OperationID, s.Steps[j].ID)
		}
	}
	for _, task := range t.After.World.Tasks {
		if !task.over() && task.Op.Step != opOf(cmd.OperationID).Step {
			c.violated(2, "%s is submitted while the device still works on %s", cmd.OperationID, idOf(task.Op))
		}
	}
}

// bound holds law 3: the slots are the step's own, and what its sources really gave.
func (c *court) bound(t *Transition, spec *plan.StepSpec, cmd *plan.Submit) {
	if len(spec.InputFrom) > 0 {
		c.meets(3)
	}
	chosen := 0 // a law of its own says by whom: see home.go
	for slot, value := range cmd.Arguments {
		if slot == "target" {
			chosen = 1
			continue
		}
		if own, ok := spec.Action.Arguments[slot]; ok && own == value {
			continue
		}
		path, ok := spec.InputFrom[slot]
		if !ok {
			c.violated(3, "%s is submitted with the slot %s, which nothing gives", cmd.OperationID, slot)
			continue
		}
		if want := t.After.gave(path); value != want {
			c.violated(3, "%s is submitted with %s = %v, which %s did not give", cmd.OperationID, slot, value, path)
		}
		for _, task := range t.After.World.Tasks {
			if stepIDs[task.Op.Step] == path[:1] && task.Phase == plan.OpCompleted && task.End.Result["area"] != value {
				c.violated(3, "%s is submitted with %s = %v, and %s gave %v", cmd.OperationID, slot, value, idOf(task.Op), task.End.Result)
			}
		}
	}
	if len(cmd.Arguments) != len(spec.Action.Arguments)+len(spec.InputFrom)+chosen {
		c.violated(3, "%s is submitted with %d slots, the plan gives it %d", cmd.OperationID, len(cmd.Arguments), len(spec.Action.Arguments)+len(spec.InputFrom))
	}
}

// gave is what a step gives where all is well.
func (n *Node) gave(path string) any {
	if _, source := n.spec(path[:1]); source != nil && source.ExecutionTarget == plan.TargetCloud {
		return saidSo
	}
	return good["area"]
}

// again holds laws 9 and 11: a new try only when the last one is dead by the device's own word, and the same id again only
// when it surely is not there.
func (c *court) again(t *Transition, i int, cmd *plan.Submit) {
	st := &t.After.State.Steps[i]
	if len(st.Ops) == 0 || st.Ops[len(st.Ops)-1].ID != cmd.OperationID {
		c.violated(11, "%s is submitted, and it is not the step's last try", cmd.OperationID)
		return
	}
	op := &st.Ops[len(st.Ops)-1]
	if len(st.Ops) > 1 || op.Sends > 1 {
		c.meets(11)
	}
	for _, old := range st.Ops[:len(st.Ops)-1] {
		if !old.Phase.Dead() || old.Lost {
			c.violated(11, "%s is submitted while %s is %s", cmd.OperationID, old.ID, old.Phase)
		}
		if t.After.World.canMove(opOf(old.ID)) {
			c.violated(11, "%s is submitted while %s may still move the device", cmd.OperationID, old.ID)
		}
	}
	if op.Sends <= 1 || i >= len(t.Before.State.Steps) {
		return
	}
	before := t.Before.State.Steps[i].Ops
	if was := before[len(before)-1]; was.Phase != plan.OpUnsent && !toldAbsent(t.Input, op.ID) {
		c.violated(9, "%s is sent again, and nobody said that it is not there", op.ID)
	}
}

// toldAbsent reports whether an input says that an operation is not on the device.
func toldAbsent(in plan.Input, id string) bool {
	switch in := in.(type) {
	case plan.Submitted:
		return in.OperationID == id && in.Delivery == plan.DeliveryUndelivered
	case plan.StatusReported:
		return in.OperationID == id && in.Finding == plan.StatusNotFound
	}
	return false
}

// release holds law 21 at the end: whoever has the device next knows what may still move it.
func (c *court) release(t *Transition, cmd *plan.ReleaseLease) {
	c.meets(21)
	for _, e := range t.After.World.Tasks {
		if id := idOf(e.Op); !e.over() && !slices.Contains(cmd.Release.Unsettled, id) {
			c.violated(21, "the device is given back, and nobody says that %s may still move it", id)
		}
	}
}

// ledger holds law 11 by what the device did.
func (c *court) ledger(t *Transition) {
	if len(t.After.World.Ledger) == 0 {
		return
	}
	var done [len(stepIDs)]int8
	for _, e := range t.After.World.Ledger {
		if e.Began > 0 {
			c.meets(11)
		}
		if e.Began > 1 {
			c.violated(11, "%s began %d times", idOf(e.Op), e.Began)
		}
		if done[e.Op.Step] += e.Done; done[e.Op.Step] > 1 {
			c.violated(11, "step %s was done %d times", stepIDs[e.Op.Step], done[e.Op.Step])
		}
	}
	moving := 0
	for i := range t.After.World.Tasks {
		if !t.After.World.Tasks[i].over() {
			moving++
		}
	}
	if moving > 1 {
		c.violated(2, "the device has %d tasks of this plan at once", moving)
	}
}
