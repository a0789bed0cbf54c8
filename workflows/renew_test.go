package workflows_test

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"errand/plan"
)

// renewed is the input of the new run that a run ended in.
func renewed(t *testing.T, s *shell) plan.Start {
	t.Helper()
	var again *workflow.ContinueAsNewError
	if err := s.GetWorkflowError(); !errors.As(err, &again) {
		t.Fatalf("ended with %v, want a new run", err)
	}
	var next plan.Start
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &next); err != nil {
		t.Fatal(err)
	}
	if next.Carried == nil || next.Carried.State.Start.Carried != nil {
		t.Fatalf("carried %+v", next.Carried)
	}
	return next
}

func (s *shell) accept(plan.Submit) (plan.Submitted, error) {
	s.submits++
	return plan.Submitted{Delivery: plan.DeliveryAccepted, TaskID: "t", StoreID: "s"}, nil
}

// What was submitted before a new run is finished after it: by its event, once, with nothing sent again (law 7).
func TestLaw07ANewRunGoesOnWhereTheOldOneLeftOff(t *testing.T) {
	first := newShell(t)
	first.stub(plan.ActivitySubmit, first.accept)
	first.report(time.Second, 7, plan.EventRunning, nil)
	first.signal(2*time.Second, plan.Signal{Renew: true})
	first.ExecuteWorkflow(plan.WorkflowType, first.start)

	second := newShell(t)
	second.SetStartTime(first.Now())
	second.start = renewed(t, first)
	second.stub(plan.ActivitySubmit, second.accept)
	second.report(time.Second, 7, plan.EventFailed, nil) // the same number again: a duplicate, whatever it says
	second.report(2*time.Second, 8, plan.EventCompleted, nil)
	o, err := second.run(t)
	if err != nil || o.State != plan.Completed || first.submits != 1 || second.submits != 0 {
		t.Errorf("%s, %v; %d submits before, %d after", o.State, err, first.submits, second.submits)
	}
	if len(first.released) != 0 || len(second.released) != 1 {
		t.Errorf("the lease was released %d times before and %d after, want once after", len(first.released), len(second.released))
	}
}

// A wait for the device is no reason to put a new run off, and it is taken up again in it.
func TestANewRunLooksForTheDeviceAgain(t *testing.T) {
	first := newShell(t)
	first.stub(plan.ActivityAwaitDevice, func(plan.AwaitDevice) (plan.DeviceFound, error) { return plan.DeviceFound{}, errors.New("away") })
	first.signal(2*time.Second, plan.Signal{Renew: true})
	first.ExecuteWorkflow(plan.WorkflowType, first.start)

	second := newShell(t)
	second.SetStartTime(first.Now())
	second.start = renewed(t, first)
	second.stub(plan.ActivitySubmit, second.accept)
	second.report(time.Second, 1, plan.EventCompleted, nil)
	if o, err := second.run(t); err != nil || o.State != plan.Completed || second.submits != 1 {
		t.Errorf("%s after %d submits, %v", o.State, second.submits, err)
	}
}

// A cancel that was latched stays latched, and closes the new run as Canceled (law 15).
func TestLaw15ACancelCrossesANewRun(t *testing.T) {
	first := newShell(t)
	first.stub(plan.ActivitySubmit, first.accept)
	first.stub(plan.ActivityCancelTask, func(plan.CancelTask) (plan.CancelAnswered, error) {
		return plan.CancelAnswered{Case: plan.CancelStopping, StoreID: "s"}, nil
	})
	first.RegisterDelayedCallback(func() { first.CancelWorkflow() }, time.Second)
	first.signal(2*time.Second, plan.Signal{Renew: true})
	first.ExecuteWorkflow(plan.WorkflowType, first.start)

	second := newShell(t)
	second.SetStartTime(first.Now())
	second.start = renewed(t, first)
	second.report(time.Second, 5, plan.EventCancelled, nil)
	o, err := second.run(t)
	if err == nil || o.State != plan.Cancelled || o.Cancel == nil || o.Cancel.Source != "temporal" || second.submits != 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

// A plan renews itself by the length of its history, and never while something is out that comes back only here.
func TestANewRunWaitsForWhatIsOut(t *testing.T) {
	first := newShell(t)
	first.start.RenewAfter = 1
	first.SetCurrentHistoryLength(5)
	first.stub(plan.ActivitySubmit, first.accept)
	first.report(time.Second, 1, plan.EventRunning, nil)
	first.ExecuteWorkflow(plan.WorkflowType, first.start)
	next := renewed(t, first)
	if first.submits > 1 || next.Carried.State.At == 0 {
		t.Errorf("%d submits", first.submits)
	}
	if !next.Carried.State.Held {
		t.Error("the next submit was not held back for it")
	}
	for _, op := range next.Carried.State.Steps[0].Ops {
		if op.Sending || op.Asking || op.Cancelling {
			t.Errorf("a new run began while a command of %s was out", op.ID)
		}
	}
}

// The same request again is answered as before, also in a later run; what a request asks for is checked in each.
func TestRequestsAreRememberedAcrossRuns(t *testing.T) {
	pause := func(s *shell, id, token string, after time.Duration, want string) {
		s.RegisterDelayedCallback(func() {
			s.UpdateWorkflow(plan.UpdatePause, id, &testsuite.TestUpdateCallback{
				OnAccept: func() {},
				OnReject: func(err error) {
					if want != "refused" {
						t.Errorf("%s: refused: %v", id, err)
					}
				},
				OnComplete: func(answer any, err error) {
					if err != nil || answer != plan.Phase(want) {
						t.Errorf("%s: answered %v, %v; want %s", id, answer, err, want)
					}
				},
			}, plan.Pause{Token: token, By: "kim"})
		}, after)
	}
	first := newShell(t)
	first.stub(plan.ActivitySubmit, first.accept)
	pause(first, "u-1", "x", time.Second, string(plan.Paused))
	first.signal(2*time.Second, plan.Signal{Renew: true})
	first.ExecuteWorkflow(plan.WorkflowType, first.start)

	second := newShell(t)
	second.SetStartTime(first.Now())
	second.start = renewed(t, first)
	pause(second, "u-1", "x", time.Second, string(plan.Paused))
	pause(second, "u-2", "", 2*time.Second, "refused")
	second.RegisterDelayedCallback(func() {
		second.UpdateWorkflow(plan.UpdateResume, "u-3", &testsuite.TestUpdateCallback{OnAccept: func() {}, OnReject: func(err error) { t.Error(err) },
			OnComplete: func(any, error) {}}, plan.Resume{Token: "x", By: "kim"})
	}, 3*time.Second)
	second.report(4*time.Second, 5, plan.EventCompleted, nil)
	if o, err := second.run(t); err != nil || o.State != plan.Completed {
		t.Errorf("%s, %v", o.State, err)
	}
}

// A plan that may wait three days for its device waits three days, in as many runs as it takes.
func TestLaw18APlanWaitsThreeDaysForItsDevice(t *testing.T) {
	const day = 24 * time.Hour
	start := plan.Start{}
	var began, now time.Time
	for run := range 3 {
		s := newShell(t)
		if run == 0 {
			s.start.StartByMs, s.start.DeadlineMs = (4 * day).Milliseconds(), (5 * day).Milliseconds()
			began = s.Now()
		} else {
			s.SetStartTime(now)
			s.start = start
		}
		s.stub(plan.ActivityAwaitDevice, func(plan.AwaitDevice) (plan.DeviceFound, error) {
			return plan.DeviceFound{}, temporal.NewNonRetryableApplicationError("away", "x", nil)
		})
		s.stub(plan.ActivitySubmit, s.accept)
		if run < 2 {
			s.signal(day, plan.Signal{Renew: true})
			s.ExecuteWorkflow(plan.WorkflowType, s.start)
			start, now = renewed(t, s), s.Now()
			continue
		}
		found := route(9)
		s.signal(day, plan.Signal{Device: &plan.DeviceChange{Route: &found}})
		s.report(day+time.Second, 1, plan.EventCompleted, nil)
		if o, err := s.run(t); err != nil || o.State != plan.Completed || s.submits != 1 || s.Now().Sub(began) < 3*day {
			t.Errorf("%s after %v and %d submits, %v", o.State, s.Now().Sub(began), s.submits, err)
		}
	}
}
