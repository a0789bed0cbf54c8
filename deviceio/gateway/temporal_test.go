package gateway_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"errand/deviceio/gateway"
	"errand/plan"
)

// frontend answers like a Temporal server, over real gRPC.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	signalErr, describeErr error
	state                  enums.WorkflowExecutionStatus
	device, home           *common.Payload // the plan's search attributes
	got                    chan *workflowservice.SignalWorkflowExecutionRequest
}

func (f *frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (f *frontend) SignalWorkflowExecution(_ context.Context, r *workflowservice.SignalWorkflowExecutionRequest) (*workflowservice.SignalWorkflowExecutionResponse, error) {
	f.got <- r
	return &workflowservice.SignalWorkflowExecutionResponse{}, wireError(f.signalErr)
}

func (f *frontend) DescribeWorkflowExecution(context.Context, *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	attributes := &common.SearchAttributes{IndexedFields: map[string]*common.Payload{}}
	if f.device != nil {
		attributes.IndexedFields[plan.AttributeDevice] = f.device
	}
	if f.home != nil {
		attributes.IndexedFields[plan.AttributeHome] = f.home
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflow.WorkflowExecutionInfo{Status: f.state, SearchAttributes: attributes,
		Execution: &common.WorkflowExecution{WorkflowId: "p-1", RunId: "r-1"}, Type: &common.WorkflowType{Name: plan.WorkflowType}}}, wireError(f.describeErr)
}

func wireError(err error) error {
	if err == nil {
		return nil
	}
	return serviceerror.ToStatus(err).Err()
}

func dialFrontend(t *testing.T, f *frontend) client.Client {
	t.Helper()
	f.got = make(chan *workflowservice.SignalWorkflowExecutionRequest, 10)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, f)
	go func() { _ = server.Serve(listener) }() // Stop ends it
	t.Cleanup(server.Stop)
	c, err := client.NewLazyClient(client.Options{HostPort: listener.Addr().String(),
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{gateway.RequestIDs()}}})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// Law 7: an event sent twice has the same request id, by which the server drops the copy.
func TestLaw07TheRequestIDIsTheEvents(t *testing.T) {
	t.Parallel()
	f := &frontend{}
	s := gateway.NewTemporalSignaller(dialFrontend(t, f))
	for range 2 {
		must(t, s.Signal(t.Context(), "p-1", "robot/b1-4", plan.Signal{Event: &plan.Event{EventID: "b1-4"}}))
		got := await(t, f.got, "the signal")
		if got.RequestId != "robot/b1-4" || got.WorkflowExecution.WorkflowId != "p-1" || got.WorkflowExecution.RunId != "" || got.SignalName != plan.SignalName {
			t.Errorf("request %+v", got)
		}
	}
}

func TestSignalErrorsAreToldApart(t *testing.T) {
	t.Parallel()
	absent := serviceerror.NewNotFound("workflow not found")
	for name, c := range map[string]struct {
		signal, describe error
		state            enums.WorkflowExecutionStatus
		want             error // nil: any other error, to be tried again
	}{
		"over":           {absent, nil, enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, gateway.ErrPlanOver},
		"cancelled":      {absent, nil, enums.WORKFLOW_EXECUTION_STATUS_CANCELED, gateway.ErrPlanOver},
		"never was":      {absent, absent, 0, gateway.ErrPlanUnknown},
		"runs after all": {absent, nil, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, nil},
		"cannot tell":    {absent, serviceerror.NewPermissionDenied("no", ""), 0, nil},
		"will never fit": {serviceerror.NewInvalidArgument("too large"), nil, 0, gateway.ErrSignalRefused},
		"no permission":  {serviceerror.NewPermissionDenied("no", ""), nil, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gateway.NewTemporalSignaller(dialFrontend(t, &frontend{signalErr: c.signal, describeErr: c.describe, state: c.state}))
			err := s.Signal(t.Context(), "p-1", "robot/b1-4", plan.Signal{})
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("Signal = %v, want %v", err, c.want)
			}
			for _, final := range []error{gateway.ErrPlanOver, gateway.ErrPlanUnknown, gateway.ErrSignalRefused} {
				if c.want == nil && (err == nil || errors.Is(err, final)) {
					t.Errorf("Signal = %v, want an error that may pass", err)
				}
			}
		})
	}
}

func TestAnAbsentServerIsAnErrorThatMayPass(t *testing.T) {
	t.Parallel()
	f := &frontend{}
	c := dialFrontend(t, f)
	f.signalErr = status.Error(codes.Unavailable, "away")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := gateway.NewTemporalSignaller(c).Signal(ctx, "p-1", "robot/b1-4", plan.Signal{})
	if err == nil || errors.Is(err, gateway.ErrPlanOver) || errors.Is(err, gateway.ErrPlanUnknown) {
		t.Errorf("Signal = %v", err)
	}
}
