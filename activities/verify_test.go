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
