package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

const operation = "p-1/move/1"

// submit is a submit over the node's present connection.
func (h *home) submit(n *node) plan.Submit {
	return plan.Submit{Route: h.route(n), DeviceID: n.id, OperationID: operation, PlanID: "p-1", StepID: "move", OutputKey: "arrival", Revision: 2,
		CapabilityID: "move_to_room", TaskMethod: "setMoveTo", CompletionTarget: "movement.arrived",
		Arguments: map[string]any{"position_name": "안방"}, TimeoutMs: 60_000, TTLMs: 30_000}
}

type submitted struct {
	plan.Submitted
	err error
}

// start submits in the background.
func (h *home) start(ctx context.Context, c plan.Submit) <-chan submitted {
	done := make(chan submitted, 1)
	go func() {
		answer, err := h.gateway.Submit(ctx, c)
		done <- submitted{answer, err}
	}()
	return done
}

func TestSubmitCarriesTheWholeTask(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := h.start(ctx, h.submit(n))
	asked := n.invoked()
	task, err := wire.ParseTask(json.RawMessage(asked.ParamsJSON))
	must(t, err)
	if asked.Command != wire.CommandSubmitTask || asked.NodeID != n.id || asked.TimeoutMs < 1 || asked.TimeoutMs > 60_000 {
		t.Errorf("invoke %+v", asked)
	}
	want := wire.Trace{CloudWorkflowID: "p-1", CloudPlanID: "p-1", CloudStepID: "move", CloudOutputKey: "arrival", OperationID: operation, PlanRevision: 2}
	if task.Trace != want || task.TaskMethod != "setMoveTo" || task.CompletionTarget != "movement.arrived" || task.Source != "cloud" ||
		task.Params["position_name"] != "안방" || task.TimeoutMs != 60_000 || task.TTLMs <= 0 || task.TTLMs > 30_000 {
		t.Errorf("task %+v", task)
	}
	n.answer(asked, `{"accepted":true,"taskId":"t-7","taskState":"QUEUED","taskMethod":"setMoveTo","store_id":"store-1","pre_state_revision":"r-3"}`)
	got := await(t, done, "Submit")
	if got.err != nil || got.Delivery != plan.DeliveryAccepted || got.TaskID != "t-7" || got.TaskState != "QUEUED" || got.StoreID != "store-1" ||
		got.PreStateRevision != "r-3" || got.OperationID != operation || got.ConnectionEpoch != h.route(n).ConnectionEpoch {
		t.Errorf("Submit = %+v", got)
	}
}

// Old intentions do not move robots (design §6): the time a submit was held on the way is taken off its ttl, and one that
// was held for longer is not sent.
func TestLaw18TTLShrinksWhileASubmitIsHeld(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // seconds; every look at the clock takes one
	h := newHome(t, func(o *gateway.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Add(1)) * time.Second) }
	})
	n := h.robot(nil)
	c := h.submit(n)
	for _, ttl := range []int64{1000, 0, -5} {
		c.TTLMs = ttl
		if _, err := h.gateway.Submit(t.Context(), c); !errors.Is(err, plan.ErrNotConnected) {
			t.Errorf("ttl %d: %v, want nothing sent", ttl, err)
		}
	}
	c.TTLMs = 30_000
	ahead.Store(0)
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment() // its activities were scheduled now, by a clock that is not ahead
	env.RegisterActivity(h.gateway.Submit)
	ahead.Store(9)
	done := make(chan error, 1)
	go func() { _, err := env.ExecuteActivity(h.gateway.Submit, c); done <- err }()
	asked := n.invoked()
	task, err := wire.ParseTask(json.RawMessage(asked.ParamsJSON))
	if err != nil || task.TTLMs > 20_000 || task.TTLMs < 10_000 {
		t.Errorf("ttlMs %d (%v), want 30 s less the 10 s since the activity was scheduled", task.TTLMs, err)
	}
	n.answer(asked, `{"accepted":true}`)
	must(t, await(t, done, "the activity"))
}

func TestLaw11ASubmitAgainBringsTheStoredTerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(func(c *wire.Connect) { c.Errand.Boots = []string{"b1", "b2"} })
	done := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-7","store_id":"store-1","terminal_event":{"event_id":"b1-9","boot_id":"b1","seq":9,
		"event_name":"COMPLETED","operation_id":"p-1/move/1","task_method":"setMoveTo","result":{"area_id":"6","secret":"x"}}}`)
	got := await(t, done, "Submit")
	if got.err != nil || got.Terminal == nil {
		t.Fatalf("Submit = %+v", got)
	}
	older := h.route(n).BootEpoch
	if e := got.Terminal; e.Name != plan.EventCompleted || e.Seq != 9 || e.Epoch == 0 || e.Epoch >= older || e.DeviceID != n.id {
		t.Errorf("terminal %+v, want boot b1's epoch, below %d", e, older)
	}
	if r := got.Terminal.Result; len(r) != 1 || r["area_id"] != "6" {
		t.Errorf("result %v, want the listed field only (law 4)", r)
	}
}

func TestARefusalKillsTheGeneration(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	for name, c := range map[string]struct {
		answer func(wire.InvokeRequest)
		want   plan.Report
	}{
		"with a reason, decided by the catalog": {func(r wire.InvokeRequest) {
			n.answer(r, `{"accepted":false,"reason_code":"MOVE_POLICY_NOT_ALLOWED"}`)
		}, plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}},
		"with its own word on the decision": {func(r wire.InvokeRequest) {
			n.answer(r, `{"accepted":false,"reason_code":"MOVE_POLICY_NOT_ALLOWED","requires_cloud_decision":false,"recoverability":"transient"}`)
		}, plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", Recoverability: "transient"}},
		"a reason the catalog lets recover": {func(r wire.InvokeRequest) { n.answer(r, `{"accepted":false,"reason_code":"LOW_BATTERY"}`) },
			plan.Report{Code: "LOW_BATTERY"}},
		"without a reason": {func(r wire.InvokeRequest) { n.answer(r, `{"accepted":false}`) },
			plan.Report{Code: "UNKNOWN", RequiresDecision: true, Detail: "the device refused without a reason"}},
		"unreadable for the device": {func(r wire.InvokeRequest) {
			n.request(wire.MethodInvokeResult, wire.InvokeResult{ID: r.ID, NodeID: n.id, Error: &wire.InvokeError{Code: wire.InvokeUnknownCommand, Message: "what?"}})
		}, plan.Report{Code: wire.InvokeUnknownCommand, RequiresDecision: true, Recoverability: "permanent", Detail: "what?"}},
	} {
		done := h.start(t.Context(), h.submit(n))
		c.answer(n.invoked())
		got := await(t, done, "Submit")
		if got.err != nil || got.Delivery != plan.DeliveryRefused || got.Report == nil || !same(*got.Report, c.want) {
			t.Errorf("%s: %+v (report %+v), want %+v", name, got, got.Report, c.want)
		}
	}
}

func same(a, b plan.Report) bool {
	return a.Code == b.Code && a.RequiresDecision == b.RequiresDecision && a.Recoverability == b.Recoverability && a.Detail == b.Detail
}

// plan.ErrNotConnected is a promise that nothing was sent. The machine sends again on it.
func TestLaw11NotConnectedMeansThatNothingWasSent(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	elsewhere := h.submit(n)
	elsewhere.Route.ConnectionEpoch--
	away := h.submit(n)
	away.DeviceID = "nobody"
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"another connection epoch": func() error { _, err := h.gateway.Submit(t.Context(), elsewhere); return err },
		"an absent device":         func() error { _, err := h.gateway.Submit(t.Context(), away); return err },
		"the time is up already":   func() error { _, err := h.gateway.Submit(over, h.submit(n)); return err },
		"a cancel for nobody": func() error {
			_, err := h.gateway.CancelTask(t.Context(), plan.CancelTask{DeviceID: "nobody", OperationID: operation})
			return err
		},
		"a question about nobody": func() error {
			_, err := h.gateway.Status(t.Context(), plan.QueryStatus{DeviceID: "nobody", OperationID: operation})
			return err
		},
		"words for nobody": func() error { return h.gateway.Say(t.Context(), say("nobody")) },
	} {
		if err := call(); !errors.Is(err, plan.ErrNotConnected) {
			t.Errorf("%s: %v, want ErrNotConnected", name, err)
		}
	}
	done := h.start(t.Context(), h.submit(n))
	first := n.invoked() // the very first command: none of the above reached the device
	n.answer(first, `{"accepted":true,"taskId":"t-1"}`)
	if got := await(t, done, "Submit"); got.err != nil {
		t.Error(got.err)
	}
}

// The device says that it ran nothing and may be asked again (reference: OpenClaw, measured 7).
func TestUnavailableBeforeExecutionCountsAsNotSent(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	for _, code := range []string{"UNAVAILABLE", "NODE_NOT_READY"} {
		done := h.start(t.Context(), h.submit(n))
		r := n.invoked()
		n.request(wire.MethodInvokeResult, wire.InvokeResult{ID: r.ID, NodeID: n.id, Error: &wire.InvokeError{Code: code, Message: "later"}})
		if got := await(t, done, "Submit"); !errors.Is(got.err, plan.ErrNotConnected) {
			t.Errorf("%s: %v, want ErrNotConnected", code, got.err)
		}
	}
}

// Law 18: a device that asks hears how long a submit has been under way to it, and whether anybody still waits for its answer.
func TestLaw18ADeviceHearsHowOldASubmitIs(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	ask := func(id string) wire.InvokeHeld {
		t.Helper()
		held, err := wire.ParseInvokeHeld(n.request(wire.MethodInvokeHeld, wire.InvokeCancel{InvokeID: id}).Payload)
		must(t, err)
		return held
	}
	sent := time.Now()
	done := h.start(t.Context(), h.submit(n))
	asked := n.invoked()
	eventually(t, "it grows old", func() bool { return ask(asked.ID).HeldMs >= 20 })
	if held := ask(asked.ID); !held.Awaited || held.HeldMs > time.Since(sent).Milliseconds() {
		t.Errorf("held %+v, %v after it was sent", held, time.Since(sent))
	}
	n.answer(asked, `{"accepted":true}`)
	await(t, done, "Submit")
	for _, id := range []string{asked.ID, "nobody-knows"} {
		if held := ask(id); held.Awaited {
			t.Errorf("%s: %+v, want awaited by nobody", id, held)
		}
	}
	if f := n.request(wire.MethodInvokeHeld, map[string]any{}); *f.OK || f.Error.Code != wire.CodeInvalidRequest {
		t.Errorf("a question about nothing: %+v", f)
	}
}

// Law 9: a socket lost during a submit leaves the outcome unknown. It is not "not connected", and nothing is sent again.
func TestLaw09ALostSocketLeavesTheSubmitUnknown(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	done := h.start(t.Context(), h.submit(n))
	n.invoked()
	must(t, n.conn.CloseNow())
	got := await(t, done, "Submit")
	if !errors.Is(got.err, gateway.ErrSocketLost) || errors.Is(got.err, plan.ErrNotConnected) {
		t.Errorf("Submit = %v, want ErrSocketLost and not ErrNotConnected", got.err)
	}
}

func TestLaw09AReplacedSocketLeavesTheSubmitUnknown(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	n := h.join(key, nil)
	done := h.start(t.Context(), h.submit(n))
	n.invoked()
	second := h.join(key, nil)
	if got := await(t, done, "Submit"); !errors.Is(got.err, gateway.ErrSocketLost) || errors.Is(got.err, plan.ErrNotConnected) {
		t.Errorf("Submit = %v, want ErrSocketLost", got.err)
	}
	select {
	case f := <-second.events:
		t.Errorf("the command was sent again over the new socket: %+v", f)
	default:
	}
}

// Law 9: no answer in time is unknown too. The device is told to stop, and a result that comes late is ignored.
func TestLaw09NoAnswerInTimeIsUnknownAndCancelled(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := h.start(ctx, h.submit(n))
	asked := n.invoked()
	cancel()
	if got := await(t, done, "Submit"); !errors.Is(got.err, gateway.ErrNoAnswer) || errors.Is(got.err, plan.ErrNotConnected) {
		t.Errorf("Submit = %v, want ErrNoAnswer", got.err)
	}
	stop, err := wire.ParseInvokeCancel(n.next(wire.EventCancel).Payload)
	if err != nil || stop.InvokeID != asked.ID {
		t.Errorf("cancel %+v, %v", stop, err)
	}
	var late struct{ OK, Ignored bool }
	must(t, json.Unmarshal(n.answer(asked, `{"accepted":true}`).Payload, &late))
	if !late.OK || !late.Ignored {
		t.Errorf("a late result: %+v, want ok and ignored", late)
	}
}

func TestAnUnreadableAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	done := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":"yes"}`)
	if got := await(t, done, "Submit"); !errors.Is(got.err, gateway.ErrBadAnswer) || errors.Is(got.err, plan.ErrNotConnected) {
		t.Errorf("Submit = %v, want ErrBadAnswer", got.err)
	}
}

// Commands run concurrently and results come out of order: each finds its own caller.
func TestResultsOutOfOrderFindTheirCallers(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	c := h.submit(n)
	first := h.start(t.Context(), c)
	r1 := n.invoked()
	c.OperationID = "p-1/move/2"
	second := h.start(t.Context(), c)
	r2 := n.invoked()
	if r1.ID == r2.ID {
		t.Fatal("two commands share an id")
	}
	n.answer(r2, `{"accepted":true,"taskId":"two"}`)
	n.answer(r1, `{"accepted":true,"taskId":"one"}`)
	if got := await(t, first, "the first"); got.TaskID != "one" {
		t.Errorf("first = %+v", got)
	}
	if got := await(t, second, "the second"); got.TaskID != "two" {
		t.Errorf("second = %+v", got)
	}
}
