package standin_test

import (
	"slices"
	"testing"

	"errand/llm"
	"errand/llm/standin"
	"errand/plan"
)

// deciding is a question for a decision, as the machine's own command tells it.
func deciding(t *testing.T, code string, change func(*plan.Decide)) standin.Question {
	t.Helper()
	whole := builtin.Whole()
	c := plan.Decide{Decider: "model", Slice: &whole,
		Boundary: plan.Boundary{StepID: "purify", Report: plan.Report{Code: code, RequiresDecision: true}},
		View: plan.View{PlanID: "p", Plan: plan.PlanState{PlanRevision: 1}, Steps: []plan.StepView{
			{ID: "move", CapabilityID: "move_to_room", State: plan.StepCompleted, Arguments: map[string]any{"position_name": "주방"}},
			{ID: "purify", CapabilityID: "stationary_purify", State: plan.StepFailed},
			{ID: "home", CapabilityID: "return_to_station", State: plan.StepPending}}}}
	if change != nil {
		change(&c)
	}
	return standin.Question{Contents: []string{encode(t, c), encode(t, map[string]any{"rooms": rooms, "locale": "en"})}}
}

// Each of the five decisions is reached by a reason code of the catalog, and a replan passes the gate with fresh ids.
func TestRulesDecideByReasonCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]plan.DecisionKind{
		"PATH_BLOCKED": plan.DecideRetry, "ROOM_AMBIGUOUS": plan.DecideAsk, "BATTERY_LOW": plan.DecideReturn,
		"STEP_RESULT_BINDING_FAILED": plan.DecideReplan, "CAPABILITY_DISABLED": plan.DecideCancel, "SOMETHING_NEW": plan.DecideAsk,
	} {
		var d plan.Decided
		answered(t, standin.Rules, deciding(t, code, nil), &d)
		if d.Decision != want || d.TTSResponse == "" || (want == plan.DecideAsk) != (d.Question != "" && len(d.Choices) == 2) {
			t.Errorf("%s: got %+v", code, d)
		}
		if want != plan.DecideReplan {
			continue
		}
		whole := builtin.Whole()
		if faults := plan.Validate(plan.Document{Steps: d.Steps}, &whole, plan.Grounding{Rooms: rooms}); len(faults) > 0 {
			t.Errorf("the gate refuses the replan: %v", faults)
		}
		if got := describe(plan.Document{Steps: d.Steps}); got != "stationary_purify(area_id=area-2) return_to_station()" ||
			d.Steps[0].ID != "purify-r2" || !slices.Equal(d.Steps[1].DependsOn, []string{"purify-r2"}) {
			t.Errorf("got %s: %+v", got, d.Steps)
		}
	}
}

func TestRulesDecideAnUnknownReasonByItsRecoverability(t *testing.T) {
	t.Parallel()
	for recoverability, want := range map[string]plan.DecisionKind{"transient": plan.DecideRetry, "conditional": plan.DecideAsk, "permanent": plan.DecideCancel} {
		var d plan.Decided
		answered(t, standin.Rules, deciding(t, "SOMETHING_NEW", func(c *plan.Decide) { c.Boundary.Report.Recoverability = recoverability }), &d)
		if d.Decision != want {
			t.Errorf("%s: got %s", recoverability, d.Decision)
		}
	}
}

// Ids are not used again across revisions: a second replan has others than the first.
func TestRulesReplanUnderFreshIDs(t *testing.T) {
	t.Parallel()
	var d plan.Decided
	answered(t, standin.Rules, deciding(t, "STATE_CHANGED", func(c *plan.Decide) {
		c.Boundary.StepID, c.View.Plan.PlanRevision = "purify-r2", 2
		c.View.Steps[1].ID = "purify-r2"
	}), &d)
	if len(d.Steps) != 2 || d.Steps[0].ID != "purify-r3" || d.Steps[1].ID != "home-r3" {
		t.Errorf("got %+v", d.Steps)
	}
}

// What is not among the options is not decided: the gentlest of those is taken. With nothing left to plan, none is planned.
func TestRulesDecideWithinTheOptions(t *testing.T) {
	t.Parallel()
	var d plan.Decided
	q := deciding(t, "PATH_BLOCKED", nil)
	q.Contents = append(q.Contents, `{"options":["cancel","return"]}`)
	if answered(t, standin.Rules, q, &d); d.Decision != plan.DecideReturn {
		t.Errorf("got %s", d.Decision)
	}
	q = deciding(t, "PATH_BLOCKED", nil)
	q.Schema = &llm.Schema{Type: llm.Object, Properties: map[string]*llm.Schema{"decision": {Type: llm.String, Enum: []string{"cancel", "replan"}}}}
	if answered(t, standin.Rules, q, &d); d.Decision != plan.DecideCancel {
		t.Errorf("got %s", d.Decision)
	}
	q = deciding(t, "STATE_CHANGED", func(c *plan.Decide) { c.View.Steps = nil })
	if answered(t, standin.Rules, q, &d); d.Decision != plan.DecideAsk {
		t.Errorf("got %s", d.Decision)
	}
}
