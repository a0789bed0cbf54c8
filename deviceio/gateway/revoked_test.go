package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
)

// From the moment at which a revocation is on record nothing counts that the device says, though nobody has looked for it yet and its socket
// stands: it is recorded nowhere and the device keeps it, and the socket ends. Let in again, the device tells it again.
func TestNoEventOfARevokedDeviceIsTaken(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(n *node) wire.Frame{
		"a task event": func(n *node) wire.Frame { return n.emit(wire.NodeTaskEvent, event(1, "COMPLETED", "")) },
		"an unreadable one": func(n *node) wire.Frame {
			return n.emit(wire.NodeTaskEvent, `{"event_id":"b1-1","boot_id":"b1","seq":1}`)
		},
		"an answer": func(n *node) wire.Frame {
			return n.emit(wire.NodeAnswer, `{"event_id":"b1-1","boot_id":"b1","seq":1,"question_id":"p-1.1","choice":"yes"}`)
		},
		"its own stop": func(n *node) wire.Frame {
			return n.emit(wire.NodeObservation, `{"event_id":"b1-1","boot_id":"b1","seq":1,"kind":"emergency_stop"}`)
		},
		"a result": func(n *node) wire.Frame {
			return n.request(wire.MethodInvokeResult, wire.InvokeResult{ID: "i", NodeID: n.id, OK: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, func(o *gateway.Options) { o.RevokeInterval, o.LeaseTTL = time.Hour, time.Hour })
			key := h.approved(newKey(t))
			n := h.join(key, nil)
			must(t, h.registry.Revoke(t.Context(), n.id))
			if f := say(n); *f.OK || !f.Error.Retryable || !strings.Contains(f.Error.Message, "not approved") {
				t.Errorf("answered %s %v", f.Payload, f.Error)
			}
			n.end()
			h.signals.none(t)
			if strays := h.strays(n); len(strays) != 0 {
				t.Errorf("on record %+v", strays)
			}
			if _, stopped, err := h.registry.StopOf(t.Context(), n.id); err != nil || stopped {
				t.Errorf("it is stopped: %v, %v", stopped, err)
			}
			must(t, h.registry.Approve(t.Context(), n.id))
			if f := say(h.join(key, nil)); !*f.OK {
				t.Errorf("let in again: %v", f.Error)
			}
		})
	}
}

// The same for a batch over HTTP that was let in before the revocation and is read after it.
func TestNoBatchOfARevokedDeviceIsTaken(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.RevokeInterval = time.Hour })
	c := h.caller()
	must(t, h.registry.Revoke(t.Context(), c.id))
	c.refusedWith(http.MethodPost, "/v1/task-events", event(1, "COMPLETED", ""), http.StatusUnauthorized, wire.DetailDeviceTokenMismatch)
	h.exec(`UPDATE devices SET state = 'approved'`)
	h.exec(`INSERT INTO device_tokens (token_hash, device_id, issued_at) VALUES (?, ?, 1)`, digest(c.token), c.id)
	batch := `{"event":` + event(1, "COMPLETED", "") + `}`
	h.registry.onStanding(func() { h.exec(`UPDATE devices SET state = 'revoked'`) }) // between the two looks
	var got decided
	if status, text := c.call(http.MethodPost, "/v1/task-events", batch, &got); status != http.StatusServiceUnavailable || got.Acks[0].OK ||
		!strings.Contains(text, "not approved") {
		t.Errorf("%d %s", status, text)
	}
	h.signals.none(t)
}

// A result that comes from a device that was thrown out meanwhile is on record, since it is sent once only, and completes nothing.
func TestAResultOfARevokedDeviceCompletesNothing(t *testing.T) {
	t.Parallel()
	h := nodeHome(t)
	n := h.plain()
	_, err := h.gateway.Submit(t.Context(), h.command(n, "p/a/1", "status", "device.status"))
	must(t, err)
	r := n.invoked()
	must(t, h.registry.Revoke(t.Context(), n.id))
	n.ask(wire.MethodInvokeResult, wire.InvokeResult{ID: r.ID, NodeID: n.id, OK: true})
	eventually(t, "the result is on record", func() bool {
		all, err := h.registry.StrayEvents(t.Context(), n.id, 10)
		return err == nil && len(all) == 1 && all[0].Ack == wire.AckRefused
	})
	h.signals.none(t)
}
