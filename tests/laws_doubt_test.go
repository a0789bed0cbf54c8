package tests

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// The socket is lost with the answer to a submit. The first thing a device hears when it is back is the question how that
// operation stands, not a command.
func askedBeforeAnythingElse(t *testing.T, s *stack.Stack) {
	n, p, _ := lostInSubmit(t, s)
	first := n.Next(t)
	query, err := wire.ParseStatusQuery([]byte(first.ParamsJSON))
	if first.Command != wire.CommandTaskStatus || err != nil || query.OperationID != p.ID+"/move/1" {
		t.Errorf("the first command is %s %s (%v), want the question about move's first try", first.Command, first.ParamsJSON, err)
	}
	if v := p.View(t); v.Steps[0].State != plan.StepUnknown || v.Steps[0].Reason != nil {
		t.Errorf("move is %s (%+v), want unknown, which is no failure", v.Steps[0].State, v.Steps[0].Reason)
	}
	n.Answer(t, first, `{"found":true,"operation_id":"`+p.ID+`/move/1","taskId":"t-1","status":"RUNNING","store_id":"store-1","boot_id":"b1","as_of_seq":1}`)
	p.AwaitStep(t, "move", plan.StepRunning)
	wantSubmits(t, n)
}

// lostInSubmit is a plan whose device lost its socket while it was sent the first step, and is back.
func lostInSubmit(t *testing.T, s *stack.Stack) (*stack.Node, *stack.Plan, *stack.Node) {
	t.Helper()
	key := stack.NewKey(t)
	gone := s.Node(t, key, stack.Declared())
	p := s.SubmitTo(t, gone.ID, threeStepPlan)
	gone.Invoked(t, wire.CommandSubmitTask)
	gone.Cut()
	p.AwaitStep(t, "move", plan.StepUnknown)
	return s.Node(t, key, stack.Declared()), p, gone
}

// Nobody can say how an operation ended: the device answers from a memory that is not the one it was sent to. Then its
// completion comes after all: it counts, and the next step starts once, however often it is told.
func lateTruthCountsOnce(t *testing.T, s *stack.Stack) {
	n, p, _ := lostInSubmit(t, s)
	n.Answer(t, n.Invoked(t, wire.CommandTaskStatus), `{"found":false,"store_id":"store-9"}`)
	p.Await(t, "nobody knows", func(v plan.View) bool {
		return v.Steps[0].State == plan.StepUnknown && v.Steps[0].Until > time.Now().UnixMilli()
	})
	tell(t, n, 1, "COMPLETED", p.ID+"/move/1", `"result":{"area_id":"6"}`, wire.AckApplied)
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	tell(t, n, 2, "COMPLETED", p.ID+"/move/1", `"result":{"area_id":"7"}`, wire.AckApplied)
	v := p.View(t)
	if v.Steps[0].State != plan.StepCompleted || v.Steps[1].Arguments["area_id"] != "6" || v.Steps[1].OperationID != p.ID+"/purify/1" {
		t.Errorf("move is %s, purify is %s with %v", v.Steps[0].State, v.Steps[1].OperationID, v.Steps[1].Arguments)
	}
	wantSubmits(t, n, p.ID+"/purify/1")
}

// A submit that may have come is sent again only after the device, with the same memory, said that it never came, and then
// under the same id.
func sentAgainUnderTheSameID(t *testing.T, s *stack.Stack) {
	n, p, gone := lostInSubmit(t, s)
	asked := n.Invoked(t, wire.CommandTaskStatus)
	wantSubmits(t, gone, p.ID+"/move/1")
	wantSubmits(t, n)
	n.Answer(t, asked, `{"found":false,"store_id":"store-1"}`)
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	wantSubmits(t, n, p.ID+"/move/1")
	tell(t, n, 1, "COMPLETED", p.ID+"/move/1", `"result":{"area_id":"6"}`, wire.AckApplied)
	p.AwaitStep(t, "move", plan.StepCompleted)
}

// A submit of a generation below the highest that the device has seen is refused by it, and a try of a step beside one that
// is alive too: whoever sends it, over Temporal and the gateway.
func lowerGenerationIsRefused(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	send := sender(t, s, r.ID)
	wantAnswer := func(operation string, delivery plan.Delivery, reason string) {
		t.Helper()
		got := send(operation)
		if got.Delivery != delivery || (reason != "") != (got.Report != nil) || reason != "" && got.Report.Code != reason {
			t.Errorf("%s is %s (%+v), want %s %s", operation, got.Delivery, got.Report, delivery, reason)
		}
	}
	wantAnswer("p-stale/move/2", plan.DeliveryAccepted, "")
	r.AwaitFault(t, hold)
	wantAnswer("p-stale/move/1", plan.DeliveryRefused, robot.ReasonStaleGeneration)
	wantAnswer("p-stale/move/3", plan.DeliveryRefused, robot.ReasonGenerationAlive)
	wantAnswer("p-stale/move/2", plan.DeliveryAccepted, "") // the same again
	r.Release(t, hold)
	r.AwaitEffects(t, 1)
	wantAnswer("p-stale/move/2", plan.DeliveryAccepted, "")
	wantAnswer("p-stale/move/1", plan.DeliveryRefused, robot.ReasonStaleGeneration)
	wantEffects(t, r, "arrived")
	atRest(t, r)
}

// sender returns how to send the robot a move under an operation id: a workflow of the test's own asks Temporal for it as a
// plan's does.
func sender(t *testing.T, s *stack.Stack, deviceID string) func(operation string) plan.Submitted {
	t.Helper()
	queue := "sender-" + deviceID
	w := worker.New(s.Temporal, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(sendOne, workflow.RegisterOptions{Name: "sendOne"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	sent := 0
	return func(operation string) (got plan.Submitted) {
		t.Helper()
		sent++
		ctx, cancel := context.WithTimeout(t.Context(), stack.Patience)
		defer cancel()
		run, err := s.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: fmt.Sprintf("%s-%d", queue, sent), TaskQueue: queue}, "sendOne", deviceID, operation)
		if err == nil {
			err = run.Get(ctx, &got)
		}
		if err != nil {
			t.Fatalf("send %s: %v", operation, err)
		}
		return got
	}
}

// sendOne finds the device and sends it one move.
func sendOne(ctx workflow.Context, deviceID, operation string) (plan.Submitted, error) {
	on := func(queue string) workflow.Context {
		return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: time.Minute})
	}
	var found plan.DeviceFound
	if err := workflow.ExecuteActivity(on(plan.GatewaysTaskQueue), plan.ActivityAwaitDevice, plan.AwaitDevice{DeviceID: deviceID}).Get(ctx, &found); err != nil {
		return plan.Submitted{}, err
	}
	id, err := plan.ParseOperationID(operation)
	if err != nil {
		return plan.Submitted{}, err
	}
	var got plan.Submitted
	err = workflow.ExecuteActivity(on(found.Route.TaskQueue), plan.ActivitySubmit, plan.Submit{Route: found.Route, DeviceID: deviceID,
		OperationID: operation, PlanID: id.Plan, StepID: id.Step, CapabilityID: "move_to_room", TaskMethod: "setMoveTo",
		CompletionTarget: "movement.arrived", Arguments: map[string]any{"position_name": "안방"}, TimeoutMs: 300_000, TTLMs: 60_000}).Get(ctx, &got)
	return got, err
}
