package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"errand/plan"
)

// The search attributes of a plan. Typed keys; none ever holds personal text.
var (
	attributeState  = temporal.NewSearchAttributeKeyKeyword(plan.AttributeState)
	attributeStep   = temporal.NewSearchAttributeKeyKeyword(plan.AttributeStep)
	attributeReason = temporal.NewSearchAttributeKeyKeyword(plan.AttributeReason)
)

// shown is what operators were shown last. An upsert is an event in history, so only changes of state are written.
type shown struct {
	state plan.Phase
}

// show tells operators how the plan stands: current details cost no event, search attributes one each.
func (r *planRun) show() {
	view := r.state.View()
	workflow.SetCurrentDetails(r.root, details(view))
	if view.State == r.shown.state {
		return
	}
	first := r.shown.state == ""
	r.shown.state = view.State
	if first && view.State == plan.Planning {
		return // the starter set it so
	}
	updates := []temporal.SearchAttributeUpdate{attributeState.ValueSet(string(view.State))}
	if step := strings.TrimPrefix(view.Plan.WaitingFor, "step:"); step != view.Plan.WaitingFor {
		updates = append(updates, attributeStep.ValueSet(step))
	}
	if view.Outcome != nil && view.Outcome.Reason != nil {
		updates = append(updates, attributeReason.ValueSet(view.Outcome.Reason.Code))
	}
	if err := workflow.UpsertTypedSearchAttributes(r.root, updates...); err != nil {
		workflow.GetLogger(r.root).Error("search attributes not written", "error", err)
	}
}

// details is the plan as a Markdown table.
func details(v plan.View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", v.State)
	if v.Plan.WaitingFor != "" {
		fmt.Fprintf(&b, " · waits for %s", v.Plan.WaitingFor)
	}
	b.WriteString("\n\n| step | capability | state | why |\n|---|---|---|---|\n")
	for _, s := range v.Steps {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.ID, s.CapabilityID, s.State, s.Why)
	}
	return b.String()
}
