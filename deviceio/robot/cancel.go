package robot

import (
	"context"

	"errand/deviceio/wire"
)

// Cancel asks a task to stop (contract.md §3, cancelTask). It is a request: the answer says what it came to, and only
// a terminal event closes the operation. Each case:
//
//	never seen            tombstone: a submit that comes later is refused          unknown_tombstoned
//	waiting               taken out of the queue, CANCELLED                        cancelled
//	running, standing     ends now, CANCELLED                                      cancelled
//	running, rolling      brakes; CANCELLED once it stands, or COMPLETED if it     cancelling
//	                      got there first (case c06)
//	running, unstoppable  goes on to its end                                       refused
//	over                  nothing changes; the stored terminal event               already_…
//
// Asking again changes nothing more (case c05).
func (r *Robot) Cancel(ctx context.Context, q wire.CancelQuery) (wire.CancelAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return wire.CancelAnswer{}, r.broken
	}
	t, err := r.find(ctx, q.OperationID, q.TaskID)
	if err != nil {
		return wire.CancelAnswer{}, err
	}
	if t == nil {
		return r.cancelUnknown(ctx, q)
	}
	answer := wire.CancelAnswer{TaskID: t.ID, OperationID: t.Spec.OperationID, StoreID: r.store.id}
	r.cancelKnown(t, q.Reason, &answer)
	answer.State = string(t.State)
	if answer.Case == wire.CaseCancelling {
		answer.State = "CANCELLING"
	}
	if err := r.commit(ctx); err != nil {
		return wire.CancelAnswer{}, err
	}
	answer.TerminalEvent, err = r.terminal(ctx, t)
	return answer, err
}

// cancelUnknown keeps a tombstone, so that a delayed submit is refused. A task id that was never given out names
// nothing that could come later.
func (r *Robot) cancelUnknown(ctx context.Context, q wire.CancelQuery) (wire.CancelAnswer, error) {
	answer := wire.CancelAnswer{TaskID: q.TaskID, OperationID: q.OperationID, StoreID: r.store.id, State: "NOT_FOUND"}
	if step, generation, err := splitOperation(q.OperationID); err == nil {
		r.raiseFence(step, generation)
		r.bury(q.OperationID, because(ReasonTombstoned, map[string]any{"reason": q.Reason}))
		answer.Accepted, answer.Case, answer.State = true, wire.CaseUnknownTombstoned, "TOMBSTONED"
		return answer, r.commit(ctx)
	}
	answer.Case = wire.CaseRefused
	answer.Reason = *because(ReasonTaskNotFound, map[string]any{"taskId": q.TaskID, "operation_id": q.OperationID})
	return answer, nil
}

func (r *Robot) cancelKnown(t *Task, why string, answer *wire.CancelAnswer) {
	m, _ := findMethod(t.Spec.TaskMethod)
	switch {
	case t.State == Completed:
		answer.Case = wire.CaseAlreadyCompleted
	case t.State == Cancelled:
		answer.Accepted, answer.Case = true, wire.CaseAlreadyCancelled
	case t.State.Terminal():
		answer.Case = wire.CaseAlreadyFailed
	case t.Ending != "":
		answer.Accepted, answer.Case = true, wire.CaseCancelling
	case t.State == Queued:
		r.unqueue(t)
		t.Why = why
		r.finish(t, Cancelled, nil)
		answer.Accepted, answer.Case = true, wire.CaseCancelled
	case m.cancel == cancelQueuedOnly:
		answer.Case, answer.Reason = wire.CaseRefused, *because(ReasonCancelNotPossible, map[string]any{"taskMethod": m.name})
	case r.faults.deafTo(t, r.now()):
		answer.Accepted, answer.Case = true, wire.CaseCancelling
	default:
		r.stop(t, Cancelled, why)
		answer.Accepted, answer.Case = true, wire.CaseCancelled
		if !t.State.Terminal() {
			answer.Case = wire.CaseCancelling
		}
	}
}

// stop brings a running task to its end: at once if the robot stands, after braking if it rolls.
func (r *Robot) stop(t *Task, as State, why string) {
	t.Why = why
	if t.driving() && t.State == Running && !r.faults.holding(t) && r.home.BrakeSeconds > 0 {
		t.Ending, t.Run.Braking = as, r.home.BrakeSeconds
		r.save(t)
		r.report("brakes (%s)", t.Spec.OperationID)
		return
	}
	r.finish(t, as, nil)
}
