package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"errand/plan"
	"errand/plan/lease"
)

// Temporal is what the activities of the lease need of a Temporal client.
type Temporal interface {
	SignalWithStartWorkflow(ctx context.Context, workflowID, signalName string, arg any, options client.StartWorkflowOptions,
		workflow any, args ...any) (client.WorkflowRun, error)
	SignalWorkflow(ctx context.Context, workflowID, runID, signalName string, arg any) error
	QueryWorkflow(ctx context.Context, workflowID, runID, queryType string, args ...any) (converter.EncodedValue, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
}

var _ Temporal = client.Client(nil)

// Leases takes plans' words to the leases of their devices, and looks after plans for them.
type Leases struct{ temporal Temporal }

// NewLeases works through a connected client.
func NewLeases(t Temporal) *Leases { return &Leases{temporal: t} }

// Register makes the activities known to a worker.
func (l *Leases) Register(w worker.ActivityRegistry) {
	register(w, plan.ActivityRequestLease, l.Request)
	register(w, plan.ActivityReleaseLease, l.Release)
	register(w, lease.ActivityAskHolder, l.AskHolder)
}

// Request tells the lease of a plan's wish; its answer comes to the plan as a signal. Tried again, it changes nothing.
func (l *Leases) Request(ctx context.Context, r plan.LeaseRequest) error {
	return l.signalWithStart(ctx, r.DeviceID, lease.Signal{Request: &r})
}

// Release tells the lease a plan's last word. A lease that nobody has anything to do with is not started to hear that all
// is well.
func (l *Leases) Release(ctx context.Context, r plan.LeaseRelease) error {
	word := lease.Signal{Release: &r}
	if len(r.Unsettled) > 0 {
		return l.signalWithStart(ctx, r.DeviceID, word)
	}
	err := l.temporal.SignalWorkflow(ctx, plan.DeviceWorkflowID(r.DeviceID), "", lease.SignalName, word)
	if absent := (*serviceerror.NotFound)(nil); err != nil && !errors.As(err, &absent) {
		return fmt.Errorf("tell the lease of device %s that plan %s is over: %w", r.DeviceID, r.PlanID, err)
	}
	return nil
}

func (l *Leases) signalWithStart(ctx context.Context, deviceID string, s lease.Signal) error {
	_, err := l.temporal.SignalWithStartWorkflow(ctx, plan.DeviceWorkflowID(deviceID), lease.SignalName, s, client.StartWorkflowOptions{
		TaskQueue:     plan.TaskQueue,
		StaticSummary: "who may move the device",
		StaticDetails: "- device: `" + deviceID + "`\n- it runs while a plan wants the device, or something may still move it",
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(plan.AttributeDevice).ValueSet(deviceID)),
	}, plan.DeviceWorkflowType, lease.Start{DeviceID: deviceID})
	if err != nil {
		return fmt.Errorf("signal the lease of device %s: %w", deviceID, err)
	}
	return nil
}

// recordTries is how often the record of a plan that is over is read before it counts as unreadable.
const recordTries = 3

// AskHolder looks whether a plan is still there. One that is gone is read by its record: which operations does it not know
// the end of?
func (l *Leases) AskHolder(ctx context.Context, c lease.AskHolder) (lease.HolderSeen, error) {
	found, err := l.temporal.DescribeWorkflowExecution(ctx, c.PlanID, "")
	if absent := (*serviceerror.NotFound)(nil); errors.As(err, &absent) {
		return lease.HolderSeen{PlanID: c.PlanID, How: "no longer known to Temporal"}, nil
	}
	if err != nil {
		return lease.HolderSeen{}, fmt.Errorf("look after plan %s: %w", c.PlanID, err)
	}
	info := found.GetWorkflowExecutionInfo()
	if open(info.GetStatus()) {
		return lease.HolderSeen{PlanID: c.PlanID, Open: true}, nil
	}
	seen := lease.HolderSeen{PlanID: c.PlanID, Known: true, How: ending(info.GetStatus())}
	seen.Operations, err = l.unsettled(ctx, c.PlanID, info.GetExecution().GetRunId())
	switch {
	case err == nil:
		return seen, nil
	case activity.GetInfo(ctx).Attempt < recordTries:
		return lease.HolderSeen{}, fmt.Errorf("read the record of plan %s: %w", c.PlanID, err)
	}
	activity.GetLogger(ctx).Error("the record of a plan that is over cannot be read: its device must say what it runs",
		"plan", c.PlanID, "error", err)
	seen.Known = false
	return seen, nil
}

// open reports whether a workflow in this status can still do anything.
func open(status enums.WorkflowExecutionStatus) bool {
	switch status {
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, enums.WORKFLOW_EXECUTION_STATUS_FAILED, enums.WORKFLOW_EXECUTION_STATUS_CANCELED,
		enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return false
	default:
		return true
	}
}

// ending is how a workflow closed, in words.
func ending(status enums.WorkflowExecutionStatus) string {
	if status == enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT {
		return "timed out"
	}
	return strings.ToLower(status.String())
}

// unsettled reads from a plan's view the operations that it does not know the end of.
func (l *Leases) unsettled(ctx context.Context, planID, runID string) ([]string, error) {
	value, err := l.temporal.QueryWorkflow(ctx, planID, runID, plan.QueryView)
	if err != nil {
		return nil, err
	}
	var v plan.View
	if err := value.Get(&v); err != nil {
		return nil, err
	}
	var ids []string
	for _, step := range v.Steps {
		if step.OperationID != "" && !step.State.Terminal() && step.State != plan.StepVerifying {
			ids = append(ids, step.OperationID)
		}
	}
	return ids, nil
}
