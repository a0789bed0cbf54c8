package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"errand/catalog/condition"
	"errand/catalog/fresh"
	"errand/plan"
)

// maxLooks is how often the verifier looks before it settles for what it saw.
const maxLooks = 3

// Pace waits between two looks and returns early with an error when the context ends.
type Pace func(ctx context.Context) error

func everyHalfSecond(ctx context.Context) error {
	timer := time.NewTimer(500 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Verify looks at what a completed operation left behind, by the device's context and not by the executor's word.
// Only what was observed after the completion counts (design §6 Verification). It looks up to three times, since a
// source may lag behind; a look that finds the expression true ends it.
func (d *Device) Verify(ctx context.Context, c plan.Verify) (plan.VerifiedResult, error) {
	out := plan.VerifiedResult{OperationID: c.OperationID, Verdict: plan.Unverified, VerifiedBy: "getDevicePlanningContext"}
	for look := 1; ; look++ {
		seen, err := d.link.Context(ctx, c.DeviceID)
		out.Unseen = errors.Is(err, ErrNotConnected)
		if err != nil {
			out.Detail = err.Error()
		} else if err := d.look(c, seen, &out); err != nil {
			out.Detail = err.Error()
			return out, nil // the expression itself is broken: no look will mend it
		}
		if out.Verdict == plan.Verified || look == maxLooks {
			return out, nil
		}
		if err := d.looks(ctx); err != nil {
			return out, nil
		}
	}
}

func (d *Device) look(c plan.Verify, seen map[string]any, out *plan.VerifiedResult) error {
	kept := observedAfter(freshened(seen), c)
	truth, err := judge(c.Expression, kept, c.Arguments, c.Result, c.CompletedAt)
	if err != nil {
		return fmt.Errorf("verify of %s: %w", c.Capability, err)
	}
	switch truth {
	case condition.True:
		out.Verdict, out.Detail = plan.Verified, ""
	case condition.False:
		out.Verdict, out.Detail = plan.Contradicted, "the device's own context says otherwise: "+c.Expression
		if area := changedSince(kept, c); area != "" {
			out.Verdict, out.Detail = plan.Unverified, area+" changed after the completion, and no longer tells what it left behind"
		}
	default:
		out.Verdict, out.Detail = plan.Unverified, "the device's context cannot tell"
	}
	out.Observed = mentioned(kept, c.Expression)
	return nil
}

// observedAfter drops the areas of periodic sources that were last observed before the completion, or in another boot,
// where the clocks cannot be compared. An on-change source that answered now is as good as new.
func observedAfter(seen map[string]any, c plan.Verify) map[string]any {
	freshness, _ := seen["freshness"].(map[string]any)
	kept := maps.Clone(seen)
	for area, entry := range freshness {
		source, _ := entry.(map[string]any)
		if source["policy"] != "periodic" {
			continue
		}
		observed, _ := source["observed_at"].(float64)
		if c.Route.BootEpoch != c.Epoch || int64(observed) < c.CompletedAt {
			delete(kept, area)
		}
	}
	return kept
}

// changedSince names an area that an expression speaks of and that changed after the completion, as when a stored completion
// is verified that is older than what the device did next; "" if there is none. Such an area may still confirm: it can only
// not contradict. Where the clocks cannot be compared, nothing is known to have changed.
func changedSince(seen map[string]any, c plan.Verify) string {
	freshness, _ := seen["freshness"].(map[string]any)
	for _, area := range slices.Sorted(maps.Keys(freshness)) {
		source, _ := freshness[area].(map[string]any)
		observed, _ := source["observed_at"].(float64)
		if source["policy"] == "on_change" && c.Route.BootEpoch == c.Epoch && int64(observed) > c.CompletedAt && strings.Contains(c.Expression, "context."+area) {
			return area
		}
	}
	return ""
}

// maxObserved bounds what is kept of one area, in bytes: a receipt stays in the plan's history.
const maxObserved = 8 << 10

// mentioned keeps the areas that an expression speaks of: the observed state of the receipt. Of one that is too large it keeps how
// large it was.
func mentioned(seen map[string]any, expression string) map[string]any {
	kept := make(map[string]any)
	for area, value := range seen {
		if area == "map" || !strings.Contains(expression, "context."+area) {
			continue
		}
		kept[area] = value
		if raw, err := json.Marshal(value); err != nil || len(raw) > maxObserved {
			kept[area] = map[string]any{"left_out_bytes": len(raw)}
		}
	}
	return kept
}

func judge(expression string, seen, arguments, result map[string]any, completedAt int64) (condition.Truth, error) {
	c, err := condition.Compile(expression)
	if err != nil {
		return condition.Unknown, fmt.Errorf("%q: %w", expression, err)
	}
	truth, err := c.EvalAfter(seen, arguments, result, completedAt)
	if err != nil {
		return condition.Unknown, fmt.Errorf("%q: %w", expression, err)
	}
	return truth, nil
}

// freshened leaves out what is stale or unusable (law 17).
func freshened(seen map[string]any) map[string]any { return fresh.AsTold(seen, time.Now().UnixMilli()) }
