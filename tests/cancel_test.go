package tests

import (
	"testing"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/plan/lease"
	"errand/tests/stack"
)

// Law 15: a cancel at every state of a step, by the API and by Temporal's own web UI, reaches the device; what physically
// happened is what is reported; the run closes as Canceled and carries the outcome; nothing moves after it.
func TestLaw15CancelAtEveryState(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	ways := map[string]func(*stack.Plan, testing.TB){"API": (*stack.Plan).Cancel, "UI": (*stack.Plan).CancelInUI}
	for state, reach := range map[string]func(*testing.T, *stack.Stack) cancelCase{
		"BeforeSubmit":   reachBeforeSubmit,
		"Submitting":     reachSubmitting,
		"WaitingItsTurn": reachWaitingItsTurn,
		"Running":        reachRunning,
		"Blocked":        reachBlocked,
		"Verifying":      reachVerifying,
		"Unknown":        reachUnknown,
		"WaitingMidWay":  reachWaitingMidWay,
	} {
		for way, cancel := range ways {
			t.Run(state+"/"+way, func(t *testing.T) {
				t.Parallel()
				c := reach(t, s)
				cancel(c.plan, t)
				if c.then != nil {
					c.then(t)
				}
				o := wantOutcome(t, c.plan, plan.Cancelled, "canceled")
				if o.Cancel == nil {
					t.Errorf("the outcome carries no cancel: %+v", o)
				}
				if got := o.Steps[c.step].Phase; got != c.ends {
					t.Errorf("step %s ended %s, want %s", o.Steps[c.step].ID, got, c.ends)
				}
				wantEffects(t, c.robot, c.effects...)
				atRest(t, c.robot)
			})
		}
	}
}

// cancelCase is a plan in the state in which it is to be cancelled, and what must come of it.
type cancelCase struct {
	plan    *stack.Plan
	robot   *stack.Robot
	step    int // the step the cancel meets
	ends    plan.StepPhase
	effects []string
	then    func(*testing.T) // what happens after the cancel
}

// atRest fails the test if the robot still works at something.
func atRest(t *testing.T, r *stack.Robot) {
	t.Helper()
	state, err := r.Control(t).State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if state.Running != nil || len(state.Queue) > 0 {
		t.Errorf("after the outcome the robot runs %+v, and %d tasks wait", state.Running, len(state.Queue))
	}
}

func reachBeforeSubmit(t *testing.T, s *stack.Stack) cancelCase {
	r := s.Robot(t)
	r.Stop(t)
	p := s.Submit(t, r, threeStepPlan)
	p.Await(t, "the plan waits for its device", func(v plan.View) bool { return v.State == plan.WaitingDevice })
	return cancelCase{plan: p, robot: r, ends: plan.StepCancelled, then: func(t *testing.T) { r.Start(t) }}
}

// The submit's answer never comes and the task stands still: the machine has heard nothing when it is cancelled.
func reachSubmitting(t *testing.T, s *stack.Stack) cancelCase {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDropAnswer, Method: "setMoveTo"})
	r.Fault(t, robot.Fault{Kind: robot.FaultDropEvent, Event: "QUEUED", Times: -1})
	r.Fault(t, robot.Fault{Kind: robot.FaultDropEvent, Event: "STARTED", Times: -1})
	r.Fault(t, robot.Fault{Kind: robot.FaultDropEvent, Event: "RUNNING", Times: -1})
	r.Fault(t, robot.Fault{Kind: robot.FaultDropEvent, Event: "PROGRESS", Times: -1})
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Say(t, r, sentence)
	r.AwaitFault(t, hold)
	p.AwaitStep(t, "move", plan.StepSubmitting)
	return cancelCase{plan: p, robot: r, ends: plan.StepCancelled}
}

// Another plan moves the robot, so that this one waits for its turn.
func reachWaitingItsTurn(t *testing.T, s *stack.Stack) cancelCase {
	r, other, hold := moving(t, s, robot.FaultHold)
	p := s.Submit(t, r, threeStepPlan)
	awaitLease(t, s, r.ID, "it waits", func(v lease.View) bool { return len(v.Queue) == 1 && v.Queue[0].PlanID == p.ID })
	return cancelCase{plan: p, robot: r, ends: plan.StepCancelled, effects: []string{"arrived", "purified", "docked"}, then: func(t *testing.T) {
		p.Wait(t)
		r.Release(t, hold)
		wantOutcome(t, other, plan.Completed, "completed")
	}}
}

func reachRunning(t *testing.T, s *stack.Stack) cancelCase {
	r, p, _ := moving(t, s, robot.FaultHold)
	return cancelCase{plan: p, robot: r, ends: plan.StepCancelled}
}

func reachBlocked(t *testing.T, s *stack.Stack) cancelCase {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultBlock, Method: "setMoveTo", At: &half})
	p := s.Say(t, r, sentence)
	p.AwaitStep(t, "move", plan.StepBlocked)
	return cancelCase{plan: p, robot: r, ends: plan.StepCancelled}
}

// The context that would verify the move never comes: the move is done, and stays reported as done.
func reachVerifying(t *testing.T, s *stack.Stack) cancelCase {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDropAnswer, Command: wire.CommandContext, Times: -1})
	p := s.Submit(t, r, threeStepPlan)
	p.AwaitStep(t, "move", plan.StepVerifying)
	return cancelCase{plan: p, robot: r, ends: plan.StepCompleted, effects: []string{"arrived"}}
}

// The acknowledgement is lost and the device goes off the air: nobody knows. It comes back after the cancel.
func reachUnknown(t *testing.T, s *stack.Stack) cancelCase {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDropAnswer, Method: "setMoveTo"})
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	off := r.Fault(t, robot.Fault{Kind: robot.FaultOffline, Method: "setMoveTo", Event: "QUEUED"})
	p := s.Say(t, r, sentence)
	r.AwaitFault(t, hold)
	p.AwaitStep(t, "move", plan.StepUnknown)
	return cancelCase{plan: p, robot: r, ends: plan.StepCancelled, then: func(t *testing.T) { r.Release(t, off) }}
}

// The device goes off the air between two steps.
func reachWaitingMidWay(t *testing.T, s *stack.Stack) cancelCase {
	r := s.Robot(t)
	off := r.Fault(t, robot.Fault{Kind: robot.FaultHoldEvent, Method: "setMoveTo", Event: "COMPLETED"})
	p := s.Submit(t, r, threeStepPlan)
	r.AwaitFault(t, off)
	r.AwaitEffects(t, 1)
	r.Stop(t)
	return cancelCase{plan: p, robot: r, ends: plan.StepCompleted, effects: []string{"arrived"}, then: func(t *testing.T) { r.Start(t) }}
}

// threeStepPlan is the sentence's plan as a document, for where no utterance may be needed.
const threeStepPlan = `{"steps":[
	{"id":"move","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}},"output_key":"arrival"},
	{"id":"purify","action":{"capability_id":"stationary_purify","operation_id":"start"},"depends_on":["move"],"input_from":{"area_id":"arrival.result.area_id"}},
	{"id":"return","action":{"capability_id":"return_to_station","operation_id":"start"},"depends_on":["purify"]}]}`
