package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"errand/catalog"
	"errand/catalog/load"
	"errand/llm"
	"errand/llm/budget"
	"errand/llm/gemini"
	"errand/llm/standin"
	"errand/llm/temporalerr"
	"errand/plan"
)

// standinModel starts a stand-in with a script, and a client of it.
func standinModel(t *testing.T, replies ...standin.Reply) (*standin.Server, llm.Model) {
	t.Helper()
	server := standin.New(standin.Options{Key: "right"})
	server.Script(replies...)
	return server, modelOf(t, server)
}

// modelOf starts a stand-in and is a client of it.
func modelOf(t *testing.T, server *standin.Server) llm.Model {
	t.Helper()
	url, err := server.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m, err := gemini.New(t.Context(), gemini.Options{Key: "right", Model: "gemini-2.5-flash", Endpoint: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// wish is a sentence that no routine takes, in a home with two rooms.
func wish(text string) plan.MakePlan {
	return plan.MakePlan{PlanID: "p", DeviceID: "r1", Locale: "ko-KR", Utterance: plan.Utterance{Text: text},
		Context: map[string]any{"map": map[string]any{"available": true, "rooms": []any{room("1", "거실"), room("6", "안방")}}}}
}

const oddWish = "거실 바닥이 지저분한데 어떻게 좀 해봐"

// steps writes an answer with steps; each is JSON.
func steps(list ...string) standin.Reply {
	return standin.Answer(`{"selected_routes":["device"],"steps":[` + strings.Join(list, ",") + `]}`)
}

// moving is a step that goes to a room, with whatever else a test adds to it.
func moving(id, more string) string {
	return fmt.Sprintf(`{"id":%q,"depends_on":[],"action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"거실"}}%s}`, id, more)
}

func planByModel(t *testing.T, m llm.Model, c plan.MakePlan) plan.Planned {
	t.Helper()
	planned, err := NewPlanner(load.Builtin(), m).PlanByModel(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return planned
}

func TestAModelPlansWhatNoRoutineTakes(t *testing.T) {
	t.Parallel()
	server, m := standinModel(t)
	planned := planByModel(t, m, wish("거실 바닥을 청소하고 충전하러 가"))
	if planned.Document == nil || !planned.FromModel || planned.LLMCalls != 1 || len(planned.Document.Steps) != 2 {
		t.Fatalf("%+v", planned)
	}
	if faults := plan.Validate(*planned.Document, planned.Slice, plan.Grounding{}); len(faults) > 0 {
		t.Errorf("its slice is not the one it needs: %v", faults)
	}
	if notes := strings.Join(planned.Notes, "\n"); !strings.Contains(notes, "gemini-2.5-flash-standin: 1 calls") || !strings.Contains(notes, "battery") {
		t.Errorf("the record says %q: want the model, and that no battery was told", notes)
	}
	if q := server.Questions(); len(q) != 1 || strings.Contains(q[0].Instructions, "거실") {
		t.Errorf("Law14: what people said, or a room, is among the instructions: %+v", q)
	}
}

// Law 14: whatever a model proposes passes the same gate; it is told what was wrong, once, and each try is counted (law 13).
func TestLaw14AModelsPlanThatTheGateRefusesIsNoPlan(t *testing.T) {
	t.Parallel()
	many := make([]string, 210)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":"s%d","action":{"capability_id":"speak","operation_id":"say"}}`, i)
	}
	for name, c := range map[string]struct {
		steps []string
		fault string
	}{
		"an undeclared slot":  {[]string{`{"id":"a","action":{"capability_id":"return_to_station","operation_id":"start","arguments":{"speed":3}}}`}, `has no slot "speed"`},
		"an unlisted field":   {[]string{moving("go", ""), `{"id":"p","depends_on":["go"],"action":{"capability_id":"stationary_purify","operation_id":"start"},"input_from":{"area_id":"go.result.pose"}}`}, `pose`},
		"no dependency":       {[]string{moving("go", ""), `{"id":"p","action":{"capability_id":"stationary_purify","operation_id":"start"},"input_from":{"area_id":"go.result.area_id"}}`}, `depends_on`},
		"a lowered impact":    {[]string{`{"id":"a","impact":"read_only","action":{"capability_id":"security_mode","operation_id":"start"}}`}, `leave "impact" out`},
		"a skipped question":  {[]string{`{"id":"a","action":{"capability_id":"security_mode","operation_id":"start","confirm":"never"}}`}, `leave "confirm" out`},
		"a finished step":     {[]string{moving("go", ""), moving("go", "")}, `already taken`},
		"an unknown room":     {[]string{strings.ReplaceAll(moving("go", ""), "거실", "금고")}, `"금고" is not in the device's room catalog`},
		"an unknown room id":  {[]string{`{"id":"p","action":{"capability_id":"stationary_purify","operation_id":"start","arguments":{"area_id":"99"}}}`}, `"99" is not in`},
		"a loop":              {[]string{strings.Replace(moving("a", ""), "[]", `["b"]`, 1), strings.Replace(moving("b", ""), "[]", `["a"]`, 1)}, `waits for itself`},
		"too many steps":      {many, `has 210 steps, may have 200`},
		"an unknown ability":  {[]string{`{"id":"a","action":{"capability_id":"unlock_door","operation_id":"start"}}`}, `no capability "unlock_door"`},
		"another device":      {[]string{strings.Replace(moving("go", ""), `"id"`, `"device_id":"r2","id"`, 1)}, `reserved`},
		"another speaker":     {[]string{`{"id":"c","action":{"capability_id":"come_to_me","operation_id":"start","arguments":{"commandType":"come","speakerId":"owner"}}}`}, `is not a model's to say`},
		"a higher stage":      {[]string{`{"id":"c","action":{"capability_id":"come_to_me","operation_id":"start","arguments":{"commandType":"follow","rolloutStage":"3"}}}`}, `is not a model's to say`},
		"a field of no plan":  {[]string{moving("go", `,"shell":"rm -rf /"`)}, `leave "shell" out`},
		"a value of its own":  {[]string{`{"id":"s","action":{"capability_id":"speak","operation_id":"say","arguments":{"text":7}}}`}, `must be a string`},
		"a missing slot":      {[]string{`{"id":"s","action":{"capability_id":"speak","operation_id":"say"}}`}, `needs the slot "text"`},
		"steps that are none": {[]string{`"go"`}, `object`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, m := standinModel(t, steps(c.steps...), steps(c.steps...))
			planned := planByModel(t, m, wish(oddWish))
			if planned.Document != nil || planned.LLMCalls != 2 || planned.Report.Code != "PLAN_INVALID" || !strings.Contains(planned.Report.Detail, c.fault) {
				t.Errorf("got %+v, %+v; want a fault with %q after two calls", planned, planned.Report, c.fault)
			}
			if !strings.Contains(planned.Sentence, "다르게 말씀해 주시겠어요?") {
				t.Errorf("Law20: the person hears %q", planned.Sentence)
			}
			if q := server.Questions(); len(q) != 2 || !strings.Contains(strings.Join(q[1].Contents, ""), "refused_answer") {
				t.Errorf("asked %d times; the second question must have the refused answer and its faults", len(q))
			}
		})
	}
}

// A refused plan goes back once, with its faults, and the better one counts.
func TestAModelMayMendItsPlanOnce(t *testing.T) {
	t.Parallel()
	server, m := standinModel(t, steps(strings.ReplaceAll(moving("go", ""), "거실", "금고")), steps(moving("go", "")))
	planned := planByModel(t, m, wish(oddWish))
	if planned.Document == nil || planned.LLMCalls != 2 || !strings.Contains(strings.Join(planned.Notes, " "), "was refused") {
		t.Fatalf("%+v", planned)
	}
	if again := server.Questions()[1].Contents; !strings.Contains(again[len(again)-1], "unknown_room") {
		t.Errorf("the second question lacks the fault: %v", again)
	}
}

// What is no answer is treated as an invalid one: cut off, empty, malformed, an end that nobody knows.
func TestLaw13AnAnswerOfNoUseSpendsATry(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]standin.Reply{
		"cut off": standin.CutOff(`{"steps":[`), "cut off at once": standin.CutOff(""), "empty": standin.Ending("STOP", ""),
		"a malformed call": standin.MalformedCall(), "an unknown end": standin.Ending("SOMETHING_NEW", "{}"), "no JSON": standin.Answer("Sure! Here you go"),
		"JSON of another kind": standin.Answer(`[1]`), "no candidate": standin.NoCandidates(),
	} {
		_, m := standinModel(t, reply, steps(moving("go", "")))
		if planned := planByModel(t, m, wish(oddWish)); planned.Document == nil || planned.LLMCalls != 2 {
			t.Errorf("%s, then a plan: %+v", name, planned)
		}
		_, m = standinModel(t, reply, reply)
		if planned := planByModel(t, m, wish(oddWish)); planned.Document != nil || planned.LLMCalls != 2 || planned.Report.Code != "PLAN_INVALID" {
			t.Errorf("%s, twice: %+v", name, planned)
		}
	}
}

// Law 20: an end without a plan has a sentence of ours that is true. What the model says itself is told to nobody.
func TestLaw20WithoutAPlanThePersonHearsWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply standin.Reply
		code  string
		says  string
		calls int
	}{
		"not understood":     {standin.Answer(`{"steps":[],"unplanned":"not_understood","tts_response":"문을 열었어요"}`), "PLAN_INVALID", "", 2}, // and a field that a plan does not have
		"no plan":            {standin.Answer(`{"steps":[]}`), "NO_PLAN", "제가 할 수 있는 일", 1},
		"no plan, with null": {standin.Answer(`{"selected_routes":null,"steps":[],"unplanned":null}`), "NO_PLAN", "제가 할 수 있는 일", 1},
		"which room":         {standin.Answer(`{"steps":[],"unplanned":"room_unclear"}`), "CANNOT_GROUND", "거실, 안방", 1},
		"blocked":            {standin.BlockedPrompt("SAFETY"), "MODEL_BLOCKED", "도와드릴 수 없어요", 1},
		"safety":             {standin.Ending("SAFETY", ""), "MODEL_BLOCKED", "도와드릴 수 없어요", 1},
		"a day's quota":      {standin.QuotaSpent(22 * time.Second), "MODEL_QUOTA_SPENT", "다 써서", 1},
		"a wrong key":        {standin.WrongKey(), "MODEL_DENIED", "언어 모델을 쓸 수 없어서", 1},
		"forbidden":          {standin.Forbidden(), "MODEL_DENIED", "언어 모델을 쓸 수 없어서", 1},
		"no such model":      {standin.NotFound("gemini-9"), "MODEL_NO_SUCH_MODEL", "언어 모델을 쓸 수 없어서", 1},
		"a bug of ours":      {standin.BadRequest("what?"), "MODEL_BAD_REQUEST", "언어 모델을 쓸 수 없어서", 1},
	} {
		_, m := standinModel(t, c.reply, c.reply)
		planned := planByModel(t, m, wish(oddWish))
		if planned.Document != nil || planned.Report.Code != c.code || !strings.Contains(planned.Sentence, c.says) || planned.LLMCalls != c.calls {
			t.Errorf("%s: %+v, %+v", name, planned, planned.Report)
		}
		if strings.Contains(planned.Sentence, "문을 열었어요") {
			t.Errorf("%s: the person hears what the model made up", name)
		}
	}
}

// With no model, what needs one says so, and nothing counts as a call.
func TestWithoutAModelWhatNeedsOneSaysSo(t *testing.T) {
	t.Parallel()
	planned := planByModel(t, llm.None{Hint: "name one in ERRAND_LLM"}, wish(oddWish))
	if planned.Report.Code != "MODEL_UNCONFIGURED" || planned.LLMCalls != 0 || !strings.Contains(planned.Sentence, "언어 모델을 쓸 수 없어서 정해진 말만 알아들어요") ||
		!strings.Contains(planned.Report.Detail, "ERRAND_LLM") {
		t.Errorf("%+v, %+v", planned, planned.Report)
	}
}

// Law 13: the budget refuses before anything is asked, and the person hears it.
func TestLaw13ASpentBudgetAsksNothing(t *testing.T) {
	t.Parallel()
	server, m := standinModel(t, steps(`{"id":"a","action":{"capability_id":"unlock_door","operation_id":"start"}}`))
	planned := planByModel(t, budget.Guard(m, budget.Options{PerPlan: budget.Limits{Calls: 1}}), wish(oddWish))
	if planned.Report.Code != "MODEL_BUDGET_SPENT" || planned.LLMCalls != 1 || len(server.Questions()) != 1 || !strings.Contains(planned.Sentence, "다 써서") {
		t.Errorf("%+v, %+v after %d questions", planned, planned.Report, len(server.Questions()))
	}
}

// What may pass by itself is Temporal's to try again, when the server says; the error has the count of calls.
func TestWhatMayPassIsLeftToTemporal(t *testing.T) {
	t.Parallel()
	const named = 38922534355 * time.Nanosecond
	for kind, reply := range map[llm.Kind]standin.Reply{
		llm.RateLimited: standin.RateLimited(named), llm.Unavailable: standin.Overloaded(), llm.TimedOut: standin.Hang(),
	} {
		server, m := standinModel(t, reply)
		_, err := NewPlanner(load.Builtin(), hasty{m}).PlanByModel(t.Context(), wish(oddWish))
		var failure *temporal.ApplicationError
		if !errors.As(err, &failure) || temporalerr.Kind(err) != kind || failure.NonRetryable() || len(server.Questions()) != 1 {
			t.Errorf("%s: %v after %d questions", kind, err, len(server.Questions()))
			continue
		}
		var (
			cost  llm.Meta
			calls int
		)
		if err := failure.Details(&cost, &calls); err != nil || calls != 1 {
			t.Errorf("%s: %d calls, %v", kind, calls, err)
		}
		if want := map[llm.Kind]time.Duration{llm.RateLimited: named}[kind]; failure.NextRetryDelay() != want {
			t.Errorf("%s: again after %s, want %s", kind, failure.NextRetryDelay(), want)
		}
	}
}

// The model's plan may use only what this device offers, and rooms that can be told apart.
func TestLaw14OnlyWhatTheDeviceOffersIsPlanned(t *testing.T) {
	t.Parallel()
	c := wish(oddWish)
	c.Context["capabilities"] = map[string]any{"available": true, "task_methods": []any{"setMoveTo"}}
	clean := strings.ReplaceAll(moving("clean", ""), "move_to_room", "room_cleaning")
	_, m := standinModel(t, steps(clean), steps(clean))
	if planned := planByModel(t, m, c); planned.Document != nil || !strings.Contains(planned.Report.Detail, "room_cleaning cannot be used now: the device does not offer it") {
		t.Errorf("not advertised: %+v", planned.Report)
	}

	c = wish(oddWish)
	c.Context["map"] = map[string]any{"rooms": []any{room("1", "거실"), room("2", "거실"), room("6", "안방")}}
	_, m = standinModel(t, steps(moving("go", "")), steps(moving("go", "")))
	if planned := planByModel(t, m, c); planned.Document != nil || !strings.Contains(planned.Report.Detail, "room catalog") {
		t.Errorf("CaseC10: one of two rooms of the same name was taken: %+v", planned)
	}

	off := *load.Builtin()
	off.Capabilities = append([]catalog.Capability{}, off.Capabilities...)
	off.Capabilities[0].Enabled = false
	_, m = standinModel(t, steps(moving("go", "")), steps(moving("go", "")))
	planned, err := NewPlanner(&off, m).PlanByModel(t.Context(), wish(oddWish))
	if err != nil || planned.Document != nil || !strings.Contains(planned.Report.Detail, "not enabled in the catalog") {
		t.Errorf("not enabled: %+v, %v", planned.Report, err)
	}
}

// hasty gives each call half a second.
type hasty struct{ llm.Model }

func (h hasty) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	r.Limits.Timeout = 500 * time.Millisecond
	return h.Model.Generate(ctx, r)
}
