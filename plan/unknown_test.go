package plan_test

import (
	"strings"
	"testing"

	"errand/plan"
)

// runningMove is a plan whose first step runs.
func runningMove(t *testing.T) *sim {
	t.Helper()
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	return s
}

func TestLaw09AWordFromTheDeviceEndsTheDoubt(t *testing.T) {
	s := lostSubmit(t)
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 50, Name: plan.EventStarted, OperationID: "p-1/move/1", TaskID: "t7"})
	if s.phase("move") != plan.StepRunning || s.state.Steps[0].Ops[0].TaskID != "t7" {
		t.Errorf("move is %s with task %q, want running as t7", s.phase("move"), s.state.Steps[0].Ops[0].TaskID)
	}
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 51, Name: plan.EventCompleted, WorkflowID: testPlan, StepID: "move", TaskID: "t7", Result: s.device.result})
	if s.phase("move") != plan.StepCompleted {
		t.Errorf("move is %s: the event without an operation id has the task's own id", s.phase("move"))
	}
}

// A step that was asked to stop, and is asked about a moment later, was not late.
func TestLaw20AStoppedStepIsNotCalledOverdue(t *testing.T) {
	s := runningMove(t)
	s.device.stubborn = true
	s.take(plan.CancelRequest{By: "kim"})
	s.answer(request[plan.CancelTask](s), fine)
	s.tick(s.state.Wake - s.now)
	if why := s.state.View().Steps[0].Why; s.phase("move") != plan.StepUnknown || strings.Contains(why, "overdue") || !strings.Contains(why, "asked to stop") {
		t.Errorf("move is %s: %q", s.phase("move"), why)
	}
}

func TestLaw18OverWithoutSayingHowIsAskedAgainEverMoreSeldom(t *testing.T) {
	s := lostSubmit(t)
	var waits []int64
	for range 9 {
		out[plan.QueryStatus](s)
		s.take(plan.StatusReported{OperationID: "p-1/move/1", Finding: plan.StatusFound, Status: plan.OpCompleted})
		if s.phase("move") != plan.StepUnknown || request[plan.QueryStatus](s) >= 0 {
			t.Fatalf("move is %s, asked again at once: %v", s.phase("move"), request[plan.QueryStatus](s) >= 0)
		}
		waits = append(waits, s.state.Wake-s.now)
		s.tick(s.state.Wake - s.now)
	}
	for i, want := range []int64{2, 4, 8, 16, 32, 60, 60, 60, 60} {
		if waits[i] != want*1000 {
			t.Fatalf("waits %v ms", waits)
		}
	}
}

func TestLaw18QuestionsThatBringNothingArePaced(t *testing.T) {
	for name, answer := range map[string]plan.StatusReported{
		"unsupported": {Finding: plan.StatusUnsupported}, "nonsense": {Finding: "nonsense"},
		"alive": {Finding: plan.StatusFound, Status: plan.OpRunning, Epoch: 1, AsOfSeq: 9},
	} {
		s := lostSubmit(t)
		asked := 0
		for s.now < askedAt+20*60_000 && s.finish == nil {
			if i := request[plan.QueryStatus](s); i >= 0 {
				out[plan.QueryStatus](s)
				answer.OperationID = "p-1/move/1"
				asked++
				s.take(answer)
				continue
			}
			s.tick(max(s.state.Wake-s.now, 1))
		}
		if asked < 15 || asked > 45 {
			t.Errorf("%s: asked %d times in 20 minutes", name, asked)
		}
	}
}

func TestAStubbornTaskIsAskedAboutSeldomer(t *testing.T) {
	s := runningMove(t)
	s.device.stubborn = true
	s.take(plan.CancelRequest{By: "kim"})
	s.answer(request[plan.CancelTask](s), fine)
	asked := 0
	for s.finish == nil {
		if request[plan.QueryStatus](s) >= 0 {
			asked++
			s.answer(request[plan.QueryStatus](s), fine)
			continue
		}
		s.tick(s.state.Wake - s.now)
	}
	if asked < 8 || asked > 25 || s.finish.State != plan.Unresolved {
		t.Errorf("%s after %d questions in four minutes", s.finish.State, asked)
	}
}

func TestLaw09OnlyTheStoreThatTookItKnowsThatItNeverRan(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	out[plan.Submit](s)
	s.take(plan.Submitted{OperationID: "p-1/move/1", Delivery: plan.DeliveryAccepted, StoreID: "store-b"}) // not the route's
	if got := s.state.Steps[0].Ops[0].StoreID; got != "store-b" {
		t.Errorf("the store is %q, want the one that answered", got)
	}
}

func TestAnUnresolvedEndSaysWhy(t *testing.T) {
	s := runningMove(t)
	s.device.online = false
	s.take(plan.CancelRequest{By: "kim"})
	for s.finish == nil {
		s.tick(s.state.Wake - s.now)
	}
	if s.finish.State != plan.Unresolved || s.finish.Reason == nil || s.finish.Reason.Code != "OPERATION_UNRESOLVED" {
		t.Errorf("%s, reason %+v", s.finish.State, s.finish.Reason)
	}
}

func TestADeadlineSaysWhatItWaitedFor(t *testing.T) {
	for want, away := range map[string]bool{"DEVICE_UNREACHABLE": true, "DEADLINE_PASSED": false} {
		s := runningMove(t)
		if away {
			s.device.online = false
			s.take(plan.DeviceChange{Gone: s.device.connection})
		}
		for s.now < s.state.Deadline && s.finish == nil {
			if request[plan.QueryStatus](s) >= 0 {
				s.answer(request[plan.QueryStatus](s), fine)
				continue
			}
			s.tick(s.state.Wake - s.now)
		}
		if s.state.Ending == nil || s.state.Ending.Report.Code != want || s.state.Ending.As != plan.Failed {
			t.Errorf("device away %v: ends as %+v, want %s", away, s.state.Ending, want)
		}
	}
}

func TestTheReasonTableFillsInWhatTheDeviceLeavesOut(t *testing.T) {
	for given, want := range map[string]string{"": "transient", "permanent": "permanent"} {
		s := newSim(t, threeSteps())
		slice := testSlice()
		slice.Reasons[2].Recoverability = "transient"
		s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: s.now, Document: threeSteps(), Slice: slice})
		s.out = nil
		s.take(plan.Begin{})
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 80, Name: plan.EventFailed, OperationID: "p-1/move/1", Report: &plan.Report{Code: "ASK_ME", Recoverability: given}})
		if got := s.state.Steps[0].Reason; got == nil || got.Recoverability != want {
			t.Errorf("the device says %q, the reason is %+v", given, got)
		}
	}
	for name, want := range map[plan.EventName]string{plan.EventTimedOut: "TASK_TIMED_OUT", plan.EventCancelled: "CANCELLED_BY_DEVICE", plan.EventFailed: "UNKNOWN"} {
		s := runningMove(t)
		s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 80, Name: name, OperationID: "p-1/move/1"})
		if o := s.settle(); o.Reason == nil || o.Reason.Code != want {
			t.Errorf("%s without a reason: %+v, want %s", name, o.Reason, want)
		}
	}
}

func TestASearchThatNobodyNeedsIsWithdrawn(t *testing.T) {
	s := lostSubmit(t)
	s.device.online = false
	s.answer(request[plan.QueryStatus](s), fine)
	if request[plan.AwaitDevice](s) < 0 || s.state.Phase() != plan.WaitingDevice {
		t.Fatalf("%s", describe(s.state))
	}
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 50, Name: plan.EventStarted, OperationID: "p-1/move/1"})
	if request[plan.AwaitDevice](s) >= 0 || s.state.Phase() != plan.Running {
		t.Errorf("the device has spoken: %s, search out: %v", describe(s.state), request[plan.AwaitDevice](s) >= 0)
	}
	if n := len(s.all); n > 0 {
		s.take(plan.DeadlinePassed{})
		for _, c := range s.all[n:] {
			if _, stop := c.(plan.StopAwaiting); stop {
				t.Error("withdrawn twice")
			}
		}
	}
}

// A refusal without a code still has a reason: what failed always says why.
func TestARefusalWithoutACodeIsUnknown(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("a submit", func() bool { return request[plan.Submit](s) >= 0 })
	c := out[plan.Submit](s)
	s.take(plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Report: &plan.Report{}})
	if r := s.state.Steps[0].Reason; r == nil || r.Code != "UNKNOWN" {
		t.Errorf("the reason is %+v", r)
	}
}
