package activities

import (
	"strings"
	"testing"

	"errand/catalog/load"
	"errand/llm"
	"errand/plan"
)

func makePlan(t *testing.T, text, locale string, rooms ...any) plan.Planned {
	t.Helper()
	c := plan.MakePlan{Locale: locale, Utterance: plan.Utterance{Text: text}}
	if rooms != nil {
		c.Context = map[string]any{"map": map[string]any{"available": true, "rooms": rooms}}
	}
	planned, err := NewPlanner(load.Builtin(), llm.None{}).Plan(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return planned
}

func room(id, name string) map[string]any { return map[string]any{"id": id, "name": name} }

func TestPlannerGivesTheSliceThatThePlanUses(t *testing.T) {
	planned := makePlan(t, "안방으로 가서 청정하고 복귀해줘", "", room("6", "안방"))
	if planned.Document == nil || planned.Slice == nil || len(planned.Document.Steps) != 3 || len(planned.Slice.Capabilities) != 3 {
		t.Fatalf("%+v", planned)
	}
	if faults := plan.Validate(*planned.Document, planned.Slice, plan.Grounding{}); len(faults) > 0 {
		t.Errorf("its own plan does not pass the gate: %v", faults)
	}
	if planned.LLMCalls != 0 {
		t.Errorf("Law12: %d model calls", planned.LLMCalls)
	}
}

// Law 20: what cannot be planned is told as it is.
func TestLaw20PlannerSaysHonestlyWhyThereIsNoPlan(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		rooms []any
		code  string
		says  string
	}{
		"no such room":   {"서재로 가줘", []any{room("6", "안방")}, "ROOM_UNKNOWN", "안방"},
		"two such rooms": {"안방으로 가줘", []any{room("6", "안방"), room("7", "안방")}, "ROOM_AMBIGUOUS", "안방"},
		"no map":         {"안방으로 가줘", nil, "MAP_UNAVAILABLE", "지도"},
	} {
		planned := makePlan(t, c.text, "ko", c.rooms...)
		if planned.Document != nil || planned.Report == nil || planned.Report.Code != c.code || !strings.Contains(planned.Sentence, c.says) {
			t.Errorf("%s: %+v, %q; want %s and a sentence with %q", name, planned.Report, planned.Sentence, c.code, c.says)
		}
	}
}

// Law 12: what no routine takes is for a model, and this activity asks none. What it says is for when none can be asked.
func TestLaw12WhatNoRoutineTakesIsForAModel(t *testing.T) {
	planned := makePlan(t, "창문 열어줘", "ko", room("6", "안방"))
	if !planned.ForModel || planned.Document != nil || planned.LLMCalls != 0 || planned.Report.Code != "PLANNER_FAILED" || !strings.Contains(planned.Sentence, "잠시 뒤에") {
		t.Errorf("%+v", planned)
	}
}
