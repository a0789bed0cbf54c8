package robot

import (
	"context"
	"time"
)

// sense lets the periodic sensors measure, unless a fault silenced them. now is the device's clock, as observed_at is;
// one that stepped back does not keep them from measuring.
func (r *Robot) sense(now int64) {
	due := func(source string) bool {
		since := now - r.world.Sources[source]
		return (since < 0 || since >= senseEvery.Milliseconds()) && !r.faults.silent(source)
	}
	if due(sourceBattery) {
		r.world.senseBattery(now)
	}
	if due(sourceAir) {
		r.world.senseAir(now)
	}
}

// saveProgress stores now and then how far the running task and the world are, and tells about it.
func (r *Robot) saveProgress(at time.Time) {
	t, since := r.running, at.Sub(r.savedAt)
	if t == nil {
		if since >= saveIdle {
			r.touch()
		}
		return
	}
	r.tellProgress(t, at.UnixMilli())
	if since >= r.saves {
		r.save(t)
	}
}

// tellProgress is bounded both in time and in number: at most ten events a task, two a second.
func (r *Robot) tellProgress(t *Task, now int64) {
	p := t.progress()
	if t.State != Running || p-t.Run.Told < tellStep || now-t.Run.ToldAt < tellEvery.Milliseconds() {
		return
	}
	t.Run.Told, t.Run.ToldAt = p, now
	r.mention(t, r.event(t, "PROGRESS"))
}

// tidy forgets once an hour what is older than the declared retention.
func (r *Robot) tidy(ctx context.Context, at time.Time) error {
	if at.Sub(r.forgot) < time.Hour {
		return nil
	}
	r.forgot = at
	return r.store.forget(context.WithoutCancel(ctx), at.Add(-Retention).UnixMilli())
}

func (r *Robot) nameOf(roomID string) string {
	room, _ := r.home.Room(roomID)
	return room.Name
}
