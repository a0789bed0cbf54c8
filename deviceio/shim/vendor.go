package shim

import (
	"context"
	"encoding/json"
	"errors"

	"errand/deviceio/wire"
)

// ErrNotDelivered is wrapped by an error of SubmitTask that says for sure that the TaskManager does not have the task: nobody
// listened, or it said so. Every other error means that it may have it.
var ErrNotDelivered = errors.New("the TaskManager did not get it")

// Vendor is a TaskManager as the vendor checklist demands it. It calls back with Shim.Event.
//
// Each call ends with its context at the latest. None is made twice by the shim, save questions.
type Vendor interface {
	// SubmitTask hands over one task, and answers with the vendor's own task id, or with a reason why not.
	SubmitTask(ctx context.Context, t wire.Task) (wire.SubmitAnswer, error)
	// GetTaskStatus tells how a task stands, by the vendor's task id. A clear "not found" is no error.
	GetTaskStatus(ctx context.Context, taskID string) (VendorStatus, error)
	// CancelTask asks a task to stop.
	CancelTask(ctx context.Context, taskID, reason string) (VendorCancel, error)
	// GetDevicePlanningContext returns the device_context.v1 (contract.md §6).
	GetDevicePlanningContext(ctx context.Context) (json.RawMessage, error)
}

// VendorStatus is a vendor's answer to getTaskStatus.
type VendorStatus struct {
	wire.StatusAnswer
	// Result is what a task that is over came to, where the vendor still has it.
	Result map[string]any
}

// VendorCancel is a vendor's answer to cancelTask.
type VendorCancel struct {
	Accepted bool
	// State is how the task stands now, if the vendor says so: an event name.
	State string
	// NotFound says that the vendor does not know the task.
	NotFound bool
	wire.Reason
}
