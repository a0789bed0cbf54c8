package plan

import (
	"strings"

	"errand/catalog"
)

// account is what there is to tell about a plan that is over.
type account struct {
	// steps are the sentences about what came to an end, in the plan's order.
	steps []string
	// stopped, unstarted and unknown name what did not: ended on the way, never sent, and nobody can tell.
	stopped, unstarted, unknown []string
	completed                   int
}

// begun reports whether anything ever reached a device, or might have.
func (a account) begun() bool { return len(a.steps)+len(a.stopped)+len(a.unknown) > 0 }

// tell composes what the person hears. It follows from the outcome and from nothing else (law 20).
func (s *State) tell(o Outcome) string {
	if s.Slice == nil {
		return orText(s.Planner.Sentence, s.tellUnbegun(o))
	}
	a := s.account(o)
	values := map[string]string{"steps": strings.Join(a.steps, " "), "rest": s.rest(a), "what": strings.Join(a.unstarted, ", ")}
	if o.Reason != nil && (o.State != Unresolved || o.Reason.Code != codeUnresolved) { // the rest tells that much
		values["reason"] = s.Slice.Reason(o.Reason.Code).Say.In(s.Start.Locale)
	}
	return s.sentence(s.sentenceOf(o, a), values)
}

func (s *State) tellUnbegun(o Outcome) string {
	if o.State == Cancelled {
		return catalog.UnbegunCancelled.In(s.Start.Locale)
	}
	return catalog.UnbegunFailed.In(s.Start.Locale)
}

// account takes stock of every step. What others took the place of is told by those.
func (s *State) account(o Outcome) (a account) {
	done := map[string]bool{} // what another step did after all, such as going home, needs no mention
	for i, step := range o.Steps {
		if step.Phase == StepCompleted {
			done[s.doing(i)] = true
		}
	}
	for i, step := range o.Steps {
		switch step.Phase {
		case StepCompleted:
			a.completed++
			a.steps = add(a.steps, s.stepSentence(i, step))
		case StepFailed, StepContradicted:
			a.steps = add(a.steps, s.stepSentence(i, step))
		case StepUnknown:
			a.unknown = append(a.unknown, s.doing(i))
		case StepCancelled, StepSkipped:
			switch {
			case step.OperationID != "":
				a.stopped = append(a.stopped, s.doing(i))
			case step.Excused != ExcuseReplaced && !done[s.doing(i)]:
				a.unstarted = append(a.unstarted, s.doing(i))
			}
		default: // finish leaves no other
		}
	}
	return a
}

func add(sentences []string, sentence string) []string {
	if sentence == "" {
		return sentences
	}
	return append(sentences, sentence)
}

// rest says of what did not come to an end how it stands. Where nothing was begun there is nothing to tell apart.
func (s *State) rest(a account) string {
	if !a.begun() {
		return ""
	}
	var told []string
	for _, group := range []struct {
		sentence string
		what     []string
	}{{"rest_stopped", a.stopped}, {"rest_unknown", a.unknown}, {"rest_unstarted", a.unstarted}} {
		if len(group.what) > 0 {
			told = append(told, s.sentence(group.sentence, map[string]string{"what": strings.Join(group.what, ", ")}))
		}
	}
	return strings.Join(told, " ")
}

// sentenceOf names the catalog's sentence for the end of a plan.
func (s *State) sentenceOf(o Outcome, a account) string {
	switch o.State {
	case Completed:
		return s.doneSentence(o)
	case Cancelled:
		switch {
		case !a.begun():
			return "cancelled_unbegun"
		case a.completed == len(o.Steps): // a completion may beat a cancel (law 15)
			return "cancelled_late"
		}
	case Unresolved:
		if s.Cancel != nil {
			return "cancelled_unresolved"
		}
	case Failed:
		switch {
		case (o.Reason.is(codeNotConfirmed) || o.Reason.is(codeConfirmPassed)) && len(a.unstarted) > 0 && len(a.stopped) == 0:
			return "not_confirmed"
		case a.completed > 0:
			return "partly"
		}
	default: // each of the others has its own
	}
	return string(o.State)
}

func (s *State) doneSentence(o Outcome) string {
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
}

// unsure reports whether a step counts as done though nobody could confirm it, where that can be confirmed.
func (s *State) unsure(i int, step StepOutcome) bool {
	return step.Phase == StepCompleted && s.capability(i).Verify != "" && step.Receipt != nil && step.Receipt.Verdict == Unverified
}

// stepSentence tells how a step came to its end: it is done, nobody could confirm that, it is not so, or it failed.
func (s *State) stepSentence(i int, step StepOutcome) string {
	c := s.capability(i)
	key := "done"
	switch {
	case s.unsure(i, step):
		key = "unverified"
	case step.Phase == StepContradicted && c.Say["contradicted"] == (catalog.Text{}):
		return s.sentence("step_contradicted", map[string]string{"what": s.doing(i)})
	case step.Phase == StepContradicted:
		key = "contradicted"
	case step.Phase == StepFailed:
		key = "failed"
	}
	return catalog.Render(c.Say[key].In(s.Start.Locale), s.spokenOf(i, step.Result))
}

// doing is what a step does, in words: the capability, and what tells one such step from another, its object or its room.
func (s *State) doing(i int) string {
	c := s.capability(i)
	return s.sentence("step_named", map[string]string{"what": c.Title.In(s.Start.Locale), "which": s.which(i)})
}

func (s *State) which(i int) string {
	if t := s.Steps[i].Target; t != nil {
		return t.Label
	}
	arguments := s.arguments(i)
	for _, slot := range s.capability(i).Slots {
		if room, told := arguments[slot.Name].(string); told && slot.Grounding == catalog.SlotRoom {
			return room
		}
	}
	return ""
}

// sentence renders one of the catalog's sentences; before a plan there is no catalog and nothing is said.
func (s *State) sentence(key string, values map[string]string) string {
	if s.Slice == nil {
		return ""
	}
	return catalog.Render(s.Slice.Sentences[key].In(s.Start.Locale), values)
}
