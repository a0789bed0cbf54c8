package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"errand/internal/border"
	"errand/plan"
	"errand/starter/plans"
)

// AnswerBody is the body of POST /v1/plans/{id}/answer.
type AnswerBody struct {
	QuestionID string `json:"question_id" minLength:"1" maxLength:"64"`
	Choice     string `json:"choice" minLength:"1" maxLength:"200" doc:"one of the question's choices"`
}

func (a *API) answer(ctx context.Context, in *controlIn) (*takenOut, error) {
	var b AnswerBody
	if err := border.Decode(in.RawBody, bodyLimits, controlSchema, &b); err != nil {
		return nil, refusal(err)
	}
	if faults := missing(map[string]string{"question_id": b.QuestionID, "choice": b.Choice}); len(faults) > 0 {
		return nil, refusal(faults)
	}
	p, err := a.mayAnswer(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	view, err := a.Plans.View(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := a.answerable(ctx, p, view, b); err != nil {
		return nil, err
	}
	err = a.Plans.Answer(ctx, in.ID, p.answer(b.QuestionID, b.Choice))
	if errors.Is(err, plans.ErrRefused) { // somebody else was quicker, perhaps
		if view, unseen := a.Plans.View(ctx, in.ID); unseen == nil {
			if now := a.answerable(ctx, p, view, b); now != nil {
				return nil, now
			}
		}
	}
	return a.then(ctx, in.ID, err)
}

// mayAnswer finds who answers, and refuses who may answer no question of the plan, whichever it is.
func (a *API) mayAnswer(ctx context.Context, planID string) (person, error) {
	line, err := a.Plans.Find(ctx, planID)
	if err != nil {
		return person{}, err
	}
	p, err := a.who(ctx)
	if home := plan.HomeOf(line.HomeID); err == nil && !p.may(toCommand, home) && !p.may(toConfirm, home) {
		err = a.forbidden(ctx, p, toCommand, home)
	}
	return p, err
}

// mayChoose refuses who may not answer this question: to consent is a right of its own, and everything else is commanding. The
// question stays open.
func (a *API) mayChoose(ctx context.Context, p person, q plan.Question) error {
	r := toCommand
	if q.Consents() {
		r = toConfirm
	}
	if p.may(r, p.home) {
		return nil
	}
	return a.forbidden(ctx, p, r, p.home)
}

// answer is an answer of the person, with what the plan must know of their rights. Whose plan it is was checked.
func (p person) answer(questionID, choice string) plan.Answer {
	return plan.Answer{QuestionID: questionID, Choice: choice, By: p.name, MayConfirm: p.rights.Confirm}
}

// answerable says early, and in words, what the plan would refuse. The plan itself has the last word.
func (a *API) answerable(ctx context.Context, p person, v plan.View, b AnswerBody) error {
	i := slices.IndexFunc(v.Answers, func(before plan.Answered) bool { return before.QuestionID == b.QuestionID })
	switch {
	case i >= 0:
		return answeredBefore(v.Answers[i])
	case v.State.Closed():
		return problem(http.StatusConflict, "plan_over", "the plan is over: it asks nothing any more")
	case v.Question == nil:
		return problem(http.StatusConflict, "no_question", "the plan has no open question")
	case v.Question.ID != b.QuestionID:
		return problem(http.StatusConflict, "other_question", fmt.Sprintf("the open question is %q, not %q", v.Question.ID, b.QuestionID))
	case !slices.Contains(v.Question.Choices, b.Choice):
		return refusal(border.Faults{{Path: "choice", Code: "not_a_choice", Message: "must be one of " + strings.Join(v.Question.Choices, ", ")}})
	}
	return a.mayChoose(ctx, p, *v.Question)
}

// answeredBefore tells the second of two people what was decided.
func answeredBefore(before plan.Answered) error {
	p := problem(http.StatusConflict, "already_answered", fmt.Sprintf("%s answered it before: %s; that stands", before.By, before.Choice))
	p.AnsweredBy, p.Choice = before.By, before.Choice
	return p
}

// missing faults the fields that are empty, in the order of their names.
func missing(fields map[string]string) (faults border.Faults) {
	for _, name := range []string{"question_id", "choice"} {
		if fields[name] == "" {
			faults = append(faults, border.Fault{Path: name, Code: "required", Message: "is missing"})
		}
	}
	return faults
}
