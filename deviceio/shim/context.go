package shim

import (
	"context"
	"maps"
	"slices"

	"errand/deviceio/wire"
)

// Context is the vendor's planning context, checked, with our operations in task_manager.tasks: by them the cloud finds what
// still runs of a plan that is over. Tasks that it did not submit keep the vendor's ids.
func (s *Shim) Context(ctx context.Context) (map[string]any, error) {
	calling, cancel := s.vendorContext(ctx)
	defer cancel()
	raw, err := s.opts.Vendor.GetDevicePlanningContext(calling)
	if err != nil {
		return nil, notNow("the TaskManager gives no planning context: %v", err)
	}
	seen, err := wire.ParseDeviceContext(raw)
	if err != nil {
		return nil, &wire.InvokeError{Code: wire.InvokeFailed, Message: "the TaskManager's planning context cannot be read: " + err.Error()}
	}
	area, ok := seen["task_manager"].(map[string]any)
	if !ok {
		return seen, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tasks, ours := []any{}, map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(s.memory.operations)) {
		if op := s.memory.operations[id]; op.Phase != over {
			tasks = append(tasks, map[string]any{"task_id": op.TaskID, "operation_id": op.ID, "status": op.state()})
			ours[op.VendorID] = op.TaskID
		}
	}
	listed, _ := listedTasks(raw)
	for _, id := range listed {
		if ours[id] == "" {
			tasks = append(tasks, map[string]any{"task_id": id})
		}
	}
	area["tasks"] = tasks
	if running, ok := area["running_task_id"].(string); ok && ours[running] != "" {
		area["running_task_id"] = ours[running]
	}
	return seen, nil
}
