package plan

// finish closes the plan: what never ran is marked so, the outcome is drawn up, the person is told.
func (m *machine) finish() {
	s := &m.s
	for i := range s.Steps {
		st := &s.Steps[i]
		op := st.op()
		switch {
		case st.Closed != "":
		case op == nil || (op.Phase == OpUnsent && !op.Loose):
			st.Closed = StepSkipped
			if s.Cancel != nil {
				st.Closed = StepCancelled
			}
		case !op.Phase.Dead():
			op.Lost = true // nobody can tell any more: reported unknown (law 19)
		case st.VerifyBy > 0:
			m.close(i, op, VerifiedResult{Verdict: Unverified, Detail: "the plan ended before a verdict"})
		}
		st.Phase = st.derivePhase(false)
	}
	if n := len(s.FollowUps); n > 0 {
		m.note("", itoa(n)+" follow-up(s) not planned any more: the plan is over")
	}
	outcome := m.outcome()
	s.Outcome = &outcome
	if s.Device.Awaiting {
		s.Device.Awaiting = false
		m.do(StopAwaiting{})
	}
	m.releaseLease()
	m.do(Say{Route: s.Device.Route, DeviceID: s.Start.DeviceID, HomeID: s.Start.HomeID, Text: outcome.TTSResponse, Locale: s.Start.Locale})
	m.do(Finish{Outcome: outcome})
}

func (m *machine) outcome() Outcome {
	s := &m.s
	o := Outcome{PlanID: s.Start.PlanID, LLMCalls: s.LLMCalls, Cancel: s.Cancel, Revision: s.Revision,
		StartedAt: s.Start.AskedAt, EndedAt: m.at, Steps: []StepOutcome{}}
	unknown := false
	for i := range s.Steps {
		step := s.stepOutcome(i)
		unknown = unknown || step.Phase == StepUnknown
		if step.Receipt != nil && step.Receipt.Verdict == Verified {
			o.Verified++
		}
		o.Steps = append(o.Steps, step)
	}
	if s.Ending != nil {
		o.State, o.Reason = s.Ending.As, s.Ending.Report
		if o.State == Failed && o.Reason.is(codeContradicted) {
			o.State = NotAsExpected
		}
	}
	if s.Cancel != nil {
		o.State = Cancelled
	}
	if unknown {
		o.State = Unresolved
		if o.Reason == nil {
			o.Reason = &Report{Code: "OPERATION_UNRESOLVED"}
		}
	}
	o.TTSResponse = s.tell(o)
	return o
}

// stepOutcome tells how a step ended.
func (s *State) stepOutcome(i int) StepOutcome {
	st := &s.Steps[i]
	out := StepOutcome{ID: st.ID, Excused: st.Excused, Phase: st.Phase, Result: st.Result, Receipt: st.Receipt, Reason: st.Reason}
	op := st.op()
	if op == nil || op.Sends == 0 {
		return out
	}
	out.OperationID, out.TaskMethod = op.ID, s.capability(i).TaskMethod
	if op.Terminal != nil {
		out.EventName = string(op.Terminal.Name)
	}
	return out
}
