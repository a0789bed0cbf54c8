package plan

import "errand/catalog"

// startVerification asks for an independent look at what a completed operation left behind (design §6 Verification).
func (m *machine) startVerification(i int, op *Operation) {
	if m.s.capability(i).Verify == "" || op.Cloud {
		m.close(i, op, VerifiedResult{Verdict: Unverified})
		return
	}
	m.s.Steps[i].VerifyBy = m.at + verifyFor
	m.tendVerification(&m.s.Steps[i], op)
}

func (m *machine) tendVerification(st *StepState, op *Operation) {
	s := &m.s
	if st.VerifyBy == 0 || st.Verifying || s.Device.Route == nil {
		return
	}
	c := s.capability(s.index(st.ID))
	st.Verifying = true
	m.do(Verify{Route: *s.Device.Route, DeviceID: s.Start.DeviceID, OperationID: op.ID, Capability: c.ID,
		Expression: c.Verify, Arguments: st.Arguments, Result: st.Result,
		CompletedAt: op.Terminal.Timestamp, Epoch: op.Terminal.Epoch})
}

func (m *machine) verified(in VerifiedResult) {
	i, op := m.s.find(in.OperationID)
	if op == nil || op != m.s.Steps[i].op() || !m.s.Steps[i].Verifying {
		return
	}
	if in.Unseen && m.at < m.s.Steps[i].VerifyBy { // its gateway is gone, or the device: another look, as soon as there is a way
		m.s.Steps[i].Verifying = false
		m.refute(in.ConnectionEpoch)
		return
	}
	m.close(i, op, in)
}

// close gives a completed operation its receipt, and the step its end: completed, asked about, or contradicted.
func (m *machine) close(i int, op *Operation, v VerifiedResult) {
	st, c := &m.s.Steps[i], m.s.capability(i)
	st.VerifyBy, st.Verifying = 0, false
	if v.Verdict != Verified && v.Verdict != Contradicted {
		v.Verdict = Unverified
	}
	if op.Cloud { // there is nothing about the device to be seen, and its activity's result is on record
		return
	}
	st.Receipt = &Receipt{
		OperationID: op.ID, LogicalAction: c.ID + "." + m.s.Document.Steps[i].Action.OperationID,
		TargetRef: targetRef(c, st.Arguments), PreStateRevision: st.before(op), Confirmation: st.Confirmation,
		EffectCount: op.Terminal.EffectCount, ExecutorRevision: op.Terminal.ExecutorRevision,
		ObservedPostState: v.Observed, VerifiedBy: v.VerifiedBy, Verdict: v.Verdict,
	}
	switch {
	case v.Verdict == Contradicted:
		st.Closed = StepContradicted
		report := Report{Code: codeContradicted, RequiresDecision: true, Detail: v.Detail}
		st.Reason = &report
		if !m.stopping() {
			m.raise(i, op.ID, report)
		}
	case v.Verdict == Unverified && c.Verify != "" && m.s.Slice.Policy(c).Verify:
		if !m.stopping() {
			said := catalog.Render(c.Say["unverified"].In(m.s.Start.Locale), m.s.spokenOf(i, st.Result))
			m.ask(Question{Kind: "proceed_unverified", StepID: st.ID, Choices: []string{"continue", "stop"}}, "ask_unverified",
				map[string]string{"steps": said})
		}
	}
}

// codeContradicted is the reason of what is done, but not as expected.
const codeContradicted = "VERIFY_CONTRADICTED"

// before is the revision of what was acted on: the chosen object's, else what the device called its own state.
func (st *StepState) before(op *Operation) string {
	if st.Target != nil {
		return st.Target.Revision
	}
	return op.Pre
}

// targetRef names what was acted on: an object by its area and id, else the first grounded slot that has a text.
func targetRef(c *catalog.Capability, arguments map[string]any) string {
	if slot := c.ObjectSlot(); slot != nil {
		id, _ := arguments[slot.Name].(string)
		return slot.Object.Area + ":" + id
	}
	for _, slot := range c.Slots {
		if text, ok := arguments[slot.Name].(string); ok && slot.Grounding != "" {
			return slot.Grounding + ":" + text
		}
	}
	return ""
}
