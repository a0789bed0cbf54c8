package workflows

import (
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

// shown is what operators were shown last. An upsert is an event in history, so only changes are written.
type shown struct {
	state        plan.Phase
	step, reason string
}

// show tells operators how the plan stands: current details cost no event, an upsert of search attributes costs one.
func (r *planRun) show() {
	view := r.state.View()
	workflow.SetCurrentDetails(r.root, details(view))
	now := shown{state: view.State, step: currentStep(view), reason: reasonOf(view)}
	if r.shown.state == "" && view.State == plan.Planning {
		r.shown.state = plan.Planning // the starter set it so
	}
	var updates []temporal.SearchAttributeUpdate
	if now.state != r.shown.state {
		updates = append(updates, attributeState.ValueSet(string(now.state)))
	}
	if now.step != r.shown.step {
		updates = append(updates, attributeStep.ValueSet(now.step))
	}
	switch now.reason {
	case r.shown.reason:
	case "":
		updates = append(updates, attributeReason.ValueUnset())
	default:
		updates = append(updates, attributeReason.ValueSet(now.reason))
	}
	r.shown = now
	if len(updates) == 0 {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(r.root, updates...); err != nil {
		workflow.GetLogger(r.root).Error("search attributes not written", "error", err)
	}
}

// currentStep is the step that was begun last, "" before the first.
func currentStep(v plan.View) string {
	step := ""
	for _, s := range v.Steps {
		if s.OperationID != "" {
			step = s.ID
		}
	}
	return step
}

// reasonOf is why the plan waits for a decision or an answer, or ended as it did; "" if all is well.
func reasonOf(v plan.View) string {
	if v.Outcome != nil {
		if v.Outcome.Reason != nil {
			return v.Outcome.Reason.Code
		}
		return ""
	}
	for _, s := range v.Steps {
		if s.Reason != nil {
			return s.Reason.Code
		}
	}
	return ""
}
