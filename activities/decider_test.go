package activities_test

import (
	"strings"
	"testing"

	"errand/activities"
	"errand/catalog"
	"errand/plan"
)

func TestDecidersAreFoundByName(t *testing.T) {
	deciders := activities.Deciders{activities.TableDecider: activities.Table{}}
	c := plan.Decide{Decider: "table", Boundary: plan.Boundary{Report: plan.Report{Code: "STUCK"}},
		Slice: &catalog.Slice{Reasons: []catalog.Reason{{Code: "STUCK", Default: "ask"}}}}
	if got, err := deciders.Decide(t.Context(), c); err != nil || got.Decision != plan.DecideAsk || got.LLMCalls != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	c.Boundary.Report.Code = "NEVER_HEARD_OF"
	if got, err := deciders.Decide(t.Context(), c); err != nil || got.Decision != plan.DecideCancel {
		t.Errorf("an unknown reason: %+v, %v", got, err)
	}
	c.Decider = "oracle"
	if _, err := deciders.Decide(t.Context(), c); err == nil || !strings.Contains(err.Error(), `no decider "oracle" is set up here; there are [table]`) {
		t.Errorf("%v", err)
	}
}
