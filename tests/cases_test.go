package tests

import (
	"testing"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// TestOnRealProcesses holds the laws and cases that need one installation, each with a robot of its own.
func TestOnRealProcesses(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *stack.Stack)
	}{
		{"CaseC01LostAcknowledgement", caseC01},
		{"CaseC03EventBeforeItsWait", caseC03},
		{"Law07DuplicatedEvents", duplicatedEvents},
		{"Law08ReorderedEvents", reorderedEvents},
		{"CaseC08NeverTold", caseC08},
		{"RefusedStep", refusedStep},
		{"Law03BindingFails", bindingFails},
		{"OfflineRobotComesBack", offlineRobot},
		{"Law15CancelBeforeTheFirstSubmit", cancelBeforeSubmit},
		{"Law15CancelMidMove", cancelMidMove},
		{"Law15CancelFromTemporal", cancelFromTemporal},
		{"CaseC06CancelBeatenByCompletion", caseC06},
		{"FailedStep", failedStep},
		{"Law20AFalseDoneIsContradicted", falseDone},
		{"Law02And18TwoStepsNeverOverlapAndEveryWaitHasAnEnd", oneAtATime},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s)
		})
	}
}

var half = 0.5

// c01: the acknowledgement is lost. The device is asked, by operation id, before anything else; one movement.
func caseC01(t *testing.T, s *stack.Stack) {
	for _, method := range []string{"setMoveTo", "setStationaryPurify"} {
		r := s.Robot(t)
		r.Fault(t, robot.Fault{Kind: robot.FaultDropAnswer, Method: method})
		wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
		wantEffects(t, r, "arrived", "purified", "docked")
	}
}

// c03: the result comes before the submit's own answer.
func caseC03(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDelayAnswer, Method: "setMoveTo"})
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}

func duplicatedEvents(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDuplicateEvent, Times: -1})
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}

func reorderedEvents(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultReorderEvent, Event: "STARTED", Times: -1})
	r.Fault(t, robot.Fault{Kind: robot.FaultReorderEvent, Event: "QUEUED", Times: -1})
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}

// c08: the completion is never told, since the socket was cut and the event lost; only asking brings it to light.
// The acknowledgement is dropped too, so that the question comes at once and not after the task's own timeouts.
func caseC08(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDropAnswer, Method: "setMoveTo"})
	for _, event := range []string{"QUEUED", "STARTED", "RUNNING", "PROGRESS", "COMPLETED"} {
		r.Fault(t, robot.Fault{Kind: robot.FaultDropEvent, Method: "setMoveTo", Event: event, Times: -1})
	}
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}

func refusedStep(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultRefuse, Method: "setStationaryPurify", ReasonCode: "MOVE_POLICY_NOT_ALLOWED"})
	p := s.Say(t, r, sentence)
	o := wantOutcome(t, p, plan.Failed, "failed")
	wantEffects(t, r, "arrived")
	if o.Reason == nil || o.Reason.Code != "MOVE_POLICY_NOT_ALLOWED" {
		t.Errorf("reason %+v", o.Reason)
	}
	if o.Steps[0].Phase != plan.StepCompleted || o.Steps[1].Phase != plan.StepFailed || o.Steps[2].Phase != plan.StepSkipped {
		t.Errorf("steps ended %s, %s, %s; want completed, failed, skipped", o.Steps[0].Phase, o.Steps[1].Phase, o.Steps[2].Phase)
	}
}

// Law 3: a result without the field that is to be bound submits nothing, and the plan says so.
func bindingFails(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultOmitResult, Method: "setMoveTo"})
	o := wantOutcome(t, s.Say(t, r, sentence), plan.Failed, "failed")
	wantEffects(t, r, "arrived")
	if o.Reason == nil || o.Reason.Code != "STEP_RESULT_BINDING_FAILED" {
		t.Errorf("reason %+v", o.Reason)
	}
}

func offlineRobot(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Stop(t)
	p := s.Say(t, r, sentence)
	p.Await(t, "the plan waits for its device", func(v plan.View) bool { return v.State == plan.WaitingDevice })
	r.Start(t)
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}

func cancelBeforeSubmit(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Stop(t)
	p := s.Say(t, r, sentence)
	p.Await(t, "the plan waits for its device", func(v plan.View) bool { return v.State == plan.WaitingDevice })
	p.Cancel(t)
	o := wantOutcome(t, p, plan.Cancelled, "canceled")
	r.Start(t)
	wantEffects(t, r)
	if o.Cancel == nil || o.Cancel.Source != "api" {
		t.Errorf("the cancel on record is %+v", o.Cancel)
	}
}

// moving starts a plan and returns once the robot stands still half way to the first room.
func moving(t *testing.T, s *stack.Stack, kind robot.FaultKind) (*stack.Robot, *stack.Plan, string) {
	t.Helper()
	r := s.Robot(t)
	hold := r.Fault(t, robot.Fault{Kind: kind, Method: "setMoveTo", At: &half})
	p := s.Say(t, r, sentence)
	r.AwaitFault(t, hold)
	p.AwaitStep(t, "move", plan.StepRunning, plan.StepAccepted)
	return r, p, hold
}

func cancelMidMove(t *testing.T, s *stack.Stack) {
	r, p, _ := moving(t, s, robot.FaultHold)
	p.Cancel(t)
	o := wantOutcome(t, p, plan.Cancelled, "canceled")
	wantEffects(t, r)
	if o.Steps[0].Phase != plan.StepCancelled || o.Steps[0].EventName != "CANCELLED" {
		t.Errorf("move ended %s by %s, want cancelled by the robot's word", o.Steps[0].Phase, o.Steps[0].EventName)
	}
	if state, err := r.Control(t).State(t.Context()); err != nil || state.Running != nil {
		t.Errorf("after the outcome the robot runs %+v (%v)", state.Running, err)
	}
}

func cancelFromTemporal(t *testing.T, s *stack.Stack) {
	r, p, _ := moving(t, s, robot.FaultHold)
	if err := s.Temporal.CancelWorkflow(t.Context(), p.ID, ""); err != nil {
		t.Fatal(err)
	}
	o := wantOutcome(t, p, plan.Cancelled, "canceled")
	wantEffects(t, r)
	if o.Cancel == nil || o.Cancel.Source != "temporal" {
		t.Errorf("the cancel on record is %+v", o.Cancel)
	}
}

// c06: the device takes the cancel and goes on. Reported as completed, with the cancel on record; nothing follows.
func caseC06(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDeaf, Method: "setMoveTo"})
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Say(t, r, sentence)
	r.AwaitFault(t, hold)
	p.Cancel(t)
	p.Cancel(t) // c05: a second cancel is a no-op
	p.Await(t, "the plan is being cancelled", func(v plan.View) bool { return v.State == plan.Cancelling })
	r.Release(t, hold)
	o := wantOutcome(t, p, plan.Cancelled, "canceled")
	wantEffects(t, r, "arrived")
	if o.Steps[0].Phase != plan.StepCompleted || o.Steps[1].Phase != plan.StepCancelled {
		t.Errorf("steps ended %s, %s; want completed, cancelled", o.Steps[0].Phase, o.Steps[1].Phase)
	}
}

// A failed step asks, since the reason table says so; the answer decides, and a retry is a generation of its own.
func failedStep(t *testing.T, s *stack.Stack) {
	for choice, want := range map[string]plan.Phase{"retry": plan.Completed, "stop": plan.Failed} {
		r := s.Robot(t)
		r.Fault(t, robot.Fault{Kind: robot.FaultFail, Method: "setStationaryPurify", At: &half, ReasonCode: "FILTER_MISSING"})
		p := s.Say(t, r, sentence)
		v := p.Await(t, "the plan asks", func(v plan.View) bool { return v.State == plan.WaitingUser && v.Question != nil })
		if v.Question.Text == "" || len(v.Question.Choices) != 2 {
			t.Errorf("the question is %+v", v.Question)
		}
		p.Answer(t, v.Question.ID, choice)
		o, _ := p.Wait(t)
		if o.State != want {
			t.Fatalf("after %s the plan ended %s", choice, o.State)
		}
		if choice == "retry" {
			wantEffects(t, r, "arrived", "purified", "docked")
			if got := o.Steps[1].OperationID; got != p.ID+"/purify/2" {
				t.Errorf("Law11: the retry ran as %s", got)
			}
		} else {
			wantEffects(t, r, "arrived")
		}
	}
}

// Law 20: a robot that claims to have arrived, and has not, is not believed: its own context says otherwise.
func falseDone(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultBoast, Method: "setMoveTo"})
	o := wantOutcome(t, s.Say(t, r, sentence), plan.NotAsExpected, "failed")
	wantEffects(t, r)
	if o.Reason == nil || o.Reason.Code != "VERIFY_CONTRADICTED" || o.Verified != 0 || o.Steps[0].Phase != plan.StepContradicted {
		t.Errorf("reason %+v, %d verified, move %s; want contradicted, none, failed", o.Reason, o.Verified, o.Steps[0].Phase)
	}
	if got := o.Steps[0].Receipt; got == nil || got.Verdict != plan.Contradicted || got.ObservedPostState["location"] == nil {
		t.Errorf("the receipt is %+v, want contradicted by the observed location", got)
	}
}

// Law 2: while one step is in flight no other is; law 18: what waits says for what, and until when.
func oneAtATime(t *testing.T, s *stack.Stack) {
	r, p, hold := moving(t, s, robot.FaultHold)
	v := p.View(t)
	if v.Plan.WaitingFor != "step:move" || v.Steps[0].Until == 0 || v.Deadline == 0 {
		t.Errorf("the plan waits for %q until %d, its deadline is %d", v.Plan.WaitingFor, v.Steps[0].Until, v.Deadline)
	}
	for _, st := range v.Steps[1:] {
		if st.State != plan.StepPending || st.OperationID != "" {
			t.Errorf("while the move runs, %s is %s (%s)", st.ID, st.State, st.OperationID)
		}
	}
	r.Release(t, hold)
	wantOutcome(t, p, plan.Completed, "completed")
	effects := r.Ledger(t)
	for i := 1; i < len(effects); i++ {
		if effects[i].At < effects[i-1].At {
			t.Errorf("Law01: %s before %s", effects[i].Kind, effects[i-1].Kind)
		}
	}
}
