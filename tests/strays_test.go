package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/starter/api"
	"errand/tests/stack"
)

// Law 19: what reaches no plan is on record, and can be looked up with what was done about it.
func TestLaw19StrayEventsAreListed(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	t.Run("Late", func(t *testing.T) { lateCompletion(t, s) })
	t.Run("UnmatchedAndRefused", func(t *testing.T) { unmatchedAndRefused(t, s) })
}

// The completion is held back until its plan was cancelled and is over: the plan learned of it by asking, and the event
// itself comes late. It changes nothing, and is found in the list.
func lateCompletion(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHoldEvent, Method: "setMoveTo", Event: "COMPLETED"})
	p := s.Say(t, r, sentence)
	r.AwaitFault(t, hold)
	if got := strays(t, s, r.ID); len(got) != 0 {
		t.Fatalf("before anything went astray there are %+v", got)
	}
	p.Cancel(t)
	o := wantOutcome(t, p, plan.Cancelled, "canceled")
	r.Release(t, hold)
	got := awaitStrays(t, s, r.ID, 1)[0]
	if got.EventName != "COMPLETED" || got.OperationID != p.ID+"/move/1" || got.Ack != wire.AckLate || got.Reason != "plan "+p.ID+" is over" ||
		got.EventID == "" || got.ReceivedAt.IsZero() {
		t.Errorf("the late completion is listed as %+v", got)
	}
	if o.Steps[0].Phase != plan.StepCompleted || o.Steps[1].Phase != plan.StepCancelled {
		t.Errorf("steps ended %s, %s; want completed, cancelled", o.Steps[0].Phase, o.Steps[1].Phase)
	}
	wantEffects(t, r, "arrived")
}

// A device that talks of no plan, or nonsense, and says it again after it lost the acknowledgement.
func unmatchedAndRefused(t *testing.T, s *stack.Stack) {
	n := s.Node(t, stack.NewKey(t), stack.Declared())
	events := []struct{ event, payload, ack string }{
		{wire.NodeTaskEvent, `{"event_id":"b1-1","boot_id":"b1","seq":1,"event_name":"COMPLETED","task_id":"t-1","task_method":"setMoveTo","operation_id":"p-nobody/move/1"}`, wire.AckUnmatched},
		{wire.NodeTaskEvent, `{"event_id":"b1-2","boot_id":"b1","seq":2,"event_name":"COMPLETED","eventName":"FAILED","task_id":"t-1","task_method":"setMoveTo"}`, wire.AckRefused},
		{wire.NodeObservation, `{"event_id":"b1-3","boot_id":"b1","seq":3,"kind":"person","place":"거실"}`, wire.AckUnmatched},
	}
	for range 2 {
		for _, e := range events {
			if ack := n.Event(t, e.event, e.payload); ack.Ack != e.ack {
				t.Errorf("%s was acknowledged as %+v, want %s", e.payload, ack, e.ack)
			}
		}
	}
	got := awaitStrays(t, s, n.ID, len(events))
	for i, want := range []string{"b1-3 semantic.observation unmatched", "b1-2 COMPLETED refused", "b1-1 COMPLETED unmatched"} {
		if line := fmt.Sprint(got[i].EventID, " ", got[i].EventName, " ", got[i].Ack); line != want || got[i].Reason == "" {
			t.Errorf("line %d is %q (%s), want %q and a reason", i, line, got[i].Reason, want)
		}
	}
}

func strays(t *testing.T, s *stack.Stack, device string) []api.Stray {
	t.Helper()
	status, answer := s.Get(t, "/v1/devices/"+device+"/strays")
	var list api.StrayList
	if err := json.Unmarshal(answer, &list); err != nil || status != 200 || list.DeviceID != device {
		t.Fatalf("strays of %s: %d %v %s", device, status, err, answer)
	}
	return list.Events
}

// awaitStrays waits until there are n, and fails if there are more.
func awaitStrays(t *testing.T, s *stack.Stack, device string, n int) (found []api.Stray) {
	t.Helper()
	stack.Eventually(t, fmt.Sprintf("%d stray events", n), func(context.Context) (bool, error) {
		found = strays(t, s, device)
		return len(found) >= n, fmt.Errorf("there are %d", len(found))
	})
	if len(found) > n {
		t.Errorf("there are %d stray events, want %d: %+v", len(found), n, found)
	}
	return found
}
