package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"errand/catalog"
	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// stop stops the device as the API does: in the registry, behind the gateway's back.
func (h *home) stopDevice(n *node) {
	h.t.Helper()
	must(h.t, h.registry.StopDevice(h.t.Context(), registry.Stop{DeviceID: n.id, ID: "s-1", By: "mina", Why: "the cat"}))
}

// cancelled answers the next cancel, and returns which operation it was of.
func (n *node) cancelled(as string) string {
	n.t.Helper()
	r := n.invoked()
	var q wire.CancelQuery
	if err := json.Unmarshal([]byte(r.ParamsJSON), &q); err != nil || r.Command != wire.CommandCancelTask || !strings.HasPrefix(q.Reason, plan.EmergencyStop) {
		n.t.Fatalf("%s %s (%v), want a cancel with its reason", r.Command, r.ParamsJSON, err)
	}
	n.answer(r, `{"accepted":true,"operation_id":"`+q.OperationID+`","case":"`+as+`","state":"x","store_id":"store-1"}`)
	return q.OperationID
}

// refusedStop submits, and wants a refusal by the stop of which the device hears nothing.
func (h *home) refusedStop(g *gateway.Gateway, c plan.Submit) {
	h.t.Helper()
	got, err := g.Submit(h.t.Context(), c)
	if err != nil || got.Delivery != plan.DeliveryRefused || !got.Unasked || got.Report.Code != plan.EmergencyStop || got.Report.RequiresDecision {
		h.t.Fatalf("Submit = %+v, %v; want it refused by the stop", got, err)
	}
}

// What runs when a person stops the device is cancelled on it, again until it stands still; nothing more is submitted, whatever it
// is called, until a person releases it. Temporal has no part in it: this gateway has none.
func TestAnEmergencyStopCancelsAndRefuses(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) {
		o.Catalog.Capabilities = append(o.Catalog.Capabilities, catalog.Capability{ID: "device_status", TaskMethod: "getDeviceStatus", Enabled: true, Impact: catalog.ReadOnly})
	})
	n := h.robot(nil)
	running := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-7"}`)
	must(t, await(t, running, "Submit").err)

	h.stopDevice(n)
	for _, as := range []string{"cancelling", "cancelled"} {
		if id := n.cancelled(as); id != operation {
			t.Errorf("cancelled %s", id)
		}
	}
	another, unheardOf := h.submit(n), h.submit(n)
	another.OperationID, unheardOf.OperationID, unheardOf.CapabilityID = "p-1/move/2", "p-1/move/3", "newer_one"
	h.refusedStop(h.gateway, another)
	h.refusedStop(h.gateway, unheardOf)

	reads := h.submit(n)
	reads.OperationID, reads.CapabilityID, reads.TaskMethod = "p-1/look/1", "device_status", "getDeviceStatus"
	read := h.start(t.Context(), reads)
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-8"}`)
	if got := await(t, read, "the reading"); got.err != nil || got.Delivery != plan.DeliveryAccepted {
		t.Errorf("what only reads: %+v", got)
	}

	// The end of what was stopped has the stop's name.
	n.ack(wire.NodeTaskEvent, event(1, "CANCELLED", `"reason_code":"CANCEL_REQUESTED"`))
	if got := await(t, h.signals.arrived, "the signal").sent.Event.Report; got == nil || got.Code != plan.EmergencyStop {
		t.Errorf("the cancelled task's reason is %+v", got)
	}

	_, err := h.registry.Release(t.Context(), n.id, "mina")
	must(t, err)
	eventually(t, "the device may be moved again", func() bool {
		done := h.start(t.Context(), another)
		select {
		case got := <-done:
			return got.err == nil && got.Delivery == plan.DeliveryAccepted
		case f := <-n.events:
			if f.Event == wire.EventInvoke {
				r, err := wire.ParseInvokeRequest(f.Payload)
				must(t, err)
				n.answer(r, `{"accepted":true,"taskId":"t-9"}`)
			}
			got := await(t, done, "Submit")
			return got.err == nil && got.Delivery == plan.DeliveryAccepted
		}
	})
}

// A stop outlives the gateway. A device that was away when it was made is halted when it comes back, by what it lists itself.
func TestAnEmergencyStopOutlivesTheGatewayAndAwaitsTheDevice(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	must(t, h.registry.StopDevice(t.Context(), registry.Stop{DeviceID: idOf(key), ID: "s-1", By: "mina"}))
	fresh := h.restart()
	h.url = h.serve(fresh)
	n := h.join(key, func(c *wire.Connect) { c.Commands = append(c.Commands, wire.CommandContext) })
	halted := ""
	for halted == "" {
		switch r := n.invoked(); r.Command {
		case wire.CommandContext: // asked for its rooms, too
			n.answer(r, withTasks(`{"available":true,"tasks":[{"operation_id":"p-9/move/1"}]}`))
		case wire.CommandCancelTask:
			halted = r.ParamsJSON
			n.answer(r, `{"accepted":true,"operation_id":"p-9/move/1","case":"cancelled","state":"CANCELLED","store_id":"store-1"}`)
		}
	}
	if !strings.Contains(halted, "p-9/move/1") {
		t.Errorf("cancelled %s", halted)
	}
	h.refusedStop(fresh, h.submit(n))
}

// A device's own stop is latched at once, though its other events wait for a Temporal that does not answer; and the plans hear
// of it, once, when it does. The same event told again behind the release stops nothing.
func TestADevicesOwnStopGoesFirst(t *testing.T) {
	t.Parallel()
	plans := &watching{answer: errDown}
	h := newHome(t, func(o *gateway.Options) { o.Observations = plans })
	n := h.robot(nil)
	hold := make(chan struct{})
	h.signals.mu.Lock()
	h.signals.hold = hold
	h.signals.mu.Unlock()
	waiting := n.ask(wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, PayloadJSON: event(1, "BLOCKED", "")})

	told := `{"event_id":"b1-2","boot_id":"b1","seq":2,"kind":"emergency_stop","facts":{"why":"button"}}`
	if ack := n.ack(wire.NodeObservation, told); ack.Ack != wire.AckApplied || ack.EventID != "b1-2" {
		t.Fatalf("ack %+v", ack)
	}
	h.refusedStop(h.gateway, h.submit(n))
	select {
	case f := <-waiting:
		t.Errorf("the event in front of it was answered: %+v", f)
	default:
	}
	close(hold)
	if f := await(t, waiting, "the answer to the event"); !*f.OK {
		t.Errorf("the event in front of it: %+v", f.Error)
	}

	plans.fail(nil)
	eventually(t, "the plans have heard of it", func() bool {
		open, err := h.registry.Stops(t.Context())
		return err == nil && len(open) == 1 && open[0].Told
	})
	plans.mu.Lock()
	if len(plans.seen) != 1 || plans.seen[0].Kind != plan.KindEmergencyStop || plans.seen[0].DeviceID != n.id || plans.seen[0].Facts["why"] != "button" {
		t.Errorf("told %+v", plans.seen)
	}
	plans.mu.Unlock()

	_, err := h.registry.Release(t.Context(), n.id, "mina")
	must(t, err)
	n.ack(wire.NodeObservation, told)
	if _, stopped, err := h.registry.StopOf(t.Context(), n.id); err != nil || stopped {
		t.Errorf("it is stopped again: %v, %v", stopped, err)
	}
}

// Where it cannot be read whether a device is stopped, nothing is sent; and a stop that cannot be recorded is sent again.
func TestAnEmergencyStopInDoubtIsAStop(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	h.registry.failStops(errDown)
	if got, err := h.gateway.Submit(t.Context(), h.submit(n)); !errors.Is(err, plan.ErrNotConnected) {
		t.Errorf("Submit = %+v, %v", got, err)
	}
	if f := n.emit(wire.NodeObservation, `{"event_id":"b1-2","boot_id":"b1","seq":2,"kind":"emergency_stop"}`); *f.OK || f.Error.Code != wire.CodeUnavailable {
		t.Errorf("a stop that is not recorded: %+v", f)
	}
}

// A released device may be moved at once, though the gateway looks for releases only now and then.
func TestAReleaseHoldsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.StopInterval = time.Hour })
	n := h.robot(nil)
	n.ack(wire.NodeObservation, `{"event_id":"b1-2","boot_id":"b1","seq":2,"kind":"emergency_stop"}`)
	h.refusedStop(h.gateway, h.submit(n))
	_, err := h.registry.Release(t.Context(), n.id, "mina")
	must(t, err)
	done := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-7"}`)
	if got := await(t, done, "Submit"); got.err != nil || got.Delivery != plan.DeliveryAccepted {
		t.Errorf("Submit = %+v", got)
	}
}

// A stop that comes while the one before is found released is a stop of its own: the device is halted again, though the halting of the
// first one was still on its way out, and nothing looks at the registry for an hour.
func TestAStopRightBehindAReleaseHaltsAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.StopInterval = time.Hour })
	n := h.robot(nil)
	running := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-7"}`)
	must(t, await(t, running, "Submit").err)
	pressed := func(seq string) string {
		return `{"event_id":"b1-` + seq + `","boot_id":"b1","seq":` + seq + `,"kind":"emergency_stop","facts":{"why":"button"}}`
	}
	n.ack(wire.NodeObservation, pressed("2"))
	if id := n.cancelled("cancelling"); id != operation {
		t.Errorf("cancelled %s", id)
	}

	// The halting looks again, finds the release, and is held before it can act on it.
	found, goOn, once := make(chan struct{}), make(chan struct{}), new(sync.Once)
	h.registry.onRead(func(stopped bool) {
		if !stopped {
			once.Do(func() { close(found); <-goOn })
		}
	})
	_, err := h.registry.Release(t.Context(), n.id, "mina")
	must(t, err)
	await(t, found, "the release to be seen")
	n.ack(wire.NodeObservation, pressed("3"))
	h.refusedStop(h.gateway, h.submit(n))
	close(goOn)
	if id := n.cancelled("cancelled"); id != operation {
		t.Errorf("Law15: behind the release it cancelled %s", id)
	}
}

// The same with many stops and releases at once: whatever comes last holds, and a device that is stopped is told so.
func TestStopsAndReleasesInAnyOrder(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.StopInterval = time.Millisecond })
	n := h.robot(nil)
	running := h.start(t.Context(), h.submit(n))
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t-7"}`)
	must(t, await(t, running, "Submit").err)
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			if err := h.registry.StopDevice(t.Context(), registry.Stop{DeviceID: n.id, ID: fmt.Sprint("s-", i), By: "mina"}); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := h.registry.Release(t.Context(), n.id, "jun"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	_, err := h.registry.Release(t.Context(), n.id, "jun")
	must(t, err)
	must(t, h.registry.StopDevice(t.Context(), registry.Stop{DeviceID: n.id, ID: "last", By: "mina"}))
	for {
		id := n.cancelled("cancelled")
		if stop, stopped, err := h.registry.StopOf(t.Context(), n.id); id == operation && err == nil && stopped && stop.ID == "last" {
			break
		}
	}
	h.refusedStop(h.gateway, h.submit(n))
}
