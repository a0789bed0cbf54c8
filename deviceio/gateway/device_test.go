package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

// accepting takes every task.
type accepting struct{ seen chan wire.Task }

func (a accepting) Invoke(_ context.Context, command string, params json.RawMessage) (any, error) {
	if command != wire.CommandSubmitTask {
		return struct{}{}, nil
	}
	task, err := wire.ParseTask(params)
	if err != nil {
		return nil, err
	}
	a.seen <- task
	return wire.SubmitAnswer{Accepted: true, TaskID: "t-1", StoreID: "store-1"}, nil
}

// Law 19 with the real client and its outbox: through a server that is away at first and a restart of the gateway, every
// event reaches its plan, in order, under one request id each.
func TestLaw19OutboxAndGatewayLoseNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.AutoApprove = true })
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.current.Load().Handler().ServeHTTP(w, r) }))
	defer front.Close()
	handler := accepting{make(chan wire.Task, 1)}
	client, err := device.Open(device.Options{URL: "ws" + strings.TrimPrefix(front.URL, "http") + "/", Token: sharedToken, StateDir: t.TempDir(),
		Commands: []string{wire.CommandSubmitTask}, Profile: wire.Profile{Status: true, Dedupe: true}, StoreID: "store-1", RetentionS: 60,
		Handler: handler, BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- client.Run(ctx) }()

	h.signals.fail(errDown)
	for i := range 10 {
		_, err := client.Emit(t.Context(), device.TaskEvent(wire.TaskEvent{EventName: "BLOCKED", TaskMethod: "setMoveTo",
			Trace: wire.Trace{OperationID: operation}, Stage: fmt.Sprint(i)}))
		must(t, err)
	}
	eventually(t, "an event was turned back", func() bool {
		return strings.Contains(get(t, h, "/metrics", sharedToken, http.StatusOK), "events_unrecorded_total 1")
	})
	h.signals.fail(nil)
	await(t, h.signals.arrived, "the first event") // the others are on their way
	restarted := h.restart()

	taken := map[string]int{}
	last := int64(1)
	for last < 10 {
		got := await(t, h.signals.arrived, "the next event")
		seq := got.sent.Event.Seq
		if seq != last && seq != last+1 {
			t.Fatalf("event %d after %d", seq, last)
		}
		last = seq
		taken[got.requestID]++
	}
	if len(taken) < 9 {
		t.Errorf("request ids %v, want one for each event", taken)
	}
	var route plan.Route
	eventually(t, "the device is back", func() bool {
		var ok bool
		route, ok, err = h.registry.Route(t.Context(), client.DeviceID())
		return err == nil && ok && route.GatewayID == restarted.ID()
	})
	answer, err := restarted.Submit(t.Context(), plan.Submit{Route: route, DeviceID: client.DeviceID(), OperationID: operation, TaskMethod: "setMoveTo", TTLMs: 1000})
	if err != nil || answer.Delivery != plan.DeliveryAccepted || answer.TaskID != "t-1" {
		t.Errorf("Submit = %+v, %v", answer, err)
	}
	if task := await(t, handler.seen, "the task"); task.OperationID != operation {
		t.Errorf("task %+v", task)
	}
	stop()
	if err := await(t, ran, "the client to end"); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
}

// restart drains the gateway and starts another in its place, on the same registry.
func (h *home) restart() *gateway.Gateway {
	h.t.Helper()
	fresh, err := gateway.New(gateway.Options{Registry: h.registry, Catalog: testCatalog(), Signaller: h.signals, Token: sharedToken})
	must(h.t, err)
	h.current.Store(fresh)
	h.stop()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- fresh.Run(ctx) }()
	h.t.Cleanup(func() {
		stop()
		if err := await(h.t, ended, "the second gateway to end"); err != nil {
			h.t.Errorf("Run: %v", err)
		}
	})
	return fresh
}
