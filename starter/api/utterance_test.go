package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"errand/internal/border"
	"errand/plan"
	"errand/starter/api"
)

const seedText = "안방으로 가서 청정하고 복귀해줘"

func utterance(fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return `{"recognized_text":"` + seedText + `"` + fields + `}`
}

func TestAnUtteranceStartsOnePlan(t *testing.T) {
	h := newHouse(t, "robot")
	var got api.Started
	h.ask("POST", "/v1/utterances", utterance(`"utterance_id":"u-1","session_id":"s","locale":"ko-KR",
		"voice_context":{"active_workflow_id":"","device_context":{"map":{"available":true}}}`)).into(t, &got)
	s, ok := h.plans.started[got.PlanID]
	if !ok || got.WorkflowID != got.PlanID || got.State != plan.Running || got.TTSResponse != "" ||
		got.UIURL != "http://ui/namespaces/default/workflows/"+got.PlanID {
		t.Fatalf("answer %+v, started %v", got, h.plans.started)
	}
	if len(got.PlanID) != 26 || !plan.ValidID(got.PlanID) {
		t.Errorf("plan id %q: want p- and 24 hex digits", got.PlanID)
	}
	if s.DeviceID != "id-robot" || s.DeviceName != "robot" || s.Utterance.Text != seedText || s.Utterance.SessionID != "s" || s.Locale != "ko-KR" ||
		s.Utterance.DeviceContext["map"] == nil || s.AskedAt != h.now.UnixMilli() {
		t.Errorf("started with %+v", s)
	}
}

func TestTheSameUtteranceAgainIsTheSamePlan(t *testing.T) {
	h := newHouse(t, "robot")
	var first, again api.Started
	h.ask("POST", "/v1/utterances", utterance(`"utterance_id":"u-1"`)).into(t, &first)
	h.later(time.Minute)
	// Said by name instead of by being the only one, with unknown fields and loose jamo: the same utterance.
	h.ask("POST", "/v1/utterances", utterance(`"utterance_id":"u-1","device_id":"robot","unknown":1`)).into(t, &again)
	if first.PlanID != again.PlanID || len(h.plans.started) != 1 {
		t.Errorf("plans %s and %s, %d started", first.PlanID, again.PlanID, len(h.plans.started))
	}
}

func TestTheSameUtteranceIDWithAnotherBodyIsAConflict(t *testing.T) {
	h := newHouse(t, "robot")
	var first api.Started
	h.ask("POST", "/v1/utterances", utterance(`"utterance_id":"u-1"`)).into(t, &first)
	got := h.ask("POST", "/v1/utterances", `{"recognized_text":"거실 청소해줘","utterance_id":"u-1"}`)
	if p := got.problem(t); got.status != http.StatusConflict || p.Code != "different_body" || !strings.Contains(p.Detail, first.PlanID) {
		t.Errorf("%d %+v", got.status, p)
	}
	if len(h.plans.started) != 1 {
		t.Errorf("%d plans started", len(h.plans.started))
	}
}

func TestUtterancesWithoutAnIDAreEachAPlan(t *testing.T) {
	h := newHouse(t, "robot")
	h.ask("POST", "/v1/utterances", utterance(""))
	h.ask("POST", "/v1/utterances", utterance(""))
	if len(h.plans.started) != 2 {
		t.Errorf("%d plans started, want 2", len(h.plans.started))
	}
}

func TestOldIntentionsDoNotMoveRobots(t *testing.T) {
	h := newHouse(t, "robot")
	old := fmt.Sprintf(`"utterance_id":"u-1","spoken_at":%d`, h.now.Add(-6*time.Minute).UnixMilli())
	for _, when := range []string{"first", "again"} {
		got := h.ask("POST", "/v1/utterances", utterance(old))
		if p := got.problem(t); got.status != http.StatusGone || p.Code != "too_old" || p.Errors[0].Path != "spoken_at" {
			t.Errorf("%s: %d %+v", when, got.status, p)
		}
	}
	if len(h.plans.started) != 0 {
		t.Error("an utterance of six minutes ago started a plan")
	}
}

func TestARepeatIsAnsweredHoweverOldItIs(t *testing.T) {
	h := newHouse(t, "robot")
	body := utterance(fmt.Sprintf(`"utterance_id":"u-1","spoken_at":%d`, h.now.UnixMilli()))
	var first, again api.Started
	h.ask("POST", "/v1/utterances", body).into(t, &first)
	h.later(24 * time.Hour)
	h.ask("POST", "/v1/utterances", body).into(t, &again)
	if first.PlanID != again.PlanID {
		t.Errorf("plans %s and %s", first.PlanID, again.PlanID)
	}
}

func TestARepeatWithoutATimeDoesNotStartAnewWhatTemporalForgot(t *testing.T) {
	h := newHouse(t, "robot")
	body := utterance(`"utterance_id":"u-1"`)
	h.ask("POST", "/v1/utterances", body)
	clear(h.plans.started) // retention passed
	h.later(24 * time.Hour)
	if got := h.ask("POST", "/v1/utterances", body); got.status != http.StatusGone || len(h.plans.started) != 0 {
		t.Errorf("answered %d, %d plans started", got.status, len(h.plans.started))
	}
}

func TestAnUtteranceFromTheFutureCountsFromItsReceipt(t *testing.T) {
	h := newHouse(t, "robot")
	var got api.Started
	h.ask("POST", "/v1/utterances", utterance(fmt.Sprintf(`"spoken_at":%d`, h.now.Add(time.Minute).UnixMilli()))).into(t, &got)
	if s := h.plans.started[got.PlanID]; s.AskedAt != h.now.UnixMilli() {
		t.Errorf("asked at %d, received at %d", s.AskedAt, h.now.UnixMilli())
	}
}

func TestTheAnswerIsAcceptedWhileThereIsNoPlan(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.await = func(ctx context.Context, _ string) (plan.View, error) { <-ctx.Done(); return plan.View{}, ctx.Err() }
	got := h.ask("POST", "/v1/utterances", utterance(""))
	var s api.Started
	got.into(t, &s)
	if got.status != http.StatusAccepted || s.State != plan.Planning {
		t.Errorf("%d %+v", got.status, s)
	}
}

func TestAnUtteranceNobodyHasAPlanForAnswersItsSentence(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.await = func(context.Context, string) (plan.View, error) {
		return plan.View{State: plan.Failed, Outcome: &plan.Outcome{State: plan.Failed, TTSResponse: "할 줄 몰라요."}}, nil
	}
	got := h.ask("POST", "/v1/utterances", utterance(""))
	var s api.Started
	got.into(t, &s)
	if got.status != http.StatusOK || s.State != plan.Failed || s.TTSResponse != "할 줄 몰라요." {
		t.Errorf("%d %+v", got.status, s)
	}
}

func TestAnOpenQuestionIsTheAnswer(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.await = func(context.Context, string) (plan.View, error) {
		return plan.View{State: plan.WaitingUser, Steps: []plan.StepView{{}}, Question: &plan.Question{Text: "계속할까요?"}}, nil
	}
	var s api.Started
	h.ask("POST", "/v1/utterances", utterance("")).into(t, &s)
	if s.TTSResponse != "계속할까요?" {
		t.Errorf("%+v", s)
	}
}

func TestTheDeviceOfAnUtterance(t *testing.T) {
	for name, c := range map[string]struct {
		devices []string
		pending string
		body    string
		status  int
		code    string
		says    string
	}{
		"the only one":       {[]string{"robot"}, "", "", 200, "", ""},
		"by id":              {[]string{"a", "b"}, "", `"device_id":"id-b"`, 200, "", ""},
		"by name":            {[]string{"a", "b"}, "", `"device_id":"b"`, 200, "", ""},
		"none at all":        {nil, "", "", 404, "unknown_device", "no device at all"},
		"one of several":     {[]string{"a", "b"}, "", "", 409, "device_required", `"a"`},
		"unknown":            {[]string{"a", "b"}, "", `"device_id":"c"`, 404, "unknown_device", `"b"`},
		"pending by name":    {[]string{"a"}, "new", `"device_id":"new"`, 409, "device_not_approved", "approve it"},
		"pending is not one": {[]string{"a"}, "new", "", 200, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, c.devices...)
			if c.pending != "" {
				h.add(c.pending, false)
			}
			got := h.ask("POST", "/v1/utterances", utterance(c.body))
			if got.status != c.status {
				t.Fatalf("answered %d: %s", got.status, got.text)
			}
			if c.status == 200 {
				return
			}
			if p := got.problem(t); p.Code != c.code || !strings.Contains(p.Detail, c.says) {
				t.Errorf("%+v", p)
			}
			if len(h.plans.started) != 0 {
				t.Error("a plan was started")
			}
		})
	}
}

func TestAForeignPlanIsRefusedLikeAnUnknownOne(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-foreign"], h.plans.devices["p-own"] = "id-other", "id-robot"
	for id, status := range map[string]int{"p-foreign": 403, "p-unknown": 403, "p-own": 200, "": 200} {
		got := h.ask("POST", "/v1/utterances", utterance(fmt.Sprintf(`"voice_context":{"active_workflow_id":%q}`, id)))
		if got.status != status {
			t.Errorf("%q: answered %d: %s", id, got.status, got.text)
		}
	}
}

// TestBadUtterances is every clear refusal of an utterance; nothing is started by any.
func TestBadUtterances(t *testing.T) {
	h := newHouse(t, "robot")
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for name, c := range map[string]struct {
		body   string
		status int
		faults []string // path: code
	}{
		"empty":             {"", 400, nil},
		"not json":          {"{recognized_text}", 400, []string{": bad_json"}},
		"cut off":           {`{"recognized_text":"a"`, 400, []string{": bad_json"}},
		"two documents":     {`{"recognized_text":"a"}{}`, 400, []string{": bad_json"}},
		"not utf-8":         {"{\"recognized_text\":\"\xff\"}", 400, []string{": bad_utf8"}},
		"a list":            {`[]`, 422, []string{": wrong_type"}},
		"no text":           {`{}`, 422, []string{"recognized_text: required"}},
		"null":              {`{"recognized_text":null}`, 422, []string{"recognized_text: wrong_type"}},
		"only spaces":       {`{"recognized_text":"  "}`, 422, []string{"recognized_text: empty"}},
		"twice":             {`{"recognized_text":"a","recognized_text":"b"}`, 422, []string{"recognized_text: duplicate_key"}},
		"too long":          {`{"recognized_text":"` + strings.Repeat("가", 1001) + `"}`, 422, []string{"recognized_text: too_long"}},
		"too deep":          {utterance(`"voice_context":{"device_context":` + deep + `}`), 422, nil},
		"too large":         {`{"recognized_text":"` + strings.Repeat("a", 1<<20) + `"}`, 413, nil},
		"spoken_at text":    {utterance(`"spoken_at":"2026-11-30T12:00:00Z"`), 422, []string{"spoken_at: wrong_type"}},
		"far in the future": {utterance(`"spoken_at":9790000000000`), 422, []string{"spoken_at: in_the_future"}},
		"two faults":        {`{"recognized_text":1,"locale":"??"}`, 422, []string{"locale: bad_pattern", "recognized_text: wrong_type"}},
		"context no object": {utterance(`"voice_context":{"device_context":[]}`), 422, []string{"voice_context.device_context: wrong_type"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.ask("POST", "/v1/utterances", c.body)
			p := got.problem(t)
			if got.status != c.status || p.Status != c.status || p.Detail == "" || p.Code == "" {
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

func sameFaults(want []string, got border.Faults) bool {
	if len(want) != len(got) {
		return false
	}
	for i, f := range got {
		if f.Path+": "+f.Code != want[i] || f.Message == "" {
			return false
		}
	}
	return true
}

func TestUnicodeFormsOfOneTextAreOneUtterance(t *testing.T) {
	h := newHouse(t, "robot")
	var composed, loose api.Started
	h.ask("POST", "/v1/utterances", `{"recognized_text":"안방","utterance_id":"u-1"}`).into(t, &composed)
	h.ask("POST", "/v1/utterances", `{"recognized_text":"`+"\u110b\u1161\u11ab\u1107\u1161\u11bc"+`","utterance_id":"u-1"}`).into(t, &loose)
	if composed.PlanID != loose.PlanID || h.plans.started[loose.PlanID].Utterance.Text != "안방" {
		t.Errorf("%+v, %+v, started %+v", composed, loose, h.plans.started)
	}
}
