package shim

import (
	"context"
	"encoding/json"
	"slices"

	"errand/deviceio/wire"
)

// reconcile looks for an operation whose answer was lost among the tasks that the vendor lists in its planning context, by
// asking for the trace of each. Found, it is taken. Not found, it may have ended already, or have never arrived: after as
// long as a call may take, that is unknown, and stays so until an event of it comes. While the vendor has tasks that it does not
// name, or that could be it and carry no trace, nothing is said: unknown also means that it is not seen at work.
func (s *Shim) reconcile(ctx context.Context, operationID string) error {
	calling, cancel := s.vendorContext(ctx)
	defer cancel()
	raw, err := s.opts.Vendor.GetDevicePlanningContext(calling)
	if err != nil {
		return notNow("the TaskManager does not say which tasks it has: %v", err)
	}
	listed, complete := listedTasks(raw)
	if !complete {
		return notNow("the TaskManager has tasks that it does not list")
	}
	for _, id := range listed {
		if s.isKnown(id) {
			continue
		}
		a, err := s.opts.Vendor.GetTaskStatus(calling, id)
		if err != nil {
			return notNow("the TaskManager does not say what task %s is: %v", id, err)
		}
		found, err := s.adopt(operationID, id, a)
		if err != nil {
			return err
		}
		if !found && a.Found && !named(a.Trace) && !wire.Terminal(a.Status) {
			return notNow("the TaskManager runs task %s, and does not say whose it is", id)
		}
		if found {
			return s.tell(ctx)
		}
	}
	if err := s.giveUp(operationID); err != nil {
		return err
	}
	return s.tell(ctx)
}

// isKnown reports whether a vendor's task is that of an operation already.
func (s *Shim) isKnown(vendorID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, op := range s.memory.operations {
		if op.VendorID == vendorID && op.Phase == taken {
			return true
		}
	}
	return false
}

// adopt takes a vendor's task for the operation, if its trace says so and could mean no other.
func (s *Shim) adopt(operationID, vendorID string, a VendorStatus) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := s.memory.operations[operationID]
	if s.broken != nil || op == nil || op.Phase == over || op.VendorID != "" {
		return true, s.broken
	}
	matched, _ := s.match(wire.TaskEvent{TaskID: vendorID, TaskMethod: a.TaskMethod, Trace: a.Trace})
	if !a.Found || matched != op {
		return false, nil
	}
	s.take(op, vendorID)
	s.log.Info("shim: found what was sent without an answer", "operation", op.ID, "vendor_task_id", vendorID)
	return true, s.commit()
}

// giveUp says that an operation is unknown, once nothing of its submit can be under way any more.
func (s *Shim) giveUp(operationID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := s.memory.operations[operationID]
	if s.broken != nil || op == nil || op.Phase != sending || op.VendorID != "" || s.calls[operationID] != nil {
		return s.broken
	}
	if s.now()-max(op.SentAt, op.DoubtAt) < (s.opts.VendorTimeout + s.opts.Settle).Milliseconds() {
		return notNow("its submit may still be under way to the TaskManager")
	}
	s.lose(op, because(ReasonOutcomeUnknown, map[string]any{
		"why": "the answer to its submit was lost, and the TaskManager has no task that would be it: it may have run, and may not"}))
	return s.commit()
}

// listedTasks reads the vendor's task ids out of a planning context: running_task_id, and what tasks and queue list. complete is
// false where the context does not tell, or says that more wait than it lists.
func listedTasks(raw json.RawMessage) (ids []string, complete bool) {
	var seen struct {
		TaskManager map[string]json.RawMessage `json:"task_manager"`
	}
	if json.Unmarshal(raw, &seen) != nil || seen.TaskManager == nil || string(seen.TaskManager["available"]) == "false" {
		return nil, false
	}
	add := func(id string) bool {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return id != ""
	}
	running := 0
	for _, name := range []string{"running_task_id", "runningTaskId"} {
		if add(textOf(seen.TaskManager[name])) {
			running = 1
		}
	}
	for _, name := range []string{"tasks", "queue"} {
		var list []json.RawMessage
		if json.Unmarshal(seen.TaskManager[name], &list) != nil {
			continue // not given, or of another form
		}
		for _, item := range list {
			var task struct {
				Snake string `json:"task_id"`
				Camel string `json:"taskId"`
			}
			if json.Unmarshal(item, &task) == nil {
				add(task.Snake)
				add(task.Camel)
			}
			add(textOf(item))
		}
	}
	waiting := 0
	for _, name := range []string{"queue_length", "queueLength"} {
		if n := 0; json.Unmarshal(seen.TaskManager[name], &n) == nil {
			waiting = max(waiting, n)
		}
	}
	return ids, len(ids)-running >= waiting
}

func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
