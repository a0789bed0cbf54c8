package robot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"errand/deviceio/device"
)

// PressStop presses the emergency stop on the robot: it stands still at once, whatever it does or has in its queue is cancelled
// (EMERGENCY_STOP), it takes no task until ReleaseStop, also after a restart, and it tells the cloud, out of turn.
//
// Releasing the button is not enough to be moved again: the gateway's own latch takes a person's release there.
func (r *Robot) PressStop(ctx context.Context, why string) error {
	if err := r.press(ctx, why); err != nil {
		return err
	}
	if _, err := r.outbox.Emit(ctx, device.EmergencyStop(why, r.clock())); err != nil {
		return fmt.Errorf("tell that it was stopped: %w", err)
	}
	return nil
}

func (r *Robot) press(ctx context.Context, why string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return r.broken
	}
	r.setStopped(true)
	for _, t := range slices.Clone(r.queue) {
		r.unqueue(t)
		r.finish(t, Cancelled, because(ReasonEmergencyStop, map[string]any{"reason": why}))
	}
	if r.running != nil {
		r.finish(r.running, Cancelled, because(ReasonEmergencyStop, map[string]any{"reason": why}))
	}
	r.report("EMERGENCY STOP: stands still until the button is released")
	return r.commit(ctx)
}

// setStopped notes the button; the world is stored with whatever is.
func (r *Robot) setStopped(stopped bool) {
	r.world.Stopped = stopped
	r.world.Revision++
	r.note(func(context.Context, *sql.Tx) error { return nil })
}

// ReleaseStop lets the button go. Nothing begins again by itself.
func (r *Robot) ReleaseStop(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return r.broken
	}
	if !r.world.Stopped {
		return errors.New("the emergency stop is not pressed")
	}
	r.setStopped(false)
	r.report("the emergency stop is released here; the cloud's is released there")
	return r.commit(ctx)
}
