package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// staleContext is the context of a device whose map is stale, with a room that is not there any more.
const staleContext = `{"schema_version":"device_context.v1","snapshot_ts":1000,"updated_at_ms":1000,"battery":{"available":false},
	"map":{"available":true,"rooms":[{"id":"6","name":"안방"}]},"location":{"available":false},"cleaning":{"available":false},
	"movement":{"available":false},"task_manager":{"available":false},"capabilities":{"available":false},
	"freshness":{"map":{"policy":"on_change","usable":true,"stale":true}}}`

// A wish names a room, and the device's map is stale: no room of it is used, whether the map came with the wish or was read
// from the device, and the person hears that the map is not to be had. The registry names no room either.
func staleMapNamesNoRoom(t *testing.T, s *stack.Stack) {
	declared := stack.Declared()
	declared.Commands = append(declared.Commands, wire.CommandContext)
	n := s.Node(t, stack.NewKey(t), declared)
	n.Answer(t, n.Invoked(t, wire.CommandContext), staleContext) // asked on connect
	asked := s.Say(t, &stack.Robot{ID: n.ID}, "안방으로 가줘")
	n.Answer(t, n.Invoked(t, wire.CommandContext), staleContext)
	told := started(t, s, "/v1/utterances", `{"recognized_text":"안방으로 가줘","device_id":"`+n.ID+`","voice_context":{"device_context":`+staleContext+`}}`)
	for _, p := range []*stack.Plan{asked, told} {
		o := wantOutcome(t, p, plan.Failed, "failed")
		if o.Reason == nil || o.Reason.Code != "MAP_UNAVAILABLE" || len(o.Steps) != 0 || strings.Contains(o.TTSResponse, "안방") {
			t.Errorf("reason %+v, steps %+v, says %q", o.Reason, o.Steps, o.TTSResponse)
		}
	}
	wantSubmits(t, n)
	if status, answer := s.Get(t, "/v1/devices/"+n.ID); status != 200 || strings.Contains(string(answer), "안방") {
		t.Errorf("the device: %d %s", status, answer)
	}
}

// started posts a plan or a wish, and returns the plan that came of it.
func started(t *testing.T, s *stack.Stack, path, body string) *stack.Plan {
	t.Helper()
	status, answer := s.Post(t, path, body)
	var plan struct {
		ID string `json:"plan_id"`
	}
	if err := json.Unmarshal(answer, &plan); err != nil || status >= 300 {
		t.Fatalf("POST %s: %d %s (%v)", path, status, answer, err)
	}
	return s.Plan(plan.ID)
}

// The air sensor falls silent before the work: what it last saw neither confirms nor contradicts that the air was purified,
// it is on no receipt, and the person is told that it could not be checked.
func staleSensorConfirmsNothing(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultSilence, Source: "air_quality"})
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Say(t, r, sentence)
	r.AwaitFault(t, hold)
	stack.Eventually(t, "the sensor is stale", func(ctx context.Context) (bool, error) {
		seen, err := r.Control(t).Context(ctx)
		return err == nil && seen.Freshness["air_quality"].Stale, err
	})
	r.Release(t, hold)
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
	receipt := o.Steps[1].Receipt
	if receipt == nil || receipt.Verdict != plan.Unverified || receipt.ObservedPostState["air_quality"] != nil {
		t.Errorf("the receipt is %+v, want unverified and nothing of the air", receipt)
	}
	if o.Verified != 2 || !strings.Contains(o.TTSResponse, "확인하지는 못했어요") {
		t.Errorf("%d verified steps, says %q", o.Verified, o.TTSResponse)
	}
}

// Whatever a plan waits for, the API names it, says when the wait ends by itself and what the plan does then.
func everyWaitIsTold(t *testing.T, s *stack.Stack) {
	var all sync.WaitGroup
	defer all.Wait()
	event := func(t *testing.T, n *stack.Node, p *stack.Plan, name, more string) {
		n.Event(t, wire.NodeTaskEvent, taskEvent("b1-1", 1, name, p.ID+"/move/1", more))
	}
	for name, c := range map[string]struct {
		context bool // the device can be asked for its context
		sent    bool // the first step is sent to it
		then    func(*testing.T, *stack.Node, *stack.Plan)
		waits   string
		moves   []plan.Move
	}{
		"planning":   {context: true, waits: "planner", moves: []plan.Move{plan.MoveTooLate}},
		"away":       {then: func(_ *testing.T, n *stack.Node, _ *stack.Plan) { n.Cut() }, waits: "device", moves: []plan.Move{plan.MoveTooLate, plan.MoveFail}},
		"submitting": {waits: "step:move", moves: []plan.Move{plan.MoveFail}},
		"accepted":   {sent: true, waits: "step:move", moves: []plan.Move{plan.MoveAskDevice}},
		"running": {sent: true, then: func(t *testing.T, n *stack.Node, p *stack.Plan) { event(t, n, p, "STARTED", `"x":1`) },
			waits: "step:move", moves: []plan.Move{plan.MoveAskDevice}},
		"blocked": {sent: true, then: func(t *testing.T, n *stack.Node, p *stack.Plan) {
			event(t, n, p, "BLOCKED", `"reason_code":"PATH_BLOCKED"`)
		},
			waits: "answer:", moves: []plan.Move{plan.MoveNoAnswer}},
		"verifying": {context: true, sent: true, then: func(t *testing.T, n *stack.Node, p *stack.Plan) {
			event(t, n, p, "COMPLETED", `"result":{"area_id":"6"}`)
		},
			waits: "step:move", moves: []plan.Move{plan.MoveUnverified}},
		"unknown": {sent: true, then: func(t *testing.T, n *stack.Node, p *stack.Plan) {
			n.Cut()
			p.AwaitStep(t, "move", plan.StepUnknown, plan.StepAccepted)
		}, waits: "", moves: []plan.Move{plan.MoveFail, plan.MoveAskDevice}},
		"cancelling": {sent: true, then: func(t *testing.T, n *stack.Node, p *stack.Plan) {
			p.Cancel(t)
			n.Answer(t, n.Invoked(t, wire.CommandCancelTask), `{"accepted":true,"case":"cancelling","state":"CANCELLING","store_id":"store-1"}`)
		}, waits: "step:move", moves: []plan.Move{plan.MoveAskDevice, plan.MoveGiveUp}},
	} {
		beside(t, &all, name, func(t *testing.T) {
			declared := stack.Declared()
			if c.context {
				declared.Commands = append(declared.Commands, wire.CommandContext)
			}
			n := s.Node(t, stack.NewKey(t), declared)
			var p *stack.Plan
			if name == "planning" {
				p = s.Say(t, &stack.Robot{ID: n.ID}, "안방으로 가줘")
			} else {
				p = s.SubmitTo(t, n.ID, threeStepPlan)
			}
			if c.sent {
				n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
			}
			if c.then != nil {
				c.then(t, n, p)
			}
			stack.Eventually(t, "it waits as it should", func(context.Context) (bool, error) {
				v := viewOf(t, s, p)
				ok := v.Plan.WaitingFor != "" && strings.HasPrefix(v.Plan.WaitingFor, c.waits) && v.Next != nil && slices.Contains(c.moves, v.Next.Move)
				if ok && (v.Next.At <= time.Now().UnixMilli() || v.Deadline == 0) {
					t.Errorf("it is %s until %d, its deadline is %d", v.State, v.Next.At, v.Deadline)
				}
				return ok, fmt.Errorf("it is %s, waits for %q, next is %+v", v.State, v.Plan.WaitingFor, v.Next)
			})
		})
	}
}

// viewOf is a plan as the API tells it.
func viewOf(t *testing.T, s *stack.Stack, p *stack.Plan) (v plan.View) {
	t.Helper()
	status, answer := s.Get(t, "/v1/plans/"+p.ID)
	if err := json.Unmarshal(answer, &v); err != nil || status != 200 {
		t.Fatalf("plan %s: %d %s (%v)", p.ID, status, answer, err)
	}
	return v
}

// What was told as the next move is what the plan does when its time comes, though nothing else happens.
func nextMoveComes(t *testing.T, s *stack.Stack) {
	var all sync.WaitGroup
	defer all.Wait()
	for name, c := range map[string]struct {
		limit  string        // of the plan
		first  time.Duration // how long it is at first: what was not sent within it is tried with twice as much
		sent   bool          // the first step is sent to the device
		move   plan.Move
		reason string
	}{
		"too late to start": {"start_by_ms", 5 * time.Second, false, plan.MoveTooLate, "START_TOO_LATE"},
		"the deadline":      {"deadline_ms", 8 * time.Second, true, plan.MoveFail, "DEADLINE_PASSED"},
	} {
		beside(t, &all, name, func(t *testing.T) {
			for within := c.first; ; within *= 2 { // a busy machine may not look in time: then there is more of it
				told, o := toTheEnd(t, s, fmt.Sprintf(`%q:%d`, c.limit, within.Milliseconds()), c.sent)
				if o.Reason == nil || o.Reason.Code != c.reason || o.EndedAt < told.At {
					t.Fatalf("told %+v, ended at %d for %+v, want %s", told, o.EndedAt, o.Reason, c.reason)
				}
				if told.Move == c.move || within > stack.Patience {
					return
				}
			}
		})
	}
}

// toTheEnd lets a plan run into its limit, and returns the last next move it told before it did, and how it ended. The device
// does what it is told and never comes to an end by itself.
func toTheEnd(t *testing.T, s *stack.Stack, limit string, sent bool) (told plan.Next, o plan.Outcome) {
	t.Helper()
	n := s.Node(t, stack.NewKey(t), stack.Declared())
	if !sent {
		n.Cut()
	}
	p := started(t, s, "/v1/plans", `{"device_id":"`+n.ID+`",`+limit+`,`+strings.TrimPrefix(threeStepPlan, "{"))
	if sent {
		p.Await(t, "the first step is sent, or it was too late for it", func(v plan.View) bool {
			return v.Outcome != nil || len(n.Received(wire.CommandSubmitTask)) > 0
		})
		if len(n.Received(wire.CommandSubmitTask)) == 0 {
			return plan.Next{}, wantOutcome(t, p, plan.Failed, "failed")
		}
		n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	}
	p.Await(t, "the plan stops", func(v plan.View) bool {
		if v.Next != nil && v.State != plan.Cancelling {
			told = *v.Next
		}
		return v.State == plan.Cancelling || v.Outcome != nil
	})
	if sent {
		n.Answer(t, n.Invoked(t, wire.CommandCancelTask), `{"accepted":true,"case":"cancelled","state":"CANCELLED","store_id":"store-1","terminal_event":`+
			taskEvent("b1-9", 9, "CANCELLED", p.ID+"/move/1", `"x":1`)+`}`)
	}
	return told, wantOutcome(t, p, plan.Failed, "failed")
}
