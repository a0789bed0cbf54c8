package workflows_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"errand/plan"
	"errand/plan/lease"
	"errand/workflows"
)

// lessor runs DeviceWorkflow on the SDK's own test clock. Plans are names, and what they were told.
type lessor struct {
	*testsuite.TestWorkflowEnvironment
	t      *testing.T
	told   []string                    // "plan: what", in order
	gone   map[string]bool             // plans that are over
	seen   map[string]lease.HolderSeen // what a look at a plan brings; otherwise it is there unless it is gone
	onTold func(plan, what string)
}

func newLessor(t *testing.T) *lessor {
	t.Helper()
	suite := &testsuite.WorkflowTestSuite{}
	l := &lessor{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, gone: map[string]bool{}, seen: map[string]lease.HolderSeen{}, onTold: func(string, string) {}}
	workflows.RegisterDevice(l)
	l.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, plan.SignalName, mock.Anything).Return(
		func(_, id, _, _ string, arg any) error {
			if l.gone[id] {
				return &temporal.UnknownExternalWorkflowExecutionError{}
			}
			s, ok := arg.(plan.Signal)
			if !ok {
				t.Errorf("plan %s is signalled with a %T", id, arg)
			}
			what := describe(s)
			l.told = append(l.told, id+": "+what)
			l.onTold(id, what)
			return nil
		})
	l.stub(lease.ActivityAskHolder, func(c lease.AskHolder) (lease.HolderSeen, error) {
		if seen, ok := l.seen[c.PlanID]; ok {
			return seen, nil
		}
		return lease.HolderSeen{Open: !l.gone[c.PlanID], Known: true}, nil
	})
	return l
}

func describe(s plan.Signal) string {
	switch {
	case s.Lease != nil && s.Lease.Granted:
		return "granted"
	case s.Lease != nil:
		return s.Lease.Reason + " by " + s.Lease.Holder
	case s.Cancel != nil:
		return "cancel: " + s.Cancel.Why
	case s.Device != nil && s.Device.Route != nil:
		return "connected"
	case s.Device != nil:
		return "gone"
	}
	return "?"
}

func (l *lessor) stub(name string, fn any) {
	l.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
}

func (l *lessor) at(after time.Duration, s lease.Signal) {
	l.RegisterDelayedCallback(func() { l.SignalWorkflow(lease.SignalName, s) }, after)
}

func request(id string, policy plan.LeasePolicy) lease.Signal {
	return lease.Signal{Request: &plan.LeaseRequest{PlanID: id, DeviceID: device, Policy: policy}}
}

func release(id string, unsettled ...string) lease.Signal {
	return lease.Signal{Release: &plan.LeaseRelease{PlanID: id, DeviceID: device, Unsettled: unsettled}}
}

// run runs until the lease is given up, and returns how it was left.
func (l *lessor) run(start lease.Start) lease.View {
	l.t.Helper()
	l.ExecuteWorkflow(plan.DeviceWorkflowType, start)
	if !l.IsWorkflowCompleted() {
		l.t.Fatal("the workflow does not end")
	}
	var v lease.View
	if err := errors.Join(l.GetWorkflowError(), l.GetWorkflowResult(&v)); err != nil {
		l.t.Fatal(err)
	}
	return v
}

func (l *lessor) want(told ...string) {
	l.t.Helper()
	if !slices.Equal(l.told, told) {
		l.t.Errorf("told\n  %s\nwant\n  %s", strings.Join(l.told, "\n  "), strings.Join(told, "\n  "))
	}
}

func TestLaw21OneAfterTheOtherAndGoneWhenIdle(t *testing.T) {
	l := newLessor(t)
	l.at(0, request("a", ""))
	l.at(time.Second, request("b", plan.LeaseQueue))
	l.at(2*time.Second, request("c", plan.LeaseReject))
	l.at(3*time.Second, release("a"))
	l.at(4*time.Second, release("b"))
	began := l.Now()
	if v := l.run(lease.Start{DeviceID: device}); v.State != lease.Free || l.Now().Sub(began) > 5*time.Second {
		t.Errorf("left %s after %v", v.State, l.Now().Sub(began))
	}
	l.want("a: granted", "c: DEVICE_BUSY by a", "b: granted")
}

func TestLaw21ATerminatedPlansOperationIsStoppedFirst(t *testing.T) {
	l := newLessor(t)
	var steps []string
	l.seen["a"] = lease.HolderSeen{Known: true, Operations: []string{"a/move/1"}, How: "terminated"}
	l.stub(plan.ActivityAwaitDevice, func(plan.AwaitDevice) (plan.DeviceFound, error) {
		steps = append(steps, "found")
		return plan.DeviceFound{Route: route(1)}, nil
	})
	l.stub(plan.ActivityCancelTask, func(c plan.CancelTask) (plan.CancelAnswered, error) {
		steps = append(steps, "cancel "+c.OperationID)
		return plan.CancelAnswered{Case: plan.CancelStopping}, nil
	})
	l.stub(plan.ActivityStatus, func(c plan.QueryStatus) (plan.StatusReported, error) {
		steps = append(steps, "ask "+c.OperationID)
		return plan.StatusReported{Finding: plan.StatusFound, Status: plan.OpCancelled}, nil
	})
	l.stub(lease.ActivityTasks, func(lease.ListTasks) (lease.TasksListed, error) { return lease.TasksListed{Listing: lease.Listed}, nil })
	l.onTold = func(id, what string) { steps = append(steps, id+" "+what) }
	l.at(0, request("a", ""))
	l.at(time.Second, request("b", ""))
	l.at(time.Minute, release("b"))
	l.run(lease.Start{DeviceID: device})
	want := []string{"a granted", "found", "cancel a/move/1", "ask a/move/1", "b granted"}
	if !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
}

// A device that never returns is quarantined until a person forgets it; the record says who and why.
func TestADeviceThatNeverReturnsIsForgottenOnRecord(t *testing.T) {
	l := newLessor(t)
	l.stub(plan.ActivityAwaitDevice, func(plan.AwaitDevice) (plan.DeviceFound, error) {
		return plan.DeviceFound{}, temporal.NewApplicationError("nobody found it", "x") // tried again and again
	})
	l.at(0, request("a", ""))
	l.at(time.Second, release("a", "a/move/1"))
	l.at(2*time.Second, request("b", plan.LeaseReject))
	l.at(3*time.Second, request("c", plan.LeaseQueue))
	l.RegisterDelayedCallback(func() {
		value, err := l.QueryWorkflow(lease.QueryView)
		var v lease.View
		if err := errors.Join(err, value.Get(&v)); err != nil || v.State != lease.Quarantined || v.Quarantine.Operations[0].ID != "a/move/1" || len(v.Queue) != 1 {
			t.Errorf("the query tells %+v, %v", v, err)
		}
	}, 24*time.Hour)
	l.at(25*time.Hour, lease.Signal{Forget: &lease.Forget{By: "kim", Why: "it is in the workshop"}})
	l.at(26*time.Hour, release("c"))
	v := l.run(lease.Start{DeviceID: device})
	l.want("a: granted", "b: DEVICE_QUARANTINED by a", "c: granted")
	if len(v.Forgotten) != 1 || v.Forgotten[0].By != "kim" || v.Forgotten[0].Why != "it is in the workshop" {
		t.Errorf("on record: %+v", v.Forgotten)
	}
}

func TestTheHolderHearsWhatTheGatewaySays(t *testing.T) {
	l := newLessor(t)
	l.stub(lease.ActivityTasks, func(lease.ListTasks) (lease.TasksListed, error) { return lease.TasksListed{Listing: lease.Listed}, nil })
	fresh := route(5)
	l.at(0, request("a", ""))
	l.at(time.Second, lease.Signal{Link: &plan.DeviceChange{Gone: 4}})
	l.at(2*time.Second, lease.Signal{Link: &plan.DeviceChange{Route: &fresh}})
	l.at(3*time.Second, release("a"))
	l.run(lease.Start{DeviceID: device})
	l.want("a: granted", "a: gone", "a: connected")
}

// A signal that comes while the last answer is out is heard before the workflow ends.
func TestASignalThatComesAtTheEndIsHeard(t *testing.T) {
	l := newLessor(t)
	l.gone["a"] = true
	l.at(0, request("a", "")) // granted, and found gone: nobody wants the device any more
	l.at(0, request("b", ""))
	l.at(time.Second, release("b"))
	l.run(lease.Start{DeviceID: device})
	l.want("b: granted")
}

// A long history continues as new, and nobody who waits is forgotten.
func TestALongHistoryContinuesAsNew(t *testing.T) {
	l := newLessor(t)
	l.at(0, request("a", ""))
	l.at(time.Second, request("b", ""))
	l.RegisterDelayedCallback(func() { l.SetCurrentHistoryLength(5000) }, 2*time.Second)
	l.at(3*time.Second, request("c", ""))
	l.ExecuteWorkflow(plan.DeviceWorkflowType, lease.Start{DeviceID: device})
	var again *workflow.ContinueAsNewError
	if err := l.GetWorkflowError(); !errors.As(err, &again) {
		t.Fatalf("ended with %v, want it to continue as new", err)
	}
	var next lease.Start
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &next); err != nil {
		t.Fatal(err)
	}
	if len(next.Pending) != 1 || next.Pending[0].Request.PlanID != "c" {
		t.Errorf("left to the next run: %+v, want the request that came when it was due", next.Pending)
	}
	l.want("a: granted")
	l = newLessor(t)
	for i, id := range []string{"a", "b", "c"} {
		l.at(time.Duration(i+1)*time.Second, release(id))
	}
	l.run(next)
	l.want("b: granted", "c: granted")
}

// An operator's cancel in Temporal's UI takes the lease from nobody.
func TestACancelOfTheLeaseChangesNothing(t *testing.T) {
	l := newLessor(t)
	l.at(0, request("a", ""))
	l.at(time.Second, request("b", ""))
	l.RegisterDelayedCallback(l.CancelWorkflow, 2*time.Second)
	l.at(3*time.Second, release("a"))
	l.at(4*time.Second, release("b"))
	l.run(lease.Start{DeviceID: device})
	l.want("a: granted", "b: granted")
}
