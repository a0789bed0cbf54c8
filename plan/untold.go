package plan

import "errand/catalog"

// Some do work and keep nothing of it: a worker that died, and a plain node, which neither remembers an operation nor reports
// after a disconnect (contract.md §10). When such a one is silent there is nobody to ask. What may be done again is done
// again; else what it would have left behind is looked for (readBack, with the status question); else a person says.

// cutShort takes a newer connection as the end of what a plain node did over the one before: it aborts its work with its
// connection, whether or not anybody could tell that the old one ended.
func (m *machine) cutShort() {
	i := m.s.current()
	if i < 0 || m.s.capability(i).NodeCommand == "" {
		return
	}
	if op := m.s.Steps[i].op(); !op.Phase.Dead() && op.Phase != OpUnsent && !op.Cloud {
		m.lose(op, "the node came back over a new connection, and aborts its work with the old one")
	}
}

// askUntold is the kind of question that asks a person to declare an operation dead, of which nobody will ever tell.
const askUntold = "declare_dead"

// neverTold takes that silence. What may be repeated is done again, under its own id; of anything else a person may say that
// it is dead, and for what no device does the plan ends without the truth about it (laws 9 and 11).
func (m *machine) neverTold(i int, op *Operation, why string) {
	c := m.s.capability(i)
	switch {
	case c.Repeatable() && !m.stopping() && m.s.Steps[i].Then == "" && op.Sends < maxTries:
		op.Phase, op.Lost, op.Why, op.CheckAt = OpUnsent, false, why, m.at+backoff(op.Sends)
	case c.Impact == catalog.ReadOnly: // it left nothing behind
		m.terminal(i, op, OpTimedOut, Event{Name: EventTimedOut, OperationID: op.ID, StepID: m.s.Steps[i].ID, Timestamp: m.at})
	case op.Cloud:
		op.Lost, op.Why = true, why
		m.end(Failed, &Report{Code: codeUnresolved, Detail: op.ID + ": " + why})
	default:
		op.Lost, op.Untold, op.Why, op.CheckAt = true, true, why, 0
	}
}

// codeUnresolved is the reason of a plan that ends without the truth about an operation.
const codeUnresolved = "OPERATION_UNRESOLVED"

// askIfDead asks about an operation of which nobody will tell, as soon as no other question stands. One that was tried too
// often already ends the plan.
func (m *machine) askIfDead() {
	i := m.s.current()
	if i < 0 {
		return
	}
	op := m.s.Steps[i].op()
	switch {
	case !op.Untold || op.Phase.Dead() || m.stopping() || m.s.Question != nil || m.s.Boundary != nil:
	case !m.mayRetry(i):
		m.end(Failed, &Report{Code: codeUnresolved, Detail: op.ID + ": " + op.Why})
	default:
		m.ask(Question{Kind: askUntold, StepID: m.s.Steps[i].ID, OperationID: op.ID, Choices: []string{"retry", "stop"}}, "ask_untold",
			map[string]string{"what": m.s.doing(i)})
	}
}

// declareDead takes a person's word for it: the operation counts as dead, and its step is tried again. Who said so is on record
// with the answer.
func (m *machine) declareDead(i int) {
	st, op := &m.s.Steps[i], m.s.Steps[i].op()
	if op == nil || !op.Untold || op.Phase.Dead() {
		return
	}
	m.note(st.ID, op.ID+" is declared dead: what it did is not known")
	st.Then = orThen(st.Then, ThenRetry)
	op.Lost, op.Untold = false, false
	m.terminal(i, op, OpTimedOut, Event{Name: EventTimedOut, OperationID: op.ID, StepID: st.ID, Timestamp: m.at})
}

func orThen(then, otherwise Then) Then {
	if then != "" {
		return then
	}
	return otherwise
}

// neverRan takes the word of what was read back: the operation left nothing behind, so it is sent under its own id.
func (m *machine) neverRan(op *Operation, why string) {
	if m.stopping() {
		op.Phase, op.Lost, op.Why = OpCancelled, false, orText(why, "it never ran")
		return
	}
	op.Phase, op.Lost, op.Why, op.CheckAt = OpUnsent, false, orText(why, "it never ran"), m.at+backoff(op.Sends)
}

// readBack is how to see whether an operation of a plain node ran, or nil.
func (s *State) readBack(i int) *ReadBack {
	c := s.capability(i)
	reader, ok := s.Slice.Capability(c.ReadBack)
	if c.NodeCommand == "" || c.ReadBackShows == "" || !ok || reader.NodeCommand == "" {
		return nil
	}
	params := make(map[string]any, len(c.ReadBackWith))
	for _, slot := range sortedKeys(c.ReadBackWith) {
		if value, given := s.Steps[i].Arguments[c.ReadBackWith[slot]]; given {
			params[slot] = value
		}
	}
	return &ReadBack{NodeCommand: reader.NodeCommand, Params: params, Shows: c.ReadBackShows, Arguments: s.Steps[i].Arguments}
}
