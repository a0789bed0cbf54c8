package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// TestHostileDevices lets approved devices say what is not theirs to say, and what nobody would.
func TestHostileDevices(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *stack.Stack)
	}{
		{"Law06AnotherDevicesCompletion", foreignCompletion},
		{"AnotherDevicesAnswer", foreignAnswer},
		{"Law19ReusedEventID", reusedEventID},
		{"TwoSocketsOfOneIdentity", twoSockets},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s)
		})
	}
}

// An approved device reports another's operation as completed, failed and unreadable: nothing of it reaches the plan, nothing blocks.
func foreignCompletion(t *testing.T, s *stack.Stack) {
	stranger := s.Node(t, stack.NewKey(t), stack.Declared())
	r, p, hold := moving(t, s, robot.FaultHold)
	for seq, name := range []string{"COMPLETED", "FAILED", "NEVER_HEARD"} {
		ack := stranger.Event(t, wire.NodeTaskEvent, taskEvent(fmt.Sprint("b1-", seq+1), seq+1, name, p.ID+"/move/1", `"result":{"area_id":"9"}`))
		if ack.Ack != wire.AckUnmatched && ack.Ack != wire.AckRefused {
			t.Errorf("%s: %+v, want unmatched or refused", name, ack)
		}
	}
	r.Release(t, hold)
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
	for _, e := range p.View(t).Journal {
		if strings.Contains(e.Text, "another device") || strings.Contains(e.Text, "refused event") {
			t.Errorf("the plan heard of it: %+v", e)
		}
	}
}

// An open question is not answered by a device that it was not put to.
func foreignAnswer(t *testing.T, s *stack.Stack) {
	stranger := s.Node(t, stack.NewKey(t), stack.Declared())
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultFail, Method: "setStationaryPurify", At: &half, ReasonCode: "FILTER_MISSING"})
	p := s.Say(t, r, sentence)
	v := p.Await(t, "the plan asks", func(v plan.View) bool { return v.State == plan.WaitingUser && v.Question != nil })
	ack := stranger.Event(t, wire.NodeAnswer, fmt.Sprintf(`{"event_id":"b1-1","boot_id":"b1","seq":1,"question_id":%q,"choice":"retry"}`, v.Question.ID))
	if ack.Ack != wire.AckUnmatched {
		t.Errorf("ack %+v, want unmatched", ack)
	}
	p.Answer(t, v.Question.ID, "stop")
	wantOutcome(t, p, plan.Failed, "failed")
	wantEffects(t, r, "arrived")
}

// A device whose event ids repeat is still heard: the second event under an id is another event.
func reusedEventID(t *testing.T, s *stack.Stack) {
	n := s.Node(t, stack.NewKey(t), stack.Declared())
	p := s.SubmitTo(t, n.ID, moveOnly)
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	for seq, name := range []string{"BLOCKED", "COMPLETED"} {
		if ack := n.Event(t, wire.NodeTaskEvent, taskEvent("same", seq+1, name, p.ID+"/move/1", `"reason_code":"PATH_BLOCKED"`)); ack.Ack != wire.AckApplied {
			t.Errorf("%s: %+v, want applied", name, ack)
		}
	}
	wantOutcome(t, p, plan.Completed, "completed")
}

// Two processes with one identity: the newer socket is the device, and the older one is told so and decides nothing.
func twoSockets(t *testing.T, s *stack.Stack) {
	key := stack.NewKey(t)
	older := s.Node(t, key, stack.Declared())
	p := s.SubmitTo(t, older.ID, moveOnly)
	asked := older.Invoked(t, wire.CommandSubmitTask)
	newer := s.Node(t, key, stack.Declared())
	if err := <-older.Closed; websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("the older socket ended with %v, want it told that it was replaced", err)
	}
	newer.Answer(t, newer.Invoked(t, wire.CommandTaskStatus), `{"found":false,"store_id":"store-1"}`)
	if f := newer.Answer(t, asked, `{"accepted":false,"reason_code":"LIE"}`); !slices.Contains([]string{`{"ignored":true,"ok":true}`, `{"ok":true,"ignored":true}`}, string(f.Payload)) {
		t.Errorf("the older socket's command, answered on the newer one: %s, want it ignored", f.Payload)
	}
	n := newer.Invoked(t, wire.CommandSubmitTask)
	newer.Answer(t, n, accepted)
	newer.Event(t, wire.NodeTaskEvent, taskEvent("b1-1", 1, "COMPLETED", p.ID+"/move/1", `"result":{"area_id":"6"}`))
	o := wantOutcome(t, p, plan.Completed, "completed")
	if o.Steps[0].OperationID != p.ID+"/move/1" {
		t.Errorf("Law11: it ran as %s", o.Steps[0].OperationID)
	}
}

const (
	moveOnly = `{"steps":[{"id":"move","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}}}]}`
	accepted = `{"accepted":true,"taskId":"t-1","taskState":"QUEUED","taskMethod":"setMoveTo","store_id":"store-1"}`
)

func taskEvent(id string, seq int, name, operation, more string) string {
	return fmt.Sprintf(`{"event_id":%q,"boot_id":"b1","seq":%d,"event_name":%q,"operation_id":%q,"task_method":"setMoveTo",%s}`, id, seq, name, operation, more)
}
