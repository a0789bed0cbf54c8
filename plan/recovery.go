package plan

import (
	"fmt"
	"maps"
)

// maxBackoff bounds the wait between two tries of one recovery, milliseconds.
const maxBackoff = 10 * minute

// recover does what the reason table lets be done without a decision, and reports whether that is under way. The number of
// tries is the table's; a try is a new generation of a dead operation. A blocked one is alive: to "wait" gives it time to
// go on by itself, to "retry" cancels it first and sees it dead (design §6).
func (m *machine) recover(i int, report *Report) bool {
	st, op := &m.s.Steps[i], m.s.Steps[i].op()
	r := m.s.Slice.Reason(report.Code).Recovery
	if report.RequiresDecision || m.stopping() || st.Then != "" || (r.Action != "retry" && r.Action != "wait") {
		return false
	}
	r.MaxAttempts = min(r.MaxAttempts, m.s.Slice.Policy(m.s.capability(i)).Retries)
	tried := st.Recovered[report.Code]
	switch {
	case tried >= r.MaxAttempts:
		report.RequiresDecision = true // exhausted recovery sets the boundary itself
		report.Detail = orText(report.Detail, fmt.Sprintf("the reason table's recovery was tried %d times", tried))
		return false
	case !op.Phase.Dead() && r.Action == "wait":
		st.WaitUntil = m.at + min(r.BackoffMs*int64(r.MaxAttempts), maxBackoff)
		st.countRecovery(report.Code, r.MaxAttempts)
	case !op.Phase.Dead():
		st.countRecovery(report.Code, 1)
		st.Then = ThenRetry
	case !st.alive():
		return false
	default:
		st.countRecovery(report.Code, 1)
		m.openGeneration(i)
		st.Reason = report // why it waits
		st.op().CheckAt = m.at + recoveryBackoff(r.BackoffMs, tried)
		st.op().Why = fmt.Sprintf("tried again after %s, %d of %d", report.Code, tried+1, r.MaxAttempts)
	}
	m.log(Entry{Kind: "recovery", Step: st.ID, From: report.Code, To: r.Action, Text: fmt.Sprintf("%d of %d", st.Recovered[report.Code], r.MaxAttempts)})
	return true
}

// recoveryBackoff doubles the table's backoff with each try.
func recoveryBackoff(ms int64, tried int) int64 {
	wait := min(max(ms, 0), maxBackoff)
	for range tried {
		wait = min(2*wait, maxBackoff)
	}
	return wait
}

// countRecovery replaces the map, since states share theirs.
func (st *StepState) countRecovery(code string, n int) {
	counts := maps.Clone(st.Recovered)
	if counts == nil {
		counts = map[string]int{}
	}
	counts[code] += n
	st.Recovered = counts
}

// alive reports whether the step may still be carried out.
func (st *StepState) alive() bool { return st.Closed == "" && st.Excused == "" }

// mayRetry reports whether a decision may have a step tried again: a new try would not be the same again, as after a
// binding that failed (there is no operation) or a completion that was contradicted.
func (m *machine) mayRetry(i int) bool {
	st := &m.s.Steps[i]
	recovered := 0
	for _, code := range sortedKeys(st.Recovered) {
		recovered += st.Recovered[code]
	}
	return st.op() != nil && st.op().Phase != OpCompleted && st.alive() && len(st.Ops)-min(recovered, len(st.Ops)-1) < maxTries
}

// retry opens the next generation, once the one before is dead.
func (m *machine) retry(i int) {
	m.s.Boundary = nil
	if st := &m.s.Steps[i]; !st.op().Phase.Dead() {
		st.Then = ThenRetry
		return
	}
	m.openGeneration(i)
}

// followUp stops the operations whose steps go on another way, and goes that way once they are dead.
func (m *machine) followUp() {
	if m.stopping() {
		return
	}
	for i := range m.s.Steps {
		st := &m.s.Steps[i]
		op := st.op()
		if st.Then == "" || op == nil {
			continue
		}
		switch {
		case op.Phase == OpUnsent && !op.Sending && !op.Loose:
			m.follow(i)
		case op.Phase == OpUnsent && !op.Sending: // it was not there when we asked, and may still come
			op.Phase, op.Lost, op.Why, op.CheckAt = OpSent, true, mayStillCome, m.at+afterCancel
			m.stop(op)
		case op.Phase == OpCompleted:
			st.Then = "" // it was faster than its cancel: late truth wins
		case op.Phase.Dead():
			m.follow(i)
		default:
			m.stop(op)
		}
	}
}

func (m *machine) follow(i int) {
	then := m.s.Steps[i].Then
	m.s.Steps[i].Then = ""
	switch then {
	case ThenRetry:
		m.openGeneration(i)
	case ThenReplace:
		m.excuse(i, ExcuseReplaced)
	case ThenWithdraw:
		m.excuse(i, ExcuseWithdrawn)
	}
}

// excuse lets the plan go on without a step, and without those that can never run because of it (law 1).
func (m *machine) excuse(i int, why Excuse) {
	st := &m.s.Steps[i]
	if st.Excused != "" || st.done() {
		return
	}
	st.Excused = why
	if st.Confirming {
		m.withdrawQuestion()
	}
	if op := st.op(); op == nil || op.Phase == OpUnsent {
		st.Closed = StepSkipped
		if why == ExcuseWithdrawn {
			st.Closed = StepCancelled
		}
	}
	for j, spec := range m.s.Document.Steps {
		for _, id := range spec.DependsOn {
			if id == st.ID && m.s.Steps[j].op() == nil {
				m.excuse(j, ExcuseSkipped)
			}
		}
	}
}
