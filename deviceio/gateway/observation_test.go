package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"errand/catalog"
	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

// watching is a lease, or its absence, and what starts plans.
type watching struct {
	mu       sync.Mutex
	answer   error
	seen     []plan.Observation
	requests []string
	started  []plan.Start
}

func (w *watching) Observe(_ context.Context, requestID string, o plan.Observation) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answer == nil {
		w.seen, w.requests = append(w.seen, o), append(w.requests, requestID)
	}
	return w.answer
}

func (w *watching) Start(_ context.Context, s plan.Start) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = append(w.started, s)
	return false, nil
}

func (w *watching) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = err
}

// homeThatWatches is a gateway whose catalog has a watch for smoke.
func homeThatWatches(t *testing.T, answer error) (*home, *watching) {
	w := &watching{answer: answer}
	return newHome(t, func(o *gateway.Options) {
		c := testCatalog()
		c.Routines = []catalog.Routine{{ID: "clear_the_air", Steps: []catalog.RoutineStep{{ID: "purify", CapabilityID: "purify", OperationID: "start"}}}}
		c.Watches = []catalog.Watch{{Kind: "smoke", MinConfidence: 0.5, Routine: "clear_the_air"}}
		o.Catalog, o.Observations, o.Plans, o.Decider = c, w, w, "model"
	}), w
}

// saw is an observation as a device sends it.
func saw(seq int, fields string) string {
	return fmt.Sprintf(`{"event_id":"b1-%d","boot_id":"b1","seq":%d,%s}`, seq, seq, fields)
}

// What nobody need decide about is on record, without what was seen.
func TestObservationsAreOnRecord(t *testing.T) {
	t.Parallel()
	h, w := homeThatWatches(t, nil)
	n := h.robot(nil)
	ack := n.ack(wire.NodeObservation, `{"eventId":"b1-1","bootId":"b1","seq":1,"kind":"person_seen","confidence":0.9,"facts":{"frame":"hunter2"}}`)
	if ack.EventID != "b1-1" || ack.Ack != wire.AckUnmatched {
		t.Errorf("ack %+v", ack)
	}
	strays := h.strays(n)
	if len(strays) != 1 || strays[0].Seq != 1 || strays[0].Epoch != h.route(n).BootEpoch || !strings.Contains(string(strays[0].Body), "person_seen") ||
		strings.Contains(string(strays[0].Body), "hunter2") {
		t.Errorf("strays %+v", strays)
	}
	if res := n.emit(wire.NodeObservation, `[]`); !*res.OK {
		t.Errorf("an unreadable observation must not block the outbox: %+v", res)
	}
	h.signals.none(t)
	if len(w.seen) != 0 || len(w.started) != 0 {
		t.Errorf("somebody was told: %+v %+v", w.seen, w.started)
	}
}

func TestLaw12WhatNeedsADecisionGoesToWhoeverHasTheDevice(t *testing.T) {
	t.Parallel()
	h, w := homeThatWatches(t, nil)
	n := h.robot(nil)
	body := saw(1, `"kind":"pet_in_the_way","confidence":0.8,"place":"안방","observedAt":"2026-11-30T09:00:00Z","requiresCloudDecision":true,"facts":{"pet":"cat"}`)
	if ack := n.ack(wire.NodeObservation, body); ack.Ack != wire.AckApplied {
		t.Fatalf("ack %+v", ack)
	}
	got := w.seen[0]
	if got.DeviceID != n.id || got.Epoch != h.route(n).BootEpoch || got.Seq != 1 || got.Kind != "pet_in_the_way" || got.Place != "안방" ||
		got.Facts["pet"] != "cat" || !got.RequiresDecision || got.ObservedAt != 1796029200000 {
		t.Errorf("the lease was told %+v", got)
	}
	n.ack(wire.NodeObservation, body)
	if w.requests[0] != w.requests[1] {
		t.Errorf("sent again it has another request id: %v", w.requests)
	}
	w.fail(gateway.ErrNoLease)
	if ack := n.ack(wire.NodeObservation, saw(2, `"kind":"pet_in_the_way","requires_cloud_decision":true`)); ack.Ack != wire.AckUnmatched || !strings.Contains(ack.Reason, "no plan") {
		t.Errorf("with no plan: %+v", ack)
	}
	w.fail(gateway.ErrSignalRefused)
	if ack := n.ack(wire.NodeObservation, saw(3, `"kind":"pet_in_the_way","requires_cloud_decision":true`)); ack.Ack != wire.AckRefused {
		t.Errorf("refused for good: %+v", ack)
	}
	w.fail(errors.New("down"))
	if res := n.emit(wire.NodeObservation, saw(4, `"kind":"pet_in_the_way","requires_cloud_decision":true`)); *res.OK {
		t.Errorf("what is recorded nowhere must be sent again: %+v", res)
	}
}

func TestAWatchStartsItsRoutineOnlyWhereNoPlanHasTheDevice(t *testing.T) {
	t.Parallel()
	h, w := homeThatWatches(t, gateway.ErrNoLease)
	n := h.robot(nil)
	now := time.Now().UnixMilli()
	fresh := fmt.Sprintf(`"kind":"smoke","confidence":0.9,"observed_at":%d`, now-1000)
	for range 2 { // sent again, it is the same plan
		if ack := n.ack(wire.NodeObservation, saw(1, fresh)); ack.Ack != wire.AckApplied || !strings.HasPrefix(ack.Reason, "plan w-") {
			t.Fatalf("ack %+v", ack)
		}
	}
	start := w.started[0]
	if start.Saw == nil || start.Saw.Seq != 1 || start.Saw.Epoch == 0 || start.Saw.Kind != "smoke" || start.Saw.Facts != nil {
		t.Errorf("the plan is not told what started it: %+v", start.Saw)
	}
	if start.PlanID != w.started[1].PlanID || !plan.ValidID(start.PlanID) || start.DeviceID != n.id || start.HomeID != plan.DefaultHome || start.AskedAt != now-1000 ||
		start.Decider != "model" || start.Document.Steps[0].Action.CapabilityID != "purify" || len(start.Slice.Capabilities) != 1 {
		t.Errorf("started %+v", start)
	}
	for what, fields := range map[string]string{
		"not sure enough":        fmt.Sprintf(`"kind":"smoke","confidence":0.4,"observed_at":%d`, now),
		"too old":                fmt.Sprintf(`"kind":"smoke","confidence":0.9,"observed_at":%d`, now-6*60_000),
		"nobody knows how old":   `"kind":"smoke","confidence":0.9`,
		"nothing watches for it": fmt.Sprintf(`"kind":"water","confidence":0.9,"observed_at":%d`, now),
	} {
		ack := n.ack(wire.NodeObservation, saw(10+len(what), fields))
		if ack.Ack != wire.AckUnmatched || (strings.HasPrefix(what, "nobody knows") && !strings.Contains(ack.Reason, "does not say when")) {
			t.Errorf("%s: %+v", what, ack)
		}
	}
	w.fail(nil) // a plan has the device
	if ack := n.ack(wire.NodeObservation, saw(50, fresh)); ack.Ack != wire.AckApplied || len(w.started) != 2 {
		t.Errorf("%+v, %d started", ack, len(w.started))
	}
}

// There is no room for a frame or a document in what a device saw.
func TestAnObservationIsSmall(t *testing.T) {
	t.Parallel()
	h, w := homeThatWatches(t, nil)
	n := h.robot(nil)
	for i, fields := range []string{
		`"kind":"smoke","requires_cloud_decision":true,"facts":{"frame":"` + strings.Repeat("A", 201) + `"}`,
		`"kind":"smoke","requires_cloud_decision":true,"facts":{"pose":{"x":1}}`,
		`"kind":"smoke","requires_cloud_decision":true,"confidence":7`,
		`"kind":1`, `"place":"거실"`,
	} {
		if ack := n.ack(wire.NodeObservation, saw(i+1, fields)); ack.Ack != wire.AckRefused {
			t.Errorf("%.60s: %+v", fields, ack)
		}
	}
	if len(w.seen) != 0 {
		t.Errorf("the lease was told %+v", w.seen)
	}
}
