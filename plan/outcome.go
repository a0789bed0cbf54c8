package plan

import (
	"fmt"
	"strings"

	"errand/catalog"
)

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

// tell composes what the person hears. It follows from the outcome and from nothing else (law 20).
func (s *State) tell(o Outcome) string {
	if s.Slice == nil {
		return s.Planner.Sentence
	}
	var steps []string
	completed := 0
	for i, step := range o.Steps {
		if text := s.stepSentence(i, step); text != "" {
			steps = append(steps, text)
		}
		if step.Phase == StepCompleted {
			completed++
		}
	}
	values := map[string]string{"steps": strings.Join(steps, " ")}
	if o.Reason != nil {
		values["reason"] = s.Slice.Reason(o.Reason.Code).Say.In(s.Start.Locale)
	}
	return s.sentence(s.sentenceOf(o, completed), values)
}

// sentenceOf names the catalog's sentence for the end of a plan.
func (s *State) sentenceOf(o Outcome, completed int) string {
	switch {
	case o.State == Completed:
		for i := range o.Steps {
			if o.Steps[i].Excused != "" {
				return "done_otherwise"
			}
		}
		for i := range o.Steps {
			if s.unsure(i, o.Steps[i]) {
				return "done_unsure"
			}
		}
		return "done"
	case o.State == Failed && (o.Reason.is(codeNotConfirmed) || o.Reason.is(codeConfirmPassed)):
		return "not_confirmed"
	case o.State == Failed && completed > 0:
		return "partly"
	}
	return string(o.State)
}

// unsure reports whether a step counts as done though nobody could confirm it, where that can be confirmed.
func (s *State) unsure(i int, step StepOutcome) bool {
	return step.Phase == StepCompleted && s.capability(i).Verify != "" && step.Receipt != nil && step.Receipt.Verdict == Unverified
}

func (s *State) stepSentence(i int, step StepOutcome) string {
	c := s.capability(i)
	key := ""
	switch {
	case s.unsure(i, step):
		key = "unverified"
	case step.Phase == StepCompleted:
		key = "done"
	case step.Phase == StepContradicted && c.Say["contradicted"] != (catalog.Text{}):
		key = "contradicted"
	case step.Phase == StepContradicted:
		return ""
	case step.Phase == StepFailed:
		key = "failed"
	default:
		return ""
	}
	return catalog.Render(c.Say[key].In(s.Start.Locale), s.spokenOf(i, step.Result))
}

// spokenOf is what may fill a sentence about a step: its slots, what it gave, and the object it acts on.
func (s *State) spokenOf(i int, result map[string]any) map[string]string {
	st := &s.Steps[i]
	arguments := st.Arguments
	if arguments == nil {
		arguments = s.Document.Steps[i].Action.Arguments
	}
	values := spoken(arguments, result)
	if st.Target != nil {
		values["target"] = st.Target.Label
	}
	return values
}

// spoken turns slots and listed result fields into text for a sentence.
func spoken(maps ...map[string]any) map[string]string {
	values := make(map[string]string)
	for _, m := range maps {
		for _, k := range sortedKeys(m) {
			switch v := m[k].(type) {
			case string:
				values[k] = v
			case float64, bool:
				values[k] = fmt.Sprint(v)
			}
		}
	}
	return values
}

// sentence renders one of the catalog's sentences; before a plan there is no catalog and nothing is said.
func (s *State) sentence(key string, values map[string]string) string {
	if s.Slice == nil {
		return ""
	}
	return catalog.Render(s.Slice.Sentences[key].In(s.Start.Locale), values)
}
