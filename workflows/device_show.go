package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"errand/internal/uitext"
	"errand/plan/lease"
)

// shownRows is how many plans that wait are shown: the UI keeps details short, and the query tells all.
const shownRows = 20

// show tells operators how the lease stands. Current details cost no event; a quarantine is written to the search
// attributes too, so that ErrandState = 'quarantined' finds it.
func (r *deviceRun) show() {
	v := r.state.View()
	workflow.SetCurrentDetails(r.root, leaseDetails(v))
	quarantined := v.State == lease.Quarantined
	if quarantined == r.shown {
		return
	}
	r.shown = quarantined
	update := []temporal.SearchAttributeUpdate{attributeState.ValueUnset(), attributeReason.ValueUnset()}
	if quarantined {
		update = []temporal.SearchAttributeUpdate{attributeState.ValueSet(string(v.State)), attributeReason.ValueSet(lease.ReasonQuarantined)}
	}
	if err := workflow.UpsertTypedSearchAttributes(r.root, update...); err != nil {
		workflow.GetLogger(r.root).Error("search attributes not written", "error", err)
	}
}

// leaseDetails is the lease as a Markdown table.
func leaseDetails(v lease.View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", v.State)
	if q := v.Quarantine; q != nil {
		fmt.Fprintf(&b, " · %s · waits for %s", uitext.Plain(q.Why), q.WaitsFor)
	}
	b.WriteString("\n\n| turn | plan | since | policy | priority | by |\n|---|---|---|---|---|---|\n")
	if v.Holder != nil {
		turn := "holds it"
		if v.Holder.ReplacedBy != "" {
			turn = "holds it, told to stop for " + v.Holder.ReplacedBy
		}
		row(&b, turn, v.Holder.WaitView)
	}
	for i, w := range v.Queue[:min(len(v.Queue), shownRows)] {
		row(&b, fmt.Sprint(i+1), w)
	}
	if more := len(v.Queue) - shownRows; more > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", more)
	}
	if v.Quarantine == nil {
		return b.String()
	}
	b.WriteString("\n| may still move the device | why | since | its cancel | asked |\n|---|---|---|---|---|\n")
	for _, op := range v.Quarantine.Operations {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", uitext.Plain(op.ID), uitext.Plain(op.Why), clock(op.Since), op.Cancel, op.Asked)
	}
	return b.String()
}

func row(b *strings.Builder, turn string, w lease.WaitView) {
	fmt.Fprintf(b, "| %s | %s | %s | %s | %d | %s |\n", turn, w.PlanID, clock(w.Since), w.Policy, w.Priority, uitext.Plain(w.By))
}
