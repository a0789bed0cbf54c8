package workflows_test

import (
	"errors"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"errand/catalog"
	"errand/plan"
	"errand/workflows"
)

// shell runs PlanWorkflow on the SDK's own test clock, with stubs for everything that touches the world.
type shell struct {
	*testsuite.TestWorkflowEnvironment
	start   plan.Start
	submits int
	// released is what was said to the lease in the end.
	released []plan.LeaseRelease
}

const device = "robot-1"

func newShell(t *testing.T) *shell {
	t.Helper()
	suite := &testsuite.WorkflowTestSuite{}
	s := &shell{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment()}
	workflows.Register(s)
	dock := catalog.Capability{ID: "dock", Operations: []string{"start"}, TaskMethod: "returnToStation", CompletionTarget: "movement.stationCharging",
		Impact: catalog.Reversible, Enabled: true, Cancel: catalog.CancelStop, Timeouts: catalog.Timeouts{QueueMs: 60_000, RunMs: 60_000}}
	s.start = plan.Start{PlanID: "p-1", DeviceID: device, AskedAt: s.Now().UnixMilli(),
		Document: &plan.Document{Steps: []plan.StepSpec{{ID: "dock", Action: plan.Action{CapabilityID: "dock", OperationID: "start"}}}},
		Slice:    &catalog.Slice{Capabilities: []catalog.Capability{dock}, Reasons: []catalog.Reason{{Code: "STUCK", Default: "ask"}}}}
	s.stub(plan.ActivityAwaitDevice, func(plan.AwaitDevice) (plan.DeviceFound, error) { return plan.DeviceFound{Route: route(1)}, nil })
	s.stub(plan.ActivitySay, func(plan.Say) error { return nil })
	s.stub(plan.ActivityAsk, func(plan.Ask) error { return nil })
	s.stub(plan.ActivityRequestLease, func(plan.LeaseRequest) error { return nil })
	s.stub(plan.ActivityReleaseLease, func(r plan.LeaseRelease) error { s.released = append(s.released, r); return nil })
	s.signal(0, plan.Signal{Lease: &plan.LeaseAnswer{Granted: true}})
	return s
}

func route(epoch int64) plan.Route {
	return plan.Route{GatewayID: "g", TaskQueue: "deviceio@g", ConnectionEpoch: epoch, BootEpoch: 1, StoreID: "s", Profile: plan.Profile{Status: true}}
}

func (s *shell) stub(name string, fn any) {
	s.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
}

// report signals what the device says about the one operation there is, after a while.
func (s *shell) report(after time.Duration, seq int64, name plan.EventName, report *plan.Report) {
	s.RegisterDelayedCallback(func() {
		s.SignalWorkflow(plan.SignalName, plan.Signal{Event: &plan.Event{EventID: "e", DeviceID: device, Epoch: 1, Seq: seq, Name: name,
			OperationID: "p-1/dock/1", Report: report}})
	}, after)
}

func (s *shell) signal(after time.Duration, signal plan.Signal) {
	s.RegisterDelayedCallback(func() { s.SignalWorkflow(plan.SignalName, signal) }, after)
}

func (s *shell) run(t *testing.T) (plan.Outcome, error) {
	t.Helper()
	s.ExecuteWorkflow(plan.WorkflowType, s.start)
	if !s.IsWorkflowCompleted() {
		t.Fatal("the workflow does not end")
	}
	var o plan.Outcome
	err := s.GetWorkflowError()
	var failed *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	switch {
	case err == nil:
		err = s.GetWorkflowResult(&o)
	case errors.As(err, &cancelled):
		if detail := cancelled.Details(&o); detail != nil {
			t.Fatal(detail)
		}
	case errors.As(err, &failed):
		if detail := failed.Details(&o); detail != nil {
			t.Fatal(detail)
		}
	}
	return o, err
}

// An answer says which request it is to by being its activity's result; the operation id in it is not needed.
func TestAnswersCountForWhatWasAsked(t *testing.T) {
	s := newShell(t)
	asked := 0
	s.stub(plan.ActivitySubmit, func(plan.Submit) (plan.Submitted, error) { return plan.Submitted{Delivery: "perhaps"}, nil })
	s.stub(plan.ActivityStatus, func(plan.QueryStatus) (plan.StatusReported, error) {
		asked++
		return plan.StatusReported{Finding: plan.StatusFound, Terminal: &plan.Event{DeviceID: device, Epoch: 1, Seq: 1, Name: plan.EventCompleted}}, nil
	})
	o, err := s.run(t)
	if err != nil || o.State != plan.Completed || asked != 1 {
		t.Errorf("%s after %d questions, %v; want completed after one", o.State, asked, err)
	}
}

// A submit whose activity broke is unknown: the device is asked before anything else (law 9).
func TestLaw09ABrokenSubmitIsAQuestionToTheDevice(t *testing.T) {
	s := newShell(t)
	s.stub(plan.ActivitySubmit, func(plan.Submit) (plan.Submitted, error) {
		s.submits++
		if s.submits == 1 {
			return plan.Submitted{}, temporal.NewNonRetryableApplicationError("broke", "x", nil)
		}
		return plan.Submitted{Delivery: plan.DeliveryAccepted, Terminal: &plan.Event{DeviceID: device, Epoch: 1, Seq: 1, Name: plan.EventCompleted}}, nil
	})
	s.stub(plan.ActivityStatus, func(plan.QueryStatus) (plan.StatusReported, error) {
		return plan.StatusReported{Finding: plan.StatusNotFound, StoreID: "s"}, nil
	})
	if o, err := s.run(t); err != nil || o.State != plan.Completed || s.submits != 2 {
		t.Errorf("%s after %d submits, %v", o.State, s.submits, err)
	}
}

func TestLaw15CancelInTemporalStopsTheDeviceAndClosesAsCanceled(t *testing.T) {
	s := newShell(t)
	stopped := 0
	s.stub(plan.ActivitySubmit, func(plan.Submit) (plan.Submitted, error) {
		return plan.Submitted{Delivery: plan.DeliveryAccepted, TaskID: "t", StoreID: "s"}, nil
	})
	s.stub(plan.ActivityCancelTask, func(plan.CancelTask) (plan.CancelAnswered, error) {
		stopped++
		return plan.CancelAnswered{Case: plan.CancelDone, Terminal: &plan.Event{DeviceID: device, Epoch: 1, Seq: 9, Name: plan.EventCancelled}}, nil
	})
	s.RegisterDelayedCallback(s.CancelWorkflow, time.Second)
	o, err := s.run(t)
	if !temporal.IsCanceledError(err) || o.State != plan.Cancelled || stopped != 1 || o.Steps[0].Phase != plan.StepCancelled {
		t.Errorf("%+v after %d cancels, %v", o, stopped, err)
	}
}

func TestLaw16AnAnswerAfterItsTimeIsRefused(t *testing.T) {
	s := newShell(t)
	s.stub(plan.ActivitySubmit, func(plan.Submit) (plan.Submitted, error) {
		return plan.Submitted{Delivery: plan.DeliveryAccepted, TaskID: "t", StoreID: "s"}, nil
	})
	s.stub(plan.ActivityStatus, func(plan.QueryStatus) (plan.StatusReported, error) {
		return plan.StatusReported{Finding: plan.StatusFound, Status: plan.OpBlocked, Epoch: 1, AsOfSeq: 1}, nil
	})
	s.stub(plan.ActivityCancelTask, func(plan.CancelTask) (plan.CancelAnswered, error) {
		return plan.CancelAnswered{Case: plan.CancelDone, Terminal: &plan.Event{DeviceID: device, Epoch: 1, Seq: 9, Name: plan.EventCancelled}}, nil
	})
	s.report(time.Second, 1, plan.EventBlocked, &plan.Report{Code: "STUCK", RequiresDecision: true})
	update := func(name string, after time.Duration, in plan.Answer, want bool) {
		s.RegisterDelayedCallback(func() {
			s.UpdateWorkflow(plan.UpdateAnswer, name, &testsuite.TestUpdateCallback{
				OnAccept: func() {
					if !want {
						t.Errorf("%s was accepted", name)
					}
				},
				OnReject: func(err error) {
					if want {
						t.Errorf("%s was refused: %v", name, err)
					}
				},
				OnComplete: func(any, error) {},
			}, in)
		}, after)
	}
	update("not a choice", 2*time.Second, plan.Answer{QuestionID: "p-1.1", Choice: "retry", By: "kim"}, false)
	update("another question", 3*time.Second, plan.Answer{QuestionID: "p-1.2", Choice: "wait", By: "kim"}, false)
	update("too late", 4*time.Minute, plan.Answer{QuestionID: "p-1.1", Choice: "wait", By: "kim"}, false)
	o, err := s.run(t)
	if err == nil || o.State != plan.Failed || o.Reason.Code != "STUCK" {
		t.Errorf("%+v, %v; want failed: no answer is no", o, err)
	}
}

// A route that turned out to be gone is looked for anew, and a newer one asked for.
func TestARefutedRouteIsSearchedAnew(t *testing.T) {
	s := newShell(t)
	searches := 0
	s.stub(plan.ActivityAwaitDevice, func(in plan.AwaitDevice) (plan.DeviceFound, error) {
		searches++
		if in.Newer > 0 {
			return plan.DeviceFound{Route: route(in.Newer + 1)}, nil
		}
		return plan.DeviceFound{Route: route(1)}, nil
	})
	s.stub(plan.ActivitySubmit, func(c plan.Submit) (plan.Submitted, error) {
		if c.Route.ConnectionEpoch == 1 {
			return plan.Submitted{Delivery: plan.DeliveryUndelivered}, nil
		}
		return plan.Submitted{Delivery: plan.DeliveryAccepted, Terminal: &plan.Event{DeviceID: device, Epoch: 1, Seq: 1, Name: plan.EventCompleted}}, nil
	})
	if o, err := s.run(t); err != nil || o.State != plan.Completed || searches != 2 {
		t.Errorf("%s after %d searches, %v", o.State, searches, err)
	}
}

// A look at a completion that its gateway never took up is taken over the new route; one that it died of, over whatever there is.
func TestLaw20ALookThatNobodyAnsweredIsTakenAgain(t *testing.T) {
	for timeout, route := range map[enumspb.TimeoutType]int64{enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START: 2, enumspb.TIMEOUT_TYPE_START_TO_CLOSE: 1} {
		looks := 0
		o, err := verifiedPlan(t, func(c plan.Verify) (plan.VerifiedResult, error) {
			if looks++; looks == 1 {
				return plan.VerifiedResult{}, temporal.NewTimeoutError(timeout, nil)
			}
			if c.Route.ConnectionEpoch != route {
				t.Errorf("%s: the second look goes over connection %d, want %d", timeout, c.Route.ConnectionEpoch, route)
			}
			return plan.VerifiedResult{Verdict: plan.Verified}, nil
		})
		if err != nil || o.Verified != 1 || looks != 2 {
			t.Errorf("%s: %+v after %d looks, %v; want it seen to be done", timeout, o, looks, err)
		}
	}
}

// A look that broke is not taken again and again.
func TestLaw18ALookThatBreaksIsNotRepeated(t *testing.T) {
	looks := 0
	o, err := verifiedPlan(t, func(plan.Verify) (plan.VerifiedResult, error) {
		looks++
		return plan.VerifiedResult{}, temporal.NewNonRetryableApplicationError("broke", "x", nil)
	})
	if err != nil || o.State != plan.Completed || o.Verified != 0 || looks != 1 {
		t.Errorf("%+v after %d looks, %v; want completed and not verified after one", o, looks, err)
	}
}

// verifiedPlan runs a plan whose one step is completed at once, and is looked at so.
func verifiedPlan(t *testing.T, look func(plan.Verify) (plan.VerifiedResult, error)) (plan.Outcome, error) {
	t.Helper()
	s := newShell(t)
	s.start.Slice.Capabilities[0].Verify = "true"
	s.stub(plan.ActivityAwaitDevice, func(in plan.AwaitDevice) (plan.DeviceFound, error) {
		return plan.DeviceFound{Route: route(in.Newer + 1)}, nil
	})
	s.stub(plan.ActivitySubmit, func(plan.Submit) (plan.Submitted, error) {
		return plan.Submitted{Delivery: plan.DeliveryAccepted, Terminal: &plan.Event{DeviceID: device, Epoch: 1, Seq: 1, Name: plan.EventCompleted}}, nil
	})
	s.stub(plan.ActivityVerify, look)
	return s.run(t)
}

func TestThePlanWithoutADeviceEndsInTime(t *testing.T) {
	s := newShell(t)
	s.start.StartByMs = 60_000
	s.stub(plan.ActivityAwaitDevice, func(plan.AwaitDevice) (plan.DeviceFound, error) {
		return plan.DeviceFound{}, temporal.NewNonRetryableApplicationError("the registry is broken", "x", nil)
	})
	began := s.Now()
	o, err := s.run(t)
	if err == nil || o.Reason == nil || o.Reason.Code != "START_TOO_LATE" || s.Now().Sub(began) > 2*time.Minute {
		t.Errorf("%+v after %v, %v", o, s.Now().Sub(began), err)
	}
}

// A follow-up is an update like any: refused in words, taken once, and what the planner makes of it is carried out.
func TestAFollowUpIsTakenByTheRunningPlan(t *testing.T) {
	s := newShell(t)
	s.stub(plan.ActivitySubmit, func(c plan.Submit) (plan.Submitted, error) {
		s.submits++
		done := plan.Event{EventID: c.OperationID, DeviceID: device, Epoch: 1, Seq: int64(s.submits), Name: plan.EventCompleted, OperationID: c.OperationID}
		s.signal(time.Minute, plan.Signal{Event: &done})
		return plan.Submitted{Delivery: plan.DeliveryAccepted, TaskID: "t"}, nil
	})
	s.stub(plan.ActivityContext, func(plan.FetchContext) (plan.ContextFetched, error) {
		return plan.ContextFetched{Context: map[string]any{}}, nil
	})
	var planned []plan.MakePlan
	s.stub(plan.ActivityPlan, func(c plan.MakePlan) (plan.Planned, error) {
		planned = append(planned, c)
		return plan.Planned{Document: s.start.Document, Slice: s.start.Slice}, nil
	})
	answers := map[string]error{}
	ask := func(name string, in plan.FollowUp) {
		s.UpdateWorkflow(plan.UpdateFollowUp, name, &testsuite.TestUpdateCallback{OnAccept: func() { answers[name] = nil },
			OnReject: func(err error) { answers[name] = err }, OnComplete: func(any, error) {}}, in)
	}
	s.RegisterDelayedCallback(func() {
		ask("unsigned", plan.FollowUp{Text: "again"})
		ask("empty", plan.FollowUp{By: "kim"})
		ask("good", plan.FollowUp{Text: "again", By: "kim"})
	}, 10*time.Second)
	o, err := s.run(t)
	if err != nil || o.State != plan.Completed || s.submits != 2 || len(o.Steps) != 2 || o.Steps[1].ID != "dock_2" {
		t.Errorf("%s, %v, %d submits, steps %+v", o.State, err, s.submits, o.Steps)
	}
	if answers["unsigned"] == nil || answers["empty"] == nil || answers["good"] != nil || len(planned) != 1 || planned[0].Extends == nil {
		t.Errorf("answers %v, planner asked %+v", answers, planned)
	}
}
