package gateway_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
)

// A storm of reconnects is admitted at a bounded rate; who is turned away is told when to come again, each another moment.
func TestAReconnectStormIsSpread(t *testing.T) {
	t.Parallel()
	const rate, storm = 5, 40
	h := newHome(t, func(o *gateway.Options) { o.Limits.Handshakes = rate })
	keys := make([]ed25519.PrivateKey, storm)
	for i := range keys {
		keys[i] = h.approved(newKey(t))
	}
	answers := make(chan wire.Frame, storm)
	for _, key := range keys {
		n := h.dial(key)
		answer := n.ask(wire.MethodConnect, agent(key, n.challenge, nil))
		go func() {
			select {
			case f := <-answer:
				answers <- f
			case <-t.Context().Done():
			}
		}()
	}
	in, waits := 0, make(map[int64]bool)
	for range storm {
		f := await(t, answers, "the answer to connect")
		switch {
		case *f.OK:
			in++
		case f.Error.Detail() == "GATEWAY_BUSY" && f.Error.Retryable && f.Error.RetryAfterMs >= 500:
			waits[f.Error.RetryAfterMs] = true
		default:
			t.Errorf("answer %+v", f.Error)
		}
	}
	if in == 0 || len(waits) < storm/4 {
		t.Errorf("%d were let in, the others told %d different moments: want some in, and the rest spread", in, len(waits))
	}
}

// Sockets that say nothing have a bound; a device that is connected is served all the while, and one that comes later is let in once
// they are gone.
func TestSocketsThatNeverConnectAreBounded(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.Limits.Connecting, o.HandshakeTimeout = 3, 2*time.Second })
	honest := h.robot(nil)
	silent := func() error {
		conn, res, err := websocket.Dial(t.Context(), h.url, nil) //nolint:bodyclose // never needed, says Dial
		if err != nil {
			if res == nil || res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" || !res.Close {
				t.Errorf("turned away with %+v, want 429 with Retry-After, and the connection closed", res)
			}
			return err
		}
		t.Cleanup(func() { _ = conn.CloseNow() })
		return nil
	}
	refused := 0
	for range 8 {
		if silent() != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("eight silent sockets are open, three may be")
	}
	done := make(chan error, 1)
	go func() { done <- h.gateway.Say(t.Context(), say(honest.id)) }()
	honest.answer(honest.invoked(), `{}`)
	must(t, await(t, done, "Say"))
	eventually(t, "there is room again", func() bool {
		conn, _, err := websocket.Dial(t.Context(), h.url, nil) //nolint:bodyclose // never needed, says Dial
		if err == nil {
			_ = conn.CloseNow()
		}
		return err == nil
	})
}

// A device that sends too much is slowed down at its own socket. Nothing of it is lost, and another device is as quick as ever.
func TestLaw19AFloodIsSlowedDownAndLosesNothing(t *testing.T) {
	t.Parallel()
	const perSecond, over = 100, 50
	h := newHome(t, func(o *gateway.Options) { o.Limits.DeviceEvents = perSecond })
	n, other := h.robot(nil), h.robot(nil)
	h.signals.arrived = make(chan signal, 10*perSecond)
	began := time.Now()
	const burst = 4 * perSecond
	answers := make([]<-chan wire.Frame, burst+over)
	for i := range answers {
		body := event(i+1, "PROGRESS", `"progress":0.5`)
		answers[i] = n.ask(wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, PayloadJSON: body})
	}
	other.ack(wire.NodeTaskEvent, event(1, "PROGRESS", ""))
	recorded := 0
	for _, answer := range answers {
		f := await(t, answer, "the answer to an event")
		if *f.OK {
			recorded++
		} else if f.Error.RetryAfterMs == 0 {
			t.Errorf("an event that was not taken: %+v, want it told when to send it again", f.Error)
		}
	}
	if took := time.Since(began); recorded > burst && took < (over-10)*time.Second/perSecond {
		t.Errorf("%d events were taken in %s, may be %d a second after the first %d", recorded, took, perSecond, burst)
	}
	if recorded < burst/4 {
		t.Errorf("only %d of %d events were taken", recorded, len(answers))
	}
}

// Over HTTP a flood is answered with 429 and when to come again.
func TestAFloodOverHTTPIsToldToWait(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.Limits.DeviceEvents = 1 })
	c := h.caller()
	var events []string
	for i := range wire.MaxBatchEvents {
		events = append(events, event(i+1, "PROGRESS", ""))
	}
	body := fmt.Sprintf(`{"events":[%s]}`, strings.Join(events, ","))
	if status, text := c.call(http.MethodPost, "/v1/task-events", body, nil); status != http.StatusOK {
		t.Fatalf("a whole batch: %d %.300s", status, text)
	}
	var p struct {
		RetryAfterMs int64 `json:"retry_after_ms"`
	}
	_, text := c.call(http.MethodPost, "/v1/task-events", body, nil)
	if err := json.Unmarshal([]byte(text), &p); err != nil || p.RetryAfterMs < 1000 {
		t.Errorf("the next one: %s, want it told when to come again", text)
	}
	c.refusedWith(http.MethodPost, "/v1/task-events", body, http.StatusTooManyRequests, "busy")
}
