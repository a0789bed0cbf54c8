package gateway

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"errand/plan"
	"errand/plan/lease"
)

type requestIDKey struct{}

// RequestIDs returns a dial option for the Temporal client (ConnectionOptions.DialOptions) that a TemporalSignaller needs:
// it puts the request id of a signal in place of the SDK's random one, so that the server itself drops an event sent twice.
func RequestIDs() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		id, _ := ctx.Value(requestIDKey{}).(string)
		if signal, ok := req.(*workflowservice.SignalWorkflowExecutionRequest); ok && id != "" {
			signal.RequestId = id
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	})
}

// TemporalSignaller hands events to plans, and news of connections to leases, as Temporal signals.
type TemporalSignaller struct{ temporal client.Client }

var _ Signaller = (*TemporalSignaller)(nil)

// NewTemporalSignaller signals through a client that was dialled with RequestIDs.
func NewTemporalSignaller(c client.Client) *TemporalSignaller { return &TemporalSignaller{temporal: c} }

// Signal sends the one signal of a plan (plan.SignalName). It never starts a workflow: a late event must not start a new plan.
func (t *TemporalSignaller) Signal(ctx context.Context, workflowID, requestID string, s plan.Signal) error {
	err := t.temporal.SignalWorkflow(context.WithValue(ctx, requestIDKey{}, requestID), workflowID, "", plan.SignalName, s)
	var absent *serviceerror.NotFound
	var invalid *serviceerror.InvalidArgument
	switch {
	case errors.As(err, &absent):
		return t.overOrUnknown(ctx, workflowID)
	case errors.As(err, &invalid):
		return fmt.Errorf("%w: %w", ErrSignalRefused, err)
	}
	return err
}

var _ LeaseTeller = (*TemporalSignaller)(nil)

// Link signals the workflow that holds the device's lease. It never starts one: while none runs, nobody wants the device.
func (t *TemporalSignaller) Link(ctx context.Context, deviceID string, change plan.DeviceChange) error {
	err := t.temporal.SignalWorkflow(ctx, plan.DeviceWorkflowID(deviceID), "", lease.SignalName, lease.Signal{Link: &change})
	var absent *serviceerror.NotFound
	var invalid *serviceerror.InvalidArgument
	switch {
	case errors.As(err, &absent):
		return nil
	case errors.As(err, &invalid):
		return fmt.Errorf("%w: %w", ErrSignalRefused, err)
	}
	return err
}

var _ Observer = (*TemporalSignaller)(nil)

// Observe signals the workflow that holds the device's lease. It never starts one: while none runs, no plan has the device.
func (t *TemporalSignaller) Observe(ctx context.Context, requestID string, o plan.Observation) error {
	err := t.temporal.SignalWorkflow(context.WithValue(ctx, requestIDKey{}, requestID), plan.DeviceWorkflowID(o.DeviceID), "",
		lease.SignalName, lease.Signal{Observation: &o})
	var absent *serviceerror.NotFound
	var invalid *serviceerror.InvalidArgument
	switch {
	case errors.As(err, &absent):
		return ErrNoLease
	case errors.As(err, &invalid):
		return fmt.Errorf("%w: %w", ErrSignalRefused, err)
	}
	return err
}

// OwnerOf reads the device and the home of a plan from the search attributes that it was started with.
func (t *TemporalSignaller) OwnerOf(ctx context.Context, workflowID string) (Owner, error) {
	found, err := t.describe(ctx, workflowID)
	if err != nil {
		return Owner{}, err
	}
	fields := found.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()
	return Owner{DeviceID: keyword(fields[plan.AttributeDevice]), HomeID: keyword(fields[plan.AttributeHome])}, nil
}

// keyword reads a search attribute; one that is absent, or was written by somebody else, is "".
func keyword(attribute *common.Payload) (text string) {
	if attribute == nil || converter.GetDefaultDataConverter().FromPayload(attribute, &text) != nil {
		return ""
	}
	return text
}

// describe reads how a workflow stands; ErrPlanUnknown if there is none.
func (t *TemporalSignaller) describe(ctx context.Context, workflowID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	// Not DescribeWorkflow: it panics on an answer without search attributes (sdk v1.51.0).
	found, err := t.temporal.DescribeWorkflowExecution(ctx, workflowID, "") //nolint:staticcheck // see above
	if absent := (*serviceerror.NotFound)(nil); errors.As(err, &absent) {
		return nil, ErrPlanUnknown
	}
	return found, err
}

// overOrUnknown tells a plan that is over from one that never was, which a signal's error does not.
func (t *TemporalSignaller) overOrUnknown(ctx context.Context, workflowID string) error {
	found, err := t.describe(ctx, workflowID)
	switch {
	case errors.Is(err, ErrPlanUnknown):
		return err
	case err != nil:
		return fmt.Errorf("ask whether the plan is over: %w", err)
	case found.GetWorkflowExecutionInfo().GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return errors.New("the plan could not be signalled, but it runs: send again")
	}
	return ErrPlanOver
}
