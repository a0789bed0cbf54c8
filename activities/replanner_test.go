package activities

import (
	"strings"
	"testing"

	"errand/catalog/load"
	"errand/llm"
	"errand/llm/standin"
	"errand/llm/temporalerr"
	"errand/plan"
)

// boundary is a plan whose second step failed: what the machine tells its decider then.
func boundary(code string) plan.Decide {
	slice := load.Builtin().Slice([]string{"move_to_room", "stationary_purify", "return_to_station"})
	return plan.Decide{Decider: plan.DeciderModel, Slice: &slice, Locale: "ko-KR", Utterance: "안방으로 가서 청정하고 복귀해줘", Left: 4,
		Boundary: plan.Boundary{StepID: "purify", Report: plan.Report{Code: code, RequiresDecision: true, Params: map[string]any{"obstacle": "chair", "wifi_password": "hunter2"}}},
		Options:  []plan.DecisionKind{plan.DecideAsk, plan.DecideCancel, plan.DecideReplan, plan.DecideRetry, plan.DecideReturn},
		View: plan.View{PlanID: "p", Plan: plan.PlanState{PlanRevision: 1, StepResults: map[string]plan.StepResult{"move": {Result: map[string]any{"area_id": "6"}}}},
			Steps: []plan.StepView{
				{ID: "move", CapabilityID: "move_to_room", State: plan.StepCompleted, Verdict: plan.Verified, Arguments: map[string]any{"position_name": "안방"}},
				{ID: "purify", CapabilityID: "stationary_purify", State: plan.StepFailed, Reason: &plan.Report{Code: code}},
				{ID: "home", CapabilityID: "return_to_station", State: plan.StepPending}},
			Journal: []plan.Entry{{Kind: "decision", Step: "purify", From: code, To: "retry"}}},
		Context: map[string]any{"map": map[string]any{"available": true, "rooms": []any{room("1", "거실"), room("6", "안방")}}, "battery": map[string]any{"percent": 80.0}}}
}

func decideBy(t *testing.T, m llm.Model, c plan.Decide) plan.Decided {
	t.Helper()
	d, err := NewReplanner(load.Builtin(), m).Decide(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestContract7TheModelDecidesInTheOneShape(t *testing.T) {
	t.Parallel()
	server, m := standinModel(t)
	for code, want := range map[string]plan.DecisionKind{"PATH_BLOCKED": plan.DecideRetry, "ROOM_AMBIGUOUS": plan.DecideAsk,
		"BATTERY_LOW": plan.DecideReturn, "STATE_CHANGED": plan.DecideReplan, "CAPABILITY_DISABLED": plan.DecideCancel} {
		d := decideBy(t, m, boundary(code))
		if d.Decision != want || d.TTSResponse == "" || d.Reason == "" || d.LLMCalls != 1 || len(d.Notes) == 0 {
			t.Errorf("%s: %+v", code, d)
		}
		if (want == plan.DecideAsk) != (d.Question != "") || (want == plan.DecideReplan) != (len(d.Steps) == 2 && d.Slice != nil) {
			t.Errorf("%s: %+v", code, d)
		}
	}
	if n := len(server.Questions()); n != 5 {
		t.Errorf("%d questions for 5 boundaries", n)
	}
}

// What the device and the person said is data; the instructions are ours alone. No credential, no result that is not listed.
func TestTheReplannerIsToldWhatItNeedsAndNothingElse(t *testing.T) {
	t.Parallel()
	server, m := standinModel(t)
	c := boundary("PATH_BLOCKED")
	c.Boundary.Refused = "steps[0].id: reused_id"
	d := decideBy(t, m, c)
	q := server.Questions()[0]
	told := strings.Join(q.Contents, "\n")
	for _, want := range []string{`"reason_code":"PATH_BLOCKED"`, `"obstacle":"chair"`, `"area_id":"6"`, `"verdict":"verified"`, `"decisions_left":4`, `"recognized_text"`,
		`"options":["ask","cancel","replan","retry","return"]`, `"decided_before":[{"decision":"retry"`, "reused_id", "거실", `"percent":80`} {
		if !strings.Contains(told, want) {
			t.Errorf("it is not told %s in %s", want, told)
		}
	}
	if strings.Contains(told, "hunter2") || !strings.Contains(strings.Join(d.Notes, " "), "reason_params.wifi_password (a credential)") {
		t.Errorf("a credential is told, or nobody is told that it is not: %v", d.Notes)
	}
	for _, theirs := range []string{"chair", "거실", "복귀해줘", "reused_id"} {
		if strings.Contains(q.Instructions, theirs) {
			t.Errorf("%q of others is in the instructions", theirs)
		}
	}
	c = boundary("OBSERVED")
	c.Context, c.Boundary.Unseen = nil, "no answer in time"
	c.Boundary.Observed = &plan.Observation{Kind: "smoke", Confidence: 0.9, Place: "주방", Facts: map[string]any{"color": "grey"}}
	decideBy(t, m, c)
	told = strings.Join(server.Questions()[1].Contents, "\n")
	if !strings.Contains(told, `"observed":{"confidence":0.9,"facts":{"color":"grey"},"kind":"smoke","place":"주방"}`) || !strings.Contains(told, "could not be read: no answer in time") {
		t.Errorf("told %s", told)
	}
}

func decision(text string) standin.Reply { return standin.Answer(text) }

// Law 13: an answer that is none spends a decision, and says why; the reason table's default counts.
func TestLaw13AnAnswerThatIsNoneIsSpentWithItsReason(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply standin.Reply
		why   string
	}{
		"not an option":  {decision(`{"decision":"dance","tts_response":"x","reason":"y"}`), "could be carried out"},
		"not JSON":       {decision(`{"decision":`), "malformed"},
		"a list":         {decision(`[]`), "object"},
		"a wrong type":   {decision(`{"decision":"ask","tts_response":{"a":1},"reason":"y"}`), "must be a text"},
		"an extra field": {decision(`{"decision":"retry","tts_response":"x","reason":"y","impact":"read_only"}`), "no such field"},
		"cut off":        {standin.CutOff(`{"decision":"retry"`), "cut_off"},
		"empty":          {standin.CutOff(""), "cut_off"},
		"blocked":        {standin.BlockedPrompt("SAFETY"), "blocked"},
		"an odd end":     {standin.MalformedCall(), "malformed"},
	} {
		_, m := standinModel(t, test.reply)
		if d := decideBy(t, m, boundary("PATH_BLOCKED")); d.Decision != "" || d.LLMCalls != 1 || !strings.Contains(d.Reason, test.why) {
			t.Errorf("%s: %+v, want none and %q", name, d, test.why)
		}
	}
}

func TestADecisionThatCouldNotBeCarriedOutIsNone(t *testing.T) {
	t.Parallel()
	_, m := standinModel(t, decision(`{"decision":"retry","tts_response":"x","reason":"y"}`))
	c := boundary("PATH_BLOCKED")
	c.Options = []plan.DecisionKind{plan.DecideCancel, plan.DecideReplan}
	if d := decideBy(t, m, c); d.Decision != "" || !strings.Contains(d.Reason, "could be carried out") {
		t.Errorf("%+v", d)
	}
}

// Law 14: what a new plan claims beyond a plan's fields is a fault of it. It goes to the machine as refused, which lets the
// model try once more; what the device does not offer is not in the slice, so that the gate does not know it.
func TestLaw14ANewPlanThatClaimsTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	step := func(more string) standin.Reply {
		return decision(`{"decision":"replan","tts_response":"x","reason":"y","steps":[` + moving("again", more) + `]}`)
	}
	_, m := standinModel(t, step(`,"impact":"read_only"`), step(`,"confirm":false`), step(""))
	for range 2 {
		if d := decideBy(t, m, boundary("STATE_CHANGED")); d.Decision != plan.DecideReplan || !strings.Contains(d.Refused, "no such field") {
			t.Errorf("%+v", d)
		}
	}
	c := boundary("STATE_CHANGED")
	c.Context["capabilities"] = map[string]any{"task_methods": []any{"setStationaryPurify"}}
	d := decideBy(t, m, c)
	if d.Refused != "" || d.Slice == nil {
		t.Fatalf("%+v", d)
	}
	if _, there := d.Slice.Capability("move_to_room"); there {
		t.Error("the slice has a capability that the device does not offer")
	}
}

// What may pass is Temporal's to try again; the rest is an answer, with what an operator needs to know.
func TestTheReplannersFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply standin.Reply
		again bool
		says  string
	}{
		"overloaded":        {standin.Overloaded(), true, ""},
		"too many just now": {standin.RateLimited(0), true, ""},
		"the day's quota":   {standin.QuotaSpent(0), false, "quota_spent"},
		"a wrong key":       {standin.WrongKey(), false, "denied"},
	} {
		_, m := standinModel(t, test.reply)
		d, err := NewReplanner(load.Builtin(), m).Decide(t.Context(), boundary("PATH_BLOCKED"))
		if test.again != temporalerr.Kind(err).Retryable() || (err != nil) != test.again {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(d.Reason, test.says) || d.Decision != "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	d := decideBy(t, llm.None{Hint: "name one"}, boundary("PATH_BLOCKED"))
	if d.Decision != "" || d.LLMCalls != 0 || !strings.Contains(d.Reason, "no model is set up") {
		t.Errorf("without a model: %+v", d)
	}
}
