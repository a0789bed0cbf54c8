package plan

import (
	"slices"

	"errand/catalog/fresh"
)

const (
	// maxDecisions bounds what one plan may spend on decisions, failed and invalid ones included (law 13).
	maxDecisions = 5
	// maxTries bounds how often decisions may have one step tried. What the reason table's recovery tries has its own bound.
	maxTries = 3
)

// raise records that meaning changed and a decision is due. It takes the place of one that was due before. What a person was
// asked about something else is withdrawn: an answer to that must not settle this.
func (m *machine) raise(i int, operationID string, report Report) {
	if m.stopping() {
		return
	}
	if report.Code == EmergencyStop { // a person decided: neither a table nor a model has a say
		m.end(Failed, &report)
		return
	}
	if q := m.s.Question; q != nil && q.Kind == askDecision && q.OperationID != operationID {
		m.withdrawQuestion()
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
	if b == nil || m.s.Deciding || m.s.Looking || m.stopping() || m.s.Question != nil {
		return
	}
	if !b.Looked {
		m.log(Entry{Kind: "boundary", Step: b.StepID, From: b.OperationID, Text: b.Report.Code})
	}
	if m.table(b.Report).Default == string(DecideRetry) && !m.mayRetry(m.s.index(b.StepID)) {
		b.Report.RequiresDecision = true // what the table could do is exhausted
	}
	if m.s.Start.Decider != "" && b.Report.RequiresDecision && m.s.Decided < maxDecisions {
		m.consult(b)
		return
	}
	m.byTable()
}

// consult asks the plan's decider, once it is known how the device is now: what was true at the utterance decides nothing
// (law 17). A device that cannot be asked holds nobody up.
func (m *machine) consult(b *Boundary) {
	switch {
	case !b.Looked && m.s.Device.Route != nil:
		m.s.Looking = true
		m.do(FetchContext{Route: *m.s.Device.Route, DeviceID: m.s.Start.DeviceID})
		return
	case !b.Looked:
		b.Looked, b.Unseen = true, unreachable
	}
	b.Asked, m.s.Deciding = true, true
	c := Decide{Decider: m.s.Start.Decider, Boundary: *b, View: m.s.View(), Slice: m.s.Slice, Document: m.s.Document,
		Locale: m.s.Start.Locale, Options: m.options(m.s.index(b.StepID)), Left: maxDecisions - m.s.Decided}
	if u := m.s.Start.Utterance; u != nil {
		c.Utterance = u.Text
	}
	if b.Unseen == "" {
		c.Context = m.s.Planner.Context
	}
	m.do(c)
}

// looked takes the context that was fetched for a decision. From now on the rooms are those of it.
func (m *machine) looked(in ContextFetched) {
	m.s.Looking = false
	if in.Context != nil {
		m.s.Planner.Context = fresh.AsTold(in.Context, m.at)
	}
	if b := m.s.Boundary; b != nil {
		b.Looked = true
		if in.Context == nil {
			b.Unseen = orText(in.Detail, unreachable)
		}
	}
}

// options lists the decisions that could be carried out about a step now. That a new plan passes the gate is not known yet.
func (m *machine) options(i int) []DecisionKind {
	may := []DecisionKind{DecideReplan, DecideCancel}
	if m.mayRetry(i) || m.s.Boundary.Observed != nil {
		may = append(may, DecideRetry)
	}
	if choices, _ := m.choices(i); choices != nil {
		may = append(may, DecideAsk)
	}
	if _, ok := m.wayHome(i); ok {
		may = append(may, DecideReturn)
	}
	slices.Sort(may)
	return may
}

// byTable takes the decision of the reason table's row. It has none for what was observed: then the plan goes on as it was.
func (m *machine) byTable() {
	kind := DecisionKind(m.table(m.s.Boundary.Report).Default)
	if !known(kind) || kind == DecideReplan {
		kind = DecideCancel // a table has no plans
	}
	if m.s.Boundary.Observed != nil {
		kind = DecideRetry
	}
	m.settleBoundary(Decided{Decision: kind}, DeciderTable)
}

func (m *machine) decided(in Decided) {
	if !m.s.Deciding {
		return
	}
	m.s.Deciding = false
	m.s.LLMCalls += in.LLMCalls
	for _, text := range in.Notes {
		m.note("", text)
	}
	b := m.s.Boundary
	if b == nil || !b.Asked { // what it was about is no more: spent all the same (law 13)
		m.s.Decided++
		return
	}
	b.Asked = false
	m.settleBoundary(in, m.s.Start.Decider)
}

// settleBoundary carries out a decision, and spends one. What cannot be done here ends the plan: stopping is always safe.
func (m *machine) settleBoundary(in Decided, by string) {
	b := *m.s.Boundary
	m.s.Decided++
	m.log(Entry{Kind: "decision", Step: b.StepID, From: b.Report.Code, To: string(in.Decision), Text: in.Reason})
	i := m.s.index(b.StepID)
	spent := m.s.Decided > maxDecisions && by != deciderPerson // whom the last decision asked may answer
	if known(in.Decision) {
		m.taken(in, by)
	}
	switch {
	case in.Decision == DecideRetry && b.Observed != nil:
		m.s.Boundary = nil // nothing of it failed: it goes on
	case in.Decision == DecideRetry && !spent && m.mayRetry(i):
		m.retry(i)
	case in.Decision == DecideAsk && !spent:
		m.askPerson(i, orText(in.Question, in.TTSResponse))
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

// giveUp leaves out a step that the plan can do without; any other ends the plan as failed. What was observed is about the
// plan, and ends it.
func (m *machine) giveUp(i int) {
	report := m.s.Boundary.Report
	if m.s.Document.Steps[i].Optional && !m.s.Steps[i].inFlight() && m.s.Boundary.Observed == nil {
		m.s.Boundary = nil
		m.excuse(i, ExcuseSkipped)
		return
	}
	m.end(Failed, &report)
}
