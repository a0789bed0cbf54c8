package plans

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"errand/plan"
	"errand/plan/lease"
)

// ErrNotQuarantined means that there is nothing to forget: the device's own word counts.
var ErrNotQuarantined = errors.New("the device is not in quarantine")

// Lease tells whose turn it is on a device. Where nobody wants the device there is no lease, and it is free.
func (c *Client) Lease(ctx context.Context, deviceID string) (lease.View, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	free := lease.View{DeviceID: deviceID, State: lease.Free, Queue: []lease.WaitView{}}
	id := plan.DeviceWorkflowID(deviceID)
	found, err := c.temporal.DescribeWorkflowExecution(ctx, id, "")
	if absent := (*serviceerror.NotFound)(nil); errors.As(err, &absent) {
		return free, nil
	}
	if err != nil {
		return lease.View{}, fmt.Errorf("find the lease of device %s: %w", deviceID, err)
	}
	if found.GetWorkflowExecutionInfo().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return free, nil
	}
	value, err := c.temporal.QueryWorkflow(ctx, id, "", lease.QueryView)
	var view lease.View
	switch {
	case err == nil:
		err = value.Get(&view)
	case unanswered(err):
		err = ErrNoWorker
	}
	if err != nil {
		return lease.View{}, fmt.Errorf("ask the lease of device %s: %w", deviceID, err)
	}
	return view, nil
}

// Forget ends the quarantine of a device by a person's word, on record, and tells how the lease stands then.
func (c *Client) Forget(ctx context.Context, deviceID string, f lease.Forget) (lease.View, error) {
	before, err := c.Lease(ctx, deviceID)
	if err != nil {
		return lease.View{}, err
	}
	if before.Quarantine == nil {
		return before, fmt.Errorf("device %s: %w", deviceID, ErrNotQuarantined)
	}
	err = c.temporal.SignalWorkflow(ctx, plan.DeviceWorkflowID(deviceID), "", lease.SignalName, lease.Signal{Forget: &f})
	if absent := (*serviceerror.NotFound)(nil); err != nil && !errors.As(err, &absent) { // else it ended by itself just now
		return lease.View{}, fmt.Errorf("tell the lease of device %s: %w", deviceID, err)
	}
	return c.Lease(ctx, deviceID) // a query sees every signal before it
}
