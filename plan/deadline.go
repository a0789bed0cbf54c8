package plan

// expire ends what has run out of time. Every wait has a deadline and a named next move (law 18).
func (m *machine) expire() {
	s := &m.s
	if q := s.Question; q != nil && m.at >= q.ExpiresAt {
		m.note(q.StepID, "question "+q.ID+" was not answered: no answer is no")
		s.Question = nil
		m.resolve(*q, "stop", "")
	}
	if i := s.current(); i >= 0 && s.Steps[i].VerifyBy > 0 && m.at >= s.Steps[i].VerifyBy {
		m.close(i, s.Steps[i].op(), VerifiedResult{Verdict: Unverified, Detail: "no verdict in time"})
	}
	if i := s.current(); i >= 0 && s.Steps[i].WaitUntil > 0 && m.at >= s.Steps[i].WaitUntil {
		m.waitedEnough(i)
	}
	if m.at >= s.StartBy && s.unstarted() {
		m.end(Failed, &Report{Code: "START_TOO_LATE", Detail: "nothing had started in time: the wish is too old to move a device"})
	}
	if m.at >= s.Deadline {
		m.end(Failed, m.tooLate())
	}
}

// waitedEnough is the end of the reason table's wait: a blocked task did not go on by itself, and a decision is due.
func (m *machine) waitedEnough(i int) {
	st := &m.s.Steps[i]
	st.WaitUntil = 0
	if st.op().Phase != OpBlocked || st.Reason == nil {
		return
	}
	report := *st.Reason
	report.RequiresDecision = true
	st.Reason = &report
	m.raise(i, st.op().ID, report)
}

// tooLate says what the plan was waiting for when its deadline passed.
func (m *machine) tooLate() *Report {
	code := "DEADLINE_PASSED"
	if m.s.Device.Awaiting {
		code = "DEVICE_UNREACHABLE"
	}
	return &Report{Code: code, Detail: "the plan's deadline passed while it was " + string(m.s.Phase())}
}

// Move is what a plan does by itself when a wait is over. The values are part of the view.
type Move string

// The moves that time brings.
const (
	MoveAskDevice  Move = "ask_device"             // ask the device how the operation stands
	MoveSendAgain  Move = "send_again"             // send the operation again, under its own id
	MoveUnverified Move = "proceed_unverified"     // stop waiting for a verdict: the step counts as unverified
	MoveDecide     Move = "get_a_decision"         // a blocked task did not go on by itself
	MoveNoAnswer   Move = "take_silence_as_no"     // the question expires, and no answer is no
	MoveTooLate    Move = "fail_too_late_to_start" // nothing started in time: the wish is too old to move a device
	MoveFail       Move = "fail_at_deadline"       // the plan's deadline: stop what moves, then end as failed
	MoveGiveUp     Move = "close_unresolved"       // the device did not confirm the stop: close without the truth about it
)

// Next is when a plan moves by itself, and how: what law 18 wants of every wait.
type Next struct {
	At   int64 `json:"at"`
	Move Move  `json:"move"`
}

// next is the earliest of all that becomes due by itself; the zero Next if nothing does.
func (s *State) next() Next {
	var first Next
	if s.Outcome != nil || !s.Begun {
		return first
	}
	due := func(at int64, move Move) {
		if at > 0 && (first.At == 0 || at < first.At) {
			first = Next{At: at, Move: move}
		}
	}
	if s.Cancel != nil || s.Ending != nil {
		due(s.patience(), MoveGiveUp)
	} else {
		due(s.Deadline, MoveFail)
	}
	if s.unstarted() {
		due(s.StartBy, MoveTooLate)
	}
	if s.Question != nil {
		due(s.Question.ExpiresAt, MoveNoAnswer)
	}
	if i := s.current(); i >= 0 {
		s.nextOf(i, due)
	}
	return first
}

// nextOf tells what becomes due about the step in flight.
func (s *State) nextOf(i int, due func(int64, Move)) {
	st, op := &s.Steps[i], s.Steps[i].op()
	due(st.VerifyBy, MoveUnverified)
	if s.Cancel == nil && s.Ending == nil {
		due(st.WaitUntil, MoveDecide)
		if op.Phase == OpUnsent && op.CheckAt > s.At {
			due(op.CheckAt, MoveSendAgain)
		}
	}
	idle := !op.Phase.Dead() && op.Phase != OpUnsent && !op.Sending && !op.Asking
	if idle && (s.Device.Route != nil || !op.Lost) { // what is out comes back; without a route reachDevice waits
		due(op.CheckAt, MoveAskDevice)
	}
}
