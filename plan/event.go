package plan

import (
	"fmt"

	"errand/catalog"
)

// event takes a device's report: once (law 7), in any order (law 8), and only for the operation it names (law 6).
func (m *machine) event(ev Event) {
	if ev.DeviceID != m.s.Start.DeviceID {
		m.note("", fmt.Sprintf("event %s ignored: it is from another device", ev.EventID))
		return
	}
	if ev.Seq > 0 && m.s.seen(ev.Epoch, ev.Seq) {
		return
	}
	if m.s.Document == nil {
		m.note("", fmt.Sprintf("event %s ignored: there is no plan yet", ev.EventID))
		return
	}
	i, op := m.match(ev)
	switch {
	case op == nil:
		m.note("", fmt.Sprintf("event %s (%s) matches no operation of this plan", ev.EventID, ev.Name))
	case op.Cloud:
		m.note(m.s.Steps[i].ID, fmt.Sprintf("event %s (%s) is about a step that the device does not carry out", ev.EventID, ev.Name))
	case op != m.s.Steps[i].op():
		m.note(m.s.Steps[i].ID, fmt.Sprintf("event %s (%s) is about the superseded operation %s", ev.EventID, ev.Name, op.ID))
	default:
		m.apply(i, op, ev)
	}
}

// match finds the operation of an event. One without an operation id counts for the step's only live operation, if it
// carries the workflow, the step and the task id given at submit; else the device is asked (design §6).
func (m *machine) match(ev Event) (int, *Operation) {
	if ev.OperationID != "" {
		return m.s.find(ev.OperationID)
	}
	i := m.s.index(ev.StepID)
	if i < 0 || ev.WorkflowID != m.s.Start.PlanID {
		return -1, nil
	}
	op := m.s.Steps[i].op()
	if op == nil || op.Phase.Dead() || op.Phase == OpUnsent || op.Cloud {
		return -1, nil
	}
	if ev.TaskID == "" || ev.TaskID != op.TaskID {
		m.lose(op, "an event without an operation id came that may be its own")
		return -1, nil
	}
	return i, op
}

// apply lets an event, or a stored terminal from an answer, change the live operation as far as its rank allows.
func (m *machine) apply(i int, op *Operation, ev Event) {
	phase := phaseOf(ev.Name)
	if phase == "" {
		m.note(m.s.Steps[i].ID, fmt.Sprintf("event %s (%s) says nothing about a step", ev.EventID, ev.Name))
		return
	}
	if op.Phase.Dead() {
		if phase.Dead() && phase != op.Phase {
			m.contradiction(i, op, ev)
		}
		return
	}
	m.contact(op)
	if op.TaskID == "" {
		op.TaskID = ev.TaskID
	}
	switch {
	case phase.Dead():
		m.terminal(i, op, phase, ev)
	case phase.rank() > op.Phase.rank() || (phase.rank() == op.Phase.rank() && op.later(ev.Epoch, ev.Seq)):
		op.Phase, op.Epoch, op.Seq = phase, ev.Epoch, ev.Seq
		op.CheckAt = m.checkAfter(i, op)
		m.alive(i, op, ev)
	case phase == OpBlocked && op.Phase == OpBlocked && m.s.Steps[i].Reason == nil:
		m.alive(i, op, ev) // a status answer was faster, and did not say why
	}
}

// alive takes what an event says about a task that goes on.
func (m *machine) alive(i int, op *Operation, ev Event) {
	st := &m.s.Steps[i]
	if ev.Progress > 0 || ev.Stage != "" {
		op.Progress = &Progress{Fraction: ev.Progress, Stage: ev.Stage}
	}
	if op.Phase != OpBlocked {
		m.goesOn(i, op)
		return
	}
	report := m.reportOf(ev)
	recovering := m.recover(i, &report)
	st.Reason = &report
	if report.RequiresDecision && !recovering {
		m.raise(i, op.ID, report)
	}
}

// goesOn takes back what was asked about an operation that stood still, or was thought never to have started.
func (m *machine) goesOn(i int, op *Operation) {
	m.s.Steps[i].Reason, m.s.Steps[i].WaitUntil = nil, 0
	m.clearBoundary(op.ID)
}

// terminal closes an operation. A completion is not the step's: that takes a verdict first (laws 5 and 20).
func (m *machine) terminal(i int, op *Operation, phase OpPhase, ev Event) {
	st := &m.s.Steps[i]
	raw := ev.Result
	ev.Result = nil // the raw result ends here (law 4)
	op.Phase, op.Epoch, op.Seq, op.Terminal = phase, ev.Epoch, ev.Seq, &ev
	op.CheckAt, op.Progress, st.WaitUntil = 0, nil, 0
	if phase == OpCompleted {
		st.Result, st.Reason = contractOf(&m.s.Document.Steps[i], m.s.capability(i)).Filter(raw), nil
		m.clearBoundary(op.ID)
		m.startVerification(i, op)
		return
	}
	m.failed(i, op, m.reportOf(ev))
}

// failed records why an operation is dead. What follows is ours if we stopped it, else the reason table's recovery, else
// a decision; nothing does if the plan is being stopped anyway.
func (m *machine) failed(i int, op *Operation, report Report) {
	st, id := &m.s.Steps[i], op.ID
	report.Code = orText(report.Code, "UNKNOWN")
	st.Reason = &report
	m.clearBoundary(id)
	switch {
	case m.stopping() || st.Then != "" || m.prepareAgain(i, report) || m.recover(i, &report):
	case m.s.Document.Steps[i].Optional && !report.RequiresDecision && m.table(report).Default != "retry":
		m.excuse(i, ExcuseSkipped)
	default:
		m.raise(i, id, report)
	}
}

func (m *machine) table(report Report) catalog.Reason { return m.s.Slice.Reason(report.Code) }

// contradiction takes a second, different terminal. The first by (epoch, sequence) stands (design §6 Ranks): an earlier one
// that arrives late replaces the other only while nothing was built on it; otherwise it is on record.
func (m *machine) contradiction(i int, op *Operation, ev Event) {
	st := &m.s.Steps[i]
	m.note(st.ID, fmt.Sprintf("contradiction: event %s says %s, %s stood before", ev.EventID, ev.Name, op.Phase))
	earlier := op.Terminal != nil && !op.later(ev.Epoch, ev.Seq) && ev.Epoch > 0
	undecided := st.VerifyBy > 0 || (m.s.Boundary != nil && m.s.Boundary.OperationID == op.ID)
	if !earlier || m.stopping() || !undecided {
		return
	}
	st.Result, st.VerifyBy, st.Verifying, st.Receipt = nil, 0, false, nil
	m.clearBoundary(op.ID)
	m.terminal(i, op, phaseOf(ev.Name), ev)
}

// reportOf reads an event's reason and completes it from the reason table.
func (m *machine) reportOf(ev Event) Report {
	report := Report{Code: defaultCode(ev.Name)}
	report.RequiresDecision = m.table(report).RequiresDecision // a device that says nothing leaves it to the table
	if ev.Report != nil && ev.Report.Code != "" {
		report = *ev.Report
	}
	row := m.table(report)
	if report.Recoverability == "" {
		report.Recoverability = row.Recoverability
	}
	return report
}

// defaultCode is the reason of an event that gives none.
func defaultCode(name EventName) string {
	switch phaseOf(name) {
	case OpTimedOut:
		return "TASK_TIMED_OUT"
	case OpCancelled:
		return "CANCELLED_BY_DEVICE"
	default:
		return "UNKNOWN"
	}
}

func (m *machine) doubt(in Doubt) {
	if in.DeviceID != m.s.Start.DeviceID {
		return
	}
	if _, op := m.s.find(in.OperationID); op != nil && !op.Phase.Dead() && op.Phase != OpUnsent && !op.Cloud {
		m.lose(op, in.Why)
	}
}
