package plan

import (
	"fmt"
	"slices"
)

const (
	// maxDecisions bounds what one plan may spend on decisions, failed and invalid ones included (law 13).
	maxDecisions = 5
	// maxGenerations bounds how often one step is tried.
	maxGenerations = 3
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

// decide gets a decision at a boundary: from the plan's decider if it has one, else from the reason table. A retry that
// the table offers, where the device asks for no decision, is no business of a decider (law 12).
func (m *machine) decide() {
	b := m.s.Boundary
	if b == nil || m.s.Deciding || m.stopping() || m.s.Question != nil {
		return
	}
	m.log(Entry{Kind: "boundary", Step: b.StepID, From: b.OperationID, Text: b.Report.Code})
	byTable := DecisionKind(m.s.Slice.Reason(b.Report.Code).Default)
	local := byTable == DecideRetry && !b.Report.RequiresDecision && m.s.Steps[m.s.index(b.StepID)].retriable()
	if m.s.Start.Decider != "" && m.s.Decided < maxDecisions && !local {
		b.Asked, m.s.Deciding = true, true
		m.do(Decide{Boundary: *b, View: m.s.View(), Slice: m.s.Slice})
		return
	}
	m.settleBoundary(byTable)
}

// retriable reports whether a step may be tried again: its last try is dead, and a new one would not be the same again,
// as after a binding that failed (there is no operation) or a completion that was contradicted.
func (st *StepState) retriable() bool {
	op := st.op()
	return op != nil && op.Phase.Dead() && st.Closed == "" && len(st.Ops) < maxGenerations
}

func (m *machine) decided(in Decided) {
	if !m.s.Deciding {
		return
	}
	m.s.Deciding = false
	m.s.LLMCalls += in.LLMCalls
	if m.s.Boundary == nil || !m.s.Boundary.Asked { // what it was about is no more: spent all the same (law 13)
		m.s.Decided++
		return
	}
	m.s.Boundary.Asked = false
	kind := in.Decision
	if !slices.Contains([]DecisionKind{DecideRetry, DecideAsk, DecideCancel}, kind) {
		kind = DecisionKind(m.s.Slice.Reason(m.s.Boundary.Report.Code).Default)
	}
	m.settleBoundary(kind)
}

// settleBoundary carries out a decision. Whatever cannot be done here ends the plan as failed: stopping is always safe.
func (m *machine) settleBoundary(kind DecisionKind) {
	b := *m.s.Boundary
	m.s.Decided++
	i := m.s.index(b.StepID)
	st := &m.s.Steps[i]
	op := st.op()
	m.log(Entry{Kind: "decision", Step: b.StepID, From: b.Report.Code, To: string(kind)})
	dead := op == nil || op.Phase.Dead()
	switch {
	case kind == DecideRetry && st.retriable() && m.s.Decided <= maxDecisions:
		m.s.Boundary = nil
		m.openGeneration(i)
	case kind == DecideAsk && m.s.Decided <= maxDecisions:
		q := Question{Kind: "decision", StepID: b.StepID, OperationID: b.OperationID, Choices: []string{"retry", "stop"}}
		sentence := "ask_decision"
		switch {
		case !dead: // a blocked task is alive: it may yet go on by itself
			q.Choices, sentence = []string{"wait", "stop"}, "ask_wait"
		case !st.retriable():
			m.end(Failed, &b.Report)
			return
		}
		m.ask(q, sentence, map[string]string{"reason": m.s.Slice.Reason(b.Report.Code).Say.In(m.s.Start.Locale)})
	default:
		m.end(Failed, &b.Report)
	}
}

// ask opens the one question there can be. Its text is the catalog's sentence.
func (m *machine) ask(q Question, sentence string, values map[string]string) {
	m.s.Asked++
	q.ID = fmt.Sprintf("%s.%d", m.s.Start.PlanID, m.s.Asked)
	q.ExpiresAt = m.at + questionTTL
	q.Text = m.s.sentence(sentence, values)
	q.Sent = true
	m.s.Question = &q
	m.do(Ask{Route: m.s.Device.Route, DeviceID: m.s.Start.DeviceID, Locale: m.s.Start.Locale, Question: q})
}

func (m *machine) withdrawQuestion() {
	if m.s.Question != nil {
		m.do(WithdrawQuestion{QuestionID: m.s.Question.ID})
		m.s.Question = nil
	}
}

// answered takes a person's answer to the open question; any other changes nothing. No answer is no.
func (m *machine) answered(in Answer) {
	q := m.s.Question
	if q == nil || q.ID != in.QuestionID || !slices.Contains(q.Choices, in.Choice) || m.at >= q.ExpiresAt {
		return
	}
	m.note(q.StepID, fmt.Sprintf("question %s answered by %s: %s", q.ID, in.By, in.Choice))
	m.s.Question = nil
	m.resolve(*q, in.Choice)
}

func (m *machine) resolve(q Question, choice string) {
	switch choice {
	case "continue":
	case "wait":
		m.s.Boundary = nil
	case "retry":
		if m.s.Boundary != nil {
			m.settleBoundary(DecideRetry)
		}
	default:
		report := &Report{Code: "STOPPED_BY_PERSON", Detail: q.Kind}
		if m.s.Boundary != nil {
			report = &m.s.Boundary.Report
		}
		m.end(Failed, report)
	}
}

func (m *machine) pause(in Pause) {
	if !slices.Contains(m.s.Pauses, in.Token) {
		m.s.Pauses = append(m.s.Pauses, in.Token)
		m.note("", "paused by "+in.By)
	}
}

func (m *machine) resume(in Resume) {
	if i := slices.Index(m.s.Pauses, in.Token); i >= 0 {
		m.s.Pauses = slices.Delete(m.s.Pauses, i, i+1)
		m.note("", "resumed by "+in.By)
	}
}
