package robot

import (
	"context"
	"database/sql"
	"time"
)

// Tick lets the time since the last tick pass: tasks expire and start, the body moves, sensors measure, and what came
// of it is stored and told. Everything a tick changes is one transaction.
func (r *Robot) Tick(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return r.broken
	}
	at := r.clock()
	now := at.UnixMilli()
	r.credit += time.Duration(float64(r.lapse(at)) * r.speed)
	r.faults.release(now)
	if r.faults.late > 0 {
		r.wake() // for some answer it may be time
	}
	r.expire(now)
	r.startNext(now)
	for r.credit >= quantum {
		r.credit -= quantum
		r.elapse(now)
	}
	r.check(now)
	r.sense(r.deviceTime())
	r.saveProgress(at)
	if err := r.tidy(ctx, at); err != nil {
		return err
	}
	return r.commit(ctx)
}

// lapse is the time since the last tick. A clock set back, or a process that was stopped, does not make the world jump.
func (r *Robot) lapse(at time.Time) time.Duration {
	passed := at.Sub(r.last)
	r.last = at
	return min(max(passed, 0), maxLapse)
}

// check does what needs no time of the world: a task without a body's work ends, a run that lasts too long is stopped.
func (r *Robot) check(now int64) {
	t := r.running
	if t == nil {
		return
	}
	if t.Ending == "" && now-t.StartedAt >= t.Spec.TimeoutMs {
		r.stop(t, TimedOut, "")
		return
	}
	if len(t.Run.Phases) == 0 && !r.obstructed(t, now) {
		r.complete(t, now)
	}
}

// elapse lets one quantum pass for the world and for the running task.
func (r *Robot) elapse(now int64) {
	t := r.running
	if t == nil || !r.ready(t, now) {
		r.world.pass(r.home, now, r.speed, doing{})
		return
	}
	p := &t.Run.Phases[t.Run.At]
	left := r.home.RoomAt(r.world.X, r.world.Y)
	r.world.pass(r.home, now, r.speed, r.body(t, p))
	if r.home.RoomAt(r.world.X, r.world.Y) != left {
		r.world.Sources[sourceLocation] = r.deviceTime()
	}
	r.measure(p)
	if r.ended(p) {
		r.endPhase(t, p, now)
		return
	}
	if t.Ending != "" {
		if t.Run.Braking -= seconds; t.Run.Braking <= 0 {
			r.finish(t, t.Ending, nil)
		}
	}
}

// ready reports whether the body can act now; on the way it begins the phase and asks what stands in the way.
func (r *Robot) ready(t *Task, now int64) bool {
	if len(t.Run.Phases) == 0 {
		return false
	}
	if t.Ending != "" { // it is braking: nothing else matters
		return true
	}
	if r.world.Battery <= 0 {
		r.finish(t, Failed, because(ReasonBatteryLow, map[string]any{"level": 0.0}))
		return false
	}
	if r.obstructed(t, now) {
		return false
	}
	p := &t.Run.Phases[t.Run.At]
	if !p.Begun {
		r.begin(t, p, now)
	}
	return r.running == t && t.State == Running
}

// begin opens a phase: its gate first, then what its progress is measured against.
func (r *Robot) begin(t *Task, p *phase, now int64) {
	if p.Gate == gateSpeaker {
		if why := speakerGate(r.home, t); why != nil {
			r.finish(t, Failed, why)
			return
		}
	}
	p.Begun = true
	switch p.Kind {
	case phaseDrive:
		p.Total = r.world.distance(p.X, p.Y)
		p.Seconds = p.Total / r.home.DriveSpeed
		if p.Total > 0 {
			r.depart(t, p, now)
		}
	case phasePurify:
		p.From = r.world.Air[p.RoomID].PM25
	case phaseDwell: // time is all it needs
	}
	r.save(t)
}

// depart opens a motion in the ledger.
func (r *Robot) depart(t *Task, p *phase, now int64) {
	from, to := r.home.RoomAt(r.world.X, r.world.Y), p.RoomID
	r.world.Target = to
	r.world.Sources[sourceMovement] = r.deviceTime()
	id := t.Spec.OperationID
	r.note(func(ctx context.Context, tx *sql.Tx) error { return startMotion(ctx, tx, id, now) })
	target, _ := r.home.Room(to)
	r.report("leaves %s for %s (%s)", from.Name, target.Name, id)
}

// body is what the robot does in the next quantum of a phase.
func (r *Robot) body(t *Task, p *phase) doing {
	switch p.Kind {
	case phaseDrive:
		speed := r.home.DriveSpeed
		if t.Ending != "" {
			speed /= 2 // rolling out
		}
		return doing{driving: p.Total > 0, toX: p.X, toY: p.Y, speed: speed}
	case phasePurify:
		return doing{working: true, purifies: p.RoomID}
	case phaseDwell:
	}
	return doing{working: true}
}

// measure notes how far the phase is.
func (r *Robot) measure(p *phase) {
	switch p.Kind {
	case phaseDrive:
		if p.Total > 0 {
			p.Spent = p.Seconds * (1 - r.world.distance(p.X, p.Y)/p.Total)
		}
	case phasePurify:
		p.Spent += seconds
		if drop := p.From - r.home.CleanAir; drop > 0 {
			p.Spent = p.Seconds * (p.From - r.world.Air[p.RoomID].PM25) / drop
		}
	default:
		p.Spent += seconds
	}
}

// ended asks the world, not the plan, whether a phase is over.
func (r *Robot) ended(p *phase) bool {
	switch p.Kind {
	case phaseDrive:
		return r.world.distance(p.X, p.Y) == 0
	case phasePurify:
		return r.world.Air[p.RoomID].PM25 <= r.home.CleanAir && p.Spent >= min(p.Seconds, 3)
	case phaseDwell:
	}
	return p.Spent >= p.Seconds-seconds/2
}

// endPhase goes on to the next phase. The last one brings the effect about, whether or not somebody asked to stop on
// the way: what physically happened is what is reported (law 15, case c06).
func (r *Robot) endPhase(t *Task, p *phase, now int64) {
	if p.Kind == phaseDrive {
		r.reach(t, p, now)
	}
	t.Run.At++
	switch {
	case t.Run.At == len(t.Run.Phases):
		r.complete(t, now)
	case t.Ending != "":
		r.finish(t, t.Ending, nil)
	default:
		r.save(t)
	}
}

// reach closes a motion that got where it was going.
func (r *Robot) reach(t *Task, p *phase, now int64) {
	r.movedNow()
	if p.Total == 0 {
		return
	}
	r.closeMotion(t, now, true)
	room, _ := r.home.Room(p.RoomID)
	r.report("arrives in %s (%s)", room.Name, t.Spec.OperationID)
}

// halt closes a motion that was stopped on the way.
func (r *Robot) halt(t *Task, now int64) {
	if !t.driving() {
		return
	}
	r.movedNow()
	r.closeMotion(t, now, false)
	r.report("stops on the way to %s (%s)", r.nameOf(t.Run.Phases[t.Run.At].RoomID), t.Spec.OperationID)
}

// movedNow notes that the robot is somewhere else than it was.
func (r *Robot) movedNow() {
	at := r.deviceTime()
	r.world.Sources[sourceLocation], r.world.Sources[sourceMovement] = at, at
}

func (r *Robot) closeMotion(t *Task, now int64, completed bool) {
	id := t.Spec.OperationID
	r.note(func(ctx context.Context, tx *sql.Tx) error { return endMotion(ctx, tx, id, now, completed) })
}

// driving reports whether a motion of this task is open.
func (t *Task) driving() bool {
	if t.Run == nil || t.Run.At >= len(t.Run.Phases) {
		return false
	}
	p := t.Run.Phases[t.Run.At]
	return p.Kind == phaseDrive && p.Begun && p.Total > 0
}
