package robot

import (
	"context"
	"database/sql"
	"strings"

	"errand/deviceio/wire"
)

// complete brings the effect about. Ledger, world, the task's end and its event are one transaction: noted here,
// stored by the commit of this tick.
func (r *Robot) complete(t *Task, now int64) {
	m, _ := findMethod(t.Spec.TaskMethod)
	if why := r.stands(m, t); why != nil { // a person was at it since it was admitted
		r.finish(t, Failed, why)
		return
	}
	kind := m.settle(r.home, &r.world, t, r.deviceTime())
	if kind == "purified" && !r.faults.silent(sourceAir) { // it measures what it worked on; a dead sensor does not
		r.world.senseAir(r.deviceTime())
	}
	if kind != "" {
		e := Effect{OperationID: t.Spec.OperationID, TaskMethod: t.Spec.TaskMethod, Kind: kind, TargetID: t.TargetID,
			RoomID: r.home.RoomAt(r.world.X, r.world.Y).ID, At: now, BootID: r.outbox.BootID(), WorldRevision: r.world.Revision + 1}
		r.note(func(ctx context.Context, tx *sql.Tx) error { return addEffect(ctx, tx, e) })
		r.reportEffect(kind, t)
	}
	if kind == "spoken" {
		said, _ := text(t.Spec.Params, "text", "tts_response")
		r.utter(wire.Say{Text: said}, t.Spec.OperationID, now)
	}
	result := m.result(r.home, &r.world, t)
	if r.faults.strikes(now, FaultOmitResult, t.Spec.OperationID, t.Spec.TaskMethod, t.RoomID, nil) != nil {
		result = nil
	}
	r.end(t, Completed, nil, kind, result)
}

// boast tells of a completion that never was: the world stays as it is, and so does the ledger.
func (r *Robot) boast(t *Task) {
	if t.driving() {
		r.halt(t, r.now())
	}
	m, _ := findMethod(t.Spec.TaskMethod)
	r.end(t, Completed, nil, "", m.result(r.home, &r.world, t))
	r.report("claims %s without having done it (%s)", t.Spec.TaskMethod, t.Spec.OperationID)
}

// finish ends a task without its effect.
func (r *Robot) finish(t *Task, as State, why *wire.Reason) {
	if t.driving() {
		r.halt(t, r.now())
	}
	if why == nil {
		why = r.endingReason(t, as)
	}
	r.end(t, as, why, "", nil)
	r.report("ends %s as %s: %s (%s)", t.Spec.TaskMethod, as, why.ReasonCode, t.Spec.OperationID)
}

func (r *Robot) endingReason(t *Task, as State) *wire.Reason {
	if as == TimedOut {
		return because(ReasonTaskTimedOut, map[string]any{"timeoutMs": t.Spec.TimeoutMs})
	}
	if strings.HasPrefix(t.Why, ReasonEmergencyStop) { // the cloud's stop, not a person's change of mind
		return because(ReasonEmergencyStop, map[string]any{"reason": t.Why})
	}
	return because(ReasonCancelRequested, map[string]any{"reason": t.Why})
}

// end writes the terminal state and its event, which are one from here on.
func (r *Robot) end(t *Task, as State, why *wire.Reason, kind string, result map[string]any) {
	now := r.now()
	stage := t.stage()
	t.State, t.Ending, t.EndedAt = as, "", now
	e := r.event(t, string(as))
	e.Stage, e.Result = stage, result
	count := 0
	if kind != "" {
		count = 1
	}
	e.EffectCount = &count
	if why != nil {
		e.Reason = *why
	}
	t.Terminal = &e
	if r.running == t {
		r.running = nil
	}
	r.world.Revision++
	r.save(t)
	r.announce(t, e, "")
	r.faults.letGo(t)
}

// reportEffect says in plain words what came about.
func (r *Robot) reportEffect(kind string, t *Task) {
	room := r.home.RoomAt(r.world.X, r.world.Y)
	if t.TargetID != "" {
		r.report("%s: %s (%s)", strings.ReplaceAll(kind, "_", " "), t.TargetID, t.Spec.OperationID)
		return
	}
	switch kind {
	case "arrived", "came", "followed": // the arrival was reported
	case "purified":
		for _, p := range t.Run.Phases {
			if p.Kind == phasePurify {
				r.report("cleans the air of %s: PM2.5 %.0f → %.0f µg/m³ (%s)", room.Name, p.From, r.world.Air[p.RoomID].PM25, t.Spec.OperationID)
			}
		}
	case "docked":
		r.report("docks at the station in %s and charges (%s)", room.Name, t.Spec.OperationID)
	case "cleaned":
		r.report("has cleaned %s (%s)", room.Name, t.Spec.OperationID)
	case "spoken": // the words are reported
	default:
		r.report("%s in %s (%s)", kind, room.Name, t.Spec.OperationID)
	}
}

// resume goes on with a task that a restart cut short, from where it was last stored.
func (r *Robot) resume(t *Task) {
	if t.driving() {
		id := t.Spec.OperationID
		r.note(func(ctx context.Context, tx *sql.Tx) error { return resumeMotion(ctx, tx, id) })
	}
	// A blocked path has to be found blocked again: the fault that blocked it did not survive.
	t.State, t.Reason = Running, nil
	r.save(t)
	r.announce(t, r.event(t, "RUNNING"), "#"+r.outbox.BootID())
	r.report("goes on with %s after a restart (%s)", t.Spec.TaskMethod, t.Spec.OperationID)
}
