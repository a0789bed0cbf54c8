package plan

import (
	"fmt"
	"slices"
)

// maxAnswers bounds the answered questions that a plan remembers.
const maxAnswers = 8

// Answered is a question that is settled, and by whom: what the second of two people who answer is told.
type Answered struct {
	QuestionID string `json:"question_id"`
	Kind       string `json:"kind"`
	Choice     string `json:"choice"`
	By         string `json:"by"`
	At         int64  `json:"at"`
}

// Labels are the choices in words, where they are ids of objects; nil where a choice is a word itself.
func (q *Question) Labels() []string {
	if len(q.Options) == 0 {
		return nil
	}
	labels := slices.Clone(q.Choices)
	for i := range min(len(q.Options), len(labels)) {
		labels[i] = q.Options[i].Label
	}
	return labels
}

// Consents reports whether to answer is to consent, or not to: only who may confirm does either.
func (q *Question) Consents() bool { return q.Kind == askConfirm }

// AnswerRefusal is why an answer is not taken.
type AnswerRefusal struct {
	// Code is one of no_question, not_open, already_answered, expired, not_a_choice, may_not_confirm, unsigned.
	Code string `json:"code"`
	// Message says it in words, and what to do.
	Message string `json:"message"`
	// Answered is what was decided before, where somebody was faster.
	Answered *Answered `json:"answered,omitempty"`
}

// Error gives the code and the message.
func (r *AnswerRefusal) Error() string { return r.Code + ": " + r.Message }

// AnswerRefusal says why an answer would not be taken at a time (Unix ms); nil means that it would.
func (s *State) AnswerRefusal(in Answer, at int64) *AnswerRefusal {
	q := s.Question
	switch before := s.answer(in.QuestionID); {
	case in.By == "":
		return &AnswerRefusal{Code: "unsigned", Message: "by is missing: say who answers"}
	case before != nil:
		return &AnswerRefusal{Code: "already_answered", Answered: before,
			Message: fmt.Sprintf("question %q was answered by %s: %s", before.QuestionID, before.By, before.Choice)}
	case q == nil:
		return &AnswerRefusal{Code: "no_question", Message: "no question is open"}
	case q.ID != in.QuestionID:
		return &AnswerRefusal{Code: "not_open", Message: fmt.Sprintf("question %q is not open; %q is", in.QuestionID, q.ID)}
	case at >= q.ExpiresAt:
		return &AnswerRefusal{Code: "expired", Message: fmt.Sprintf("question %q has expired: no answer in time was taken as no", in.QuestionID)}
	case !slices.Contains(q.Choices, in.Choice):
		return &AnswerRefusal{Code: "not_a_choice", Message: fmt.Sprintf("%q is not a choice; the choices are %v", in.Choice, q.Choices)}
	case q.Consents() && !in.MayConfirm:
		return &AnswerRefusal{Code: "may_not_confirm", Message: in.By + " may not confirm this: the question stays open for somebody who may"}
	}
	return nil
}

// Overruled says why an answer that was let in did not count after all; nil means that it did. Of two that come in one moment
// both are let in, and the machine takes the first.
func (s *State) Overruled(in Answer, at int64) *AnswerRefusal {
	if taken := s.answer(in.QuestionID); taken != nil && taken.By == in.By && taken.Choice == in.Choice {
		return nil
	}
	return s.AnswerRefusal(in, at)
}

func (s *State) answer(questionID string) *Answered {
	for i := range s.Answers {
		if s.Answers[i].QuestionID == questionID {
			return &s.Answers[i]
		}
	}
	return nil
}

// answeredBy remembers who settled a question. It replaces the list, since states share theirs.
func (s *State) answeredBy(q Question, in Answer, at int64) {
	kept := s.Answers
	if len(kept) >= maxAnswers {
		kept = kept[1:]
	}
	s.Answers = append(slices.Clip(slices.Clone(kept)), Answered{QuestionID: q.ID, Kind: q.Kind, Choice: in.Choice, By: in.By, At: at})
}
