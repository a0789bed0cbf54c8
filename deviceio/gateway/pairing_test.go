package gateway_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// refused connects and expects to be turned away with that code, by a close; it returns the details.
func (h *home) refused(key ed25519.PrivateKey, detail string, change func(*wire.Connect)) (details map[string]any) {
	h.t.Helper()
	n := h.dial(key)
	res := n.request(wire.MethodConnect, agent(key, n.challenge, change))
	if *res.OK || res.Error.Detail() != detail {
		h.t.Fatalf("answer %+v, want to be refused with %s", res.Error, detail)
	}
	if code := n.end(); code != websocket.StatusPolicyViolation {
		h.t.Errorf("closed with %d, want 1008", code)
	}
	return res.Error.Details
}

// A setup code lets in whoever comes with it first, and nobody else; from then on the device's own token does.
func TestASetupCodePairsOneDevice(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	code, _, err := h.registry.NewSetupCode(t.Context())
	must(t, err)
	with := func(c *wire.Connect) { c.Auth = wire.Auth{BootstrapToken: code} }
	first, second := newKey(t), newKey(t)
	n := h.join(first, with)
	if n.hello.Auth.DeviceToken == "" {
		t.Fatal("it was not told a device token, and cannot come back")
	}
	h.refused(second, wire.DetailSetupCode, with)
	if _, err := h.registry.Device(t.Context(), idOf(second)); err == nil {
		t.Error("who came with a used code is on record")
	}
	h.join(first, func(c *wire.Connect) { c.Auth = wire.Auth{DeviceToken: n.hello.Auth.DeviceToken} })
	h.join(first, with) // its answer may have been lost: the code is still its own
	if d, err := h.registry.Device(t.Context(), idOf(first)); err != nil || !d.Offers(wire.CommandSubmitTask) {
		t.Errorf("device %+v, %v, want what it advertised to be approved", d, err)
	}
}

func TestASetupCodeThatIsOverIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	code, _, err := h.registry.NewSetupCode(t.Context())
	must(t, err)
	h.exec(`UPDATE setup_codes SET expires_at = ?`, time.Now().UnixMilli())
	h.refused(newKey(t), wire.DetailSetupCode, func(c *wire.Connect) { c.Auth = wire.Auth{BootstrapToken: code} })
}

// A known installation that comes with another key is turned away loudly: in the log, in the metrics, and with a code of its own.
func TestAChangedKeyIsRefusedLoudly(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.AutoApprove = true })
	as := func(c *wire.Connect) { c.Client.InstanceID = "installation-1" }
	known, other := newKey(t), newKey(t)
	n := h.join(known, as)
	h.refused(other, "DEVICE_KEY_CHANGED", as)
	if text := get(t, h, "/metrics", sharedToken, http.StatusOK); !strings.Contains(text, "errand_gateway_key_changes_total 1") {
		t.Error("the metrics do not tell")
	}
	if route := h.route(n); route.ConnectionEpoch == 0 {
		t.Error("the known device lost its connection")
	}
	seen := func() *registry.OtherKey {
		d, err := h.registry.Device(t.Context(), idOf(known))
		must(t, err)
		return d.OtherKey
	}
	if got := seen(); got == nil || got.DeviceID != idOf(other) || time.Since(got.At) > patience {
		t.Errorf("an operator sees %+v", got)
	}
	must(t, h.registry.Revoke(t.Context(), idOf(known)))
	h.join(other, as)
	if got := seen(); got != nil {
		t.Errorf("it is settled, and an operator sees %+v", got)
	}
}

// A revoked device is cut off at once: it does not take a heartbeat.
func TestARevokedDeviceIsCutOffAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.LeaseTTL = time.Hour }) // no heartbeat comes
	key := h.approved(newKey(t))
	n := h.join(key, nil)
	must(t, h.registry.Revoke(t.Context(), n.id))
	if code := n.end(); code != websocket.StatusPolicyViolation {
		t.Errorf("closed with %d, want 1008", code)
	}
	h.refused(key, wire.DetailDeviceTokenMismatch, func(c *wire.Connect) { c.Auth = wire.Auth{DeviceToken: n.hello.Auth.DeviceToken} })
	h.refused(key, "DEVICE_REVOKED", nil)
}

// From the moment Revoke has returned nothing moves the device, even while its socket still stands.
func TestNothingIsSentToARevokedDevice(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(o *gateway.Options) { o.LeaseTTL, o.RevokeInterval = time.Hour, time.Hour })
	n := h.robot(nil)
	command := h.submit(n)
	must(t, h.registry.Revoke(t.Context(), n.id))
	if _, err := h.gateway.Submit(t.Context(), command); !errors.Is(err, plan.ErrNotConnected) {
		t.Errorf("Submit = %v, want plan.ErrNotConnected: its plans wait", err)
	}
	n.end()
	select {
	case f := <-n.events:
		t.Errorf("it was sent %s", f.Event)
	default:
	}
}

// An older client signs without platform and family.
func TestASignatureOfVersion2IsTaken(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	n := h.dial(key)
	c := agent(key, n.challenge, nil)
	c.Device.Signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(wire.SignatureText(c, wire.SignatureV2))))
	if res := n.request(wire.MethodConnect, c); !*res.OK {
		t.Errorf("refused: %v", res.Error)
	}
}

// A client that has both a token and a device token is let in by either.
func TestTheDeviceTokenCountsBesideAnotherToken(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := h.approved(newKey(t))
	token := h.join(key, nil).hello.Auth.DeviceToken
	h.join(key, func(c *wire.Connect) { c.Auth = wire.Auth{Token: "an-older-shared-token", DeviceToken: token} })
	h.refused(key, wire.DetailTokenMismatch, func(c *wire.Connect) { c.Auth = wire.Auth{Token: "an-older-shared-token", DeviceToken: "void"} })
}

func TestAProtocolMismatchSaysWhatIsSpoken(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	details := h.refused(h.approved(newKey(t)), "PROTOCOL_MISMATCH", func(c *wire.Connect) { c.MinProtocol, c.MaxProtocol = 5, 5 })
	if details["expectedProtocol"] != float64(wire.ProtocolVersion) {
		t.Errorf("details %v, want the expected protocol", details)
	}
	// Android speaks 3 and 4.
	h.robot(func(c *wire.Connect) { c.MinProtocol, c.MaxProtocol = 3, 4 })
}

// A person may approve while the device is connected: what it offers beyond is then asked of it, without a reconnect.
func TestTheSecondGateIsTheApprovedSurface(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	key := newKey(t)
	_, err := h.registry.Registry.Declare(t.Context(), registry.Declaration{ID: idOf(key), PublicKey: publicOf(key), Commands: []string{wire.CommandTaskStatus}})
	must(t, err)
	must(t, h.registry.Approve(t.Context(), idOf(key)))
	n := h.join(key, nil)
	got, err := h.gateway.Submit(t.Context(), h.submit(n))
	must(t, err)
	if got.Delivery != plan.DeliveryRefused || !got.Unasked || got.Report.Code != "COMMAND_NOT_APPROVED" || got.Report.Params["command"] != wire.CommandSubmitTask {
		t.Errorf("submitted %+v, want a refusal of ours, COMMAND_NOT_APPROVED", got)
	}
	if err := h.gateway.Say(t.Context(), say(n.id)); err == nil || !strings.Contains(err.Error(), "approve the device again") {
		t.Errorf("Say = %v, want it to say what to do", err)
	}
	must(t, h.registry.Approve(t.Context(), n.id))
	said := make(chan error, 1)
	go func() { said <- h.gateway.Say(t.Context(), say(n.id)) }()
	n.answer(n.invoked(), `{}`)
	must(t, await(t, said, "Say, once it is approved"))
	done := make(chan plan.Submitted, 1)
	go func() {
		got, err := h.gateway.Submit(t.Context(), h.submit(n))
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	n.answer(n.invoked(), `{"accepted":true,"taskId":"t1","taskState":"QUEUED","taskMethod":"setMoveTo","store_id":"store-1"}`)
	if got := await(t, done, "the submit"); got.Delivery != plan.DeliveryAccepted {
		t.Errorf("after the approval: %+v", got)
	}
}

// docs/pairing.md tells a device's maker every code with which a device can be turned away.
func TestThePageOnPairingListsEveryRefusal(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/pairing.md")
	must(t, err)
	for _, code := range []string{wire.DetailPairingRequired, wire.DetailTokenMismatch, wire.DetailDeviceTokenMismatch, wire.DetailSetupCode,
		wire.AuthPublicKeyInvalid, wire.AuthIDMismatch, wire.AuthSignatureExpired, wire.AuthNonceRequired, wire.AuthNonceMismatch, wire.AuthSignatureInvalid,
		"DEVICE_REVOKED", "DEVICE_KEY_CHANGED", "PROTOCOL_MISMATCH", "ROLE_NOT_SUPPORTED", "BOOT_ORDER_CONTRADICTED", "CONNECT_INVALID", "CONNECT_EXPECTED",
		"REGISTRY_UNAVAILABLE", "GATEWAY_DRAINING", "COMMAND_NOT_OFFERED", "COMMAND_NOT_APPROVED", "PERMISSION_REQUIRED", "CAPABILITY_DISABLED",
		"NODE_BACKGROUND_UNAVAILABLE"} {
		if !strings.Contains(string(page), "`"+code+"`") {
			t.Errorf("docs/pairing.md does not tell of %s", code)
		}
	}
}
