package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"errand/internal/border"
	"errand/plan"
)

// CancelBody is the body of POST /v1/plans/{id}/cancel.
type CancelBody struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"why, for the record"`
	StepID string `json:"step_id,omitempty" maxLength:"64" doc:"only this step, with what depends on it; the rest goes on"`
}

// AnswerBody is the body of POST /v1/plans/{id}/answer.
type AnswerBody struct {
	QuestionID string `json:"question_id" minLength:"1" maxLength:"64"`
	Choice     string `json:"choice" minLength:"1" maxLength:"200" doc:"one of the question's choices"`
}

type controlIn struct {
	body
	ID string `path:"id" doc:"plan id"`
}

// Taken is the answer to a request that was taken up.
type Taken struct {
	PlanID string     `json:"plan_id"`
	State  plan.Phase `json:"state" doc:"where the plan stands now, if that can be told"`
}

type takenOut struct{ Body Taken }

func (a *API) controlRoutes() {
	post[CancelBody](a, huma.Operation{OperationID: "cancel", Path: "/v1/plans/{id}/cancel", DefaultStatus: http.StatusAccepted,
		Summary: "Ask a plan, or one step of it, to stop", Description: "202 says that the request is taken. What physically happened is the plan's " +
			"outcome: a completion may beat the cancel. The body may be left out.",
		RequestBody: &huma.RequestBody{}, // not required
		Errors:      []int{400, 401, 404, 409, 413, 422, 503}}, a.cancel)
	post[AnswerBody](a, huma.Operation{OperationID: "answer", Path: "/v1/plans/{id}/answer", DefaultStatus: http.StatusAccepted,
		Summary: "Answer a plan's open question", Errors: []int{400, 401, 404, 409, 413, 422, 503}}, a.answer)
}

func (a *API) cancel(ctx context.Context, in *controlIn) (*takenOut, error) {
	var b CancelBody
	if len(in.RawBody) > 0 {
		if err := border.Decode(in.RawBody, bodyLimits, controlSchema, &b); err != nil {
			return nil, refusal(err)
		}
	}
	if b.StepID != "" {
		return a.then(ctx, in.ID, a.Plans.CancelStep(ctx, in.ID, plan.CancelStep{StepID: b.StepID, By: caller(ctx), Why: b.Reason}))
	}
	return a.then(ctx, in.ID, a.Plans.Cancel(ctx, in.ID, plan.CancelRequest{By: caller(ctx), Why: b.Reason, Source: "api"}))
}

func (a *API) answer(ctx context.Context, in *controlIn) (*takenOut, error) {
	var b AnswerBody
	if err := border.Decode(in.RawBody, bodyLimits, controlSchema, &b); err != nil {
		return nil, refusal(err)
	}
	if faults := missing(map[string]string{"question_id": b.QuestionID, "choice": b.Choice}); len(faults) > 0 {
		return nil, refusal(faults)
	}
	view, err := a.Plans.View(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := answerable(view, b); err != nil {
		return nil, err
	}
	return a.then(ctx, in.ID, a.Plans.Answer(ctx, in.ID, plan.Answer{QuestionID: b.QuestionID, Choice: b.Choice, By: caller(ctx)}))
}

// then tells where the plan stands after a request that was taken.
func (a *API) then(ctx context.Context, id string, err error) (*takenOut, error) {
	if err != nil {
		return nil, err
	}
	return a.taken(ctx, id), nil
}

// answerable says early, and in words, what the plan would refuse. The plan itself has the last word.
func answerable(v plan.View, b AnswerBody) error {
	switch {
	case v.State.Closed():
		return problem(http.StatusConflict, "plan_over", "the plan is over: it asks nothing any more")
	case v.Question == nil:
		return problem(http.StatusConflict, "no_question", "the plan has no open question")
	case v.Question.ID != b.QuestionID:
		return problem(http.StatusConflict, "other_question", fmt.Sprintf("the open question is %q, not %q", v.Question.ID, b.QuestionID))
	case !slices.Contains(v.Question.Choices, b.Choice):
		return refusal(border.Faults{{Path: "choice", Code: "not_a_choice", Message: "must be one of " + strings.Join(v.Question.Choices, ", ")}})
	}
	return nil
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

// taken tells where the plan stands. That the request was taken is certain by now, so a view that fails only leaves it out.
func (a *API) taken(ctx context.Context, id string) *takenOut {
	view, err := a.Plans.View(ctx, id)
	if err != nil {
		a.Log.WarnContext(ctx, "the request was taken, and how the plan stands could not be read", "plan", id, "error", err)
	}
	return &takenOut{Taken{PlanID: id, State: view.State}}
}
