package plan

// expire ends what has run out of time. Every wait has a deadline and a named next move (law 18).
func (m *machine) expire() {
	s := &m.s
	if q := s.Question; q != nil && m.at >= q.ExpiresAt {
		m.note(q.StepID, "question "+q.ID+" was not answered: no answer is no")
		s.Question = nil
		m.resolve(*q, "stop")
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

// nextWake is the earliest time at which something becomes due by itself.
func (s *State) nextWake() int64 {
	if s.Outcome != nil || !s.Begun {
		return 0
	}
	wake := int64(0)
	earliest := func(t int64) {
		if t > 0 && (wake == 0 || t < wake) {
			wake = t
		}
	}
	switch {
	case s.Cancel != nil:
		earliest(s.Cancel.GiveUpAt)
	case s.Ending != nil:
		earliest(s.Ending.GiveUpAt)
	default:
		earliest(s.Deadline)
	}
	if s.unstarted() {
		earliest(s.StartBy)
	}
	if s.Question != nil {
		earliest(s.Question.ExpiresAt)
	}
	if i := s.current(); i >= 0 {
		st, op := &s.Steps[i], s.Steps[i].op()
		earliest(st.VerifyBy)
		earliest(st.WaitUntil)
		if op.Phase == OpUnsent && op.CheckAt > s.At {
			earliest(op.CheckAt)
		}
		idle := !op.Phase.Dead() && op.Phase != OpUnsent && !op.Sending && !op.Asking
		if idle && (s.Device.Route != nil || !op.Lost) { // what is out comes back; without a route reachDevice waits
			earliest(op.CheckAt)
		}
	}
	return wake
}
