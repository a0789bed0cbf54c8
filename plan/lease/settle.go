package lease

import (
	"slices"

	"errand/plan"
)

// unsettle records an operation that may still move the device; false if it was recorded before.
func (m *machine) unsettle(id, planID, why string) bool {
	s := &m.s
	switch {
	case s.find(id) >= 0:
		return false
	case len(s.Unsettled) >= maxUnsettled: // not kept one by one: the device must say what it runs
		m.unlist()
		return true
	}
	s.Unsettled = append(s.Unsettled, Operation{ID: id, PlanID: planID, Why: why, Since: m.at, CheckAt: m.at})
	return true
}

// unlist records that only the device itself can say whether anything moves it.
func (m *machine) unlist() {
	m.s.Unlisted = m.at + underWay
	m.wantList(m.s.Unlisted)
}

func (s *State) find(id string) int {
	return slices.IndexFunc(s.Unsettled, func(op Operation) bool { return op.ID == id })
}

// tombstoned reports whether the device said that it does not know the operation, and will refuse it if it comes.
func (s *State) tombstoned(op Operation) bool { return op.Cancel == plan.CancelTombstoned }

// settle looks after the operations that may still move the device: each is cancelled, then asked about until it is over.
func (m *machine) settle() {
	route := m.s.Device.Route
	if route == nil {
		return // reach looks for it; the intents are kept
	}
	for i := range m.s.Unsettled {
		op := &m.s.Unsettled[i]
		if op.Out || m.at < op.CheckAt || m.s.tombstoned(*op) {
			continue
		}
		op.Out = true
		if op.Cancel == "" {
			m.do(CancelTask{plan.CancelTask{Route: *route, DeviceID: m.s.DeviceID, OperationID: op.ID, Reason: op.Why}})
			continue
		}
		op.Asks++
		m.do(QueryStatus{plan.QueryStatus{Route: *route, DeviceID: m.s.DeviceID, OperationID: op.ID}})
	}
}

// back finds the operation that an answer is about, and notes that nothing is out for it any more.
func (m *machine) back(id string) *Operation {
	i := m.s.find(id)
	if i < 0 || !m.s.Unsettled[i].Out {
		return nil // forgotten meanwhile
	}
	m.s.Unsettled[i].Out = false
	return &m.s.Unsettled[i]
}

// over settles an operation: the device itself said that it is over.
func (m *machine) over(id string) {
	m.s.Unsettled = slices.DeleteFunc(m.s.Unsettled, func(op Operation) bool { return op.ID == id })
}

// cancelAnswered takes the device's word on a cancel. A mere yes is a reason to ask how it went.
func (m *machine) cancelAnswered(in plan.CancelAnswered) {
	op := m.back(in.OperationID)
	if op == nil {
		return
	}
	if in.Terminal != nil && in.Terminal.Name.Terminal() {
		m.over(op.ID)
		return
	}
	switch in.Case {
	case plan.CancelUnreachable:
		m.refute(in.ConnectionEpoch)
		return
	case plan.CancelAlreadyCompleted, plan.CancelAlreadyFailed, plan.CancelAlreadyCancelled:
		m.over(op.ID)
		return
	case plan.CancelDone, plan.CancelTombstoned:
		op.CheckAt = m.at
	default: // it stops, or goes on to its end
		op.CheckAt = m.at + afterCancel
	}
	if op.Cancel = in.Case; op.Cancel == "" {
		op.Cancel = plan.CancelRefused
	}
}

// statusReported takes the device's word on how an operation stands.
func (m *machine) statusReported(in plan.StatusReported) {
	op := m.back(in.OperationID)
	if op == nil {
		return
	}
	ended := in.Status.Dead() || (in.Terminal != nil && in.Terminal.Name.Terminal())
	switch {
	case in.Finding == plan.StatusUnreachable:
		m.refute(in.ConnectionEpoch)
		return
	case in.Finding == plan.StatusFound && ended,
		in.Finding == plan.StatusForgotten, in.Finding == plan.StatusNeverRan, // at work no more, and nobody will tell more
		in.Finding == plan.StatusUnsupported && op.Cancel == plan.CancelDone: // it cannot tell more than it did
		m.over(op.ID)
		return
	case in.Finding == plan.StatusNotFound:
		op.Cancel = "" // it must leave a tombstone: a copy of the submit may still be on its way
	}
	op.CheckAt = m.at + backoff(op.Asks-1)
}

func backoff(asks int) int64 {
	wait := afterCancel
	for i := 0; i < asks && wait < lastBackoff; i++ {
		wait *= 2
	}
	return min(wait, lastBackoff)
}
