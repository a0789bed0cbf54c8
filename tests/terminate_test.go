package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/starter/api"
	"errand/tests/stack"
)

// TestTerminated terminates plans in Temporal, at every moment of their first step. Such a plan says no last word and cancels
// nothing. The robot ends what it does by its own timeouts, what it says then is listed as stray, an old submit does not move
// it, and the next plan finds a sane device.
func TestTerminated(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, stack.Option("ERRAND_CATALOG="+hastyCatalog(t)))
	var all sync.WaitGroup
	defer all.Wait()
	for name, run := range map[string]func(*testing.T, *stack.Stack){
		"Law19MidMoveTheRobotsTimeoutEndsIt":   terminatedMidMove,
		"Law11And19MidMoveTheRobotArrives":     terminatedBeforeArrival,
		"Law18ItsTTLPassesInTheQueue":          terminatedQueued,
		"Law18TheSubmitCameTooLate":            terminatedInTheNetwork,
		"Law18TheSubmitWaitsInASleepersSocket": terminatedInTheSocket,
		"TheRobotIsAway":                       terminatedWhileAway,
	} {
		beside(t, &all, name, func(t *testing.T) { run(t, s) })
	}
}

// terminatedPlan is a plan that is terminated, and its robot.
type terminatedPlan struct {
	*stack.Plan
	robot *stack.Robot
	stack *stack.Stack
}

// awaitStray waits until an event of the plan's move is listed as stray, and returns it.
func (p terminatedPlan) awaitStray(t *testing.T, name string) (found api.Stray) {
	t.Helper()
	stack.Eventually(t, name+" is listed as stray", func(context.Context) (bool, error) {
		list := strays(t, p.stack, p.robot.ID)
		for _, e := range list {
			if e.EventName == name && e.OperationID == p.ID+"/move/1" {
				found = e
				return true, nil
			}
		}
		return false, fmt.Errorf("listed are %+v", list)
	})
	if found.Ack != wire.AckLate || !strings.Contains(found.Reason, p.ID) {
		t.Errorf("%s is listed as %+v, want late, and why", name, found)
	}
	return found
}

// wantSane lets the next plan have its turn: it completes, with one effect for each step. The terminated one had the given
// effects, and has no others after that.
func (p terminatedPlan) wantSane(t *testing.T, effects ...string) {
	t.Helper()
	next := p.stack.Say(t, p.robot, sentence)
	wantOutcome(t, next, plan.Completed, "completed")
	atRest(t, p.robot)
	of := map[string][]string{}
	for _, e := range p.robot.Ledger(t) {
		id, err := plan.ParseOperationID(e.OperationID)
		if err != nil {
			t.Fatal(err)
		}
		of[id.Plan] = append(of[id.Plan], e.Kind)
	}
	if got := fmt.Sprint(of[p.ID]); got != fmt.Sprint(effects) {
		t.Errorf("the terminated plan had the effects %v, want %v", of[p.ID], effects)
	}
	if got := fmt.Sprint(of[next.ID]); got != "[arrived purified docked]" {
		t.Errorf("the next plan had the effects %v", of[next.ID])
	}
	for _, m := range p.robot.Motions(t) {
		if m.EndedAt == 0 {
			t.Errorf("the motion %+v has no end", m)
		}
	}
}

// leave terminates a plan once its robot is as the test wants it.
func leave(t *testing.T, s *stack.Stack, r *stack.Robot, p *stack.Plan) terminatedPlan {
	t.Helper()
	terminate(t, s, p)
	return terminatedPlan{p, r, s}
}

// The robot hangs half way and takes no cancel: only the run timeout that came with the submit ends its task.
func terminatedMidMove(t *testing.T, s *stack.Stack) {
	r, p, _ := moving(t, s, robot.FaultHang)
	dead := leave(t, s, r, p)
	dead.awaitStray(t, "TIMED_OUT")
	atRest(t, r)
	dead.wantSane(t)
}

// The robot arrives by itself: that stays one effect, and is listed.
func terminatedBeforeArrival(t *testing.T, s *stack.Stack) {
	r, p, hold := moving(t, s, robot.FaultHold)
	dead := leave(t, s, r, p)
	r.Release(t, hold)
	dead.awaitStray(t, "COMPLETED")
	dead.wantSane(t, "arrived")
}

// The move waits in the robot's queue, behind something else, for longer than its ttl.
func terminatedQueued(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	other := "p-other-" + r.ID[:8]
	if got := sender(t, s, r.ID)(other + "/move/1"); got.Delivery != plan.DeliveryAccepted {
		t.Fatalf("%+v", got)
	}
	r.AwaitFault(t, hold)
	p := s.Submit(t, r, threeStepPlan)
	p.AwaitStep(t, "move", plan.StepAccepted)
	dead := leave(t, s, r, p)
	dead.awaitStray(t, "FAILED") // its ttl passed
	r.Release(t, hold)
	r.AwaitEffects(t, 1)
	dead.wantSane(t)
}

// Nothing was sent: the robot is away. When it is back nobody sends it anything.
func terminatedWhileAway(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Stop(t)
	p := s.Say(t, r, sentence)
	p.Await(t, "the plan waits for its device", func(v plan.View) bool { return v.State == plan.WaitingDevice })
	dead := leave(t, s, r, p)
	r.Start(t)
	dead.wantSane(t)
}

// ttl is how long the hasty catalog lets a submit wait.
const ttl = 4 * time.Second

// The submit is under way for longer than its ttl.
func terminatedInTheNetwork(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	late := r.Fault(t, robot.Fault{Kind: robot.FaultLateRequest, Method: "setMoveTo", DelayMs: (ttl + 2*time.Second).Milliseconds()})
	p := s.Say(t, r, sentence)
	r.AwaitFault(t, late)
	dead := leave(t, s, r, p)
	pause(ttl + 3*time.Second) // here time itself is the matter
	dead.wantSane(t)
}

// The robot sleeps when the submit is sent, and wakes when its ttl is over: the submit waits in its socket.
func terminatedInTheSocket(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Control(t)
	r.Freeze(t)
	p := s.Submit(t, r, threeStepPlan)
	stack.Eventually(t, "the gateway sends it", func(ctx context.Context) (bool, error) {
		d, err := s.Temporal.WorkflowService().DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
			Namespace: "default", Execution: &common.WorkflowExecution{WorkflowId: p.ID}})
		return slices.ContainsFunc(d.GetPendingActivities(), func(a *workflow.PendingActivityInfo) bool {
			return a.ActivityType.Name == plan.ActivitySubmit && a.State == enums.PENDING_ACTIVITY_STATE_STARTED
		}), err
	})
	dead := leave(t, s, r, p)
	pause(ttl + time.Second)
	r.Thaw(t)
	dead.wantSane(t)
}
