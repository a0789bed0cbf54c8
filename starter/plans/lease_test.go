package plans_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"errand/plan/lease"
	"errand/starter/plans"
)

func (f *fakeTemporal) SignalWorkflow(context.Context, string, string, string, any) error {
	f.t.Error("no plan is signalled by the starter")
	return nil
}

// leaseTemporal is one lease as a test gives it.
type leaseTemporal struct {
	*fakeTemporal
	t        *testing.T
	running  bool
	view     lease.View
	queryErr error
	signals  []any
	// after is the lease once it was signalled.
	after *lease.View
}

func (f *leaseTemporal) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if id != "device:robot-1" {
		return nil, serviceerror.NewNotFound("no lease")
	}
	status := enums.WORKFLOW_EXECUTION_STATUS_COMPLETED
	if f.running {
		status = enums.WORKFLOW_EXECUTION_STATUS_RUNNING
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflow.WorkflowExecutionInfo{Status: status}}, nil
}

func (f *leaseTemporal) QueryWorkflow(_ context.Context, id, _, query string, _ ...any) (converter.EncodedValue, error) {
	if id != "device:robot-1" || query != lease.QueryView {
		f.t.Errorf("asked %s for %s", id, query)
	}
	return jsonValue{f.view}, f.queryErr
}

func (f *leaseTemporal) SignalWorkflow(_ context.Context, _, _, name string, arg any) error {
	if name != lease.SignalName {
		f.t.Errorf("the signal %s", name)
	}
	f.signals = append(f.signals, arg)
	if f.after != nil {
		f.view = *f.after
	}
	return nil
}

func TestALeaseThatNobodyHoldsIsFree(t *testing.T) {
	for name, device := range map[string]string{"never asked for": "robot-2", "over": "robot-1"} {
		v, err := plans.New(&leaseTemporal{t: t}).Lease(t.Context(), device)
		if err != nil || v.State != lease.Free || v.DeviceID != device || v.Queue == nil {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

func TestALeaseIsAskedHowItStands(t *testing.T) {
	f := &leaseTemporal{t: t, running: true, view: lease.View{State: lease.Held, Holder: &lease.HoldView{WaitView: lease.WaitView{PlanID: "p-1"}}}}
	v, err := plans.New(f).Lease(t.Context(), "robot-1")
	if err != nil || v.State != lease.Held || v.Holder.PlanID != "p-1" {
		t.Errorf("%+v, %v", v, err)
	}
	f.queryErr = context.DeadlineExceeded
	if _, err := plans.New(f).Lease(t.Context(), "robot-1"); !errors.Is(err, plans.ErrNoWorker) {
		t.Errorf("without a worker: %v", err)
	}
}

func TestForgetTellsTheLeaseAndHowItStandsThen(t *testing.T) {
	f := &leaseTemporal{t: t, running: true, view: lease.View{State: lease.Quarantined, Quarantine: &lease.QuarantineView{PlanID: "p-1"}},
		after: &lease.View{State: lease.Held}}
	v, err := plans.New(f).Forget(t.Context(), "robot-1", lease.Forget{By: "kim", Why: "it stands"})
	if err != nil || v.State != lease.Held || len(f.signals) != 1 {
		t.Fatalf("%+v, %v, %d signals", v, err, len(f.signals))
	}
	if s, ok := f.signals[0].(lease.Signal); !ok || s.Forget == nil || *s.Forget != (lease.Forget{By: "kim", Why: "it stands"}) {
		t.Errorf("signalled %+v", f.signals[0])
	}
	if _, err := plans.New(f).Forget(t.Context(), "robot-1", lease.Forget{By: "kim", Why: "again"}); !errors.Is(err, plans.ErrNotQuarantined) || len(f.signals) != 1 {
		t.Errorf("nothing to forget: %v", err)
	}
	if _, err := plans.New(f).Forget(t.Context(), "robot-2", lease.Forget{}); !errors.Is(err, plans.ErrNotQuarantined) {
		t.Errorf("no lease: %v", err)
	}
}

var _ plans.Temporal = (*leaseTemporal)(nil)
