package shim

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// Submit hands a task to the vendor, at most once for its operation id (contract.md §3, submitTask).
//
// First, is this operation known? Then it gets its first answer again and nothing moves (law 11). Then, may it run at all: it
// was cancelled before it came, a later try was seen, an earlier one is not over, it is too old. Then the intention goes to
// disk, and only then the task to the vendor: whatever dies now, the operation is never sent again. A refusal is remembered,
// so that a copy of the same submit that comes later moves nothing behind the plan's back.
func (s *Shim) Submit(ctx context.Context, t wire.Task) (wire.SubmitAnswer, error) {
	held, err := device.Held(ctx) // its ttl counts from when it was sent (design §6, old intentions)
	if err != nil {
		return wire.SubmitAnswer{}, err
	}
	step, generation, err := splitOperation(t.OperationID)
	if err != nil {
		return s.refusal(t, operationFault(t)), nil //nolint:nilerr // the fault is the answer
	}
	s.lookForOlder(ctx, step, t.OperationID)
	for {
		op, answer, call, err := s.admit(t, step, generation, held)
		switch {
		case err != nil:
			return wire.SubmitAnswer{}, err
		case op != nil:
			return s.send(ctx, op, t)
		case call == nil:
			return answer, nil
		}
		select { // a copy of this submit is under way
		case <-call:
		case <-ctx.Done():
			return wire.SubmitAnswer{}, ctx.Err()
		}
	}
}

// operationFault tells a missing operation id from an ill-formed one. Without one nothing is admitted: a copy of the submit
// could not be told from a second wish.
func operationFault(t wire.Task) *wire.Reason {
	if t.OperationID == "" {
		return because(ReasonMissingParameter, map[string]any{"parameter": "operation_id"})
	}
	return because(ReasonInvalidParameter, map[string]any{"parameter": "operation_id", "why": errOperationID.Error()})
}

// admit decides about a submit. op is what is to be sent, its intention on disk; else answer is the answer, or call is what
// has to be waited for.
func (s *Shim) admit(t wire.Task, step string, generation int, held time.Duration) (op *operation, answer wire.SubmitAnswer, call chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, answer, nil, s.broken
	}
	if known := s.memory.operations[t.OperationID]; known != nil {
		if call := s.calls[known.ID]; call != nil {
			return nil, answer, call, nil
		}
		return nil, s.again(known), nil, nil
	}
	if dead := s.memory.tombstones[t.OperationID]; dead != nil {
		return nil, s.refusal(t, &dead.Reason), nil, nil
	}
	if f := s.memory.fences[step]; f != nil && generation < f.Generation {
		return nil, s.refusal(t, because(ReasonStaleGeneration, map[string]any{"generation": generation, "highest_seen": f.Generation})), nil, nil
	}
	s.raiseFence(step, generation)
	if why := s.objection(t, step, held); why != nil {
		s.bury(t.OperationID, why)
		return nil, s.refusal(t, why), nil, s.commit()
	}
	now := s.now()
	op = &operation{ID: t.OperationID, TaskID: "task-" + rand.Text()[:16], Method: t.TaskMethod, Trace: t.Trace, TimeoutMs: t.TimeoutMs,
		Phase: sending, SentAt: now}
	if t.TTLMs > 0 {
		op.ExpiresAt = now + t.TTLMs - held.Milliseconds()
	}
	s.save(op)
	s.calls[op.ID] = make(chan struct{})
	return op, answer, nil, s.commit()
}

// objection says why a task that was never seen is not sent to the vendor.
func (s *Shim) objection(t wire.Task, step string, held time.Duration) *wire.Reason {
	switch {
	case t.TaskMethod == "":
		return because(ReasonMissingParameter, map[string]any{"parameter": "taskMethod"})
	case t.TTLMs < 0 || t.TimeoutMs < 0:
		return because(ReasonInvalidParameter, map[string]any{"parameter": "ttlMs", "why": "ttlMs and timeoutMs are milliseconds, 0 or more"})
	case t.TTLMs > 0 && held.Milliseconds() >= t.TTLMs:
		return because(ReasonTaskExpired, map[string]any{"ttlMs": t.TTLMs, "waitedMs": held.Milliseconds()})
	case t.ExpectedRevision != "":
		return because(ReasonInvalidParameter, map[string]any{"parameter": "expected_revision", "why": "this device cannot hold a task to a revision: what was confirmed might have changed"})
	}
	for _, op := range s.memory.operations {
		if of, _, _ := splitOperation(op.ID); of == step && (op.Phase == sending || op.Phase == taken) {
			return because(ReasonGenerationAlive, map[string]any{"alive": op.ID}) // two performers (case c04)
		}
	}
	return nil
}

// send makes the one call that hands the task over, and keeps what came of it.
func (s *Shim) send(ctx context.Context, op *operation, t wire.Task) (wire.SubmitAnswer, error) {
	if op.ExpiresAt > 0 {
		t.TTLMs = max(1, op.ExpiresAt-s.now())
	}
	calling, cancel := s.vendorContext(ctx)
	got, err := s.opts.Vendor.SubmitTask(calling, t)
	cancel()
	answer, err := s.answered(op, t, got, err)
	return answer, errors.Join(err, s.tell(ctx))
}

func (s *Shim) answered(op *operation, t wire.Task, got wire.SubmitAnswer, err error) (wire.SubmitAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := s.calls[op.ID]
	delete(s.calls, op.ID)
	defer close(call)
	if s.broken != nil {
		return wire.SubmitAnswer{}, s.broken
	}
	switch {
	case op.Phase != sending:
		// An event was faster than the answer, and knows better than it.
		s.log.Info("shim: an event came before the answer to its submit", "operation", op.ID, "accepted", got.Accepted, "err", err)
		if op.Phase == taken && got.TaskID != "" && got.TaskID != op.VendorID {
			s.log.Error("shim: the event and the answer name different tasks", "operation", op.ID, "event", op.VendorID, "answer", got.TaskID)
			s.take(op, got.TaskID)
		}
	case errors.Is(err, ErrNotDelivered):
		s.note(record{Drop: op.ID})
		s.log.Warn("shim: the TaskManager cannot be reached: nothing was sent", "operation", op.ID, "err", err)
		return wire.SubmitAnswer{}, errors.Join(notNow("the TaskManager cannot be reached, and has nothing of it: %v", err), s.commit())
	case err != nil:
		op.DoubtAt = s.now()
		s.save(op)
		s.log.Error("shim: a submit has no answer: the TaskManager may have it, and it is never sent again", "operation", op.ID, "err", err)
		return wire.SubmitAnswer{}, errors.Join(&wire.InvokeError{Code: wire.InvokeFailed, Message: "no answer of the TaskManager, which may have it: " + err.Error()}, s.commit())
	case !got.Accepted:
		why := got.Reason
		if why.ReasonCode == "" {
			why = *because(ReasonRefused, nil)
		}
		s.note(record{Drop: op.ID})
		s.bury(op.ID, &why)
		return s.refusal(t, &why), s.commit()
	case got.TaskID == "":
		op.DoubtAt = s.now()
		s.save(op)
		s.log.Error("shim: the TaskManager accepted a task and named it not", "operation", op.ID)
	default:
		s.take(op, got.TaskID)
	}
	s.matchEarly()
	return s.again(op), s.commit()
}

// take notes the vendor's task id. An older operation that went by the same one is the vendor's no more: it began counting anew.
func (s *Shim) take(op *operation, vendorID string) {
	for _, other := range s.memory.operations {
		if other != op && other.VendorID == vendorID && other.Phase == taken {
			s.lose(other, because(ReasonTaskLost, map[string]any{"vendor_task_id": vendorID, "why": "its task id was given to " + op.ID}))
		}
	}
	op.Phase, op.VendorID, op.Reason, op.DoubtAt = taken, vendorID, nil, 0
	delete(s.odd, op.ID)
	s.save(op)
}

// lose notes that nobody can tell how an operation stands, and tells the cloud so. A word of the vendor still ends that.
func (s *Shim) lose(op *operation, why *wire.Reason) {
	if op.Phase == over || op.Phase == unknown {
		return
	}
	op.Phase, op.Reason = unknown, why
	op.Tells++
	delete(s.odd, op.ID)
	s.save(op)
	s.announce(op, wire.TaskEvent{EventName: wire.TaskUnknown, Reason: *why}, mark(op.Tells))
	s.log.Error("shim: nobody can tell how an operation stands", "operation", op.ID, "vendor_task_id", op.VendorID, "reason", why.ReasonCode)
}

// again answers a submit that is known: the same task id, the stored terminal event, no movement.
func (s *Shim) again(op *operation) wire.SubmitAnswer {
	return wire.SubmitAnswer{Accepted: true, TaskID: op.TaskID, TaskState: op.state(), TaskMethod: op.Method, StoreID: s.memory.storeID,
		TerminalEvent: s.stored(op)}
}

func (s *Shim) refusal(t wire.Task, why *wire.Reason) wire.SubmitAnswer {
	return wire.SubmitAnswer{TaskMethod: t.TaskMethod, StoreID: s.memory.storeID, Reason: *why}
}

// bury makes sure that an operation that was not admitted never will be.
func (s *Shim) bury(operationID string, why *wire.Reason) {
	if s.memory.tombstones[operationID] == nil {
		s.note(record{Dead: &tombstone{OperationID: operationID, At: s.now(), Reason: *why}})
	}
}

func (s *Shim) raiseFence(step string, generation int) {
	if f := s.memory.fences[step]; f != nil {
		generation = max(generation, f.Generation)
	}
	s.note(record{Fence: &fence{Step: step, Generation: generation, At: s.now()}})
}

// lookForOlder asks the vendor once more for earlier tries of a step of which nobody knew anything: the cloud gave them up, and
// one that turns out to be alive keeps the new one from moving beside it.
func (s *Shim) lookForOlder(ctx context.Context, step, except string) {
	s.mu.Lock()
	var older []string
	for id, op := range s.memory.operations {
		if of, _, _ := splitOperation(id); of == step && id != except && op.Phase == unknown && s.memory.operations[except] == nil {
			older = append(older, id)
		}
	}
	s.mu.Unlock()
	slices.Sort(older)
	for _, id := range older {
		if err := s.look(ctx, id); err != nil {
			s.log.Info("shim: an earlier try stays unknown", "operation", id, "err", err)
		}
	}
}
