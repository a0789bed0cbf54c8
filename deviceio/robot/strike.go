package robot

import (
	"slices"

	"errand/deviceio/wire"
)

// faults is what is scripted now. The robot's lock guards it. Faults live in memory only: a restart is without them.
type faults struct {
	list  []*Fault
	added int
	crash func()
	// forget prepares a crash after which something is forgotten; operation is the task at hand.
	forget func(kind FaultKind, operation string)
	// late counts the answers that wait for their time.
	late int
	// echo sends an answer's frame twice.
	echo *echo
	// cut closes the connection; nil while there is none.
	cut func()
}

// strikes finds the first armed fault of a kind that matches, and counts it.
func (fs *faults) strikes(now int64, kind FaultKind, operation, method, room string, also func(*Fault) bool) *Fault {
	for _, f := range fs.list {
		if f.Kind == kind && f.armed() && f.matches(operation, method, room) && (also == nil || also(f)) {
			f.strike(now)
			return f
		}
	}
	return nil
}

// onSubmit answers with a reason where a fault refuses the task.
func (fs *faults) onSubmit(t *Task, now int64) *wire.Reason {
	f := fs.strikes(now, FaultRefuse, t.Spec.OperationID, t.Spec.TaskMethod, t.RoomID, nil)
	if f == nil {
		return nil
	}
	return because(f.ReasonCode, map[string]any{"room_id": t.RoomID})
}

type progressVerdict int

const (
	progressFree progressVerdict = iota
	progressHeld
	progressBlocked
	progressFailed
	progressBoasted
)

// onProgress asks what stands in a running task's way. A fault grips a task once and keeps it until it is released.
func (fs *faults) onProgress(t *Task, progress float64, now int64) (progressVerdict, *Fault) {
	id := t.Spec.OperationID
	verdicts := map[FaultKind]progressVerdict{FaultHold: progressHeld, FaultHang: progressHeld, FaultBlock: progressBlocked, FaultFail: progressFailed,
		FaultBoast: progressBoasted}
	for _, f := range fs.list {
		moment := f.wholeRobot() && f.At != nil
		verdict, stops := verdicts[f.Kind]
		if !stops && !moment {
			continue
		}
		if f.holds(id) && stops {
			return verdict, f
		}
		reached := f.At == nil || progress >= *f.At-1e-9
		if !reached || !f.armed() || slices.Contains(f.grip, id) || !f.matches(id, t.Spec.TaskMethod, t.RoomID) {
			continue
		}
		f.grip = append(f.grip, id)
		f.strike(now)
		if stops {
			return verdict, f
		}
		fs.happen(f, id)
	}
	return progressFree, nil
}

// happen carries out a fault of the whole robot, set off by an operation.
func (fs *faults) happen(f *Fault, operation string) {
	switch f.Kind {
	case FaultDropTask, FaultLoseStore:
		fs.forget(f.Kind, operation)
		fs.crash()
	case FaultCrash:
		fs.crash()
	default: // what it does it does by having struck
	}
	fs.cutIfOffline()
}

// offset is how far the clock is off, in milliseconds.
func (fs *faults) offset() int64 {
	var off int64
	for _, f := range fs.list {
		if f.Kind == FaultClock && f.Hits > 0 && !f.Released {
			off += f.OffsetMs
		}
	}
	return off
}

// offline reports whether a fault keeps the socket closed now.
func (fs *faults) offline() bool {
	return slices.ContainsFunc(fs.list, func(f *Fault) bool { return f.Kind == FaultOffline && f.Hits > 0 && !f.Released })
}

func (fs *faults) cutIfOffline() {
	if fs.cut != nil && fs.offline() {
		fs.cut()
	}
}

// deafTo reports whether the task does not listen to a cancel.
func (fs *faults) deafTo(t *Task, now int64) bool {
	id := t.Spec.OperationID
	for _, f := range fs.list {
		if (f.Kind == FaultHang || f.Kind == FaultDeaf) && f.holds(id) {
			return true
		}
	}
	f := fs.strikes(now, FaultDeaf, id, t.Spec.TaskMethod, t.RoomID, nil)
	if f != nil {
		f.grip = append(f.grip, id) // asking louder does not help
	}
	return f != nil
}

// holding reports whether a fault keeps the task standing still.
func (fs *faults) holding(t *Task) bool {
	return slices.ContainsFunc(fs.list, func(f *Fault) bool {
		return f.holds(t.Spec.OperationID) && (f.Kind == FaultHold || f.Kind == FaultHang || f.Kind == FaultBlock)
	})
}

func (fs *faults) silent(source string) bool {
	return slices.ContainsFunc(fs.list, func(f *Fault) bool { return f.Kind == FaultSilence && f.Source == source && !f.Released })
}

// release ends the faults whose time is up.
func (fs *faults) release(now int64) {
	for _, f := range fs.list {
		if f.DurationMs > 0 && f.StruckAt > 0 && now-f.StruckAt >= f.DurationMs {
			f.Released = true
		}
	}
}

type eventVerdict int

const (
	eventPlain eventVerdict = iota
	eventHeld
	eventDropped
	eventTwice
)

// onEvent asks what becomes of an event that is about to go to the outbox.
func (fs *faults) onEvent(a *announcement, now int64) eventVerdict {
	if a.heldBy != nil {
		if !a.heldBy.Released && (a.due == 0 || now < a.due) {
			return eventHeld
		}
		a.heldBy = nil
		return eventPlain
	}
	for _, f := range fs.list {
		if f.Event != "" && f.Event != a.Event.EventName || !f.armed() || !f.matches(a.Operation, a.Method, a.RoomID) {
			continue
		}
		switch f.Kind {
		case FaultDropEvent:
			f.strike(now)
			return eventDropped
		case FaultDuplicateEvent:
			f.strike(now)
			return eventTwice
		case FaultHoldEvent, FaultReorderEvent:
			f.strike(now)
			a.heldBy = f
			return eventHeld
		case FaultSlow:
			f.strike(now)
			a.heldBy, a.due = f, now+f.DelayMs
			return eventHeld
		default:
			if f.wholeRobot() && f.Event != "" {
				f.strike(now)
				fs.happen(f, a.Operation)
			}
		}
	}
	return eventPlain
}

// overtaken lets go what waits to be overtaken, now that an event went out; it reports whether there was anything.
func (fs *faults) overtaken(pending []announcement) bool {
	found := false
	for _, a := range pending {
		if a.heldBy != nil && a.heldBy.Kind == FaultReorderEvent && !a.heldBy.Released {
			a.heldBy.Released = true
			found = true
		}
	}
	return found
}

// letGo lets go of a task that is over.
func (fs *faults) letGo(t *Task) {
	for _, f := range fs.list {
		f.grip = slices.DeleteFunc(f.grip, func(id string) bool { return id == t.Spec.OperationID })
	}
}

// obstructed asks the faults what stands in the running task's way, and carries out their word.
func (r *Robot) obstructed(t *Task, now int64) bool {
	verdict, f := r.faults.onProgress(t, t.progress(), now)
	if verdict == progressFree {
		if t.State == Blocked {
			r.unblock(t)
		}
		return false
	}
	r.wake()
	switch {
	case verdict == progressBoasted:
		r.boast(t)
	case verdict == progressFailed:
		r.finish(t, Failed, because(f.ReasonCode, map[string]any{"room_id": t.RoomID}))
	case verdict == progressBlocked && t.State == Running:
		r.block(t, because(f.ReasonCode, map[string]any{"room_id": t.RoomID}))
	}
	return true
}

// block tells that a task is alive but cannot go on.
func (r *Robot) block(t *Task, why *wire.Reason) {
	t.State, t.Reason = Blocked, why
	r.world.Revision++
	e := r.event(t, string(Blocked))
	e.Reason = *why
	r.save(t)
	r.announce(t, e, "#"+r.revision())
	r.report("is blocked on the way: %s (%s)", why.ReasonCode, t.Spec.OperationID)
}

func (r *Robot) unblock(t *Task) {
	t.State, t.Reason = Running, nil
	r.world.Revision++
	r.save(t)
	r.announce(t, r.event(t, string(Running)), "#"+r.revision())
	r.report("goes on (%s)", t.Spec.OperationID)
}
