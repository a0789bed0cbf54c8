package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// Accepted, queued, started and running are not completed, and neither is the completion target or a parent's name.
func onlyItsCompletion(t *testing.T, s *stack.Stack) {
	n, p := taken(t, s, threeStepPlan)
	move := p.ID + "/move/1"
	for seq, e := range []struct{ name, ack string }{
		{"QUEUED", wire.AckApplied}, {"STARTED", wire.AckApplied}, {"RUNNING", wire.AckApplied}, {"PROGRESS", wire.AckApplied},
		{"movement.arrived", wire.AckRefused}, {"WORKFLOW_COMPLETED", wire.AckApplied},
	} {
		tell(t, n, seq+1, e.name, move, `"progress":1,"stage":"movement.arrived"`, e.ack)
		if e.ack == wire.AckRefused { // it may have been a completion: the plan asks
			n.Answer(t, n.Invoked(t, wire.CommandTaskStatus), `{"found":true,"operation_id":"`+move+`","status":"RUNNING","store_id":"store-1","boot_id":"b1","as_of_seq":5}`)
		}
		v := p.View(t)
		if len(v.Plan.CompletedStepIDs) != 0 || v.Steps[1].OperationID != "" {
			t.Errorf("after %s move is %s, purify is %s (%s)", e.name, v.Steps[0].State, v.Steps[1].State, v.Steps[1].OperationID)
		}
	}
	wantSubmits(t, n, move)
	tell(t, n, 9, "COMPLETED", move, `"result":{"area_id":"6"}`, wire.AckApplied)
	n.Invoked(t, wire.CommandSubmitTask)
	wantSubmits(t, n, move, p.ID+"/purify/1")
}

// The first try failed and a second is under way: whatever is told of the first is on record as such, and changes nothing
// of the second. An event that names no attempt is not taken for the second's either: the device is asked.
func olderTrysCompletion(t *testing.T, s *stack.Stack) {
	n, p := taken(t, s, threeStepPlan)
	first, second := p.ID+"/move/1", p.ID+"/move/2"
	tell(t, n, 1, "FAILED", first, `"reason_code":"FILTER_MISSING"`, wire.AckApplied)
	v := p.Await(t, "the plan asks", func(v plan.View) bool { return v.Question != nil })
	p.Answer(t, v.Question.ID, "retry")
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), strings.Replace(accepted, "t-1", "t-2", 1))
	tell(t, n, 2, "STARTED", second, `"task_id":"t-2"`, wire.AckApplied)
	const blocked = `"task_id":"t-1","reason_code":"PATH_BLOCKED","requires_cloud_decision":true`
	for i, e := range []struct{ name, more string }{
		{"BLOCKED", blocked}, {"FAILED", blocked}, {"CANCELLED", `"task_id":"t-1"`}, {"COMPLETED", `"task_id":"t-1","result":{"area_id":"9"}`},
	} {
		tell(t, n, 3+i, e.name, first, e.more, wire.AckApplied)
		v = p.View(t)
		wantOnRecord(t, v, fmt.Sprintf("event b1-%d (%s) is about the superseded operation %s", 3+i, e.name, first))
		if v.Steps[0].State != plan.StepRunning || v.Steps[0].OperationID != second || v.Steps[0].Reason != nil || v.Question != nil || v.Steps[1].OperationID != "" {
			t.Errorf("after the first try's %s move is %s as %s (%+v), purify is %s", e.name, v.Steps[0].State, v.Steps[0].OperationID, v.Steps[0].Reason, v.Steps[1].State)
		}
	}
	nameless := strings.Replace(taskEvent("b1-7", 7, "COMPLETED", second,
		`"cloud_workflow_id":"`+p.ID+`","cloud_plan_id":"`+p.ID+`","cloud_step_id":"move","task_id":"t-1","result":{"area_id":"9"}`), `"operation_id":"`+second+`",`, "", 1)
	if ack := n.Event(t, wire.NodeTaskEvent, nameless); ack.Ack != wire.AckApplied {
		t.Errorf("%s is acknowledged as %+v", nameless, ack)
	}
	n.Answer(t, n.Invoked(t, wire.CommandTaskStatus), `{"found":true,"operation_id":"`+second+`","taskId":"t-2","status":"RUNNING","store_id":"store-1","boot_id":"b1","as_of_seq":7}`)
	v = p.AwaitStep(t, "move", plan.StepRunning)
	wantOnRecord(t, v, "event b1-7 (COMPLETED) matches no operation of this plan")
	tell(t, n, 8, "COMPLETED", second, `"result":{"area_id":"6"}`, wire.AckApplied)
	if v := p.AwaitStep(t, "move", plan.StepCompleted); v.Plan.StepResults["move"].Result["area_id"] != "6" {
		t.Errorf("move's result is %+v, want the second try's", v.Plan.StepResults["move"])
	}
}

// wantOnRecord fails the test unless an entry of the plan's journal says so.
func wantOnRecord(t *testing.T, v plan.View, text string) {
	t.Helper()
	if !slices.ContainsFunc(v.Journal, func(e plan.Entry) bool { return e.Text == text }) {
		t.Errorf("%q is not on record: %+v", text, v.Journal)
	}
}

// The acknowledgement of a completion is lost with the socket; the device tells it again over the next one, under the same
// and, having lost count, under another number. One signal of the first is in the history, and the next step goes once.
func twiceAcrossAReconnect(t *testing.T, s *stack.Stack) {
	key := stack.NewKey(t)
	n := s.Node(t, key, stack.Declared())
	p := s.SubmitTo(t, n.ID, threeStepPlan)
	move := p.ID + "/move/1"
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	tell(t, n, 1, "COMPLETED", move, `"result":{"area_id":"6"}`, wire.AckApplied)
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	n.Cut()
	n = s.Node(t, key, stack.Declared())
	tell(t, n, 1, "COMPLETED", move, `"result":{"area_id":"6"}`, wire.AckApplied)
	tell(t, n, 2, "COMPLETED", move, `"result":{"area_id":"7"}`, wire.AckApplied)
	v := p.View(t)
	if v.Steps[0].State != plan.StepCompleted || v.Plan.StepResults["move"].Result["area_id"] != "6" || v.Steps[1].Arguments["area_id"] != "6" {
		t.Errorf("move is %s with %+v, purify has %v", v.Steps[0].State, v.Plan.StepResults["move"], v.Steps[1].Arguments)
	}
	if got := strings.Count(signalsOf(t, s, p.ID), `"b1-1"`); got != 1 {
		t.Errorf("the event is %d times in the history, want once", got)
	}
	wantSubmits(t, n)
}

// A plan is reset in Temporal to its beginning: while its second step runs, while the robot is on its way back, and when it is
// over. Everything the robot told is told to the new run again, and each submit is sent again: nothing moves twice, and
// nothing that was done is called into question by what was done since.
func twiceAcrossAReset(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDuplicateEvent, Times: -1})
	working := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setStationaryPurify", At: &half})
	returning := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setReturnToStation", At: &half})
	p := s.Say(t, r, sentence)
	for _, held := range []struct{ step, fault string }{{"purify", working}, {"return", returning}} {
		r.AwaitFault(t, held.fault)
		p.AwaitStep(t, held.step, plan.StepRunning)
		reset(t, s, p)
		p.AwaitStep(t, held.step, plan.StepRunning, plan.StepAccepted)
		r.Release(t, held.fault)
	}
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
	reset(t, s, p)
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
	for _, step := range o.Steps {
		if step.OperationID != p.ID+"/"+step.ID+"/1" {
			t.Errorf("after three resets %s ran as %s", step.ID, step.OperationID)
		}
	}
}

// reset resets a plan to its first task, as an operator does in Temporal: a new run from there, the old one is terminated.
func reset(t *testing.T, s *stack.Stack, p *stack.Plan) {
	t.Helper()
	first := int64(0)
	for _, event := range historyOf(t, s.Temporal, p.ID).Events {
		if event.EventType == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			first = event.EventId
			break
		}
	}
	_, err := s.Temporal.ResetWorkflowExecution(t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &common.WorkflowExecution{WorkflowId: p.ID},
		Reason: "the test says so", WorkflowTaskFinishEventId: first, RequestId: fmt.Sprint("reset-", p.ID, "-", first, t.Name(), len(historyOf(t, s.Temporal, p.ID).Events))})
	if err != nil {
		t.Fatalf("reset %s to event %d: %v", p.ID, first, err)
	}
}

// Everything is told twice, and in the middle of it the worker is killed and started again.
func twiceAcrossARestart(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultDuplicateEvent, Times: -1})
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Say(t, r, sentence)
	r.AwaitFault(t, hold)
	p.AwaitStep(t, "move", plan.StepRunning)
	s.WorkerProc.Kill(t)
	r.Release(t, hold)
	r.AwaitEffects(t, 1)
	s.WorkerProc.Start(t)
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
	if o.Steps[1].OperationID != p.ID+"/purify/1" {
		t.Errorf("purify ran as %s", o.Steps[1].OperationID)
	}
}

// What a device says counts by its boots' order and its numbers: an earlier boot's word, or a lower number's, changes nothing
// that a later one said, whatever the timestamps are and whenever it comes.
func byBootAndNumber(t *testing.T, s *stack.Stack) {
	key, declared := stack.NewKey(t), stack.Declared()
	declared.Errand.Boots = []string{"b0", "b1"}
	n := s.Node(t, key, declared)
	p := s.SubmitTo(t, n.ID, threeStepPlan)
	move := p.ID + "/move/1"
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	say := func(boot string, seq int, name string, timestamp int64, want plan.StepPhase) {
		t.Helper()
		e := strings.Replace(taskEvent(fmt.Sprint(boot, "-", seq), seq, name, move,
			fmt.Sprintf(`"timestamp":%d,"reason_code":"PATH_BLOCKED","requires_cloud_decision":false`, timestamp)), `"b1"`, `"`+boot+`"`, 1)
		n.Event(t, wire.NodeTaskEvent, e)
		if got := p.View(t).Steps[0].State; got != want {
			t.Errorf("after %s %d (%s, timestamp %d) move is %s, want %s", boot, seq, name, timestamp, got, want)
		}
	}
	say("b1", 10, "BLOCKED", 1_000, plan.StepBlocked)
	say("b1", 9, "RUNNING", 2_000, plan.StepBlocked)
	say("b0", 99, "RUNNING", 3_000, plan.StepBlocked)
	say("b1", 11, "RUNNING", 500, plan.StepRunning)
	say("b1", 12, "QUEUED", 4_000, plan.StepRunning)
	p.Cancel(t)
}
