package plan

import (
	"fmt"
)

const (
	// askDecision is the kind that asks what to do at a boundary.
	askDecision = "decision"
	// deciderPerson is who decides by an answer.
	deciderPerson = "person"
)

// askPerson asks the person what to do at a boundary, in the decider's words if it has some.
func (m *machine) askPerson(i int, text string) {
	b := *m.s.Boundary
	choices, sentence := m.choices(i)
	if choices == nil {
		m.giveUp(i)
		return
	}
	m.ask(Question{Kind: askDecision, StepID: b.StepID, OperationID: b.OperationID, Text: text, Choices: choices}, sentence,
		map[string]string{"reason": m.s.Slice.Reason(b.Report.Code).Say.In(m.s.Start.Locale)})
	m.askedFor(m.s.Question)
}

// choices lists what a person can choose at a boundary, and names the sentence that asks; nil if nothing could be done.
// They are the machine's own words, whatever a decider would offer: each is something that it can carry out.
func (m *machine) choices(i int) (choices []string, sentence string) {
	st := &m.s.Steps[i]
	optional := m.s.Document.Steps[i].Optional && !st.inFlight()
	switch {
	case m.s.Boundary.Observed != nil: // nothing failed: the plan can go on as it was
		return []string{"continue", "stop"}, "ask_continue"
	case st.inFlight(): // a blocked task is alive: it may yet go on by itself
		return []string{"wait", "stop"}, "ask_wait"
	case m.mayRetry(i) && optional:
		return []string{"retry", "skip", "stop"}, "ask_decision_skip"
	case m.mayRetry(i):
		return []string{"retry", "stop"}, "ask_decision"
	}
	// There is nothing to try again, as after a binding that failed.
	switch _, home := m.wayHome(i); {
	case home && optional:
		return []string{"return", "skip", "stop"}, "ask_rest_skip"
	case home:
		return []string{"return", "stop"}, "ask_rest"
	}
	return nil, ""
}

// ask opens the one question there can be. Its text is the catalog's sentence, unless it has one.
func (m *machine) ask(q Question, sentence string, values map[string]string) {
	m.s.Asked++
	q.ID = fmt.Sprintf("%s.%d", m.s.Start.PlanID, m.s.Asked)
	q.ExpiresAt = m.at + orDefault(m.s.Start.AnswerMs, questionTTL)
	q.Text = orText(q.Text, m.s.sentence(sentence, values))
	m.s.Question = &q
	m.do(Ask{Route: m.s.Device.Route, DeviceID: m.s.Start.DeviceID, HomeID: m.s.Start.HomeID, Locale: m.s.Start.Locale, Question: q})
}

func (m *machine) withdrawQuestion() {
	if q := m.s.Question; q != nil {
		m.do(WithdrawQuestion{QuestionID: q.ID})
		m.s.Question = nil
		if i := m.s.index(q.StepID); i >= 0 {
			m.s.Steps[i].Confirming = false
		}
	}
}

// answered takes a person's answer to the open question; any other is on record and changes nothing. No answer is no.
func (m *machine) answered(in Answer) {
	if refusal := m.s.AnswerRefusal(in, m.at); refusal != nil {
		m.note("", fmt.Sprintf("an answer by %s is refused: %s", in.By, refusal.Message))
		return
	}
	q := *m.s.Question
	m.note(q.StepID, fmt.Sprintf("question %s answered by %s: %s", q.ID, in.By, in.Choice))
	m.s.Question = nil
	m.s.answeredBy(q, in, m.at)
	m.resolve(q, in.Choice, in.By)
}

// resolve carries out a person's choice. by is "" where nobody answered.
func (m *machine) resolve(q Question, choice, by string) {
	i := m.s.index(q.StepID)
	if q.Kind == askConfirm || q.Kind == askSelect {
		m.settled(q, choice, by)
		return
	}
	switch choice {
	case "continue":
		if q.Kind == askDecision { // about what was observed
			m.s.Boundary = nil
		}
	case "wait":
		m.s.Boundary = nil
	case "retry":
		if q.Kind == askUntold {
			m.declareDead(i)
			return
		}
		if m.s.Boundary != nil {
			m.settleBoundary(Decided{Decision: DecideRetry, Reason: "a person's choice"}, deciderPerson)
		}
	case "return":
		if m.s.Boundary != nil {
			m.settleBoundary(Decided{Decision: DecideReturn, Reason: "a person's choice"}, deciderPerson)
		}
	case "skip":
		if m.s.Boundary != nil {
			m.giveUp(i)
		}
	default:
		report := &Report{Code: "STOPPED_BY_PERSON", Detail: q.Kind}
		if m.s.Boundary != nil {
			report = &m.s.Boundary.Report
		}
		if q.Kind == askUntold { // no answer and no are the same: nobody knows
			report = &Report{Code: codeUnresolved, Detail: q.OperationID}
		}
		m.end(Failed, report)
	}
}
