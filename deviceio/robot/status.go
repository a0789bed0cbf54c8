package robot

import (
	"context"

	"errand/deviceio/wire"
)

// Status tells how an operation stands (contract.md §3, getTaskStatus). The answer and the events told so far are of
// one moment, so that as_of_seq ranks it among them. An id that was never admitted is a clear not-found, with the
// name of the memory that does not know it: only in the memory it was sent to does that mean "never ran".
func (r *Robot) Status(ctx context.Context, q wire.StatusQuery) (wire.StatusAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return wire.StatusAnswer{}, r.broken
	}
	if err := r.tell(ctx); err != nil {
		return wire.StatusAnswer{}, err
	}
	answer := wire.StatusAnswer{StoreID: r.store.id, BootID: r.outbox.BootID(), AsOfSeq: r.outbox.LastSeq()}
	t, err := r.find(ctx, q.OperationID, q.TaskID)
	switch {
	case err != nil:
		return wire.StatusAnswer{}, err
	case t == nil:
		return r.notFound(ctx, q, answer)
	}
	answer.Found, answer.TaskID, answer.Status, answer.TaskMethod = true, t.ID, string(t.State), t.Spec.TaskMethod
	answer.Progress, answer.Stage, answer.Trace = t.progress(), t.stage(), t.Spec.Trace
	if t.Reason != nil {
		answer.Reason = *t.Reason
	}
	if answer.TerminalEvent, err = r.terminal(ctx, t); err != nil {
		return wire.StatusAnswer{}, err
	}
	if t.Terminal != nil {
		answer.Reason = t.Terminal.Reason
	}
	return answer, nil
}

func (r *Robot) notFound(ctx context.Context, q wire.StatusQuery, answer wire.StatusAnswer) (wire.StatusAnswer, error) {
	answer.TaskID, answer.OperationID = q.TaskID, q.OperationID
	answer.Reason = *because(ReasonTaskNotFound, map[string]any{"taskId": q.TaskID, "operation_id": q.OperationID})
	if q.OperationID == "" {
		return answer, nil
	}
	dead, err := r.buried(ctx, q.OperationID)
	if dead != nil {
		answer.Reason = *dead // never ran, and never will
	}
	return answer, err
}
