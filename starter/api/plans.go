package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"errand/internal/border"
	"errand/plan"
	"errand/starter/plans"
)

// Submission is the body of POST /v1/plans: a plan document (contract.md §2) with a few fields beside it.
type Submission struct {
	plan.Document
	UtteranceID string `json:"utterance_id,omitempty" maxLength:"128" doc:"the utterance it was planned for: the same one again gets the same plan"`
	Locale      string `json:"locale,omitempty" maxLength:"35" doc:"language of the answers, e.g. ko-KR or en; default ko"`
	AnswerMs    int64  `json:"answer_within_ms,omitempty" minimum:"1000" maximum:"86400000" doc:"ms that a question to a person stands; no answer by then is no; default 2 minutes"`
	StartByMs   int64  `json:"start_by_ms,omitempty" minimum:"1000" maximum:"604800000" doc:"ms from now within which the first movement must start; default 5 minutes"`
	DeadlineMs  int64  `json:"deadline_ms,omitempty" minimum:"1000" maximum:"604800000" doc:"ms from now within which the whole plan must end; default 1 hour"`
	Turn
}

// Verdict is the answer to POST /v1/plans:validate.
type Verdict struct {
	Valid  bool           `json:"valid"`
	Errors []border.Fault `json:"errors" doc:"every fault, each with the path of its field"`
}

// PlanAnswer is one plan as GET /v1/plans/{id} tells it.
type PlanAnswer struct {
	plan.View
	UIURL string `json:"ui_url,omitempty" doc:"the plan in Temporal's UI"`
}

// PlanList is a page of plans, the newest first.
type PlanList struct {
	Plans []plans.Line `json:"plans"`
	Next  string       `json:"next,omitempty" doc:"value of the parameter page for the next page; missing on the last"`
}

type submitIn struct {
	body
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" doc:"the same key again gets the same plan, and 409 with another body"`
}

type planIn struct {
	ID string `path:"id" doc:"plan id"`
}

type listIn struct {
	State  string `query:"state" enum:"planning,running,waiting_device,waiting_user,waiting_replan,paused,cancelling,completed,returned,cancelled,failed,unresolved" doc:"only plans in this state"`
	Device string `query:"device" maxLength:"128" doc:"only plans of this device, by id or friendly name"`
	Size   int    `query:"size" minimum:"1" maximum:"200" default:"50" doc:"plans a page"`
	Page   string `query:"page" doc:"next of the page before"`
}

type (
	verdictOut struct{ Body Verdict }
	planOut    struct{ Body PlanAnswer }
	listOut    struct{ Body PlanList }
)

func (a *API) planRoutes() {
	post[Submission](a, huma.Operation{OperationID: "submit", Path: "/v1/plans", Summary: "Carry out a plan",
		Description: "Starts the plan, or with any fault starts nothing. Without Idempotency-Key and utterance_id each request is a plan of its own.",
		Responses:   map[string]*huma.Response{"202": {Description: "Started; how it stands could not be read in 3 s"}},
		Errors:      []int{400, 401, 403, 404, 409, 410, 413, 422, 503}}, a.submit)
	post[Submission](a, huma.Operation{OperationID: "validate", Path: "/v1/plans:validate", Summary: "Check a plan, start nothing",
		Errors: []int{400, 401, 403, 413, 503}}, a.validate)
	get(a, huma.Operation{OperationID: "list-plans", Path: "/v1/plans", Summary: "List the plans that one may hear of, the newest first",
		Errors: []int{401, 404, 422, 503}}, a.list)
	get(a, huma.Operation{OperationID: "show-plan", Path: "/v1/plans/{id}", Summary: "Show one plan: state, steps, question, journal, outcome",
		Errors: []int{401, 403, 404, 409, 503}}, a.show)
}

func (a *API) submit(ctx context.Context, in *submitIn) (*startedOut, error) {
	s, by, faults, device := a.read(ctx, in.RawBody)
	if len(faults) > 0 && !refused(device) {
		return nil, refusal(append(faults, faultOf(device)...))
	}
	if device != nil {
		return nil, device
	}
	id := randomPlanID()
	switch {
	case in.IdempotencyKey != "":
		id = planID("key", by.name, in.IdempotencyKey)
	case s.UtteranceID != "":
		id = planID("utterance", s.DeviceID, s.UtteranceID)
	}
	slice := a.Catalog.Slice(capabilities(s.Document))
	return a.start(ctx, "document", plan.Start{PlanID: id, DeviceID: s.DeviceID, HomeID: by.home, Locale: s.Locale,
		LeasePolicy: s.LeasePolicy, Priority: s.Priority, StartByMs: s.StartByMs, DeadlineMs: s.DeadlineMs, AnswerMs: s.AnswerMs, Document: &s.Document, Slice: &slice}, hashJSON(s))
}

func (a *API) validate(ctx context.Context, in *body) (*verdictOut, error) {
	_, _, faults, device := a.read(ctx, in.RawBody)
	if refused(device) {
		return nil, device
	}
	if p := refusal(faults); len(faults) > 0 && p.Status != http.StatusUnprocessableEntity {
		return nil, p
	}
	if p := (*Problem)(nil); device != nil && !errors.As(device, &p) {
		return nil, device
	}
	faults = append(faults, faultOf(device)...)
	return &verdictOut{Verdict{Valid: len(faults) == 0, Errors: append([]border.Fault{}, faults...)}}, nil
}

// refused tells that it is the person who may not use the device.
func refused(device error) bool {
	var p *Problem
	return errors.As(device, &p) && p.Status == http.StatusForbidden
}

// read reads a submission and holds it against the catalog and the rooms of its device. All faults come at once;
// device says that the device cannot be used, or not by who asks.
func (a *API) read(ctx context.Context, raw []byte) (s Submission, by person, faults border.Faults, device error) {
	var beside struct {
		DeviceID    string `json:"device_id"`
		UtteranceID string `json:"utterance_id"`
		Locale      string `json:"locale"`
		AnswerMs    int64  `json:"answer_within_ms"`
		StartByMs   int64  `json:"start_by_ms"`
		DeadlineMs  int64  `json:"deadline_ms"`
		Turn
	}
	tree, err := border.Parse(raw, bodyLimits)
	if err != nil {
		return s, by, asFaults(err), nil
	}
	if faults = submissionSchema.Check(tree); len(faults) == 0 {
		faults = asFaults(border.Fill(tree, &beside))
	}
	grounding := plan.Grounding{}
	if len(faults) == 0 {
		found, asks, err := a.resolve(ctx, beside.DeviceID)
		by, device, grounding.Rooms, beside.DeviceID = asks, err, rooms(found), found.ID
	}
	doc, more := plan.Read(raw, &a.whole, grounding)
	for _, f := range more {
		if !faulted(faults, f.Path) {
			faults = append(faults, f)
		}
	}
	doc.DeviceID = beside.DeviceID
	return Submission{Document: doc, UtteranceID: beside.UtteranceID, Locale: beside.Locale,
		StartByMs: beside.StartByMs, DeadlineMs: beside.DeadlineMs, AnswerMs: beside.AnswerMs, Turn: beside.Turn}, by, faults, device
}

func asFaults(err error) border.Faults {
	var faults border.Faults
	if err == nil || errors.As(err, &faults) {
		return faults
	}
	return border.Faults{{Code: "unreadable", Message: err.Error()}}
}

func faulted(faults border.Faults, path string) bool {
	for _, f := range faults {
		if f.Path == path {
			return true
		}
	}
	return false
}

// faultOf tells a device that cannot be used as a fault of the document.
func faultOf(device error) border.Faults {
	var p *Problem
	if !errors.As(device, &p) {
		return nil
	}
	return border.Faults{{Path: "device_id", Code: p.Code, Message: p.Detail}}
}

func capabilities(doc plan.Document) []string {
	ids := make([]string, len(doc.Steps))
	for i, s := range doc.Steps {
		ids[i] = s.Action.CapabilityID
	}
	return ids
}

func (a *API) list(ctx context.Context, in *listIn) (*listOut, error) {
	p, err := a.who(ctx)
	if err != nil {
		return nil, err
	}
	filter := plans.Filter{State: plan.Phase(in.State), Size: in.Size, Token: in.Page, Homes: []string{}}
	if p.rights.Hear {
		filter.Homes = []string{p.home}
	}
	if in.Device != "" {
		device, err := a.anyDevice(ctx, in.Device)
		if err != nil {
			return nil, err
		}
		filter.DeviceID = device.ID
	}
	lines, next, err := a.Plans.List(ctx, filter)
	return &listOut{PlanList{Plans: lines, Next: next}}, err
}

func (a *API) show(ctx context.Context, in *planIn) (*planOut, error) {
	if _, err := a.allowPlan(ctx, toHear, in.ID); err != nil {
		return nil, err
	}
	view, err := a.Plans.View(ctx, in.ID)
	return &planOut{PlanAnswer{View: view, UIURL: a.link(in.ID)}}, err
}
