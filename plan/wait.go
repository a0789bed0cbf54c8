package plan

import (
	"fmt"
	"strings"

	"errand/catalog"
)

// moveWords says each move in words.
var moveWords = map[Move]string{
	MoveAskDevice:  "the device is asked how it stands",
	MoveSendAgain:  "the step is sent again, under the same id",
	MoveUnverified: "the step counts as not confirmed",
	MoveDecide:     "a decision is due: it did not go on by itself",
	MoveNoAnswer:   "no answer is taken as no",
	MoveTooLate:    "the plan fails: nothing started in time",
	MoveFail:       "the plan fails: its deadline passed",
	MoveGiveUp:     "the plan ends with what is known by then",
}

// Words says for people what the plan does.
func (m Move) Words() string {
	if words, ok := moveWords[m]; ok {
		return words
	}
	return string(m)
}

// why says in a few words what the plan waits for, or how it ended.
func (s *State) why() string {
	switch s.Phase() {
	case Planning:
		return "its steps are being planned"
	case WaitingDevice:
		if s.Device.Awaiting {
			return unreachable
		}
		return notItsTurn
	case WaitingUser:
		return "a person must answer: " + s.Question.Text
	case WaitingReplan:
		return "a decision is due about " + s.Boundary.StepID + ": " + s.reasonText(s.Boundary.Report)
	case Paused:
		return "paused: nothing new is sent"
	case Cancelling:
		return s.whyStopping()
	case Running:
		if i := s.awaited(); i >= 0 {
			return s.Steps[i].ID + ": " + s.whyStep(i)
		}
		if len(s.FollowUps) > 0 {
			return "what was said to come next is being planned"
		}
		return ""
	default:
		return s.whyOver()
	}
}

// Why a plan, or a step that is not sent yet, waits for its device.
const (
	unreachable = "its device cannot be reached"
	notItsTurn  = "its turn on the device has not come"
)

func (s *State) whyStopping() string {
	why := "stopping"
	switch {
	case s.Cancel != nil:
		why = "cancelled by " + colon(s.Cancel.By, s.Cancel.Why)
	case s.Ending.Report != nil:
		why = "stopping: " + s.reasonText(*s.Ending.Report)
	}
	i := s.awaited()
	switch {
	case i < 0:
		return why
	case s.Device.Awaiting:
		return why + "; how " + s.Steps[i].ID + " ends is not known: " + unreachable
	}
	return why + "; the device has not said yet how " + s.Steps[i].ID + " ended"
}

// whyOver says how the plan ended: by whom, or at which step and for which reason.
func (s *State) whyOver() string {
	o := s.Outcome
	switch {
	case o.State == Cancelled:
		return "cancelled by " + colon(o.Cancel.By, o.Cancel.Why)
	case o.Reason == nil:
		return fmt.Sprintf("%d of %d steps verified", o.Verified, len(o.Steps))
	}
	reason := s.reasonText(*o.Reason)
	for _, step := range o.Steps {
		if step.Phase == StepUnknown || (step.Reason != nil && step.Reason.Code == o.Reason.Code) {
			return step.ID + ": " + reason
		}
	}
	return reason
}

// whyStep says in a few words why a step stands where it stands.
func (s *State) whyStep(i int) string {
	st := &s.Steps[i]
	op := st.op()
	switch {
	case st.Excused != "":
		return string(st.Excused)
	case st.Phase == StepVerifying:
		return "the device says it is done; looking whether it is so"
	case st.Phase == StepCompleted && st.Receipt != nil:
		return string(st.Receipt.Verdict)
	case op != nil && op.Why != "":
		return op.Why + op.whyStopped()
	case st.Reason != nil:
		return s.reasonText(*st.Reason) + op.whyStopped()
	case st.Closed == StepSkipped:
		return "the plan ended before it"
	case st.Closed == StepCancelled:
		return "never sent"
	case op == nil || op.Phase == OpUnsent:
		return s.whyUnsent(i)
	}
	return op.whyAlive() + op.whyStopped()
}

// whyUnsent says what holds back a step that was never sent.
func (s *State) whyUnsent(i int) string {
	var after []string
	for _, id := range s.Document.Steps[i].DependsOn {
		if j := s.index(id); j < 0 || !s.Steps[j].done() {
			after = append(after, id)
		}
	}
	op := s.Steps[i].op()
	switch {
	case len(after) > 0:
		return "after " + strings.Join(after, ", ")
	case s.waitsItsTurn():
		return notItsTurn
	case s.Steps[i].Preparing:
		return "what it would act on is being looked at"
	case op == nil: // another is in flight, or a decision is
		return "something else is first"
	case op.CheckAt > s.At:
		return "a moment's wait before it is tried again"
	case len(s.Pauses) > 0:
		return "the plan is paused"
	case s.Question != nil:
		return "a person is asked first"
	case s.Device.Route == nil:
		return unreachable
	}
	return "to be sent"
}

// whyAlive says how far an operation is that the device has, or should have.
func (op *Operation) whyAlive() string {
	switch {
	case op.Phase == OpSent:
		return "sent; the device has not answered yet"
	case op.Phase == OpAccepted:
		return "the device has it, and has not said that it began"
	case op.Phase == OpBlocked:
		return "blocked; the device has not said why"
	case op.Progress != nil && op.Progress.Stage != "":
		return "under way (" + op.Progress.Stage + ")"
	}
	return "under way"
}

// whyStopped says how far the stop of an operation is that is not dead yet.
func (op *Operation) whyStopped() string {
	switch {
	case op == nil || op.Phase.Dead():
		return ""
	case op.Cancelling:
		return "; the device is being asked to stop it"
	case op.CancelSent != "":
		return "; the device was asked to stop it, and said " + op.CancelSent
	}
	return ""
}

// reasonText is a reason for operators: its code, to search for, and what it means.
func (s *State) reasonText(r Report) string {
	text := r.Code
	if s.Slice != nil {
		if said := s.Slice.Reason(r.Code).Say; said != catalog.UnknownReason.Say { // that one says less than the code
			text = colon(text, said.In(s.Start.Locale))
		}
	}
	if r.Detail != "" {
		text += " (" + r.Detail + ")"
	}
	return text
}

// colon joins a word and what is said of it, if anything is.
func colon(word, text string) string {
	if text == "" {
		return word
	}
	return word + ": " + text
}
