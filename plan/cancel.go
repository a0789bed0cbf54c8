package plan

import "fmt"

// cancelRequested latches a person's wish to stop. It is a request: what physically happened is what is reported (law 15).
func (m *machine) cancelRequested(in CancelRequest) {
	if m.s.Cancel != nil {
		return
	}
	m.s.Cancel = &Latch{By: in.By, Why: in.Why, Source: in.Source, At: m.at, GiveUpAt: m.giveUpAt()}
	m.withdrawQuestion()
	m.s.Boundary = nil
	m.note("", fmt.Sprintf("cancel asked for by %s: %s", in.By, in.Why))
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

func (m *machine) patience() int64 {
	if m.s.Cancel != nil {
		return m.s.Cancel.GiveUpAt
	}
	return m.s.Ending.GiveUpAt
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
		case m.at >= m.patience():
			// The truth could not be had: finish says so.
		case op.Phase.Dead():
			return // a verdict is due, and bounded
		case op.Phase == OpUnsent && op.Loose: // it was not there when we asked, and may still come
			op.Phase, op.Lost, op.Why, op.CheckAt = OpSent, true, mayStillCome, m.at+afterCancel
			m.stop(op)
			return
		case op.Phase != OpUnsent:
			m.stop(op)
			return
		}
	}
	m.finish()
}

// mayStillCome is why an operation that the device does not know is not over while the plan stops: a submit of it may be
// under way, and only a tombstone keeps it from moving the device (see cancelAnswered).
const mayStillCome = "never arrived yet: only its cancel keeps it from coming"

// stop asks the device to end an operation, once per way to it; then its end is awaited.
func (m *machine) stop(op *Operation) {
	if op.Cancelling || op.CancelSent != "" || m.s.Device.Route == nil {
		return
	}
	op.Cancelling = true
	m.do(CancelTask{Route: *m.s.Device.Route, DeviceID: m.s.Start.DeviceID, OperationID: op.ID, TaskID: op.TaskID,
		Reason: m.stopReason()})
}

func (m *machine) stopReason() string {
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
