package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// event is a task event of operation p-1/move/1; more adds fields or replaces some.
func event(seq int, name, more string) string {
	fields := map[string]any{"event_id": fmt.Sprint("b1-", seq), "boot_id": "b1", "seq": seq, "event_name": name, "task_id": "t-7",
		"task_method": "setMoveTo", "operation_id": operation}
	if err := json.Unmarshal([]byte("{"+more+"}"), &fields); err != nil {
		panic(err) // the test's own text
	}
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(body)
}

func (h *home) strays(n *node) []registry.StrayEvent {
	h.t.Helper()
	all, err := h.registry.StrayEvents(h.t.Context(), n.id, 10)
	must(h.t, err)
	return all
}

// Everything of an event reaches its plan, under the credential's device id and the registry's epoch.
func TestATerminalEventBecomesOneSignal(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	ack := n.ack(wire.NodeTaskEvent, event(4, "WORKFLOW_STEP_FAILED", `"device_id":"somebody-else","cloud_workflow_id":"p-1","cloud_plan_id":"p-1","cloud_step_id":"move",
		"cloud_output_key":"arrival","progress":0.4,"stage":"driving","timestamp":1796000000123,"reason_code":"MOVE_POLICY_NOT_ALLOWED","reason_params":{"zone":"3"},
		"effect_count":0,"executor_revision":"x-1"`))
	if ack != (wire.EventAck{EventID: "b1-4", Ack: wire.AckApplied}) {
		t.Errorf("ack %+v", ack)
	}
	got := await(t, h.signals.arrived, "the signal")
	none := 0
	want := plan.Event{EventID: "b1-4", DeviceID: n.id, Epoch: h.route(n).BootEpoch, Seq: 4, Name: plan.EventStepFailed, OperationID: operation,
		TaskID: "t-7", TaskMethod: "setMoveTo", WorkflowID: "p-1", PlanID: "p-1", StepID: "move", OutputKey: "arrival", Progress: 0.4, Stage: "driving",
		Timestamp: 1796000000123, EffectCount: &none, ExecutorRevision: "x-1",
		Report: &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", Params: map[string]any{"zone": "3"}, RequiresDecision: true}}
	if got.workflowID != "p-1" || !strings.HasPrefix(got.requestID, n.id+"/b1-4/") || !reflect.DeepEqual(*got.sent.Event, want) {
		t.Errorf("signal %+v\nevent %+v\nwant  %+v", got, *got.sent.Event, want)
	}
	if strays := h.strays(n); len(strays) != 0 {
		t.Errorf("strays %+v", strays)
	}
}

// Law 4: what no catalog lists for the task method, or lists with another type, leaves no trace.
func TestLaw04UnlistedResultFieldsAreStrippedBeforeAnythingIsStored(t *testing.T) {
	t.Parallel()
	const result = `"result":{"area_id":"6","current_room_name":7,"secret":"hunter2","nested":{"area_id":"6"}}`
	for name, c := range map[string]struct {
		event string
		want  map[string]any
	}{
		"listed":            {event(1, "COMPLETED", result), map[string]any{"area_id": "6"}},
		"nothing listed":    {event(2, "COMPLETED", `"task_method":"setStationaryPurify","result":{"area_id":"6","secret":"hunter2"}`), nil},
		"an unknown method": {event(3, "COMPLETED", `"task_method":"other","result":{"area_id":"6","secret":"hunter2"}`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, nil)
			n := h.robot(nil)
			text := c.event
			n.ack(wire.NodeTaskEvent, text)
			if got := await(t, h.signals.arrived, "the signal"); !reflect.DeepEqual(got.sent.Event.Result, c.want) {
				t.Errorf("result %v, want %v", got.sent.Event.Result, c.want)
			}
			h.signals.fail(gateway.ErrPlanOver)
			n.ack(wire.NodeTaskEvent, strings.ReplaceAll(text, "b1-", "b1-9"))
			n.ack(wire.NodeTaskEvent, strings.ReplaceAll(text, `"boot_id":"b1"`, `"boot_id":"never"`))
			n.ack(wire.NodeTaskEvent, strings.Replace(text, "COMPLETED", "NEVER_HEARD", 1))
			strays := h.strays(n)
			if len(strays) != 3 {
				t.Fatalf("%d strays, want the late one and two refused", len(strays))
			}
			for _, stray := range strays {
				if strings.Contains(string(stray.Body), "hunter2") || strings.Contains(string(stray.Body), "nested") {
					t.Errorf("%s stray keeps what nobody lists: %s", stray.Ack, stray.Body)
				}
			}
		})
	}
}

// Law 19: every acknowledgement stands for a durable record, and without one the device sends again.
func TestLaw19AckMatrix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event    string
		signal   error // the signaller's
		registry error
		ack      string // "" for ok:false
		reason   string // part of it
		doubt    bool   // the plan is told to ask
	}{
		"applied":               {event: event(1, "COMPLETED", ""), ack: wire.AckApplied},
		"late":                  {event: event(1, "COMPLETED", ""), signal: gateway.ErrPlanOver, ack: wire.AckLate, reason: "is over"},
		"no such plan":          {event: event(1, "COMPLETED", ""), signal: gateway.ErrPlanUnknown, ack: wire.AckUnmatched, reason: "no plan p-1"},
		"names no plan":         {event: event(1, "COMPLETED", `"operation_id":""`), ack: wire.AckUnmatched, reason: "names no plan"},
		"names what is no plan": {event: event(1, "COMPLETED", `"operation_id":"","cloud_workflow_id":"not a/plan"`), ack: wire.AckUnmatched, reason: "names no plan"},
		"refused by the server": {event: event(1, "COMPLETED", ""), signal: gateway.ErrSignalRefused, ack: wire.AckRefused, reason: "for good"},
		"unreadable":            {event: event(1, "NEVER_HEARD", ""), ack: wire.AckRefused, reason: "event_name", doubt: true},
		"spellings disagree":    {event: event(1, "COMPLETED", `"taskId":"t-8"`), ack: wire.AckRefused, reason: "task_id", doubt: true},
		"plans disagree":        {event: event(1, "COMPLETED", `"cloud_workflow_id":"p-2"`), ack: wire.AckRefused, reason: "cloud_workflow_id", doubt: true},
		"plan ids disagree":     {event: event(1, "COMPLETED", `"cloud_plan_id":"p-2"`), ack: wire.AckRefused, reason: "cloud_plan_id", doubt: true},
		"a boot never listed":   {event: event(1, "COMPLETED", `"boot_id":"b9"`), ack: wire.AckRefused, reason: "b9", doubt: true},
		"server away":           {event: event(1, "COMPLETED", ""), signal: errDown},
		"late, registry away":   {event: event(1, "COMPLETED", ""), signal: gateway.ErrPlanOver, registry: errDown},
		"unmatched, reg. away":  {event: event(1, "COMPLETED", `"operation_id":""`), registry: errDown},
		"refused, reg. away":    {event: event(1, "NEVER_HEARD", ""), registry: errDown},
		"refused, server away":  {event: event(1, "NEVER_HEARD", ""), signal: errDown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, nil)
			n := h.robot(nil)
			h.signals.fail(c.signal)
			h.registry.fail(c.registry)
			res := n.emit(wire.NodeTaskEvent, c.event)
			if c.ack == "" {
				if *res.OK || !res.Error.Retryable {
					t.Fatalf("answer %+v, want ok:false and send again", res)
				}
				// Once all is well again, the same event is taken.
				h.signals.fail(nil)
				h.registry.fail(nil)
				n.ack(wire.NodeTaskEvent, c.event)
				return
			}
			ack, err := wire.ParseEventAck(res.Payload)
			if err != nil || !*res.OK || ack.EventID != "b1-1" || ack.Ack != c.ack || !strings.Contains(ack.Reason, c.reason) {
				t.Errorf("ack %+v (%v), want %s because of %q", ack, err, c.ack, c.reason)
			}
			strays := h.strays(n)
			if c.ack == wire.AckApplied {
				if len(strays) != 0 {
					t.Errorf("an applied event is stray: %+v", strays)
				}
				return
			}
			if len(strays) != 1 || strays[0].Ack != c.ack || strays[0].EventID != "b1-1" || strays[0].Reason != ack.Reason {
				t.Fatalf("strays %+v, want this one on record", strays)
			}
			if again := n.ack(wire.NodeTaskEvent, c.event); again != ack {
				t.Errorf("sent again: %+v, want the same answer %+v", again, ack)
			}
			if strays := h.strays(n); len(strays) != 1 {
				t.Errorf("%d rows after the event came twice", len(strays))
			}
			if c.doubt {
				got := await(t, h.signals.arrived, "the doubt")
				if got.workflowID != "p-1" || got.sent.Doubt == nil || got.sent.Doubt.OperationID != operation || got.sent.Event != nil {
					t.Errorf("signal %+v, want a doubt about %s", got, operation)
				}
				if twice := await(t, h.signals.arrived, "the doubt of the second copy"); twice.requestID != got.requestID {
					t.Errorf("the second copy has request id %s, the first %s", twice.requestID, got.requestID)
				}
			}
			h.signals.none(t)
		})
	}
}

// Law 8: events of one device go to their plans strictly in the order in which it sent them.
func TestLaw08EventsAreHandledInOrder(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	var answers []<-chan wire.Frame
	for seq := 1; seq <= 40; seq++ {
		answers = append(answers, n.ask(wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, PayloadJSON: event(seq, "BLOCKED", "")}))
	}
	for seq := 1; seq <= 40; seq++ {
		if got := await(t, h.signals.arrived, "a signal"); got.sent.Event.Seq != int64(seq) {
			t.Fatalf("signal %d is of event %d", seq, got.sent.Event.Seq)
		}
	}
	for _, answer := range answers {
		await(t, answer, "an acknowledgement")
	}
}

// An event in hand when its socket is replaced is finished or given up before the next connection's events are taken.
func TestLaw08OrderHoldsAcrossAReconnect(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	first := h.join(key, nil)
	held := make(chan struct{})
	h.signals.mu.Lock()
	h.signals.hold = held
	h.signals.mu.Unlock()
	first.ask(wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, PayloadJSON: event(1, "COMPLETED", "")})
	second := h.join(key, nil)
	one := second.ask(wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, PayloadJSON: event(1, "COMPLETED", "")})
	two := second.ask(wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, PayloadJSON: event(2, "FAILED", "")})
	first.end()
	close(held)
	await(t, one, "the first event's answer")
	await(t, two, "the second event's answer")
	var seqs []int64
	for len(h.signals.arrived) > 0 {
		seqs = append(seqs, (<-h.signals.arrived).sent.Event.Seq)
	}
	if len(seqs) < 2 || seqs[len(seqs)-1] != 2 || seqs[len(seqs)-2] != 1 {
		t.Errorf("signals of events %v, want 1 before 2", seqs)
	}
}

// Only what a plan waits for enters its history; the rest updates live views (design §6, What becomes a signal).
func TestWhatBecomesASignal(t *testing.T) {
	t.Parallel()
	type step struct {
		name   string
		signal bool
	}
	for name, c := range map[string]struct {
		method  string
		forward bool
		submit  bool // through this gateway, so that the operation is known here
		steps   []step
	}{
		"only what matters": {"setStationaryPurify", false, true, []step{{"QUEUED", false}, {"STARTED", false}, {"RUNNING", false}, {"PROGRESS", false},
			{"BLOCKED", true}, {"RUNNING", true}, {"RUNNING", false}, {"PROGRESS", false}, {"BLOCKED", true}, {"BLOCKED", true}, {"PROGRESS", true}, {"COMPLETED", true}}},
		"a capability that reports its start": {"setMoveTo", false, true, []step{{"QUEUED", false}, {"STARTED", true}, {"RUNNING", false}, {"COMPLETED", true}}},
		"a first RUNNING is a start":          {"setMoveTo", false, true, []step{{"RUNNING", true}, {"RUNNING", false}}},
		"forwarded for development":           {"setStationaryPurify", true, true, []step{{"WORKFLOW_STEP_STARTED", true}, {"RUNNING", false}}},
		"an operation never heard of here":    {"setStationaryPurify", false, false, []step{{"RUNNING", true}, {"RUNNING", false}, {"TIMED_OUT", true}}},
		"the parent's names too":              {"setStationaryPurify", false, true, []step{{"WORKFLOW_COMPLETED", true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, func(o *gateway.Options) { o.ForwardStarted = c.forward })
			n := h.robot(nil)
			if c.submit {
				done := h.start(t.Context(), h.submit(n))
				n.answer(n.invoked(), `{"accepted":true}`)
				await(t, done, "Submit")
			}
			for i, s := range c.steps {
				text := event(i+1, s.name, fmt.Sprintf(`"task_method":%q,"progress":%v`, c.method, float64(i)/100))
				ack := n.ack(wire.NodeTaskEvent, text)
				if ack.Ack != wire.AckApplied || (ack.Reason == "live_only") == s.signal {
					t.Errorf("step %d %s: ack %+v", i, s.name, ack)
				}
				if s.signal {
					if got := await(t, h.signals.arrived, "the signal of "+s.name); string(got.sent.Event.Name) != s.name {
						t.Errorf("step %d: signalled %s", i, got.sent.Event.Name)
					}
				}
				h.signals.none(t)
				live, ok := h.gateway.Live(n.id, operation)
				over := plan.EventName(s.name).Terminal()
				if ok == over || (ok && (string(live.Name) != s.name || live.Progress != float64(i)/100)) {
					t.Errorf("step %d %s: live view %+v, %v", i, s.name, live, ok)
				}
			}
		})
	}
}

// A BLOCKED whose signal failed is not remembered as told: the copy sent again goes through.
func TestAFailedSignalIsNotTakenForTold(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	h.signals.fail(errDown)
	if res := n.emit(wire.NodeTaskEvent, event(1, "RUNNING", "")); *res.OK {
		t.Fatal("recorded without a signal")
	}
	h.signals.fail(nil)
	if ack := n.ack(wire.NodeTaskEvent, event(1, "RUNNING", "")); ack.Reason != "" {
		t.Errorf("ack %+v, want it signalled now", ack)
	}
	await(t, h.signals.arrived, "the signal")
}

func TestAnEventWithoutAnOperationIDGoesByItsWorkflow(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	n.ack(wire.NodeTaskEvent, event(1, "COMPLETED", `"operation_id":"","cloud_workflow_id":"p-3","cloud_step_id":"move"`))
	if got := await(t, h.signals.arrived, "the signal"); got.workflowID != "p-3" || got.sent.Event.StepID != "move" {
		t.Errorf("signal %+v", got)
	}
}

func TestAnswersReachThePlanThatAsked(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	answer := func(seq int, question, more string) wire.EventAck {
		return n.ack(wire.NodeAnswer, fmt.Sprintf(`{"event_id":"b1-%d","boot_id":"b1","seq":%d,"question_id":%q,"choice":"continue"%s}`, seq, seq, question, more))
	}
	if ack := answer(1, "p-1.2", ""); ack.Ack != wire.AckApplied {
		t.Errorf("ack %+v", ack)
	}
	got := await(t, h.signals.arrived, "the signal")
	want := plan.Answer{QuestionID: "p-1.2", Choice: "continue", By: "voice:" + n.id, MayConfirm: true}
	if got.workflowID != "p-1" || !strings.HasPrefix(got.requestID, n.id+"/b1-1/") || got.sent.Answer == nil || *got.sent.Answer != want {
		t.Errorf("signal %+v, want %+v", got, want)
	}
	if ack := answer(2, "p-1.2", `,"cloud_workflow_id":"p-2"`); ack.Ack != wire.AckRefused {
		t.Errorf("another plan's question: %+v", ack)
	}
	if ack := answer(3, "not a plan", ""); ack.Ack != wire.AckUnmatched {
		t.Errorf("nobody's question: %+v", ack)
	}
	h.signals.fail(gateway.ErrPlanOver)
	if ack := answer(4, "p-1.2", ""); ack.Ack != wire.AckLate {
		t.Errorf("after the plan: %+v", ack)
	}
	if ack := n.ack(wire.NodeAnswer, `{"event_id":"b1-5","boot_id":"b1","seq":5}`); ack.Ack != wire.AckRefused || ack.EventID != "b1-5" {
		t.Errorf("an unreadable answer: %+v", ack)
	}
	h.signals.none(t)
	if n := len(h.strays(n)); n != 4 {
		t.Errorf("%d strays, want 4", n)
	}
}

// A line that is full turns events back instead of losing them.
func TestAFullLineTurnsEventsBack(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	held := make(chan struct{})
	h.signals.mu.Lock()
	h.signals.hold, h.signals.arrived = held, make(chan signal, 1000)
	h.signals.mu.Unlock()
	var answers []<-chan wire.Frame
	for seq := 1; seq <= 300; seq++ {
		answers = append(answers, n.ask(wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, PayloadJSON: event(seq, "BLOCKED", "")}))
	}
	last := await(t, answers[299], "the last event's answer")
	if *last.OK || !last.Error.Retryable {
		t.Errorf("answer %+v, want ok:false and send again", last)
	}
	close(held)
	taken := 0
	for _, answer := range answers[:299] {
		if res := await(t, answer, "an answer"); *res.OK {
			taken++
		}
	}
	if taken < 256 || len(h.signals.arrived) != taken {
		t.Errorf("%d acknowledged, %d signalled", taken, len(h.signals.arrived))
	}
}

func TestErrorsAreTold(t *testing.T) {
	t.Parallel()
	err := error(&gateway.DeviceError{Command: "c", Code: "X", Message: "m"})
	if err.Error() != "c: the device says X: m" || errors.Is(err, plan.ErrNotConnected) {
		t.Errorf("%v", err)
	}
}
