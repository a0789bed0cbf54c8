package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"errand/internal/border"
	"errand/plan"
)

// TokenBody is the body of POST /v1/plans/{id}/pause and of /resume.
type TokenBody struct {
	Token string `json:"token,omitempty" minLength:"1" maxLength:"64" doc:"what this pause is known by: the plan goes on when every token is resumed. Default: who calls"`
}

// AmendBody is the body of POST /v1/plans/{id}/amend.
type AmendBody struct {
	Steps   []plan.StepSpec `json:"steps" minItems:"1" maxItems:"200" doc:"as in a plan; they may depend on the plan's steps"`
	Replace bool            `json:"replace,omitempty" doc:"they take the place of every step that has not begun"`
}

func (a *API) steerRoutes() {
	codes := []int{400, 401, 403, 404, 409, 413, 422, 503}
	post[TokenBody](a, huma.Operation{OperationID: "pause", Path: "/v1/plans/{id}/pause", DefaultStatus: http.StatusAccepted,
		Summary: "Hold a plan's next submit", Description: "What runs goes on. The body may be left out.",
		RequestBody: &huma.RequestBody{}, Errors: codes}, a.pause)
	post[TokenBody](a, huma.Operation{OperationID: "resume", Path: "/v1/plans/{id}/resume", DefaultStatus: http.StatusAccepted,
		Summary: "Take a pause back", RequestBody: &huma.RequestBody{}, Errors: codes}, a.resume)
	post[AmendBody](a, huma.Operation{OperationID: "amend", Path: "/v1/plans/{id}/amend", DefaultStatus: http.StatusAccepted,
		Summary: "Append steps, or replace those that have not begun", Errors: codes}, a.amend)
}

func (a *API) pause(ctx context.Context, in *controlIn) (*takenOut, error) {
	token, by, err := a.tokenOf(ctx, in)
	if err != nil {
		return nil, err
	}
	return a.then(ctx, in.ID, a.Plans.Pause(ctx, in.ID, plan.Pause{Token: token, By: by}))
}

func (a *API) resume(ctx context.Context, in *controlIn) (*takenOut, error) {
	token, by, err := a.tokenOf(ctx, in)
	if err != nil {
		return nil, err
	}
	return a.then(ctx, in.ID, a.Plans.Resume(ctx, in.ID, plan.Resume{Token: token, By: by}))
}

// tokenOf reads the token of a pause, and who asks; their own name stands for a token that is left out.
func (a *API) tokenOf(ctx context.Context, in *controlIn) (token, by string, err error) {
	var b TokenBody
	if len(in.RawBody) > 0 {
		if err := border.Decode(in.RawBody, bodyLimits, controlSchema, &b); err != nil {
			return "", "", refusal(err)
		}
	}
	p, err := a.allowPlan(ctx, toCommand, in.ID)
	if err == nil && b.Token == "" {
		b.Token = p.name
	}
	return b.Token, p.name, err
}

// amend checks the shape of the steps here; whether they fit the plan as it stands is the plan's to say.
func (a *API) amend(ctx context.Context, in *controlIn) (*takenOut, error) {
	doc, err := plan.Decode(in.RawBody)
	if err != nil {
		return nil, refusal(err)
	}
	if len(doc.Steps) == 0 {
		return nil, refusal(border.Faults{{Path: "steps", Code: "no_steps", Message: "an amendment needs at least one step"}})
	}
	var beside struct {
		Replace bool `json:"replace"`
	}
	if err := border.Decode(in.RawBody, bodyLimits, controlSchema, &beside); err != nil {
		return nil, refusal(err)
	}
	p, err := a.allowPlan(ctx, toCommand, in.ID)
	if err != nil {
		return nil, err
	}
	slice := a.Catalog.Slice(capabilities(doc))
	return a.then(ctx, in.ID, a.Plans.Amend(ctx, in.ID, plan.Amend{Steps: doc.Steps, Slice: &slice, Replace: beside.Replace, By: p.name}))
}
