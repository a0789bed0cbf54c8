package tests

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

const sentence = "안방으로 가서 청정하고 복귀해줘"

// kinds lists what kinds of effects a ledger has, in order.
func kinds(effects []robot.Effect) []string {
	var list []string
	for _, e := range effects {
		list = append(list, e.Kind)
	}
	return list
}

func wantEffects(t *testing.T, r *stack.Robot, want ...string) {
	t.Helper()
	if got := kinds(r.Ledger(t)); !slices.Equal(got, want) {
		t.Errorf("the ledger has %v, want %v", got, want)
	}
}

func wantOutcome(t *testing.T, p *stack.Plan, state plan.Phase, closed string) plan.Outcome {
	t.Helper()
	o, how := p.Wait(t)
	if o.State != state || how != closed {
		t.Fatalf("the plan ended %s and its run %s (%+v), want %s and %s", o.State, how, o.Reason, state, closed)
	}
	return o
}

// The documents of the first seed, unchanged: the utterance of Hop 1, and the plan of Hop 3.
func TestMainJobFromTheSeed(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.Robot(t)

	hop1, err := os.ReadFile("testdata/hop1-utterance.json")
	if err != nil {
		t.Fatal(err)
	}
	status, answer := s.Post(t, "/v1/utterances", string(hop1))
	var started struct {
		PlanID string `json:"plan_id"`
	}
	if err := json.Unmarshal(answer, &started); err != nil || status >= 300 {
		t.Fatalf("Hop 1: %d %s", status, answer)
	}
	p := s.Plan(started.PlanID)
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
	if o.Verified != 3 || o.LLMCalls != 0 {
		t.Errorf("%d verified steps and %d model calls, want 3 and 0", o.Verified, o.LLMCalls)
	}
	if effects := r.Ledger(t); effects[1].RoomID != "6" {
		t.Errorf("it purified room %q, want 6, where the move's bound result pointed", effects[1].RoomID)
	}
	v := p.View(t)
	if got := v.Steps[1]; got.Arguments["area_id"] != "6" || got.Bound["area_id"] != "arrival.result.area_id" {
		t.Errorf("purify ran with %v bound by %v", got.Arguments, got.Bound)
	}
	if got := v.Plan.StepResults["move"]; got.EventName != "COMPLETED" || len(got.Result) != 2 {
		t.Errorf("Law04: move's result in the record is %+v, want the two listed fields", got)
	}

	// Law 4: what no contract lists is nowhere, not even in the plan's history.
	var signals strings.Builder
	for _, event := range historyOf(t, s.Temporal, started.PlanID).Events {
		for _, payload := range event.GetWorkflowExecutionSignaledEventAttributes().GetInput().GetPayloads() {
			signals.Write(payload.Data)
		}
	}
	if !strings.Contains(signals.String(), "area_id") {
		t.Fatalf("the history's signals carry no result at all: %s", signals.String())
	}
	for _, unlisted := range []string{"raw_pose", "map_token", "fan_rpm", "air_quality_before"} {
		if strings.Contains(signals.String(), unlisted) {
			t.Errorf("Law04: the unlisted field %s is in the plan's history", unlisted)
		}
	}

	hop3, err := os.ReadFile("testdata/hop3-plan.json")
	if err != nil {
		t.Fatal(err)
	}
	status, answer = s.Post(t, "/v1/plans", string(hop3))
	if err := json.Unmarshal(answer, &started); err != nil || status >= 300 {
		t.Fatalf("Hop 3: %d %s", status, answer)
	}
	wantOutcome(t, s.Plan(started.PlanID), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked", "arrived", "cleaned")
}

// The same utterance id again is the same plan, however often and at once; with another body it is refused.
func TestSameUtteranceIsTheSamePlan(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.Robot(t)
	body := `{"recognized_text":"` + sentence + `","utterance_id":"u-1","device_id":"` + r.ID + `"}`
	ids := make(chan string, 4)
	for range cap(ids) {
		go func() {
			status, answer := s.Post(t, "/v1/utterances", body)
			var started struct {
				PlanID string `json:"plan_id"`
			}
			if err := json.Unmarshal(answer, &started); err != nil || status >= 300 {
				t.Errorf("%d %s", status, answer)
			}
			ids <- started.PlanID
		}()
	}
	first := <-ids
	for range cap(ids) - 1 {
		if id := <-ids; id != first {
			t.Errorf("one utterance became the plans %s and %s", first, id)
		}
	}
	if status, _ := s.Post(t, "/v1/utterances", `{"recognized_text":"충전하러 가","utterance_id":"u-1","device_id":"`+r.ID+`"}`); status != 409 {
		t.Errorf("another body under the same id: %d, want 409", status)
	}
	wantOutcome(t, s.Plan(first), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}
