package api_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"errand/plan"
	"errand/starter/api"
	"errand/starter/plans"
)

const goodPlan = `{"steps":[
	{"id":"move","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}},"output_key":"arrival"},
	{"id":"purify","action":{"capability_id":"stationary_purify","operation_id":"start"},"depends_on":["move"],"input_from":{"area_id":"arrival.result.area_id"}}]}`

func with(fields string) string { return strings.TrimSuffix(goodPlan, "}") + "," + fields + "}" }

func TestAPlanStartsWithTheSliceItUses(t *testing.T) {
	h := newHouse(t, "robot")
	var got api.Started
	h.ask("POST", "/v1/plans", with(`"device_id":"robot","locale":"en","start_by_ms":60000,"deadline_ms":120000`)).into(t, &got)
	s := h.plans.started[got.PlanID]
	if s.Document == nil || s.Document.DeviceID != "id-robot" || s.DeviceID != "id-robot" || s.Locale != "en" ||
		s.StartByMs != 60_000 || s.DeadlineMs != 120_000 || s.Utterance != nil {
		t.Fatalf("started with %+v", s)
	}
	if n := len(s.Slice.Capabilities); n != 3 /* with the safe return */ || s.Slice.Digest == "" {
		t.Errorf("the slice has %d capabilities, digest %q", n, s.Slice.Digest)
	}
}

func TestTheIdempotencyKeyMakesOnePlan(t *testing.T) {
	h := newHouse(t, "robot")
	var first, again, other api.Started
	h.ask("POST", "/v1/plans", goodPlan, "Idempotency-Key", "k").into(t, &first)
	h.ask("POST", "/v1/plans", with(`"unknown":true`), "Idempotency-Key", "k").into(t, &again)
	h.ask("POST", "/v1/plans", goodPlan).into(t, &other)
	if first.PlanID != again.PlanID || other.PlanID == first.PlanID || len(h.plans.started) != 2 {
		t.Errorf("plans %s, %s, %s; %d started", first.PlanID, again.PlanID, other.PlanID, len(h.plans.started))
	}
	got := h.ask("POST", "/v1/plans", with(`"locale":"en"`), "Idempotency-Key", "k")
	if p := got.problem(t); got.status != http.StatusConflict || p.Code != "different_body" {
		t.Errorf("%d %+v", got.status, p)
	}
	if got := h.ask("POST", "/v1/plans", goodPlan, "Idempotency-Key", strings.Repeat("k", 256)); got.status != 422 {
		t.Errorf("a key of 256 characters: answered %d", got.status)
	}
}

func TestAnUtteranceAndItsPlanShareOneID(t *testing.T) {
	h := newHouse(t, "robot")
	var first api.Started
	h.ask("POST", "/v1/plans", with(`"utterance_id":"u-1"`)).into(t, &first)
	if got := h.ask("POST", "/v1/utterances", utterance(`"utterance_id":"u-1"`)); got.status != http.StatusConflict {
		t.Errorf("the utterance that was planned elsewhere started a second plan: %d %s", got.status, got.text)
	}
}

// TestBadPlans is every clear refusal of a plan: all faults at once, and nothing is started.
func TestBadPlans(t *testing.T) {
	h := newHouse(t, "robot")
	step := func(id, rest string) string {
		return `{"id":"` + id + `","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}}` + rest + `}`
	}
	for name, c := range map[string]struct {
		body   string
		status int
		faults []string
	}{
		"not json":         {`{`, 400, []string{": bad_json"}},
		"no steps":         {`{}`, 422, nil},
		"unknown room":     {strings.Replace(goodPlan, "안방", "다락", 1), 422, nil},
		"cycle":            {`{"steps":[` + step("a", `,"depends_on":["b"]`) + `,` + step("b", `,"depends_on":["a"]`) + `]}`, 422, nil},
		"unknown device":   {with(`"device_id":"nobody"`), 404, nil},
		"deadline too far": {with(`"deadline_ms":700000000`), 422, []string{"deadline_ms: too_big"}},
		"two at once": {`{"deadline_ms":"soon","steps":[` + step("a", "") + `,{"id":"b","action":{"capability_id":"fly","operation_id":"start"}}]}`, 422,
			[]string{"deadline_ms: wrong_type", "steps[1].action.capability_id: unknown_capability"}},
		"device and step": {`{"device_id":"nobody","steps":[{"id":"b","action":{"capability_id":"fly","operation_id":"start"}}]}`, 422,
			[]string{"steps[0].action.capability_id: unknown_capability", "device_id: unknown_device"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.ask("POST", "/v1/plans", c.body)
			p := got.problem(t)
			if got.status != c.status {
				t.Errorf("answered %d: %+v", got.status, p)
			}
			if c.faults != nil && !sameFaults(c.faults, p.Errors) {
				t.Errorf("faults %v, want %v", p.Errors, c.faults)
			}
			if len(h.plans.started) != 0 {
				t.Error("a plan was started")
			}
		})
	}
}

func TestValidateStartsNothingAndTellsAllFaults(t *testing.T) {
	h := newHouse(t, "robot")
	var good, bad api.Verdict
	h.ask("POST", "/v1/plans:validate", goodPlan).into(t, &good)
	h.ask("POST", "/v1/plans:validate", `{"device_id":"nobody","steps":[{"id":"b","action":{"capability_id":"fly","operation_id":"start"}}]}`).into(t, &bad)
	if !good.Valid || len(good.Errors) != 0 || bad.Valid || len(bad.Errors) != 2 {
		t.Errorf("good %+v, bad %+v", good, bad)
	}
	if got := h.ask("POST", "/v1/plans:validate", "{"); got.status != 400 {
		t.Errorf("what is no JSON: answered %d", got.status)
	}
	if len(h.plans.started) != 0 {
		t.Error("a plan was started")
	}
}

func TestAPlanCanBeLookedAtAndListed(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	var shown api.PlanAnswer
	h.ask("GET", "/v1/plans/p-1", "").into(t, &shown)
	if shown.PlanID != "p-1" || shown.UIURL == "" {
		t.Errorf("%+v", shown)
	}
	var list api.PlanList
	h.ask("GET", "/v1/plans?state=running&device=robot&size=3", "").into(t, &list)
	want := plans.Filter{DeviceID: "id-robot", Homes: []string{"home"}, State: plan.Running, Size: 3}
	if !reflect.DeepEqual(h.plans.filter, want) || list.Next != "next" || len(list.Plans) != 1 {
		t.Errorf("filter %+v, list %+v", h.plans.filter, list)
	}
	for path, status := range map[string]int{"/v1/plans/p-none": 404, "/v1/plans?state=dancing": 422, "/v1/plans?size=0": 422, "/v1/plans?device=nobody": 404} {
		if got := h.ask("GET", path, ""); got.status != status || got.problem(t).Detail == "" {
			t.Errorf("GET %s: answered %d", path, got.status)
		}
	}
}

func TestCancelIsSignedByTheTokensOwner(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	if got := h.ask("POST", "/v1/plans/p-1/cancel", `{"reason":"그만","by":"someone else"}`); got.status != http.StatusAccepted {
		t.Fatalf("answered %d: %s", got.status, got.text)
	}
	if got := h.plans.taken[0]; got != (plan.CancelRequest{By: "tester", Why: "그만", Source: "api"}) {
		t.Errorf("cancelled with %+v", got)
	}
	if got := h.ask("POST", "/v1/plans/p-1/cancel", ""); got.status != http.StatusAccepted {
		t.Fatalf("without a body: %+v", got)
	}
}

func TestAnAnswerMustFitTheOpenQuestion(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	open := plan.View{State: plan.WaitingUser, Question: &plan.Question{ID: "q-1", Choices: []string{"yes", "no"}}}
	for name, c := range map[string]struct {
		view   plan.View
		body   string
		status int
		code   string
	}{
		"fits":           {open, `{"question_id":"q-1","choice":"yes"}`, 202, ""},
		"other question": {open, `{"question_id":"q-2","choice":"yes"}`, 409, "other_question"},
		"other choice":   {open, `{"question_id":"q-1","choice":"maybe"}`, 422, "invalid_document"},
		"no choice":      {open, `{"question_id":"q-1"}`, 422, "invalid_document"},
		"no question":    {plan.View{State: plan.Running}, `{"question_id":"q-1","choice":"yes"}`, 409, "no_question"},
		"over":           {plan.View{State: plan.Completed}, `{"question_id":"q-1","choice":"yes"}`, 409, "plan_over"},
		"not json":       {open, `yes`, 400, "bad_json"},
	} {
		t.Run(name, func(t *testing.T) {
			h.plans.taken = nil
			h.plans.view = func(string) (plan.View, error) { return c.view, nil }
			got := h.ask("POST", "/v1/plans/p-1/answer", c.body)
			if got.status != c.status || (c.code != "" && got.problem(t).Code != c.code) {
				t.Errorf("answered %d: %s", got.status, got.text)
			}
			if (len(h.plans.taken) == 1) != (c.status == 202) {
				t.Errorf("handed on: %v", h.plans.taken)
			}
		})
	}
}

func TestErrorsOfAPlanAreProblems(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"over":       {plans.ErrOver, 409, "plan_over"},
		"refused":    {plans.ErrRefused, 409, "refused"},
		"no worker":  {plans.ErrNoWorker, 503, "no_worker"},
		"unexpected": {json.Unmarshal([]byte("secret inside"), new(int)), 503, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			h.plans.err = c.err
			got := h.ask("POST", "/v1/plans/p-1/cancel", `{}`)
			p := got.problem(t)
			if got.status != c.status || p.Code != c.code || strings.Contains(p.Detail, "invalid character") {
				t.Errorf("answered %d %+v", got.status, p)
			}
		})
	}
}
