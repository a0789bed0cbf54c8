package plan

import "slices"

// cancelRequested latches a person's wish to stop. It is a request: what physically happened is what is reported (law 15).
func (m *machine) cancelRequested(in CancelRequest) {
	if m.s.Cancel != nil {
		return
	}
	m.s.Cancel = &Latch{By: in.By, Why: in.Why, Source: in.Source, At: m.at, GiveUpAt: m.giveUpAt()}
	m.withdrawQuestion()
	m.s.Boundary = nil
	m.note("", "cancel asked for by "+colon(in.By, in.Why))
}

// end sets out for a close that no person asked for. The first reason stands.
func (m *machine) end(as Phase, report *Report) {
	if m.stopping() {
		return
	}
	m.s.Ending = &Ending{As: as, Report: report, At: m.at, GiveUpAt: m.giveUpAt()}
	m.withdrawQuestion()
	m.s.Boundary = nil
}

// giveUpAt is when a stop stops waiting for the truth: the operation's time to live, its timeouts and a grace.
func (m *machine) giveUpAt() int64 {
	i := m.s.current()
	if i < 0 || m.s.Steps[i].op().SentAt == 0 {
		return m.at + stopGrace
	}
	t := m.s.timeouts(i)
	return max(m.at+stopGrace, m.s.Steps[i].op().SentAt+t.QueueMs+t.RunMs+stopGrace)
}

// patience is when a plan that is being stopped stops waiting for the truth.
func (s *State) patience() int64 {
	if s.Cancel != nil {
		return s.Cancel.GiveUpAt
	}
	return s.Ending.GiveUpAt
}

func (m *machine) stoppedAt() int64 {
	if m.s.Cancel != nil {
		return m.s.Cancel.At
	}
	return m.s.Ending.At
}

// windDown stops what is in flight and closes the plan when nothing can move any more, or the truth cannot be had.
func (m *machine) windDown() {
	if !m.stopping() || m.s.Outcome != nil {
		return
	}
	i := m.s.current()
	if i >= 0 {
		op := m.s.Steps[i].op()
		switch {
		case m.at >= m.s.patience():
			// The truth could not be had: finish says so.
		case op.Phase.Dead():
			return // a verdict is due, and bounded
		case op.Untold, op.Cloud && !op.Sending:
			// Not begun, or nobody will ever tell: finish says which.
		case op.Phase == OpUnsent && op.Loose: // it was not there when we asked, and may still come
			op.Phase, op.Lost, op.Why, op.CheckAt = OpSent, true, mayStillCome, m.at+afterCancel
			m.stop(op)
			return
		case op.Phase != OpUnsent:
			m.stop(op)
			return
		}
	}
	if m.at < m.s.patience() && m.disown() {
		return
	}
	m.finish()
}

// disown puts it beyond doubt that what the device refused will not move it after the outcome: a cancel leaves a tombstone
// there, or shows that the refusal was no refusal. It reports whether an answer is awaited. A device that cannot be
// reached is believed.
func (m *machine) disown() bool {
	waits := false
	for i := range m.s.Steps {
		for k := range m.s.Steps[i].Ops {
			op := &m.s.Steps[i].Ops[k]
			if op.Phase == OpRefused && !op.Unasked && op.CancelSent == "" && m.s.Device.Route != nil {
				m.stop(op)
				waits = true
			}
		}
	}
	return waits
}

// refusalTested takes the answer to a cancel of a refused operation.
func (m *machine) refusalTested(i int, op *Operation, in CancelAnswered) {
	op.CancelSent = string(in.Case)
	switch in.Case {
	case CancelUnreachable:
		m.refute(in.ConnectionEpoch)
	case CancelDone, CancelStopping, CancelAlreadyCompleted, CancelAlreadyFailed:
		m.note(m.s.Steps[i].ID, op.ID+" was refused, and yet the device has it")
		op = m.reopen(i, op)
		op.CancelSent, op.CheckAt = string(in.Case), m.at+afterCancel
		if in.Terminal != nil {
			m.apply(i, op, *in.Terminal)
		}
	default: // never there, and a tombstone keeps it away
	}
}

// reopen takes back what was believed about an operation's end. It becomes the step's live one: the device is asked.
func (m *machine) reopen(i int, op *Operation) *Operation {
	st := &m.s.Steps[i]
	back := *op
	back.Phase, back.Lost, back.Terminal, back.Why = OpSent, true, nil, "its end was reported, and contradicted since"
	back.CancelSent, back.CheckAt, back.Asks = "", m.at, 0
	st.Ops = slices.DeleteFunc(st.Ops, func(o Operation) bool { return o.Generation == back.Generation })
	st.Ops = append(st.Ops, back)
	return st.op()
}

// mayStillCome is why an operation that the device does not know is not over while the plan stops: a submit of it may be
// under way, and only a tombstone keeps it from moving the device (see cancelAnswered).
const mayStillCome = "never arrived yet: only its cancel keeps it from coming"

// stop asks whoever carries an operation out to end it, the device once per way to it; then its end is awaited.
func (m *machine) stop(op *Operation) {
	if op.Cloud {
		m.stopPerforming(op)
		return
	}
	if op.Cancelling || op.CancelSent != "" || m.s.Device.Route == nil {
		return
	}
	op.Cancelling = true
	i, _ := m.s.find(op.ID)
	m.do(CancelTask{Route: *m.s.Device.Route, DeviceID: m.s.Start.DeviceID, OperationID: op.ID, TaskID: op.TaskID,
		NodeCommand: m.s.capability(i).NodeCommand, Reason: m.stopReason()})
}

func (m *machine) stopReason() string {
	if !m.stopping() {
		return "the plan goes on without it"
	}
	if m.s.Cancel != nil {
		return orText(m.s.Cancel.Why, "cancelled by "+m.s.Cancel.By)
	}
	if m.s.Ending.Report != nil {
		return m.s.Ending.Report.Code
	}
	return "the plan is over"
}

func orText(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// cancelAnswered takes the device's word. Only a terminal, or a tombstone in the store that the operation was sent to,
// closes it; a mere yes is a reason to ask how it went.
func (m *machine) cancelAnswered(in CancelAnswered) {
	i, op := m.s.find(in.OperationID)
	if op == nil || !op.Cancelling {
		return
	}
	op.Cancelling = false
	if op.Phase == OpRefused {
		m.refusalTested(i, op, in)
		return
	}
	if op.Phase.Dead() {
		return
	}
	if in.Terminal != nil {
		op.CancelSent, op.CheckAt = string(in.Case), m.at+afterCancel
		m.apply(i, op, *in.Terminal)
		return
	}
	switch in.Case {
	case CancelUnreachable:
		m.refute(in.ConnectionEpoch)
		return
	case CancelTombstoned:
		if op.Phase == OpUnsent && !op.Loose {
			return // nothing of it is under way, and the device knows nothing of it: it is not in doubt
		}
		if op.Phase == OpSent && op.StoreID != "" && op.StoreID == in.StoreID {
			op.Phase, op.Lost, op.Why = OpCancelled, false, "never arrived, and refused if it does"
			return
		}
		m.lose(op, "the device does not know it, and cannot know whether it ran")
	default: // its end is awaited
	}
	op.CancelSent = string(in.Case)
	op.CheckAt = m.at + afterCancel
}
