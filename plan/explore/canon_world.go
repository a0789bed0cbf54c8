package explore

import (
	"slices"

	"errand/plan"
)

// world adds the world to the key. Lists whose order means nothing are added in any order.
func (c *canon) world(d *digest, n *Node) {
	w := &n.World
	d.word(uint64(c.place(w.Epoch, w.Seq)))
	d.truth(w.Online)
	d.truth(w.Leased)
	d.text(w.Store)
	d.word(uint64(w.Decides))
	for _, revision := range w.Revisions {
		d.word(uint64(revision))
	}
	for i := range w.Tasks {
		c.task(d, &w.Tasks[i])
	}
	for _, ev := range w.Outbox {
		d.word(c.report(n, ev))
	}
	d.word(uint64(len(w.Outbox)))
	var bag uint64
	for _, ev := range w.Stragglers {
		bag += mixed(1, c.report(n, ev))
	}
	for _, op := range w.Buried {
		bag += mixed(2, opWord(op))
	}
	for _, cp := range w.Copies {
		if w.Now < cp.Until {
			bag += mixed(3, opWord(cp.Op), uint64(cp.Until-w.Now), objectWord(cp.Object))
		}
	}
	for i := range w.Requests {
		bag += mixed(4, c.asked(w, &w.Requests[i]))
	}
	for _, e := range w.Ledger {
		one := newDigest()
		one.word(opWord(e.Op))
		one.word(uint64(e.Began)<<8 | uint64(e.Done))
		one.text(string(e.End))
		bag += mixed(5, one.sum)
	}
	for _, k := range w.Consents {
		if w.Now < k.Until {
			bag += mixed(6, opWord(k.Op), objectWord(k.Object), uint64(k.Until-w.Now))
		}
	}
	for _, p := range w.Picks {
		bag += mixed(7, uint64(p.Step), objectWord(p.Object))
	}
	d.word(bag)
}

func objectWord(o Object) uint64 { return uint64(o.Number)<<8 | uint64(o.Revision) }

func opWord(op Op) uint64 { return uint64(op.Step)<<8 | uint64(op.Generation) }

func mixed(words ...uint64) uint64 {
	d := newDigest()
	for _, w := range words {
		d.word(w)
	}
	return d.sum
}

func (c *canon) task(d *digest, t *Task) {
	d.word(opWord(t.Op))
	d.text(string(t.Phase))
	d.truth(t.Stopping)
	d.word(uint64(c.until(t.StartBy)))
	d.word(objectWord(t.Object))
	if t.End != nil {
		c.said(d, t.End)
	}
}

// report is one that is under way: what it says, where it stands in the order, and whether the machine has it already.
func (c *canon) report(n *Node, ev *plan.Event) uint64 {
	d := newDigest()
	c.said(&d, ev)
	d.truth(seen(&n.State, ev))
	return d.sum
}

func seen(s *plan.State, ev *plan.Event) bool {
	for i := range s.Seen {
		if s.Seen[i].Epoch == ev.Epoch {
			return slices.Contains(s.Seen[i].Seqs, ev.Seq)
		}
	}
	return false
}

func (c *canon) said(d *digest, ev *plan.Event) {
	d.text(ev.OperationID)
	d.text(string(ev.Name))
	d.word(uint64(c.place(ev.Epoch, ev.Seq)))
	if ev.Report != nil {
		d.text(ev.Report.Code)
		d.truth(ev.Report.RequiresDecision)
	}
	switch ev.Result["area"].(type) {
	case string:
		d.word(1)
	case float64:
		d.word(2)
	}
}

func (c *canon) asked(w *World, r *Request) uint64 {
	c.request = newDigest()
	d := &c.request
	over := func(route plan.Route) { d.word(uint64(c.ago(route.ConnectionEpoch))) }
	switch cmd := r.Command.(type) {
	case plan.AwaitDevice:
		d.text("await")
		if cmd.Newer >= w.Connection {
			d.word(uint64(c.until(r.At + settleFor)))
		}
	case plan.Submit:
		d.text("submit")
		d.text(cmd.OperationID)
		d.word(uint64(c.until(r.startBy(cmd))))
		over(cmd.Route)
	case plan.QueryStatus:
		d.text("status")
		d.text(cmd.OperationID)
		over(cmd.Route)
	case plan.CancelTask:
		d.text("cancel")
		d.text(cmd.OperationID)
		over(cmd.Route)
	case plan.Prepare:
		d.text("prepare")
		d.text(cmd.OperationID)
		over(cmd.Route)
	case plan.Verify:
		d.text("verify")
		d.text(cmd.OperationID)
		over(cmd.Route)
	case plan.FetchContext:
		d.text("context")
		over(cmd.Route)
	case plan.MakePlan:
		d.text("plan")
	case plan.Decide:
		d.text("decide")
	case plan.Perform:
		d.text("perform")
		d.text(cmd.OperationID)
		d.truth(r.Stopped)
	default:
		d.value(r.Command)
	}
	c.reply(d, r.Reply)
	return d.sum
}

// reply is an answer on its way back.
func (c *canon) reply(d *digest, in plan.Input) {
	if in == nil {
		return
	}
	var end *plan.Event
	switch answer := in.(type) {
	case plan.Submitted:
		end, answer.Terminal, answer.ConnectionEpoch = answer.Terminal, nil, c.ago(answer.ConnectionEpoch)
		d.value(answer)
	case plan.StatusReported:
		end, answer.Terminal, answer.ConnectionEpoch = answer.Terminal, nil, c.ago(answer.ConnectionEpoch)
		answer.Epoch, answer.AsOfSeq = c.place(answer.Epoch, answer.AsOfSeq), 0
		d.value(answer)
	case plan.Prepared:
		answer.ConnectionEpoch = c.ago(answer.ConnectionEpoch)
		d.value(answer)
	case plan.CancelAnswered:
		end, answer.Terminal, answer.ConnectionEpoch = answer.Terminal, nil, c.ago(answer.ConnectionEpoch)
		d.value(answer)
	default:
		d.value(in)
	}
	if end != nil {
		c.said(d, end)
	}
}
