package gateway_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

func TestHandshakeRefusals(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	revoked := h.approved(newKey(t))
	must(t, h.registry.Revoke(t.Context(), idOf(revoked)))
	h.join(key, func(c *wire.Connect) { c.Errand.Boots = []string{"b1", "b2"} })

	for name, c := range map[string]struct {
		key          ed25519.PrivateKey
		before       func(*wire.Connect) // signed
		after        func(*wire.Connect) // not signed
		code, detail string
	}{
		"a foreign id":                {after: func(c *wire.Connect) { c.Device.ID = strings.Repeat("0", 64) }, code: wire.CodeInvalidRequest, detail: wire.AuthIDMismatch},
		"no key":                      {after: func(c *wire.Connect) { c.Device.PublicKey = "AAAA" }, code: wire.CodeInvalidRequest, detail: wire.AuthPublicKeyInvalid},
		"signed too long ago":         {after: func(c *wire.Connect) { c.Device.SignedAt -= 121_000 }, code: wire.CodeInvalidRequest, detail: wire.AuthSignatureExpired},
		"no nonce":                    {after: func(c *wire.Connect) { c.Device.Nonce = "" }, code: wire.CodeInvalidRequest, detail: wire.AuthNonceRequired},
		"signed in the future":        {after: func(c *wire.Connect) { c.Device.SignedAt += 125_000 }, code: wire.CodeInvalidRequest, detail: wire.AuthSignatureExpired},
		"an older protocol":           {before: func(c *wire.Connect) { c.MinProtocol, c.MaxProtocol = 2, 3 }, code: wire.CodeInvalidRequest, detail: "PROTOCOL_MISMATCH"},
		"another socket's nonce":      {after: func(c *wire.Connect) { c.Device.Nonce = "other" }, code: wire.CodeInvalidRequest, detail: wire.AuthNonceMismatch},
		"changed after it was signed": {after: func(c *wire.Connect) { c.Client.Mode = "other" }, code: wire.CodeInvalidRequest, detail: wire.AuthSignatureInvalid},
		"a wrong token":               {before: func(c *wire.Connect) { c.Auth.Token = "wrong" }, code: wire.CodeInvalidRequest, detail: wire.DetailTokenMismatch},
		"no token":                    {before: func(c *wire.Connect) { c.Auth = wire.Auth{} }, code: wire.CodeInvalidRequest, detail: wire.DetailTokenMismatch},
		"an unknown setup code":       {before: func(c *wire.Connect) { c.Auth = wire.Auth{BootstrapToken: sharedToken} }, code: wire.CodeInvalidRequest, detail: wire.DetailSetupCode},
		"a void device token":         {before: func(c *wire.Connect) { c.Auth = wire.Auth{DeviceToken: "void"} }, code: wire.CodeInvalidRequest, detail: wire.DetailDeviceTokenMismatch},
		"the role operator":           {before: func(c *wire.Connect) { c.Role = wire.RoleOperator }, code: wire.CodeForbidden, detail: "ROLE_NOT_SUPPORTED"},
		"another protocol":            {before: func(c *wire.Connect) { c.MinProtocol, c.MaxProtocol = 5, 6 }, code: wire.CodeInvalidRequest, detail: "PROTOCOL_MISMATCH"},
		"a revoked device":            {key: revoked, code: wire.CodeForbidden, detail: "DEVICE_REVOKED"},
		"boots out of order":          {before: func(c *wire.Connect) { c.Errand.Boots = []string{"b2", "b1"} }, code: wire.CodeInvalidRequest, detail: "BOOT_ORDER_CONTRADICTED"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.key == nil {
				c.key = key
			}
			n := h.dial(c.key)
			connect := agent(c.key, n.challenge, c.before)
			if c.after != nil {
				c.after(&connect)
			}
			res := n.request(wire.MethodConnect, connect)
			if *res.OK || res.Error.Code != c.code || res.Error.Detail() != c.detail {
				t.Errorf("answer %+v, want %s with %s", res.Error, c.code, c.detail)
			}
			if code := n.end(); code != websocket.StatusPolicyViolation {
				t.Errorf("closed with %d, want 1008", code)
			}
		})
	}
}

func TestTheFirstFrameMustBeConnect(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	for name, send := range map[string]string{
		"another request": `{"type":"req","id":"r","method":"node.event","params":{"event":"x"}}`,
		"a broken frame":  `{"type":"req","id":"r"}`,
		"bad params":      `{"type":"req","id":"r","method":"connect","params":{"role":7}}`,
	} {
		t.Run(name, func(t *testing.T) {
			n := h.dial(newKey(t))
			answer := make(chan wire.Frame, 1)
			n.mu.Lock()
			n.answers["r"] = answer
			n.mu.Unlock()
			must(t, n.conn.Write(t.Context(), websocket.MessageText, []byte(send)))
			if res := await(t, answer, "a refusal"); *res.OK || res.Error.Code != wire.CodeInvalidRequest {
				t.Errorf("answer %+v, want INVALID_REQUEST", res)
			}
			if code := n.end(); code != websocket.StatusPolicyViolation {
				t.Errorf("closed with %d, want 1008", code)
			}
		})
	}
}

func TestBeforeConnectAFrameMayHave64KiB(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.dial(newKey(t))
	must(t, n.conn.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat(" ", wire.MaxFrameBeforeConnect+2))))
	if code := n.end(); code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %d, want 1009", code)
	}
	robot := h.robot(nil)
	big := `{"event_id":"b1-1","boot_id":"b1","seq":1,"kind":"` + strings.Repeat("x", wire.MaxFrameBeforeConnect) + `"}`
	if ack := robot.ack(wire.NodeObservation, big); ack.Ack != wire.AckRefused { // read whole, and then too large for what it is
		t.Errorf("after connect: %+v, want a larger frame to pass", ack)
	}
}

func TestASilentSocketIsClosed(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.HandshakeTimeout = 20 * time.Millisecond })
	n := h.dial(newKey(t))
	if err := await(t, n.closed, "the socket to close"); err == nil {
		t.Error("the socket stayed")
	}
}

// The answer to an unpaired device is what keeps an unmodified node knocking.
func TestPairingWaitsForApproval(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := newKey(t)
	knock := func() *wire.FrameError {
		n := h.dial(key)
		res := n.request(wire.MethodConnect, agent(key, n.challenge, nil))
		if *res.OK {
			t.Fatal("let in without approval")
		}
		n.end()
		return res.Error
	}
	first, again := knock(), knock()
	want := map[string]any{"code": "PAIRING_REQUIRED", "reason": "not-paired", "recommendedNextStep": "wait_then_retry", "retryable": true,
		"pauseReconnect": false, "deviceId": idOf(key), "requestedRole": "node"}
	for name, value := range want {
		if first.Details[name] != value {
			t.Errorf("details.%s = %v, want %v", name, first.Details[name], value)
		}
	}
	if first.Code != wire.CodeNotPaired || !first.Retryable {
		t.Errorf("error %+v, want a retryable NOT_PAIRED", first)
	}
	if id := first.Details["requestId"]; id == "" || id != again.Details["requestId"] {
		t.Errorf("request ids %v and %v, want one request however often it knocks", id, again.Details["requestId"])
	}
	must(t, h.registry.Approve(t.Context(), idOf(key)))
	h.join(key, nil)
}

func TestAutoApproveLetsANewDeviceIn(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.AutoApprove = true })
	key := newKey(t)
	n := h.join(key, nil)
	if device, err := h.registry.Device(t.Context(), n.id); err != nil || device.State != registry.Approved || !device.Online {
		t.Errorf("device %+v (%v), want approved and online", device, err)
	}
	must(t, h.registry.Revoke(t.Context(), n.id))
	other := h.dial(key)
	if res := other.request(wire.MethodConnect, agent(key, other.challenge, nil)); *res.OK || res.Error.Detail() != "DEVICE_REVOKED" {
		t.Errorf("answer %+v: a revoked device is not approved by itself", res.Error)
	}
}

func TestHelloIsComplete(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.TickInterval = 7 * time.Second; o.Version = "1.2.3" })
	n := h.robot(nil)
	p := n.hello
	if p.Type != "hello-ok" || p.Protocol != 4 || p.Server.Version != "1.2.3" || p.Server.ConnID == "" || p.Auth.Role != "node" ||
		p.Policy != (wire.Policy{MaxPayload: 26214400, MaxBufferedBytes: 52428800, TickIntervalMs: 7000}) || len(p.Features.Methods) == 0 {
		t.Errorf("hello %+v", p)
	}
	route := h.route(n)
	if route.GatewayID != h.gateway.ID() || route.TaskQueue != h.gateway.TaskQueue() || !route.Profile.Dedupe || route.StoreID != "store-1" || route.RetentionMs != 60_000 {
		t.Errorf("route %+v", route)
	}
}

// The token in hello is the device's own: it may come back as auth.deviceToken (headless) or as auth.token (Android),
// and is of no use to another device.
func TestTheDeviceTokenLetsItsDeviceBackIn(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	token := h.join(key, nil).hello.Auth.DeviceToken
	for name, auth := range map[string]wire.Auth{"headless": {DeviceToken: token}, "Android": {Token: token}} {
		n := h.join(key, func(c *wire.Connect) { c.Auth = auth })
		if n.hello.Auth.DeviceToken != token {
			t.Errorf("%s: told token %q, want the one it has", name, n.hello.Auth.DeviceToken)
		}
	}
	thief := h.approved(newKey(t))
	n := h.dial(thief)
	res := n.request(wire.MethodConnect, agent(thief, n.challenge, func(c *wire.Connect) { c.Auth = wire.Auth{DeviceToken: token} }))
	if *res.OK || res.Error.Detail() != wire.DetailDeviceTokenMismatch {
		t.Errorf("another device with it: %+v", res)
	}
}

func TestARegistryThatDoesNotAnswerTurnsDevicesAwayForNow(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	h.registry.fail(errDown)
	n := h.dial(key)
	res := n.request(wire.MethodConnect, agent(key, n.challenge, nil))
	if *res.OK || res.Error.Code != wire.CodeUnavailable || !res.Error.Retryable {
		t.Errorf("answer %+v, want a retryable UNAVAILABLE", res.Error)
	}
	if code := n.end(); code != websocket.StatusTryAgainLater {
		t.Errorf("closed with %d, want 1013", code)
	}
	h.registry.fail(nil)
	h.join(key, nil)
}

// Frames as a real, unmodified node sent them, re-typed with ids shortened. What it says after hello is answered.
func TestFramesOfAnUnmodifiedNode(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	script, err := os.ReadFile("testdata/unmodified-node.jsonl")
	must(t, err)
	key := h.approved(newKey(t))
	n := h.dial(key)
	for line := range strings.Lines(string(script)) {
		var step struct {
			Send wire.Frame     `json:"send"`
			Want map[string]any `json:"want"`
		}
		must(t, json.Unmarshal([]byte(line), &step))
		params := any(step.Send.Params)
		if step.Send.Method == wire.MethodConnect {
			var c wire.Connect
			must(t, json.Unmarshal(step.Send.Params, &c))
			c.Auth.Token = sharedToken
			wire.Sign(key, &c, n.challenge)
			params = c
		}
		res := n.request(step.Send.Method, params)
		if !*res.OK {
			t.Fatalf("%s refused: %v", step.Send.Method, res.Error)
		}
		var got map[string]any
		must(t, json.Unmarshal(res.Payload, &got))
		for name, value := range step.Want {
			if got[name] != value {
				t.Errorf("%s: payload.%s = %v, want %v", step.Send.Method, name, got[name], value)
			}
		}
	}
	if route := h.route(n); route.StoreID != "" || route.Profile.Status || route.BootEpoch != route.ConnectionEpoch {
		t.Errorf("route %+v, want a plain node, whose boot is its connection", route)
	}
}

func TestOptionsNameEverythingMissing(t *testing.T) {
	t.Parallel()
	_, err := gateway.New(gateway.Options{Token: "short"})
	for _, want := range []string{"Registry", "Catalog", "Signaller", "Token has 5 bytes, needs at least 16"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want it to name %s", err, want)
		}
	}
	if errors.Is(err, context.Canceled) {
		t.Error("nothing was tried yet")
	}
}
