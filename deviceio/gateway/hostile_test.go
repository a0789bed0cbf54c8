package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/converter"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

// Law 6 and "who is speaking": what a device says about another's plan is on record, and that plan hears nothing of it, be
// it a completion, an event that cannot be read, or a person's answer. Neither is its history filled.
func TestLaw06AnotherDevicesPlanHearsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	h.signals.own("p-1", "somebody-else")
	for what, ack := range map[string]wire.EventAck{
		"a completion": n.ack(wire.NodeTaskEvent, event(1, "COMPLETED", "")),
		"an answer":    n.ack(wire.NodeAnswer, `{"event_id":"b1-2","boot_id":"b1","seq":2,"question_id":"p-1.1","choice":"retry"}`),
	} {
		if ack.Ack != wire.AckUnmatched || !strings.Contains(ack.Reason, "not one of this device") {
			t.Errorf("%s: %+v, want unmatched", what, ack)
		}
	}
	if ack := n.ack(wire.NodeTaskEvent, event(3, "NEVER_HEARD", "")); ack.Ack != wire.AckRefused {
		t.Errorf("an unreadable event: %+v, want refused", ack)
	}
	h.signals.none(t)
	if strays := h.strays(n); len(strays) != 3 {
		t.Errorf("%d events on record, want 3: %+v", len(strays), strays)
	}
}

// A plan whose step was submitted here is known to be the device's: the server is not asked.
func TestASubmitTellsWhosePlanItIs(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	done := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-7"}`)
	if got := await(t, done, "Submit"); got.err != nil {
		t.Fatal(got.err)
	}
	h.signals.own("p-1", "somebody-else") // the gateway knows better, and does not ask
	if ack := n.ack(wire.NodeTaskEvent, event(1, "COMPLETED", "")); ack.Ack != wire.AckApplied {
		t.Errorf("ack %+v", ack)
	}
}

// Law 19: the server drops a signal whose request id it has seen. Another event under a used event id must not be dropped so.
func TestLaw19AReusedEventIDHidesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	ids := make(map[string]bool)
	for _, payload := range []string{event(1, "BLOCKED", ""), event(2, "COMPLETED", `"event_id":"b1-1"`), event(1, "BLOCKED", "")} {
		n.ack(wire.NodeTaskEvent, payload)
		ids[await(t, h.signals.arrived, "the signal").requestID] = true
	}
	if len(ids) != 2 {
		t.Errorf("request ids %v, want one for each of the two events", ids)
	}
}

// Law 19: an event whose envelope cannot be read would be no better the next time. It is refused, on record, so that what
// is behind it in the outbox is heard.
func TestLaw19AnUnreadableEnvelopeBlocksNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	if ack := n.ack(wire.NodeTaskEvent, `{"event_id":"b1-1","boot_id":"b1","seq":`); ack.Ack != wire.AckRefused || ack.EventID != "b1-1" || !strings.Contains(ack.Reason, "payloadJSON") {
		t.Errorf("ack %+v, want refused", ack)
	}
	if strays := h.strays(n); len(strays) != 1 {
		t.Errorf("strays %+v", strays)
	}
	if f := n.emit("node.host.stats", `{`); *f.OK {
		t.Errorf("an event that no outbox keeps: %+v, want INVALID_REQUEST", f)
	}
}

// A stored terminal event is believed for the operation that was asked about, and for no other plan or step.
func TestAStoredTerminalMustBeOfTheOperation(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	for _, field := range []string{`"cloud_workflow_id":"p-2"`, `"cloud_plan_id":"p-2"`, `"cloud_step_id":"purify"`} {
		done := make(chan error, 1)
		go func() {
			_, err := h.gateway.Status(t.Context(), plan.QueryStatus{DeviceID: n.id, OperationID: operation})
			done <- err
		}()
		n.answer(n.invoked(), `{"found":true,"status":"COMPLETED","terminal_event":{"event_id":"b1-9","boot_id":"b1","seq":9,"event_name":"COMPLETED",`+field+`}}`)
		if err := await(t, done, "Status"); err == nil || !strings.Contains(err.Error(), "terminal_event") {
			t.Errorf("%s: %v, want an answer that cannot be used", field, err)
		}
	}
}

// Law 11: a no that carries the operation's own completion is the no of a device that did it before. A new generation would
// do it twice.
func TestLaw11ARefusalWithAStoredTerminalIsNone(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	done := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":false,"reason_code":"DUPLICATE","store_id":"store-1","terminal_event":{"event_id":"b1-9","boot_id":"b1","seq":9,
		"event_name":"COMPLETED","operation_id":"p-1/move/1","task_method":"setMoveTo"}}`)
	got := await(t, done, "Submit")
	if got.err != nil || got.Delivery != plan.DeliveryAccepted || got.Terminal == nil || got.Terminal.Name != plan.EventCompleted {
		t.Errorf("Submit = %+v, want it accepted and completed", got)
	}
}

// A reason's parameters enter the history with every BLOCKED: what is too large stays out, the event does not.
func TestReasonParamsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	n.ack(wire.NodeTaskEvent, event(1, "BLOCKED", fmt.Sprintf(`"reason_code":"PATH_BLOCKED","reason_params":{"x":%q}`, strings.Repeat("x", 60_000))))
	got := await(t, h.signals.arrived, "the signal").sent.Event.Report
	if got.Code != "PATH_BLOCKED" || got.Params["x"] != nil || got.Params["left_out_bytes"] == nil {
		t.Errorf("report %.300v", got)
	}
}

func TestOwnerOfReadsTheSearchAttributes(t *testing.T) {
	t.Parallel()
	payload, err := converter.GetDefaultDataConverter().ToPayload("robot-1")
	must(t, err)
	number, err := converter.GetDefaultDataConverter().ToPayload(7)
	must(t, err)
	for name, c := range map[string]struct {
		attribute *common.Payload
		home      *common.Payload
		err       error
		want      gateway.Owner
		unknown   bool
	}{
		"a plan":              {attribute: payload, home: payload, want: gateway.Owner{DeviceID: "robot-1", HomeID: "robot-1"}},
		"from before homes":   {attribute: payload, want: gateway.Owner{DeviceID: "robot-1"}},
		"without attribute":   {},
		"no text":             {attribute: number},
		"no plan":             {err: serviceerror.NewNotFound("workflow not found"), unknown: true},
		"a server in trouble": {err: serviceerror.NewPermissionDenied("no", "")},
	} {
		s := gateway.NewTemporalSignaller(dialFrontend(t, &frontend{describeErr: c.err, device: c.attribute, home: c.home}))
		got, err := s.OwnerOf(t.Context(), "p-1")
		if got != c.want || (err == nil) != (c.err == nil) || (err == gateway.ErrPlanUnknown) != c.unknown { //nolint:errorlint // bare
			t.Errorf("%s: OwnerOf = %+v, %v", name, got, err)
		}
	}
}
