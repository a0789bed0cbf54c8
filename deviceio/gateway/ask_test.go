package gateway_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/coder/websocket"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

func TestStatusAnswers(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(func(c *wire.Connect) { c.Errand.Boots = []string{"b1", "b2"} })
	boot := h.route(n).BootEpoch
	query := plan.QueryStatus{Route: h.route(n), DeviceID: n.id, OperationID: operation, TaskID: "t-7"}
	query.Route.ConnectionEpoch = 1 // any live socket will do
	for name, c := range map[string]struct {
		answer string
		want   plan.StatusReported
		bad    bool
	}{
		"running": {`{"found":true,"taskId":"t-7","status":"RUNNING","progress":0.5,"stage":"driving","store_id":"store-1","boot_id":"b2","as_of_seq":8}`,
			plan.StatusReported{Finding: plan.StatusFound, TaskID: "t-7", Status: plan.OpRunning, Progress: 0.5, Stage: "driving", StoreID: "store-1", Epoch: boot, AsOfSeq: 8}, false},
		"queued":            {`{"found":true,"status":"QUEUED"}`, plan.StatusReported{Finding: plan.StatusFound, Status: plan.OpAccepted, Epoch: boot}, false},
		"blocked":           {`{"found":true,"status":"BLOCKED"}`, plan.StatusReported{Finding: plan.StatusFound, Status: plan.OpBlocked, Epoch: boot}, false},
		"completed":         {`{"found":true,"status":"COMPLETED"}`, plan.StatusReported{Finding: plan.StatusFound, Status: plan.OpCompleted, Epoch: boot}, false},
		"failed":            {`{"found":true,"status":"WORKFLOW_STEP_FAILED"}`, plan.StatusReported{Finding: plan.StatusFound, Status: plan.OpFailed, Epoch: boot}, false},
		"cancelled":         {`{"found":true,"status":"CANCELLED"}`, plan.StatusReported{Finding: plan.StatusFound, Status: plan.OpCancelled, Epoch: boot}, false},
		"timed out":         {`{"found":true,"status":"TIMED_OUT"}`, plan.StatusReported{Finding: plan.StatusFound, Status: plan.OpTimedOut, Epoch: boot}, false},
		"not found":         {`{"found":false,"store_id":"store-2"}`, plan.StatusReported{Finding: plan.StatusNotFound, StoreID: "store-2", Epoch: boot}, false},
		"another operation": {`{"found":true,"status":"COMPLETED","operation_id":"p-1/move/2"}`, plan.StatusReported{}, true},
		"an unknown boot":   {`{"found":true,"status":"RUNNING","boot_id":"b9"}`, plan.StatusReported{}, true},
		"another's terminal": {`{"found":true,"status":"COMPLETED","terminal_event":{"event_id":"b1-9","boot_id":"b1","seq":9,"event_name":"COMPLETED",
			"operation_id":"p-1/move/2"}}`, plan.StatusReported{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			type result struct {
				plan.StatusReported
				err error
			}
			done := make(chan result, 1)
			go func() { got, err := h.gateway.Status(t.Context(), query); done <- result{got, err} }()
			asked := n.invoked()
			q, err := wire.ParseStatusQuery(json.RawMessage(asked.ParamsJSON))
			if err != nil || q.OperationID != operation || q.TaskID != "" {
				t.Errorf("query %+v, %v: want the operation id alone", q, err)
			}
			n.answer(asked, c.answer)
			got := await(t, done, "Status")
			if c.bad {
				if !errors.Is(got.err, gateway.ErrBadAnswer) {
					t.Errorf("Status = %+v, want ErrBadAnswer", got)
				}
				return
			}
			c.want.OperationID, c.want.ConnectionEpoch = operation, h.route(n).ConnectionEpoch
			if got.err != nil || got.StatusReported != c.want {
				t.Errorf("Status = %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestCancelAnswers(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	done := make(chan plan.CancelAnswered, 1)
	go func() {
		got, err := h.gateway.CancelTask(t.Context(), plan.CancelTask{DeviceID: n.id, OperationID: operation, TaskID: "t-7", Reason: "the person said stop"})
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	asked := n.invoked()
	q, err := wire.ParseCancelQuery(json.RawMessage(asked.ParamsJSON))
	if err != nil || asked.Command != wire.CommandCancelTask || q.OperationID != operation || q.TaskID != "t-7" || q.Reason != "the person said stop" {
		t.Errorf("query %+v, %v", q, err)
	}
	n.answer(asked, `{"accepted":false,"state":"completed","case":"already_completed","store_id":"store-1","terminal_event":{"event_id":"b1-9","boot_id":"b1",
		"seq":9,"event_name":"COMPLETED","task_method":"setMoveTo","result":{"area_id":"6"}}}`)
	got := await(t, done, "CancelTask")
	if got.Case != plan.CancelAlreadyCompleted || got.StoreID != "store-1" || got.Terminal == nil || got.Terminal.OperationID != operation ||
		got.Terminal.Epoch != h.route(n).BootEpoch {
		t.Errorf("CancelTask = %+v", got)
	}
}

func TestWordsAndQuestionsReachTheDevice(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	done := make(chan error, 1)
	go func() {
		done <- h.gateway.Ask(t.Context(), plan.Ask{DeviceID: n.id, Question: plan.Question{ID: "p-1.1", Text: "계속할까요?", Choices: []string{"continue", "stop"}, ExpiresAt: 99}})
	}()
	asked := n.invoked()
	q, err := wire.ParseAsk(json.RawMessage(asked.ParamsJSON))
	if err != nil || q.QuestionID != "p-1.1" || q.Text != "계속할까요?" || len(q.Choices) != 2 || q.ExpiresAt != 99 {
		t.Errorf("ask %+v, %v", q, err)
	}
	n.answer(asked, `{}`)
	must(t, await(t, done, "Ask"))
}

// A plain node offers no task manager: that is told, and nothing is sent.
func TestCommandsThatWereNotAnnouncedAreNotSent(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(func(c *wire.Connect) { c.Commands, c.Errand = []string{"system.which"}, nil })
	if got, err := h.gateway.Submit(t.Context(), h.submit(n)); err != nil || got.Delivery != plan.DeliveryRefused || got.Report.Code != "COMMAND_NOT_OFFERED" {
		t.Errorf("Submit = %+v, %v", got, err)
	}
	if got, err := h.gateway.Status(t.Context(), plan.QueryStatus{DeviceID: n.id, OperationID: operation}); err != nil || got.Finding != plan.StatusForgotten {
		t.Errorf("Status = %+v, %v", got, err)
	}
	if got, err := h.gateway.CancelTask(t.Context(), plan.CancelTask{DeviceID: n.id, OperationID: operation}); err != nil || got.Case != plan.CancelTombstoned {
		t.Errorf("CancelTask = %+v, %v", got, err)
	}
	var failure *gateway.DeviceError
	if err := h.gateway.Say(t.Context(), say(n.id)); !errors.As(err, &failure) || failure.Command != wire.CommandSay {
		t.Errorf("Say = %v", err)
	}
	if _, err := h.gateway.Context(t.Context(), n.id); !errors.As(err, &failure) || failure.Command != wire.CommandContext {
		t.Errorf("Context = %v", err)
	}
}

// A result that was read counts, even though the socket is gone a moment later (openclaw#116363).
func TestAResultReadBeforeTheSocketIsLostCounts(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	for range 20 {
		n := h.robot(nil)
		done := h.start(t.Context(), h.submit(n))
		n.ask(wire.MethodInvokeResult, wire.InvokeResult{ID: n.invoked().ID, NodeID: n.id, OK: true, Payload: json.RawMessage(`{"accepted":true,"taskId":"t-7"}`)})
		_ = n.conn.Close(websocket.StatusNormalClosure, "") // what the gateway writes meanwhile may fail
		if got := await(t, done, "Submit"); got.err != nil || got.TaskID != "t-7" {
			t.Fatalf("Submit = %+v", got)
		}
	}
}
