package robot

import (
	"context"
	"time"
)

// sense lets the periodic sensors measure, unless a fault silenced them.
func (r *Robot) sense(now int64) {
	every := senseEvery.Milliseconds()
	if now-r.world.Sources[sourceBattery] >= every && !r.faults.silent(sourceBattery) {
		r.world.senseBattery(now)
	}
	if now-r.world.Sources[sourceAir] >= every && !r.faults.silent(sourceAir) {
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
