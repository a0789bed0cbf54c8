package explore

import (
	"errand/plan"
)

// Laws 4, 6, 7, 8, 10 and 19, at what is reported.

func (c *court) reports(t *Transition) {
	ev, ok := t.Input.(plan.Event)
	if !ok {
		return
	}
	if ev.Result != nil {
		c.meets(4)
	}
	c.once(t, ev)
	if seen(&t.Before.State, &ev) {
		return
	}
	if !seen(&t.After.State, &ev) && t.After.State.Outcome == nil {
		c.violated(19, "the report %s of %s left no trace", ev.Name, ev.OperationID)
	}
	if ev.OperationID == "" {
		return
	}
	i, j := t.Before.find(ev.OperationID)
	if i < 0 {
		return
	}
	old, now := &t.Before.State.Steps[i].Ops[j], &t.After.State.Steps[i].Ops[j]
	if j < len(t.Before.State.Steps[i].Ops)-1 {
		c.superseded(t, ev, old, now)
		return
	}
	if phase := ends[ev.Name]; phase != "" && !old.Phase.Dead() {
		if old.Lost {
			c.meets(10)
		}
		if old.Sending {
			c.meets(8)
		}
		if now.Phase != phase {
			c.violated(10, "%s is reported %s, and is taken for %s", ev.OperationID, ev.Name, now.Phase)
		}
	}
}

// find returns where an operation is in the state, or -1.
func (n *Node) find(id string) (i, j int) {
	for i := range n.State.Steps {
		for j := range n.State.Steps[i].Ops {
			if n.State.Steps[i].Ops[j].ID == id {
				return i, j
			}
		}
	}
	return -1, -1
}

// superseded holds laws 6 and 10: the truth about an old try is recorded, and changes nothing else.
func (c *court) superseded(t *Transition, ev plan.Event, old, now *plan.Operation) {
	c.meets(6)
	if ends[ev.Name] != "" {
		c.meets(10)
	}
	if old.Phase != now.Phase {
		c.violated(6, "a report about the superseded %s made it %s", ev.OperationID, now.Phase)
	}
	if t.After.State.Entries <= t.Before.State.Entries {
		c.violated(10, "a report about the superseded %s is not on record", ev.OperationID)
	}
	if !c.sameAs(t.Before, ev) {
		c.violated(6, "a report about the superseded %s changed the plan", ev.OperationID)
	}
}

// sameAs reports whether an input does no more to the machine than the passing of time does.
func (c *court) sameAs(n *Node, in plan.Input) bool {
	idle, moved := *n, *n
	if len(idle.take(c.step, nil)) != len(moved.take(c.step, in)) {
		return false
	}
	return c.canon.machine(&idle) == c.canon.machine(&moved)
}

// once holds law 7: the same report again changes nothing.
func (c *court) once(t *Transition, ev plan.Event) {
	if t.After.State.Outcome != nil {
		return
	}
	c.meets(7)
	again := *t.After
	for _, command := range again.take(c.step, ev) {
		c.violated(7, "%s of %s again commands %T", ev.Name, ev.OperationID, command)
	}
	if c.canon.machine(&again) != t.machine {
		c.violated(7, "%s of %s again changes the state", ev.Name, ev.OperationID)
	}
}

// noise feeds what belongs to nothing: another device, another plan, an attempt that was never made, answers to nothing
// that is out, a plan that does not pass the gate. None of it may change anything (laws 6, 14 and 16).
func (c *court) noise(n *Node) {
	idle := *n
	idle.take(c.step, nil)
	if idle.State.Outcome != nil {
		return
	}
	c.meets(6)
	c.meets(14)
	want := c.canon.machine(&idle)
	noisy := idle
	quiet := true
	c.noises = noises(c.noises[:0], &idle)
	for _, in := range c.noises {
		quiet = quiet && len(noisy.take(c.step, in.input)) == 0
	}
	if quiet && c.canon.machine(&noisy) == want {
		return
	}
	for _, in := range c.noises {
		if !c.sameAs(&idle, in.input) {
			c.violated(in.law, "%s (%T) changed the plan", in.what, in.input)
		}
	}
}

type noisy struct {
	law   int
	what  string
	input plan.Input
}

// noises adds to a list what may be fed to a node.
func noises(list []noisy, n *Node) []noisy {
	list = append(list, fixedNoise...)
	s := &n.State
	if id := n.living(); id != "" {
		op := opOf(id)
		list = append(list, noisy{6, "a completion of a try that was never made", plan.Event{EventID: "n", DeviceID: device, Epoch: 9, Name: plan.EventCompleted, OperationID: idOf(Op{op.Step, op.Generation + 1})}},
			noisy{6, "a completion from another device", plan.Event{EventID: "n", DeviceID: "other", Epoch: 9, Seq: 99, Name: plan.EventCompleted, OperationID: id}},
			noisy{5, "a completion target", plan.Event{EventID: "n", DeviceID: device, Epoch: 9, Name: plan.EventName(stepIDs[op.Step] + ".done"), OperationID: id}},
			noisy{6, "a doubt from another device", plan.Doubt{DeviceID: "other", OperationID: id}})
	}
	for i := range s.Steps {
		if ops := s.Steps[i].Ops; len(ops) > 0 {
			list = unasked(list, &ops[len(ops)-1], s.Steps[i].Verifying)
			if !s.Steps[i].Preparing {
				list = append(list, noisy{16, "a look that nobody asked for", plan.Prepared{OperationID: ops[len(ops)-1].ID, Report: stop}})
			}
		}
	}
	if !s.Deciding {
		list = append(list, noisy{6, "a decision on nothing", plan.Decided{Decision: plan.DecideCancel}})
	}
	if s.Start.Decider == "" || s.Boundary != nil || s.Question != nil || s.Decided >= maxDecisions {
		list = append(list, noisy{12, "something seen while nobody can decide about it", saw})
	}
	if q := s.Question; q != nil && q.Kind == "confirm" {
		list = append(list, noisy{16, "a yes of one who may not confirm", plan.Answer{QuestionID: q.ID, Choice: "yes", By: "child"}})
	}
	if s.Question != nil {
		list = append(list, noisy{16, "another question's answer", plan.Answer{QuestionID: "p.99", Choice: s.Question.Choices[0], By: "kim"}},
			noisy{16, "an answer that was not offered", plan.Answer{QuestionID: s.Question.ID, Choice: "whatever", By: "kim"}})
	}
	return list
}

// unasked adds answers to what is not out.
func unasked(list []noisy, op *plan.Operation, verifying bool) []noisy {
	if !op.Sending {
		list = append(list, noisy{6, "an answer to no submit", plan.Submitted{OperationID: op.ID, Delivery: plan.DeliveryRefused, Report: again}})
	}
	if !op.Sending || !op.Cloud {
		list = append(list, noisy{6, "a result of no step in the cloud", plan.Performed{OperationID: op.ID}})
	}
	if op.Cloud {
		list = append(list, noisy{6, "the device's word on a step in the cloud", plan.Event{EventID: "n", DeviceID: device, Epoch: 9, Name: plan.EventCompleted, OperationID: op.ID}},
			noisy{6, "an answer to no submit", plan.Submitted{OperationID: op.ID, Delivery: plan.DeliveryRefused, Report: again}})
	}
	if !op.Asking {
		list = append(list, noisy{6, "an answer to no question", plan.StatusReported{OperationID: op.ID, Finding: plan.StatusNotFound, StoreID: op.StoreID}})
	}
	if !op.Cancelling {
		list = append(list, noisy{6, "an answer to no cancel", plan.CancelAnswered{OperationID: op.ID, Case: plan.CancelTombstoned, StoreID: op.StoreID}})
	}
	if !verifying {
		list = append(list, noisy{6, "a verdict on nothing", plan.VerifiedResult{OperationID: op.ID, Verdict: plan.Contradicted}})
	}
	return list
}

var fixedNoise = []noisy{
	{6, "a report about another plan", plan.Event{EventID: "n", DeviceID: device, Epoch: 9, Name: plan.EventCompleted, OperationID: "q/a/1"}},
	{6, "a second beginning", plan.Begin{}},
	{12, "something seen that needs no decision", plan.Observation{EventID: "n", DeviceID: device, Kind: "smoke"}},
	{6, "something that another device saw", plan.Observation{EventID: "n", DeviceID: "other", Kind: "smoke", RequiresDecision: true}},
	{14, "a step that waits for nothing known", plan.Amend{By: "kim", Steps: []plan.StepSpec{{ID: "f", Action: plan.Action{CapabilityID: "dock", OperationID: "start"}, DependsOn: []string{"z"}}}}},
}

// confluence holds law 8: two reports that are under way end what they are about in the same way, whichever comes first.
func (c *court) confluence(n *Node) {
	w := &n.World
	under := make([]*plan.Event, 0, 8)
	under = append(append(under, w.Outbox...), w.Stragglers...)
	for i := range under {
		for j := range i {
			c.meets(8)
			one, other := *n, *n
			one.take(c.step, *under[i])
			other.take(c.step, *under[j])
			if one.State.Outcome != nil || other.State.Outcome != nil {
				continue // its time was over: the second comes too late in either order
			}
			one.take(c.step, *under[j])
			other.take(c.step, *under[i])
			for _, id := range []string{under[i].OperationID, under[j].OperationID} {
				if a, b := one.verdict(id), other.verdict(id); a != b {
					c.violated(8, "%s of %s and %s of %s in one order make it %q, in the other %q",
						under[i].Name, under[i].OperationID, under[j].Name, under[j].OperationID, a, b)
				}
			}
		}
	}
}

// verdict is how an operation ended, or "" while it has not.
func (n *Node) verdict(id string) plan.OpPhase {
	i, j := n.find(id)
	if i < 0 || !n.State.Steps[i].Ops[j].Phase.Dead() {
		return ""
	}
	return n.State.Steps[i].Ops[j].Phase
}
