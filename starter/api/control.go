package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"errand/internal/border"
	"errand/plan"
)

// CancelBody is the body of POST /v1/plans/{id}/cancel.
type CancelBody struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"why, for the record"`
	StepID string `json:"step_id,omitempty" maxLength:"64" doc:"only this step, with what depends on it; the rest goes on"`
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
		Errors:      []int{400, 401, 403, 404, 409, 413, 422, 503}}, a.cancel)
	post[AnswerBody](a, huma.Operation{OperationID: "answer", Path: "/v1/plans/{id}/answer", DefaultStatus: http.StatusAccepted,
		Summary: "Answer a plan's open question", Errors: []int{400, 401, 403, 404, 409, 413, 422, 503}}, a.answer)
}

func (a *API) cancel(ctx context.Context, in *controlIn) (*takenOut, error) {
	var b CancelBody
	if len(in.RawBody) > 0 {
		if err := border.Decode(in.RawBody, bodyLimits, controlSchema, &b); err != nil {
			return nil, refusal(err)
		}
	}
	p, err := a.allowPlan(ctx, toCommand, in.ID)
	if err != nil {
		return nil, err
	}
	if b.StepID != "" {
		return a.then(ctx, in.ID, a.Plans.CancelStep(ctx, in.ID, plan.CancelStep{StepID: b.StepID, By: p.name, Why: b.Reason}))
	}
	return a.then(ctx, in.ID, a.Plans.Cancel(ctx, in.ID, plan.CancelRequest{By: p.name, Why: b.Reason, Source: "api"}))
}

// then tells where the plan stands after a request that was taken.
func (a *API) then(ctx context.Context, id string, err error) (*takenOut, error) {
	if err != nil {
		return nil, err
	}
	return a.taken(ctx, id), nil
}

// taken tells where the plan stands. That the request was taken is certain by now, so a view that fails only leaves it out.
func (a *API) taken(ctx context.Context, id string) *takenOut {
	view, err := a.Plans.View(ctx, id)
	if err != nil {
		a.Log.WarnContext(ctx, "the request was taken, and how the plan stands could not be read", "plan", id, "error", err)
	}
	return &takenOut{Taken{PlanID: id, State: view.State}}
}
