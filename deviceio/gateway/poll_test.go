package gateway_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

// caller is a device that holds no socket.
type caller struct {
	h     *home
	id    string
	token string
}

// call makes one request; the answer is read into into, unless that is nil.
func (c *caller) call(method, path, body string, into any) (status int, text string) {
	c.h.t.Helper()
	req, err := http.NewRequestWithContext(c.h.t.Context(), method, c.h.url+path, strings.NewReader(body))
	must(c.h.t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(req)
	must(c.h.t, err)
	answer, err := io.ReadAll(res.Body)
	must(c.h.t, errors.Join(err, res.Body.Close()))
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			c.h.t.Fatalf("%s %s = %d %s", method, path, res.StatusCode, answer)
		}
	}
	return res.StatusCode, string(bytes.TrimSpace(answer))
}

// signed is a connect over a fresh challenge.
func (c *caller) signed(key ed25519.PrivateKey, change func(*wire.Connect)) string {
	c.h.t.Helper()
	var ch wire.Challenge
	c.call(http.MethodPost, "/v1/challenge", "", &ch)
	text, err := json.Marshal(agent(key, ch, change))
	must(c.h.t, err)
	return string(text)
}

// caller connects a new approved device over HTTP.
func (h *home) caller() *caller {
	h.t.Helper()
	key := h.approved(newKey(h.t))
	c := &caller{h: h}
	var in struct {
		DeviceID    string `json:"device_id"`
		DeviceToken string `json:"device_token"`
	}
	if status, text := c.call(http.MethodPost, "/v1/connect", c.signed(key, nil), &in); status != http.StatusOK || in.DeviceID != idOf(key) {
		h.t.Fatalf("connect: %d %s", status, text)
	}
	c.id, c.token = in.DeviceID, in.DeviceToken
	return c
}

// poll asks for commands once.
func (c *caller) poll(wait string) wire.Requests {
	c.h.t.Helper()
	var got wire.Requests
	if status, text := c.call(http.MethodGet, "/v1/devices/"+c.id+"/requests?wait="+wait, "", &got); status != http.StatusOK {
		c.h.t.Fatalf("poll: %d %s", status, text)
	}
	return got
}

type acks struct {
	Acks []struct {
		OK bool `json:"ok"`
		wire.EventAck
	} `json:"acks"`
}

func (c *caller) refusedWith(method, path, body string, status int, code string) {
	c.h.t.Helper()
	var p struct{ Code, Detail string }
	if got, text := c.call(method, path, body, &p); got != status || p.Code != code || p.Detail == "" {
		c.h.t.Errorf("%s %s = %d %s, want %d %s", method, path, got, text, status, code)
	}
}

// Over HTTP a device proves its key as over a socket: a challenge is good once, and a new device waits for a person.
func TestConnectOverHTTPIsTheSameGate(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	c := &caller{h: h}
	known, fresh := h.approved(newKey(t)), newKey(t)
	once := c.signed(known, nil)
	if status, text := c.call(http.MethodPost, "/v1/connect", once, nil); status != http.StatusOK {
		t.Fatalf("connect: %d %s", status, text)
	}
	post := func(body string, status int, code string) {
		t.Helper()
		c.refusedWith(http.MethodPost, "/v1/connect", body, status, code)
	}
	post(once, http.StatusUnauthorized, wire.AuthNonceMismatch) // used up
	post(c.signed(fresh, nil), http.StatusForbidden, wire.DetailPairingRequired)
	post(strings.Replace(c.signed(known, nil), `"version":"1"`, `"version":"2"`, 1)+"}", http.StatusUnprocessableEntity, "CONNECT_INVALID")
	post(c.signed(known, func(c *wire.Connect) { c.Auth = wire.Auth{Token: "another-token-of-16"} }), http.StatusUnauthorized, wire.DetailTokenMismatch)
	post(strings.Replace(c.signed(known, nil), `"id":"errand-device"`, `"id":"somebody-else"`, 1), http.StatusUnauthorized, wire.AuthSignatureInvalid)
	must(t, h.registry.Approve(t.Context(), idOf(fresh)))
	if status, text := c.call(http.MethodPost, "/v1/connect", c.signed(fresh, nil), nil); status != http.StatusOK {
		t.Errorf("after approval: %d %s", status, text)
	}
}

// Who asks is told by the token alone, and no other device's requests or answers are to be had with it.
func TestHTTPRoutesOfDevicesWantTheirToken(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	c, other := h.caller(), h.caller()
	for _, token := range []string{"", sharedToken, "nobody's"} {
		stranger := &caller{h: h, token: token}
		stranger.refusedWith(http.MethodPost, "/v1/task-events", `{}`, http.StatusUnauthorized, wire.DetailDeviceTokenMismatch)
	}
	c.refusedWith(http.MethodGet, "/v1/devices/"+other.id+"/requests", "", http.StatusForbidden, "foreign_device")
	c.refusedWith(http.MethodPost, "/v1/devices/"+other.id+"/responses", `{}`, http.StatusForbidden, "foreign_device")
	must(t, h.registry.Revoke(t.Context(), c.id))
	c.refusedWith(http.MethodPost, "/v1/task-events", `{}`, http.StatusUnauthorized, wire.DetailDeviceTokenMismatch)
}

// Law 19 over HTTP: a batch is taken in its order, each event is acknowledged by itself, and one that could not be recorded holds up
// those behind it. Law 7: sent again, each is the same signal.
func TestLaw19ABatchIsTakenInOrder(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	c := h.caller()
	body := `{"errand":{"profile":{"status":true,"dedupe":true,"outbox":true},"boots":["b1"],"store_id":"store-1","retention_s":60},"events":[` +
		event(1, "STARTED", "") + "," + event(2, "NEVER_HEARD", "") + `,{"event":"assistant.answer","payload":{"event_id":"b1-3","boot_id":"b1","seq":3,"question_id":"p-1.1","choice":"go"}},` +
		event(4, "COMPLETED", "") + `]}`
	send := func(want int) (got acks) {
		t.Helper()
		if status, text := c.call(http.MethodPost, "/v1/task-events", body, &got); status != want || len(got.Acks) != 4 {
			t.Fatalf("%d %s, want %d and four acknowledgements", status, text, want)
		}
		return got
	}
	h.signals.fail(errDown)
	if got := send(http.StatusServiceUnavailable); got.Acks[0].OK || got.Acks[3].OK {
		t.Errorf("acks %+v, want none recorded", got)
	}
	h.signals.fail(nil)
	var ids []string
	for range 2 {
		got := send(http.StatusOK)
		for i, want := range []string{wire.AckApplied, wire.AckRefused, wire.AckApplied, wire.AckApplied} {
			if !got.Acks[i].OK || got.Acks[i].Ack != want {
				t.Errorf("event %d: %+v, want %s", i+1, got.Acks[i], want)
			}
		}
		for len(h.signals.arrived) > 0 {
			ids = append(ids, (<-h.signals.arrived).requestID)
		}
	}
	// The first time: STARTED, the doubt about the refused one, the answer, COMPLETED; the second time the last three, and of the first
	// only that it is known.
	seen := make(map[string]int)
	for _, id := range ids {
		seen[id]++
	}
	if len(seen) != 4 {
		t.Errorf("signals %v: want four, however often each is sent", seen)
	}
}

func TestABatchThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	c := h.caller()
	for body, want := range map[string]struct {
		status int
		code   string
	}{
		`{"events":[]}`:                      {http.StatusUnprocessableEntity, "invalid_document"},
		`{}`:                                 {http.StatusUnprocessableEntity, "invalid_document"},
		`{"events":[`:                        {http.StatusBadRequest, "bad_json"},
		`{"errand":{"boots":[]},"event":{}}`: {http.StatusUnprocessableEntity, "invalid_document"},
		`{"errand":{"profile":{},"boots":["b2","b1"],"store_id":"s","retention_s":1},"event":{}}`: {http.StatusConflict, "BOOT_ORDER_CONTRADICTED"},
		strings.Repeat(" ", wire.MaxBatchBytes+1):                                                 {http.StatusRequestEntityTooLarge, "too_large"},
	} {
		c.refusedWith(http.MethodPost, "/v1/task-events", body, want.status, want.code)
	}
}

// A command waits for the device to ask, is told again until it is answered, and its answer counts once. While it lies there its ttl
// shrinks (design §6, old intentions do not move robots).
func TestLaw11APolledCommandIsToldUntilAnswered(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.TellAgain = time.Millisecond })
	c := h.caller()
	c.poll("0s") // from here on it is connected
	route, ok, err := h.registry.Route(t.Context(), c.id)
	if err != nil || !ok || route.StoreID != "store-1" || !route.Profile.Dedupe {
		t.Fatalf("route %+v, %v, %v", route, ok, err)
	}
	n := &node{t: t, id: c.id}
	done := h.start(t.Context(), h.submit(n))
	first, again := c.poll("10s"), c.poll("10s")
	if len(first.Tasks) != 1 || len(again.Tasks) != 1 || first.Tasks[0].RequestID != again.Tasks[0].RequestID || len(first.Others)+len(first.Workflows) > 0 {
		t.Fatalf("told %+v and then %+v, want one and the same task", first, again)
	}
	task, err := wire.ParseTask(again.Tasks[0].Params)
	if err != nil || task.OperationID != operation || task.TTLMs <= 0 || task.TTLMs > 30_000 {
		t.Errorf("task %+v, %v", task, err)
	}
	answer := `{"request_id":"` + first.Tasks[0].RequestID + `","ok":true,"payload":{"accepted":true,"taskId":"t-7","store_id":"store-1"}}`
	for i, ignored := range []bool{false, true} {
		var got struct{ Responses []struct{ Ignored bool } }
		if status, text := c.call(http.MethodPost, "/v1/devices/"+c.id+"/responses", answer, &got); status != http.StatusOK || got.Responses[0].Ignored != ignored {
			t.Errorf("answer %d: %d %s, want it ignored: %v", i+1, status, text, ignored)
		}
	}
	if got := await(t, done, "Submit"); got.err != nil || got.Delivery != plan.DeliveryAccepted || got.TaskID != "t-7" {
		t.Errorf("Submit = %+v", got)
	}
	if left := c.poll("0s"); len(left.Tasks) != 0 {
		t.Errorf("told again after its answer: %+v", left)
	}
}

// A device that asks no more is away, and one that comes up anew is another connection.
func TestADeviceThatAsksNoMoreIsAway(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.PollGrace = 50 * time.Millisecond })
	c := h.caller()
	c.poll("0s")
	eventually(t, "the device is away", func() bool {
		_, ok, err := h.registry.Route(t.Context(), c.id)
		return err == nil && !ok
	})
}

func TestADeviceThatComesUpAnewIsAnotherConnection(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	c := h.caller()
	c.poll("0s")
	before := h.route(&node{t: t, id: c.id})
	done := make(chan error, 1)
	go func() { done <- h.gateway.Say(t.Context(), say(c.id)) }()
	if got := c.poll("10s"); len(got.Others) != 1 || got.Others[0].Command != wire.CommandSay {
		t.Fatalf("told %+v, want the words", got)
	}
	c.call(http.MethodPost, "/v1/observations", `{"errand":{"profile":{},"boots":["b1","b2"],"store_id":"store-1","retention_s":60},"event":{}}`, nil)
	c.poll("0s")
	if err := await(t, done, "Say"); !errors.Is(err, gateway.ErrSocketLost) {
		t.Errorf("Say = %v: what the last boot had in hand is lost with it", err)
	}
	after := h.route(&node{t: t, id: c.id})
	if after.ConnectionEpoch <= before.ConnectionEpoch || after.BootEpoch <= before.BootEpoch {
		t.Errorf("route %+v after %+v", after, before)
	}
}

// Draining lets a waiting device go at once, and takes no event any more.
func TestDrainLetsPollsGo(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	c := h.caller()
	c.poll("0s")
	done := make(chan int, 1)
	go func() {
		status, _ := c.call(http.MethodGet, "/v1/devices/"+c.id+"/requests?wait=60s", "", nil)
		done <- status
	}()
	h.stop()
	// It waits already, or comes too late: in neither case is it kept.
	if status := await(t, done, "the poll"); status != http.StatusOK && status != http.StatusServiceUnavailable {
		t.Errorf("the poll ended with %d", status)
	}
	if status, text := c.call(http.MethodPost, "/v1/task-events", `{"event":`+event(1, "COMPLETED", "")+`}`, nil); status != http.StatusServiceUnavailable {
		t.Errorf("an event while draining: %d %s", status, text)
	}
	c.refusedWith(http.MethodGet, "/v1/devices/"+c.id+"/requests", "", http.StatusServiceUnavailable, "GATEWAY_DRAINING")
}
