package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/catalog"
	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

func TestTicksAreSent(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.TickInterval = 5 * time.Millisecond })
	n := h.robot(nil)
	for range 2 {
		var tick struct{ TS int64 }
		must(t, json.Unmarshal(n.next(wire.EventTick).Payload, &tick))
		if tick.TS == 0 {
			t.Error("a tick without its time")
		}
	}
}

// A device that answers no ping is gone, whatever its socket says: presence must not outlive it.
func TestADeviceThatAnswersNoPingIsGone(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.PingInterval, o.WriteTimeout = 10*time.Millisecond, 10*time.Millisecond })
	key := h.approved(newKey(t))
	conn, _, err := websocket.Dial(t.Context(), h.url, nil) //nolint:bodyclose // never needed, says Dial
	must(t, err)
	defer func() { _ = conn.CloseNow() }()
	_, data, err := conn.Read(t.Context())
	must(t, err)
	challenge, err := wire.ParseFrame(data)
	must(t, err)
	ch, err := wire.ParseChallenge(challenge.Payload)
	must(t, err)
	connect, err := wire.NewReq("1", wire.MethodConnect, agent(key, ch, nil))
	must(t, err)
	data, err = json.Marshal(connect)
	must(t, err)
	must(t, conn.Write(t.Context(), websocket.MessageText, data))
	// From here on nobody reads, so that no pong goes out.
	eventually(t, "the device counts as connected, and then as gone", func() bool {
		d, err := h.registry.Device(t.Context(), idOf(key))
		return err == nil && !d.Online && d.DisplayName == "robot"
	})
}

// A second connection of a device takes the place of the first, which can then change nothing.
func TestASecondConnectionReplacesTheFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	first := h.join(key, nil)
	before := h.route(first)
	second := h.join(key, nil)
	if code := first.end(); code != websocket.StatusPolicyViolation {
		t.Errorf("the first was closed with %d, want 1008", code)
	}
	after := h.route(second)
	if after.ConnectionEpoch <= before.ConnectionEpoch {
		t.Errorf("epoch %d after %d", after.ConnectionEpoch, before.ConnectionEpoch)
	}
	done := make(chan error, 1)
	go func() { done <- h.gateway.Say(t.Context(), say(second.id)) }()
	second.answer(second.invoked(), `{}`)
	must(t, await(t, done, "Say"))
}

func TestADisconnectedDeviceHasNoRoute(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	must(t, n.conn.Close(websocket.StatusNormalClosure, "bye"))
	eventually(t, "the route is gone", func() bool {
		_, ok, err := h.registry.Route(t.Context(), n.id)
		return err == nil && !ok
	})
}

func TestARevokedDeviceIsClosedByTheHeartbeat(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.LeaseTTL = 500 * time.Millisecond })
	n := h.robot(nil)
	must(t, h.registry.Revoke(t.Context(), n.id))
	if code := n.end(); code != websocket.StatusPolicyViolation {
		t.Errorf("closed with %d, want 1008", code)
	}
}

// Presence is renewed: the connection outlives its first lease many times over.
func TestPresenceIsRenewed(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.LeaseTTL = 300 * time.Millisecond })
	n := h.robot(nil)
	first, err := h.registry.Device(t.Context(), n.id)
	must(t, err)
	eventually(t, "three leases have passed", func() bool {
		d, err := h.registry.Device(t.Context(), n.id)
		return err == nil && d.Online && d.LastSeenAt.Sub(first.LastSeenAt) > 900*time.Millisecond
	})
}

// Another gateway takes the device over: this one lets its socket go and does not end the newer connection.
func TestAConnectionTakenOverElsewhereIsLetGo(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.LeaseTTL = 60 * time.Millisecond })
	n := h.robot(nil)
	must(t, h.registry.AddGateway(t.Context(), "gw-other", "deviceio@gw-other", time.Hour))
	epoch, err := h.registry.Connect(t.Context(), registry.Connection{DeviceID: n.id, GatewayID: "gw-other"}, time.Hour)
	must(t, err)
	n.end()
	eventually(t, "this gateway holds the device no more", func() bool {
		return strings.Contains(get(t, h, "/metrics", sharedToken, http.StatusOK), "errand_gateway_devices 0")
	})
	if route := h.route(n); route.GatewayID != "gw-other" || route.ConnectionEpoch != epoch {
		t.Errorf("route %+v, want the newer connection untouched", route)
	}
}

func TestTheRoomCatalogIsReadAfterConnect(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(func(c *wire.Connect) { c.Commands = append(c.Commands, wire.CommandContext) })
	asked := n.invoked()
	if asked.Command != wire.CommandContext {
		t.Fatalf("asked %s", asked.Command)
	}
	n.answer(asked, deviceContext)
	want := catalog.Room{ID: "6", Name: "안방"}
	eventually(t, "the rooms are recorded", func() bool {
		d, err := h.registry.Device(t.Context(), n.id)
		return err == nil && len(d.Rooms) == 1 && d.Rooms[0] == want && !d.RoomsAt.IsZero()
	})
}

const deviceContext = `{"schema_version":"device_context.v1","snapshot_ts":1,"updated_at_ms":1,"battery":{"available":false},
	"map":{"available":true,"rooms":[{"id":"6","name":"안방"}]},"location":{"available":false},"cleaning":{"available":false},
	"movement":{"available":false},"task_manager":{"available":false},"capabilities":{"available":false}}`

// Law 17: a map that the device itself calls stale names no rooms, and takes none away.
func TestLaw17AStaleMapIsNoRoomCatalog(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(func(c *wire.Connect) { c.Commands = append(c.Commands, wire.CommandContext) })
	stale := strings.NewReplacer(`"location":`, `"freshness":{"map":{"policy":"on_change","usable":true,"stale":true}},"location":`, "안방", "헛방").Replace(deviceContext)
	n.answer(n.invoked(), stale) // asked on connect
	for _, c := range []struct{ told, want string }{{stale, ""}, {deviceContext, "안방"}, {stale, "안방"}} {
		read := make(chan error, 1)
		go func() { _, err := h.gateway.Context(t.Context(), n.id); read <- err }()
		n.answer(n.invoked(), c.told)
		must(t, await(t, read, "the context"))
		d, err := h.registry.Device(t.Context(), n.id)
		must(t, err)
		if got := fmt.Sprint(d.Rooms); (c.want == "") != (len(d.Rooms) == 0) || !strings.Contains(got, c.want) {
			t.Errorf("after %s the rooms are %s, want %q", c.told, got, c.want)
		}
	}
}

func TestUnreadableRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	for name, answer := range map[string]wire.Frame{
		"an unknown method":     n.request("node.unheard", nil),
		"a second connect":      n.request(wire.MethodConnect, nil),
		"an event without name": n.request(wire.MethodNodeEvent, map[string]any{"payload": 1}),
		"a result without id":   n.request(wire.MethodInvokeResult, map[string]any{"ok": true}),
	} {
		if *answer.OK || answer.Error.Code != wire.CodeInvalidRequest {
			t.Errorf("%s: %+v, want INVALID_REQUEST", name, answer)
		}
	}
	must(t, n.conn.Write(t.Context(), websocket.MessageBinary, []byte("{}")))
	if code := n.end(); code != websocket.StatusUnsupportedData {
		t.Errorf("a binary message: closed with %d, want 1003", code)
	}
}

// Draining: a command in flight is still answered, then the device is told and comes back soon.
func TestDrainFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	done := make(chan error, 1)
	go func() { done <- h.gateway.Say(t.Context(), say(n.id)) }()
	asked := n.invoked()
	h.stop()
	eventually(t, "no new route is given", func() bool {
		_, ok, err := h.registry.Route(t.Context(), n.id)
		return err == nil && !ok
	})
	get(t, h, "/readyz", sharedToken, http.StatusServiceUnavailable)
	n.answer(asked, `{}`)
	must(t, await(t, done, "the command in flight"))
	var shutdown struct{ RestartExpectedMs int64 }
	must(t, json.Unmarshal(n.next(wire.EventShutdown).Payload, &shutdown))
	if shutdown.RestartExpectedMs == 0 {
		t.Error("shutdown does not say when to come back")
	}
	if code := n.end(); code != wire.CloseServiceRestart {
		t.Errorf("closed with %d, want 1012", code)
	}
	if _, _, err := websocket.Dial(t.Context(), h.url, nil); err == nil { //nolint:bodyclose // never needed, says Dial
		t.Error("a device was let in while draining")
	}
}

func TestHTTPRoutesWantTheToken(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.Healthy = func(ctx) error { return errDown } })
	h.robot(nil)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		get(t, h, path, "", http.StatusUnauthorized)
		get(t, h, path, "another-token-of-16", http.StatusUnauthorized)
	}
	get(t, h, "/healthz", sharedToken, http.StatusOK)
	if body := get(t, h, "/readyz", sharedToken, http.StatusServiceUnavailable); !strings.Contains(body, errDown.Error()) {
		t.Errorf("readyz does not say why: %q", body)
	}
	if body := get(t, h, "/metrics", sharedToken, http.StatusOK); !strings.Contains(body, "errand_gateway_devices 1") {
		t.Errorf("metrics %q", body)
	}
	get(t, h, "/elsewhere", sharedToken, http.StatusNotFound)
}

// Android pings every 30 s, and hangs up without a pong.
func TestADevicesPingIsAnswered(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	pinged, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, n.conn.Ping(pinged))
}

// After connect a frame may have much more than before, and not a byte more than policy.maxPayload.
func TestAfterConnectAFrameMayHaveMaxPayload(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	frame := []byte(`{"type":"req","id":"large","method":"node.skills.update","params":{"skills":[]}}`)
	answer := n.expect("large")
	must(t, n.conn.Write(t.Context(), websocket.MessageText, append(frame, bytes.Repeat([]byte(" "), 4*wire.MaxFrameBeforeConnect)...)))
	if res := await(t, answer, "the answer to a large frame"); !*res.OK {
		t.Errorf("refused: %v", res.Error)
	}
	must(t, n.conn.Write(t.Context(), websocket.MessageText, bytes.Repeat([]byte(" "), wire.MaxPayload+1)))
	if code := n.end(); code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %d, want 1009", code)
	}
}
