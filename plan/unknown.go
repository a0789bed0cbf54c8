package plan

// mayHaveCome is why an operation is lost that we would not send again, while an earlier copy of it may be on its way.
const mayHaveCome = "not sent again, and whether it came the first time is unknown"

// lose records that we no longer know how an operation stands. The device is asked before anything else (law 9).
func (m *machine) lose(op *Operation, why string) {
	if !op.Lost {
		op.Lost, op.Why, op.Asks = true, why, 0
	}
	op.CheckAt = m.at
}

// contact records that the device spoke about an operation.
func (m *machine) contact(op *Operation) {
	op.Lost, op.Untold, op.Why, op.Asks = false, false, "", 0
	m.s.Device.Late = false // what it was away for went on meanwhile: the next step follows as it would have
}

// tend looks after what is in flight: what is overdue is lost, what is lost is asked about, what completed is verified.
func (m *machine) tend() {
	s := &m.s
	i := s.current()
	if i < 0 {
		return
	}
	st, op := &s.Steps[i], s.Steps[i].op()
	if op.Phase.Dead() {
		m.tendVerification(st, op)
		return
	}
	if op.Untold || op.Cloud || op.Phase == OpUnsent || op.Sending || op.Asking || op.CheckAt == 0 || m.at < op.CheckAt {
		return
	}
	if !op.Lost {
		why := "overdue: no terminal event came in its time"
		if op.CancelSent != "" {
			why = "how it ended was not told yet"
		}
		m.lose(op, why)
	}
	if s.Device.Route == nil {
		return // reachDevice looks for it
	}
	op.Asking = true
	op.Asks++
	m.do(QueryStatus{Route: *s.Device.Route, DeviceID: s.Start.DeviceID, OperationID: op.ID, TaskID: op.TaskID,
		NodeCommand: s.capability(i).NodeCommand, ReadBack: s.readBack(i)})
}

func (m *machine) statusReported(in StatusReported) {
	i, op := m.s.find(in.OperationID)
	if op == nil || !op.Asking {
		return
	}
	op.Asking = false
	if op.Phase.Dead() {
		return
	}
	switch in.Finding {
	case StatusFound:
		m.statusFound(i, op, in)
	case StatusNotFound:
		m.statusNotFound(op, in)
	case StatusUnreachable:
		m.refute(in.ConnectionEpoch)
		op.CheckAt = m.at // ask as soon as there is a route again
	case StatusForgotten:
		m.neverTold(i, op, orText(in.Detail, "the device keeps nothing of what it did"))
	case StatusNeverRan:
		m.neverRan(op, in.Detail)
	default:
		op.CheckAt = m.at + lastBackoff
	}
}

// statusFound ranks an answer like an event at (epoch, as_of_seq). A stored terminal comes with its result.
func (m *machine) statusFound(i int, op *Operation, in StatusReported) {
	if op.TaskID == "" {
		op.TaskID = in.TaskID
	}
	if in.Terminal != nil {
		op.CheckAt = m.at + recheck // should it be no terminal at all
		m.apply(i, op, *in.Terminal)
		return
	}
	if in.Status.rank() == 0 || in.Status.Dead() {
		op.CheckAt = m.at + backoff(op.Asks) // over, it says, but not how: keep asking
		return
	}
	m.contact(op)
	if in.Status.rank() > op.Phase.rank() || (in.Status.rank() == op.Phase.rank() && op.later(in.Epoch, in.AsOfSeq)) {
		op.Phase, op.Epoch, op.Seq = in.Status, in.Epoch, in.AsOfSeq
		if op.Phase != OpBlocked { // why it is blocked comes with its event
			m.goesOn(i, op)
		}
	}
	op.CheckAt = min(m.checkAfter(i, op), m.at+recheck)
}

// checkAfter is when an operation that the device just said is alive is asked about next: when it should have ended by
// itself, or soon if it was told to stop, whatever it says of its progress.
func (m *machine) checkAfter(i int, op *Operation) int64 {
	switch {
	case m.stopping():
		return m.at + min(max((m.at-m.stoppedAt())/4, afterCancel), recheck)
	case op.CancelSent != "":
		return m.at + recheck
	}
	return m.overdueAt(i, op)
}

// statusNotFound means "never ran" only from the store that the operation was sent to, within its retention
// (design §6 Resubmit). Then the same id may be sent again; otherwise it stays unknown.
func (m *machine) statusNotFound(op *Operation, in StatusReported) {
	sameStore := op.StoreID != "" && in.StoreID == op.StoreID
	remembered := op.RetentionMs == 0 || m.at-op.SentAt < op.RetentionMs
	neverRan := sameStore && remembered && op.Phase == OpSent
	if neverRan && m.at >= op.LooseUntil {
		op.Loose = false // what may have been on its way is too old to start, and it is not there
	}
	if neverRan && !m.stopping() {
		op.Phase, op.Lost, op.Why, op.CheckAt = OpUnsent, false, "never arrived: to be sent again", 0
		if op.Sends > 1 {
			op.CheckAt = m.at + backoff(op.Sends-1)
		}
		return
	}
	op.Lost = true
	op.Why = "the device does not know it, and cannot know whether it ran"
	if neverRan {
		op.Why = mayStillCome
	}
	op.CheckAt = m.at + backoff(op.Asks)
}

func backoff(asks int) int64 {
	wait := firstBackoff
	for i := 1; i < asks && wait < lastBackoff; i++ {
		wait *= 2
	}
	return min(wait, lastBackoff)
}
