package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"errand/plan"
	"errand/plan/lease"
)

// temporalStub is one plan and one lease, as a test gives them.
type temporalStub struct {
	status  enums.WorkflowExecutionStatus
	err     error
	view    plan.View
	viewErr error

	started  []client.StartWorkflowOptions
	signals  []lease.Signal
	noLease  bool
	workflow string
}

func (s *temporalStub) SignalWithStartWorkflow(_ context.Context, workflowID, name string, arg any, o client.StartWorkflowOptions,
	_ any, args ...any) (client.WorkflowRun, error) {
	start, ok := args[0].(lease.Start)
	if !ok || name != lease.SignalName || plan.DeviceWorkflowID(start.DeviceID) != workflowID {
		return nil, errors.New("started in another way than a lease is")
	}
	s.started = append(s.started, o)
	s.workflow, s.signals = workflowID, append(s.signals, arg.(lease.Signal)) //nolint:errcheck // it panics, and the test fails
	return nil, s.err
}

func (s *temporalStub) SignalWorkflow(_ context.Context, workflowID, _, _ string, arg any) error {
	if s.noLease {
		return serviceerror.NewNotFound("no lease")
	}
	s.workflow, s.signals = workflowID, append(s.signals, arg.(lease.Signal)) //nolint:errcheck // it panics, and the test fails
	return s.err
}

func (s *temporalStub) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	return encoded{s.view}, s.viewErr
}

func (s *temporalStub) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflow.WorkflowExecutionInfo{Status: s.status}}, s.err
}

type encoded struct{ v any }

func (encoded) HasValue() bool { return true }
func (e encoded) Get(out any) error {
	text, err := json.Marshal(e.v)
	return errors.Join(err, json.Unmarshal(text, out))
}

func TestARequestStartsTheLeaseOfItsDevice(t *testing.T) {
	s := &temporalStub{}
	if err := NewLeases(s).Request(t.Context(), plan.LeaseRequest{PlanID: "p-1", DeviceID: "r1", Priority: 3}); err != nil {
		t.Fatal(err)
	}
	if s.workflow != "device:r1" || len(s.started) != 1 || s.started[0].TaskQueue != plan.TaskQueue || s.signals[0].Request.Priority != 3 {
		t.Errorf("%s, %+v, %+v", s.workflow, s.started, s.signals)
	}
	s.err = errors.New("no Temporal")
	if err := NewLeases(s).Request(t.Context(), plan.LeaseRequest{DeviceID: "r1"}); !errors.Is(err, s.err) {
		t.Errorf("a failure is told as %v: it must be tried again", err)
	}
}

// Only what may still move the device needs a lease that hears of it.
func TestAReleaseStartsALeaseOnlyForWhatIsUnsettled(t *testing.T) {
	for name, c := range map[string]struct {
		unsettled []string
		noLease   bool
		started   int
	}{
		"all is well":               {nil, false, 0},
		"all is well, nobody there": {nil, true, 0},
		"unsettled":                 {[]string{"p-1/a/1"}, false, 1},
		"unsettled, nobody there":   {[]string{"p-1/a/1"}, true, 1},
	} {
		s := &temporalStub{noLease: c.noLease}
		err := NewLeases(s).Release(t.Context(), plan.LeaseRelease{PlanID: "p-1", DeviceID: "r1", Unsettled: c.unsettled})
		if err != nil || len(s.started) != c.started {
			t.Errorf("%s: %d started, %v", name, len(s.started), err)
		}
		if told := c.started > 0 || !c.noLease; told != (len(s.signals) == 1) {
			t.Errorf("%s: %d signals", name, len(s.signals))
		}
	}
	s := &temporalStub{err: errors.New("no Temporal")}
	if err := NewLeases(s).Release(t.Context(), plan.LeaseRelease{DeviceID: "r1"}); !errors.Is(err, s.err) {
		t.Errorf("a failure is told as %v: it must be tried again", err)
	}
}

// Law 21: a plan that is gone is read by its record: what it does not know the end of may still move the device.
func TestLaw21AskHolderReadsWhatAPlanLeft(t *testing.T) {
	step := func(op string, state plan.StepPhase) plan.StepView {
		return plan.StepView{OperationID: op, State: state}
	}
	left := plan.View{Steps: []plan.StepView{step("p/a/1", plan.StepCompleted), step("p/b/2", plan.StepFailed), step("p/c/1", plan.StepVerifying),
		step("p/d/1", plan.StepRunning), step("p/e/1", plan.StepUnknown), step("p/f/1", plan.StepSubmitting), {State: plan.StepPending}}}
	for name, c := range map[string]struct {
		stub temporalStub
		want lease.HolderSeen
	}{
		"running":    {temporalStub{status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING}, lease.HolderSeen{Open: true}},
		"not there":  {temporalStub{err: serviceerror.NewNotFound("gone")}, lease.HolderSeen{How: "no longer known to Temporal"}},
		"terminated": {temporalStub{status: enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, view: left}, lease.HolderSeen{Known: true, How: "terminated", Operations: []string{"p/d/1", "p/e/1", "p/f/1"}}},
		"timed out":  {temporalStub{status: enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT}, lease.HolderSeen{Known: true, How: "timed out"}},
		"completed":  {temporalStub{status: enums.WORKFLOW_EXECUTION_STATUS_COMPLETED}, lease.HolderSeen{Known: true, How: "completed"}},
	} {
		got, err := ask(t, &c.stub)
		c.want.PlanID = "p"
		if err != nil || !bytes.Equal(marshal(t, got), marshal(t, c.want)) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	if _, err := ask(t, &temporalStub{err: errors.New("no Temporal")}); err == nil {
		t.Error("a plan that could not be looked after counts as seen")
	}
	if _, err := ask(t, &temporalStub{status: enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, viewErr: errors.New("no worker")}); err == nil {
		t.Error("a record that could not be read at the first try counts as unreadable")
	}
}

func ask(t *testing.T, s *temporalStub) (seen lease.HolderSeen, err error) {
	t.Helper()
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	leases := NewLeases(s)
	leases.Register(env)
	value, err := env.ExecuteActivity(lease.ActivityAskHolder, lease.AskHolder{PlanID: "p"})
	if err == nil {
		err = value.Get(&seen)
	}
	return seen, err
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
