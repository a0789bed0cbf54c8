package shim

import (
	"context"

	"errand/deviceio/wire"
)

// Status tells how an operation stands (contract.md §3, getTaskStatus), after asking the vendor about one that is not over. UNKNOWN
// means that it was sent and that nobody can tell: it is not known to run, to be over, or never to have begun. "Not found" is
// said only of what the vendor surely never got. An error means that it cannot be told now, such as while the vendor is silent.
func (s *Shim) Status(ctx context.Context, q wire.StatusQuery) (wire.StatusAnswer, error) {
	s.mu.Lock()
	op, err := s.find(q.OperationID, q.TaskID), s.broken
	if err == nil && op == nil {
		defer s.mu.Unlock()
		return s.notFound(q), nil
	}
	s.mu.Unlock()
	if err != nil {
		return wire.StatusAnswer{}, err
	}
	if err := s.look(ctx, op.ID); err != nil {
		return wire.StatusAnswer{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.Phase == sending {
		return wire.StatusAnswer{}, notNow("its submit may still be under way to the TaskManager")
	}
	answer := s.blank()
	answer.Found, answer.TaskID, answer.Status, answer.TaskMethod, answer.Trace = true, op.TaskID, op.state(), op.Method, op.Trace
	answer.TerminalEvent = s.stored(op)
	switch op.Phase {
	case over:
		answer.Reason, answer.Progress, answer.Stage = op.Terminal.Reason, op.Terminal.Progress, op.Terminal.Stage
	case unknown:
		answer.Reason = *op.Reason
	default:
		if what := s.oddStatus(op.ID); what != "" {
			answer.Status = what // the vendor is ahead of what it told
		}
		if op.Told != nil {
			answer.Progress, answer.Stage, answer.Reason = op.Told.Progress, op.Told.Stage, op.Told.Reason
		}
	}
	return answer, nil
}

// blank is an answer with the name of the memory and its place among the events. Called with the lock.
func (s *Shim) blank() wire.StatusAnswer {
	return wire.StatusAnswer{StoreID: s.memory.storeID, BootID: s.outbox.BootID(), AsOfSeq: s.outbox.LastSeq()}
}

func (s *Shim) notFound(q wire.StatusQuery) wire.StatusAnswer {
	answer := s.blank()
	answer.TaskID, answer.OperationID = q.TaskID, q.OperationID
	answer.Reason = *because(ReasonTaskNotFound, map[string]any{"taskId": q.TaskID, "operation_id": q.OperationID})
	if dead := s.memory.tombstones[q.OperationID]; dead != nil {
		answer.Reason = dead.Reason // never ran, and never will
	}
	return answer
}
