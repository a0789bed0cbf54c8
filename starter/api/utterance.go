package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"errand/catalog/fresh"
	"errand/deviceio/registry"
	"errand/internal/border"
	"errand/plan"
	"errand/plan/router"
	"errand/starter/plans"
)

// Utterance is the body of POST /v1/utterances (contract.md §1).
type Utterance struct {
	RecognizedText string `json:"recognized_text" minLength:"1" maxLength:"1000" doc:"what the person said" example:"안방으로 가서 청정하고 복귀해줘"`
	SessionID      string `json:"session_id,omitempty" maxLength:"128" doc:"the conversation it is part of"`
	UtteranceID    string `json:"utterance_id,omitempty" maxLength:"128" doc:"idempotency key: the same id again gets the same plan; generated if missing"`
	DeviceID       string `json:"device_id,omitempty" maxLength:"128" doc:"id or friendly name; may be missing while there is only one device"`
	Locale         string `json:"locale,omitempty" maxLength:"35" doc:"language of the answers, e.g. ko-KR or en; default: that of the sentence"`
	Timezone       string `json:"timezone,omitempty" maxLength:"64" doc:"IANA time zone of the speaker"`
	SpokenAt       int64  `json:"spoken_at,omitempty" minimum:"0" doc:"when it was said, Unix ms; default: when it is received. Older than five minutes is refused"`

	Turn

	VoiceContext VoiceContext `json:"voice_context,omitzero" doc:"what is known about the moment"`
}

// VoiceContext is what is known about the moment of an utterance.
type VoiceContext struct {
	ActiveWorkflowID string         `json:"active_workflow_id,omitempty" maxLength:"64" doc:"the plan the speaker refers to; must be one of the same device"`
	History          []any          `json:"history,omitempty" maxItems:"100" doc:"earlier turns of the conversation"`
	Foreground       map[string]any `json:"foreground,omitempty" doc:"the app in front, what is playing or ringing"`
	DeviceContext    map[string]any `json:"device_context,omitempty" doc:"device_context.v1 (contract.md §6)"`
}

// Started is the answer to an utterance or a plan.
type Started struct {
	WorkflowID  string     `json:"workflow_id" doc:"the same as plan_id"`
	PlanID      string     `json:"plan_id" doc:"the plan that was started, or that words were said to; empty where they were said to none"`
	State       plan.Phase `json:"state" doc:"planning while there is no plan yet; empty where plan_id is"`
	TTSResponse string     `json:"tts_response" doc:"what to say now: an open question or, once it is over, how it ended; empty while there is nothing true to say"`
	UIURL       string     `json:"ui_url,omitempty" doc:"the plan in Temporal's UI"`
}

type startedOut struct {
	Status int
	Body   Started
}

// utteranceAge is how old an utterance may be: old intentions do not move robots (design §6).
const utteranceAge = 5 * time.Minute

func (a *API) utteranceRoutes() {
	post[Utterance](a, huma.Operation{OperationID: "say", Path: "/v1/utterances", Summary: "Carry out what a person said",
		Description: "Starts one plan and holds the answer up to 3 s for it: 200 once the plan has steps or is already over, " +
			"else 202. An utterance nobody has a plan for answers 200 with the state failed and the sentence for the person. " +
			"Words that steer (stop, cancel, wait, go on, yes, no; and what begins with \"and then\") start nothing: they go to the " +
			"plan that active_workflow_id names, else to the device's only one, and the answer tells how that plan stands. " +
			"Stop is for the device: it cancels all its plans.",
		Responses: map[string]*huma.Response{"202": {Description: "Started; no plan yet: watch GET /v1/plans/{id}/events"}},
		Errors:    []int{400, 401, 403, 404, 409, 410, 413, 422, 503}}, a.say)
}

func (a *API) say(ctx context.Context, in *body) (*startedOut, error) {
	var u Utterance
	if err := border.Decode(in.RawBody, bodyLimits, utteranceSchema, &u); err != nil {
		return nil, refusal(err)
	}
	if faults := a.utteranceFaults(u); len(faults) > 0 {
		return nil, refusal(faults)
	}
	device, by, err := a.resolve(ctx, u.DeviceID)
	if err != nil {
		return nil, err
	}
	u.DeviceID = device.ID
	if err := a.ownPlan(ctx, u, device); err != nil {
		return nil, err
	}
	id := randomPlanID()
	if u.UtteranceID != "" {
		id = planID("utterance", device.ID, u.UtteranceID)
	}
	return a.hear(ctx, u, device, by, id)
}

// hear carries out an utterance, under its key: what it means is settled when it is first heard, and remembered.
func (a *API) hear(ctx context.Context, u Utterance, device registry.Device, by person, id string) (*startedOut, error) {
	means, wish, err := a.meaning(ctx, u, device)
	if err != nil {
		return nil, err
	}
	row, err := a.remember(ctx, id, means.kept(id), hashJSON(u))
	if err != nil {
		return nil, err
	}
	if means = intentOf(row.WorkflowID); means.Verb != start {
		heard, _ := router.Listen(a.Catalog, u.RecognizedText)
		out, err := a.steer(ctx, spoken{intent: means, key: id, by: by, locale: language(u), wish: wish, rest: heard.Rest}, u.SpokenAt, row)
		if out != nil || err != nil {
			return out, err
		}
	}
	return a.begin(ctx, "utterance", plan.Start{PlanID: id, DeviceID: device.ID, HomeID: device.HomeID, Locale: language(u), AskedAt: u.SpokenAt, LeasePolicy: u.LeasePolicy,
		Priority: u.Priority, Utterance: &plan.Utterance{Text: wish, SessionID: u.SessionID, DeviceContext: fresh.Receive(u.VoiceContext.DeviceContext, a.Now().UnixMilli())}}, row)
}

// utteranceFaults is what the schema cannot say.
func (a *API) utteranceFaults(u Utterance) (faults border.Faults) {
	if strings.TrimSpace(u.RecognizedText) == "" {
		faults = append(faults, border.Fault{Path: "recognized_text", Code: "empty", Message: "holds only spaces: send what was said"})
	}
	if ahead := time.UnixMilli(u.SpokenAt).Sub(a.Now()); ahead > utteranceAge {
		faults = append(faults, border.Fault{Path: "spoken_at", Code: "in_the_future",
			Message: fmt.Sprintf("lies %s in the future: send Unix milliseconds by a clock that is right", ahead.Round(time.Second))})
	}
	return faults
}

// ownPlan refuses a plan that is not one of the same device, in the home that the device is in (design §6, Who is speaking). What the
// answer tells is the same whether it is foreign or unknown; the person at the device is told that nothing was done, a stop
// included: nobody else's plan is stopped, and which of its own was meant cannot be told.
func (a *API) ownPlan(ctx context.Context, u Utterance, d registry.Device) error {
	id := u.VoiceContext.ActiveWorkflowID
	if id == "" {
		return nil
	}
	line, err := a.Plans.Find(ctx, id)
	if errors.Is(err, plans.ErrNoPlan) || (err == nil && (line.DeviceID != d.ID || plan.HomeOf(line.HomeID) != d.HomeID)) {
		p := problem(http.StatusForbidden, "foreign_plan",
			"voice_context.active_workflow_id is not a plan of this device, so nothing was done, and nothing stopped: leave it empty or name one of its own")
		p.TTSResponse = a.sentence("steer_foreign", language(u), nil)
		p.Errors = border.Faults{{Path: "voice_context.active_workflow_id", Code: "foreign_plan", Message: "is not a plan of this device"}}
		return p
	}
	return err
}

// start starts the plan once and answers how it stands. The request is remembered first, so that the same key with
// another body is a conflict, then its age is looked at, so that a repeat is answered however old it is.
func (a *API) start(ctx context.Context, source string, s plan.Start, bodyHash string) (*startedOut, error) {
	row, err := a.remember(ctx, s.PlanID, s.PlanID, bodyHash)
	if err != nil {
		return nil, err
	}
	return a.begin(ctx, source, s, row)
}

// remember records what a request became, or tells what it became before.
func (a *API) remember(ctx context.Context, key, became, bodyHash string) (registry.Remembered, error) {
	row, err := a.Registry.Remember(ctx, key, bodyHash, became, a.Now())
	if errors.Is(err, registry.ErrDifferentBody) {
		before := "was said to plans that are under way"
		if intentOf(row.WorkflowID).Verb == start {
			before = "became plan " + row.WorkflowID
		}
		return row, problem(http.StatusConflict, "different_body",
			"this idempotency key came with another body before, and "+before+": use a new key for a new wish")
	}
	return row, err
}

// begin starts the plan of a request that is remembered.
func (a *API) begin(ctx context.Context, source string, s plan.Start, row registry.Remembered) (*startedOut, error) {
	now := a.Now()
	// A repeat starts, if it has to, with the time of the first one.
	if s.AskedAt == 0 {
		s.AskedAt = row.At.UnixMilli()
	}
	s.AskedAt = min(s.AskedAt, row.At.UnixMilli())
	if age := now.Sub(time.UnixMilli(s.AskedAt)); age > utteranceAge {
		return a.old(ctx, s.PlanID, age)
	}
	device, err := a.Registry.Device(ctx, s.DeviceID)
	if err != nil {
		return nil, err
	}
	if device.HomeID != plan.HomeOf(s.HomeID) {
		return nil, problem(http.StatusConflict, "device_moved", "the device was moved to another home just now, and nothing was started: ask again")
	}
	s.DeviceName = device.Name()
	s.Decider, s.RenewAfter = a.Decider, a.RenewAfter
	already, err := a.Plans.Start(ctx, s)
	if err != nil {
		return nil, err
	}
	a.metrics.started(source, already)
	return a.started(ctx, s.PlanID)
}

// old answers a request that is too old to start anything: with its plan if that was started in time.
func (a *API) old(ctx context.Context, id string, age time.Duration) (*startedOut, error) {
	_, err := a.Plans.Find(ctx, id)
	if err == nil {
		return a.started(ctx, id)
	}
	if !errors.Is(err, plans.ErrNoPlan) {
		return nil, err
	}
	return nil, tooOld(age)
}

func tooOld(age time.Duration) error {
	p := problem(http.StatusGone, "too_old", fmt.Sprintf("this was asked %s ago, and nothing older than %s moves a device: ask again",
		age.Round(time.Second), utteranceAge))
	p.Errors = border.Faults{{Path: "spoken_at", Code: "too_old", Message: "is more than five minutes ago"}}
	return p
}

// started waits a moment for the plan. From here on it is started, so nothing that fails now is the caller's failure.
func (a *API) started(ctx context.Context, id string) (*startedOut, error) {
	wait, cancel := context.WithTimeout(ctx, a.PlanWait)
	defer cancel()
	view, err := a.Plans.AwaitPlanned(wait, id)
	out := &startedOut{Status: http.StatusOK, Body: Started{WorkflowID: id, PlanID: id, State: view.State, UIURL: a.link(id)}}
	if out.Body.State == "" {
		out.Body.State = plan.Planning
	}
	switch {
	case err != nil:
		out.Status = http.StatusAccepted
		if !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			a.Log.WarnContext(ctx, "the plan is started, and how it stands could not be read", "plan", id, "error", err)
		}
	case view.Outcome != nil:
		out.Body.TTSResponse = view.Outcome.TTSResponse
	case view.Question != nil:
		out.Body.TTSResponse = view.Question.Text
	}
	return out, nil
}

// language is the locale of the answers: the one that is named, else English for a sentence without a Hangul syllable or letter.
func language(u Utterance) string {
	if u.Locale != "" || strings.ContainsFunc(u.RecognizedText, func(r rune) bool { return unicode.Is(unicode.Hangul, r) }) {
		return u.Locale
	}
	return "en"
}
