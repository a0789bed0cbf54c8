package shim

import (
	"context"

	"errand/deviceio/wire"
)

// look asks the vendor how an operation stands, and keeps what it says. nil means that what the shim knows now is as much as
// can be known; an error, that it has to be asked again.
func (s *Shim) look(ctx context.Context, operationID string) error {
	s.mu.Lock()
	op := s.memory.operations[operationID]
	if s.broken != nil || op == nil || op.Phase == over {
		defer s.mu.Unlock()
		return s.broken
	}
	if s.calls[operationID] != nil {
		s.mu.Unlock()
		return notNow("its submit is under way")
	}
	vendorID := op.VendorID
	s.mu.Unlock()
	if vendorID == "" {
		return s.reconcile(ctx, operationID)
	}
	calling, cancel := s.vendorContext(ctx)
	answer, err := s.opts.Vendor.GetTaskStatus(calling, vendorID)
	cancel()
	if err != nil {
		return notNow("the TaskManager does not say how it stands: %v", err)
	}
	err = s.seen(operationID, vendorID, answer)
	if tellErr := s.tell(ctx); tellErr != nil {
		return tellErr
	}
	return err
}

// seen takes the vendor's answer about a task. What does not fit what was told has to stay so for a while: the event that tells
// it may be on its way. After that it counts as lost, and the shim tells it in its place.
func (s *Shim) seen(operationID, vendorID string, a VendorStatus) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := s.memory.operations[operationID]
	if s.broken != nil || op == nil || op.Phase == over || op.VendorID != vendorID {
		return s.broken
	}
	what := ""
	switch {
	case !a.Found || a.Status == wire.TaskUnknown || !op.agrees(a.Trace): // an id that was given out again is not this task
		what = "missing"
	case wire.Terminal(a.Status):
		what = a.Status
	case op.Phase == unknown:
		s.take(op, vendorID) // it was not lost after all
		what = a.Status
	case standing(a.Status) != op.toldStanding():
		what = a.Status
	}
	if what == "" {
		delete(s.odd, op.ID)
		return s.commit()
	}
	now := s.now()
	if s.odd[op.ID].what != what {
		s.odd[op.ID] = oddity{what, now}
	}
	settled := now-s.odd[op.ID].since >= s.opts.Settle.Milliseconds()
	switch {
	case op.Phase == unknown && what == "missing":
		return s.commit()
	case what == "missing" && !settled:
		return notNow("the TaskManager does not know it any more; its last event may be on its way")
	case what == "missing":
		s.lose(op, because(ReasonTaskLost, map[string]any{"vendor_task_id": vendorID, "last_told": op.state(),
			"why": "the TaskManager does not know the task any more, and told no end of it"}))
	case settled:
		e := wire.TaskEvent{EventName: what, TaskID: vendorID, Progress: a.Progress, Stage: a.Stage, Result: a.Result, Reason: a.Reason}
		s.log.Warn("shim: what the TaskManager says was never told by it: told now", "operation", op.ID, "status", what)
		s.apply(op, e)
	}
	return s.commit()
}

// oddStatus is the vendor's word on a task that differs from what was told, "" if there is none. Called with the lock.
func (s *Shim) oddStatus(operationID string) string {
	if what := s.odd[operationID].what; what != "missing" {
		return what
	}
	return ""
}
