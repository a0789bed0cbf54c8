package shim

import (
	"context"

	"errand/deviceio/wire"
)

// Cancel asks a task to stop (contract.md §3, cancelTask). It is a request: only a terminal event closes the operation.
//
//	never seen             tombstone: a submit that comes later is refused               unknown_tombstoned
//	over                   nothing changes; the stored terminal event                    already_…
//	the vendor has it      the vendor is told, until it says yes or no                     cancelling, or refused by it
//	the vendor may have it kept, and told to the vendor as soon as the task is found     cancelling, its state UNKNOWN
//
// An error means that the vendor could not be told; the wish is kept, and told to it later.
func (s *Shim) Cancel(ctx context.Context, q wire.CancelQuery) (wire.CancelAnswer, error) {
	s.mu.Lock()
	if s.broken != nil {
		defer s.mu.Unlock()
		return wire.CancelAnswer{}, s.broken
	}
	op := s.find(q.OperationID, q.TaskID)
	if op == nil {
		defer s.mu.Unlock()
		return s.cancelUnknown(q)
	}
	if op.Phase != over && op.StopFor == "" {
		op.StopFor, op.StopWhy = ReasonCancelRequested, q.Reason
		s.save(op)
	}
	err := s.commit()
	id, live := op.ID, op.Phase != over
	s.mu.Unlock()
	if err != nil {
		return wire.CancelAnswer{}, err
	}
	var said VendorCancel
	if live {
		if said, err = s.stop(ctx, id); err != nil {
			return wire.CancelAnswer{}, notNow("the TaskManager could not be told to stop it, and will be: %v", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancelAnswer(op, said), nil
}

// cancelUnknown keeps a tombstone. A task id that was never given out names nothing that could come later.
func (s *Shim) cancelUnknown(q wire.CancelQuery) (wire.CancelAnswer, error) {
	answer := wire.CancelAnswer{TaskID: q.TaskID, OperationID: q.OperationID, StoreID: s.memory.storeID, State: "NOT_FOUND", Case: wire.CaseRefused}
	step, generation, err := splitOperation(q.OperationID)
	if err != nil {
		answer.Reason = *because(ReasonTaskNotFound, map[string]any{"taskId": q.TaskID, "operation_id": q.OperationID})
		return answer, nil //nolint:nilerr // the fault is the answer
	}
	s.raiseFence(step, generation)
	s.bury(q.OperationID, because(ReasonTombstoned, map[string]any{"reason": q.Reason}))
	answer.Accepted, answer.Case, answer.State = true, wire.CaseUnknownTombstoned, "TOMBSTONED"
	return answer, s.commit()
}

// cancelAnswer says how an operation stands after the vendor was told. Called with the lock.
func (s *Shim) cancelAnswer(op *operation, said VendorCancel) wire.CancelAnswer {
	answer := wire.CancelAnswer{TaskID: op.TaskID, OperationID: op.ID, StoreID: s.memory.storeID, State: op.state(), TerminalEvent: s.stored(op)}
	switch {
	case op.Phase == over && sameEnd(op.Terminal.EventName, wire.TaskCompleted):
		answer.Case = wire.CaseAlreadyCompleted
	case op.Phase == over && op.Terminal.EventName == wire.TaskCancelled && op.StopSent:
		answer.Accepted, answer.Case = true, wire.CaseCancelled
	case op.Phase == over && op.Terminal.EventName == wire.TaskCancelled:
		answer.Accepted, answer.Case = true, wire.CaseAlreadyCancelled
	case op.Phase == over:
		answer.Case = wire.CaseAlreadyFailed
	case op.StopSent:
		answer.Accepted, answer.Case, answer.State = true, wire.CaseCancelling, "CANCELLING"
	case op.Phase != taken:
		answer.Accepted, answer.Case, answer.State = true, wire.CaseCancelling, wire.TaskUnknown
		answer.Reason = *because(ReasonOutcomeUnknown, nil)
	default: // the vendor said no
		answer.Case, answer.Reason = wire.CaseRefused, said.Reason
		if said.NotFound {
			answer.Reason = *because(ReasonTaskNotFound, map[string]any{"vendor_task_id": op.VendorID})
		}
	}
	return answer
}

// stop tells the vendor that a task is to end, once: a vendor that said yes is not told again.
func (s *Shim) stop(ctx context.Context, operationID string) (VendorCancel, error) {
	s.mu.Lock()
	op := s.memory.operations[operationID]
	if s.broken != nil || op == nil || op.Phase == over || op.StopSent || op.StopFor == "" {
		defer s.mu.Unlock()
		return VendorCancel{}, s.broken
	}
	vendorID, why := op.VendorID, orString(op.StopWhy, op.StopFor)
	s.mu.Unlock()
	if vendorID == "" {
		return VendorCancel{}, nil // stopped as soon as it is found
	}
	calling, cancel := s.vendorContext(ctx)
	said, err := s.opts.Vendor.CancelTask(calling, vendorID, why)
	cancel()
	if err != nil {
		return said, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case said.Accepted:
		op.StopSent = true
	case said.NotFound: // lost, or over with its event under way: the next look tells
	default:
		op.StopFor, op.StopWhy = "", "" // the vendor's own no: asked again if somebody wishes it again
	}
	s.save(op)
	return said, s.commit()
}
