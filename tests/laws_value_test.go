package tests

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"errand/catalog/load"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// The first border of law 3: the room's id is not what the contract of a move gives away. It is absent then, nothing takes
// its place (not the room's name, which is given away, and not the whole result), and purify is not sent.
func whatIsNotGivenAway(t *testing.T, s *stack.Stack) {
	var all sync.WaitGroup
	defer all.Wait()
	for name, area := range map[string]string{
		"a number": `"area_id":6,`, "nothing": `"area_id":null,`, "an object": `"area_id":{"area_id":"6"},`, "no text": `"area_id":"",`,
		"another name": `"Area_ID":"6","area":"6",`, "absent": ``,
	} {
		beside(t, &all, name, func(t *testing.T) {
			n, p := taken(t, s, threeStepPlan)
			tell(t, n, 1, "COMPLETED", p.ID+"/move/1", `"result":{`+area+`"current_room_name":"안방"}`, wire.AckApplied)
			o := wantBindingFailed(t, n, p)
			if got := o.Steps[0].Result; len(got) != 1 || got["current_room_name"] != "안방" {
				t.Errorf("of move's result %v is kept, want the name of the room alone", got)
			}
		})
	}
}

// wantBindingFailed fails the test unless the plan ended since purify could not be bound, and only move was ever sent.
func wantBindingFailed(t *testing.T, n *stack.Node, p *stack.Plan) plan.Outcome {
	t.Helper()
	v := p.Await(t, "the plan is over, or goes on", func(v plan.View) bool { return v.Outcome != nil || v.Steps[1].OperationID != "" })
	if v.Outcome == nil {
		t.Fatalf("purify is %s with %v", v.Steps[1].State, v.Steps[1].Arguments)
	}
	o := wantOutcome(t, p, plan.Failed, "failed")
	wantSubmits(t, n, p.ID+"/move/1")
	if o.Reason == nil || o.Reason.Code != "STEP_RESULT_BINDING_FAILED" || o.Reason.Params["slot"] != "area_id" || o.Steps[1].OperationID != "" {
		t.Errorf("reason %+v, purify %+v", o.Reason, o.Steps[1])
	}
	return o
}

// The second border: the room's id is what a move gives away, and purify's slot, by this plan's own catalog, takes other
// values only. It is kept, and not sent.
func whatIsNotTaken(t *testing.T, s *stack.Stack) {
	n := s.Node(t, stack.NewKey(t), stack.Declared())
	doc, err := plan.Decode([]byte(threeStepPlan))
	if err != nil {
		t.Fatal(err)
	}
	slice := load.Builtin().Whole()
	purify, _ := slice.Capability("stationary_purify")
	slot, _ := purify.Slot("area_id")
	slot.Schema.Enum = []string{"7", "8"}
	start := plan.Start{PlanID: "p-" + n.ID[:16], DeviceID: n.ID, AskedAt: time.Now().UnixMilli(), Document: &doc, Slice: &slice}
	ctx, cancel := context.WithTimeout(t.Context(), stack.Patience)
	defer cancel()
	if _, err := s.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: start.PlanID, TaskQueue: plan.TaskQueue}, plan.WorkflowType, start); err != nil {
		t.Fatal(err)
	}
	p := s.Plan(start.PlanID)
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	tell(t, n, 1, "COMPLETED", p.ID+"/move/1", `"result":{"area_id":"6"}`, wire.AckApplied)
	o := wantBindingFailed(t, n, p)
	if o.Steps[0].Result["area_id"] != "6" || !strings.Contains(o.Reason.Detail, "is not one of 7, 8") {
		t.Errorf("of move's result %v is kept; the reason is %q", o.Steps[0].Result, o.Reason.Detail)
	}
}

// What could never be bound is refused before anything begins, with the path of the fault: a field that is not given away, a
// slot that is not there, a source that need not have come before, a whole result where it is not given away.
func gateOfBindings(t *testing.T, s *stack.Stack) {
	n := s.Node(t, stack.NewKey(t), stack.Declared())
	for name, c := range map[string]struct{ was, is, code string }{
		"an unlisted field":  {"arrival.result.area_id", "arrival.result.raw_pose", "path_outside_contract"},
		"an undeclared slot": {`"input_from":{"area_id"`, `"input_from":{"speed"`, "undeclared_slot"},
		"no dependency":      {`"depends_on":["move"],`, ``, "not_a_dependency"},
		"a whole result":     {"arrival.result.area_id", "arrival.result", "wrong_type"},
		"no path":            {"arrival.result.area_id", "arrival.result.area_id.x", "ill_formed_path"},
	} {
		status, answer := s.Post(t, "/v1/plans", `{"device_id":"`+n.ID+`",`+strings.TrimPrefix(strings.Replace(threeStepPlan, c.was, c.is, 1), "{"))
		if status < 400 || status >= 500 || !strings.Contains(string(answer), c.code) || !strings.Contains(string(answer), "steps[1].input_from.") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	wantSubmits(t, n)
}
