package activities

import (
	"errors"
	"testing"

	"errand/plan"
)

// Law 20: to have reached nobody is no verdict. Only what surely was not sent counts as that.
func TestLaw20ALookThatReachedNobodyIsUnseen(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		unseen bool
	}{
		"not connected": {ErrNotConnected, true},
		"no answer":     {errors.New("no answer in time"), false},
		"seen":          {nil, false},
	} {
		seen := map[string]any{"battery": map[string]any{"charging": true}}
		got, err := device(&fakeLink{contexts: []map[string]any{seen}, err: c.err}).Verify(t.Context(), plan.Verify{Expression: "context.battery.charging"})
		if err != nil || got.Unseen != c.unseen || (got.Verdict == plan.Verified) != (c.err == nil) {
			t.Errorf("%s: %+v, %v; want unseen %t", name, got, err, c.unseen)
		}
	}
}

// A receipt stays in the plan's history: of what was seen it keeps what a person can read.
func TestWhatAReceiptKeepsIsBounded(t *testing.T) {
	many := make([]any, 300)
	for i := range many {
		many[i] = map[string]any{"id": "a", "label": "a label that is as long as any"}
	}
	seen := map[string]any{"alarms": map[string]any{"items": many}, "battery": map[string]any{"level": 41.0}}
	got, err := device(&fakeLink{contexts: []map[string]any{seen}}).Verify(t.Context(),
		plan.Verify{Expression: "context.battery.level > 40.0 && !context.alarms.items.exists(i, i.id == 'b')"})
	alarms, _ := got.Observed["alarms"].(map[string]any)
	if left, told := alarms["left_out_bytes"].(int); err != nil || got.Verdict != plan.Verified || !told || left < 8<<10 || got.Observed["battery"] == nil {
		t.Errorf("%+v, %v", got, err)
	}
}
