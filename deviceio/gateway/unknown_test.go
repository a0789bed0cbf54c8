package gateway_test

import (
	"testing"

	"errand/deviceio/wire"
	"errand/plan"
)

// Law 9: a device that sent a task on and lost track of it says UNKNOWN. No plan takes that for running, over or never begun.
func TestLaw09UnknownIsNeitherRunningNorOverNorNeverBegun(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)

	ack := n.ack(wire.NodeTaskEvent, `{"event_id":"b1-1","boot_id":"b1","seq":1,"event_name":"UNKNOWN","operation_id":"p-1/move/1",
		"task_method":"setMoveTo","reason_code":"TASK_LOST","requires_cloud_decision":true}`)
	got := await(t, h.signals.arrived, "the doubt")
	if ack.Ack != wire.AckApplied || got.workflowID != "p-1" || got.sent.Doubt == nil || got.sent.Doubt.OperationID != operation || got.sent.Event != nil {
		t.Errorf("the event: %+v, signal %+v; want a doubt about %s", ack, got, operation)
	}

	status := make(chan plan.StatusReported, 1)
	go func() {
		s, err := h.gateway.Status(t.Context(), plan.QueryStatus{DeviceID: n.id, OperationID: operation})
		if err != nil {
			t.Error(err)
		}
		status <- s
	}()
	n.answer(n.invoked(), `{"found":true,"status":"UNKNOWN","operation_id":"p-1/move/1","store_id":"store-1","boot_id":"b1","as_of_seq":1,"reason_code":"TASK_LOST"}`)
	if s := await(t, status, "the status"); s.Finding != plan.StatusForgotten || s.Terminal != nil || s.Status != "" {
		t.Errorf("status %+v, want %s", s, plan.StatusForgotten)
	}

	done := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-7","taskState":"UNKNOWN","store_id":"store-1"}`)
	if s := await(t, done, "Submit"); s.err != nil || s.Delivery != plan.DeliveryUnknown || s.StoreID != "store-1" {
		t.Errorf("the submit again: %+v, want %s", s, plan.DeliveryUnknown)
	}
}
