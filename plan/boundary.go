package plan

const (
	// maxDecisions bounds what one plan may spend on decisions, failed and invalid ones included (law 13).
	maxDecisions = 5
	// maxTries bounds how often decisions may have one step tried. What the reason table's recovery tries has its own bound.
	maxTries = 3
)

// raise records that meaning changed and a decision is due.
func (m *machine) raise(i int, operationID string, report Report) {
	if m.stopping() {
		return
	}
	m.s.Boundary = &Boundary{StepID: m.s.Steps[i].ID, OperationID: operationID, Report: report, At: m.at}
}

// clearBoundary withdraws a boundary, and a question, that their operation has outrun: a blocked task that went on.
func (m *machine) clearBoundary(operationID string) {
	if b := m.s.Boundary; b != nil && b.OperationID == operationID {
		m.s.Boundary = nil
	}
	if q := m.s.Question; q != nil && q.OperationID != "" && q.OperationID == operationID {
		m.withdrawQuestion()
	}
}

// decide gets a decision at a boundary: from the plan's decider if the device asks for one, local recovery is exhausted or
// a binding failed (law 12); else from the reason table.
func (m *machine) decide() {
	b := m.s.Boundary
	if b == nil || m.s.Deciding || m.stopping() || m.s.Question != nil {
		return
	}
	m.log(Entry{Kind: "boundary", Step: b.StepID, From: b.OperationID, Text: b.Report.Code})
	if m.table(b.Report).Default == string(DecideRetry) && !m.mayRetry(m.s.index(b.StepID)) {
		b.Report.RequiresDecision = true // what the table could do is exhausted
	}
	if m.s.Start.Decider != "" && b.Report.RequiresDecision && m.s.Decided < maxDecisions {
		b.Asked, m.s.Deciding = true, true
		m.do(Decide{Decider: m.s.Start.Decider, Boundary: *b, View: m.s.View(), Slice: m.s.Slice})
		return
	}
	m.byTable()
}

// byTable takes the decision of the reason table's row.
func (m *machine) byTable() {
	kind := DecisionKind(m.table(m.s.Boundary.Report).Default)
	if !known(kind) || kind == DecideReplan {
		kind = DecideCancel // a table has no plans
	}
	m.settleBoundary(Decided{Decision: kind})
}

func (m *machine) decided(in Decided) {
	if !m.s.Deciding {
		return
	}
	m.s.Deciding = false
	m.s.LLMCalls += in.LLMCalls
	b := m.s.Boundary
	if b == nil || !b.Asked { // what it was about is no more: spent all the same (law 13)
		m.s.Decided++
		return
	}
	b.Asked = false
	m.settleBoundary(in)
}

// settleBoundary carries out a decision, and spends one. What cannot be done here ends the plan: stopping is always safe.
func (m *machine) settleBoundary(in Decided) {
	b := *m.s.Boundary
	m.s.Decided++
	m.log(Entry{Kind: "decision", Step: b.StepID, From: b.Report.Code, To: string(in.Decision), Text: in.Reason})
	i := m.s.index(b.StepID)
	spent := m.s.Decided > maxDecisions
	switch {
	case in.Decision == DecideRetry && !spent && m.mayRetry(i):
		m.retry(i)
	case in.Decision == DecideAsk && !spent:
		m.askDecision(i, in.Question)
	case in.Decision == DecideReplan && !spent:
		m.replan(i, in)
	case in.Decision == DecideReturn && m.returnHome(i):
	case !known(in.Decision):
		m.s.Decided-- // the table's own decision is the one that is counted
		m.byTable()
	default:
		m.giveUp(i)
	}
}

func known(kind DecisionKind) bool {
	switch kind {
	case DecideRetry, DecideAsk, DecideReplan, DecideCancel, DecideReturn:
		return true
	}
	return false
}

// giveUp leaves out a step that the plan can do without; any other ends the plan as failed.
func (m *machine) giveUp(i int) {
	report := m.s.Boundary.Report
	if m.s.Document.Steps[i].Optional && !m.s.Steps[i].inFlight() {
		m.s.Boundary = nil
		m.excuse(i, ExcuseSkipped)
		return
	}
	m.end(Failed, &report)
}
