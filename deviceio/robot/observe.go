package robot

import (
	"context"
	"errors"
	"fmt"

	"errand/deviceio/device"
)

// Observe lets the robot see something, and tell it (contract.md §5). It has no eyes: what it sees is what it is told to.
// observed_at is the robot's own clock unless it is given.
func (r *Robot) Observe(ctx context.Context, fields map[string]any) error {
	if kind, ok := fields["kind"].(string); !ok || kind == "" {
		return errors.New("an observation needs a kind, such as person_seen")
	}
	r.mu.Lock()
	at := r.deviceTime()
	r.mu.Unlock()
	if _, given := fields["observed_at"]; !given {
		fields["observed_at"] = at
	}
	if _, err := r.outbox.Emit(ctx, device.Observation(fields)); err != nil {
		return fmt.Errorf("tell what it saw: %w", err)
	}
	return nil
}
