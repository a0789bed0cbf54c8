package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/coder/websocket"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/internal/border"
	"errand/plan"
)

// Values of a refusal's details.code that are ours; the rest is the protocol's (package wire).
const (
	detailBadConnect  = "CONNECT_INVALID"
	detailProtocol    = "PROTOCOL_MISMATCH"
	detailRole        = "ROLE_NOT_SUPPORTED"
	detailRevoked     = "DEVICE_REVOKED"
	detailBootOrder   = "BOOT_ORDER_CONTRADICTED"
	detailUnavailable = "REGISTRY_UNAVAILABLE"
	detailDraining    = "GATEWAY_DRAINING"
	detailNotAConnect = "CONNECT_EXPECTED"
)

// refusal is why a connect is turned down: the answer to it, then the close.
type refusal struct {
	answer wire.FrameError
	close  websocket.StatusCode
}

func (r *refusal) Error() string { return r.answer.Error() }

func refuse(code, detail, message string) *refusal {
	return &refusal{answer: wire.FrameError{Code: code, Message: message, Details: map[string]any{"code": detail}}, close: closeRefused}
}

// unavailable refuses for now: the fault is on our side, and the device shall come again.
func unavailable(detail, message string) *refusal {
	r := refuse(wire.CodeUnavailable, detail, message)
	r.answer.Retryable, r.answer.RetryAfterMs, r.close = true, restartExpected, closeTryLater
	return r
}

// badConnect refuses what ParseConnect could not read, with every fault and its path.
func badConnect(err error) *refusal {
	detail := detailBadConnect
	var faults border.Faults
	if errors.As(err, &faults) && len(faults) > 0 && faults[0].Code == "protocol_mismatch" {
		detail = detailProtocol
	}
	r := refuse(wire.CodeInvalidRequest, detail, "connect: "+err.Error())
	r.answer.Details["faults"] = faults
	return r
}

// prove checks who is knocking and whether it may: key, role and token. It returns the device token that was shown, "" if
// it was the shared one.
func (g *Gateway) prove(ctx context.Context, c wire.Connect, challenge wire.Challenge) (deviceToken string, _ *refusal) {
	var impostor *wire.AuthError
	if err := wire.VerifyIdentity(c, challenge, g.opts.Now().UnixMilli()); errors.As(err, &impostor) {
		return "", refuse(wire.CodeInvalidRequest, impostor.Code, impostor.Message)
	} else if err != nil {
		return "", refuse(wire.CodeInvalidRequest, wire.AuthSignatureInvalid, err.Error())
	}
	if c.Role != wire.RoleNode {
		return "", refuse(wire.CodeForbidden, detailRole, fmt.Sprintf(
			"role %q is not served here: this gateway takes devices only, connect with role node", c.Role))
	}
	return g.checkToken(ctx, c)
}

// checkToken accepts the shared token or a token issued to this very device. Android sends the latter as auth.token.
func (g *Gateway) checkToken(ctx context.Context, c wire.Connect) (deviceToken string, _ *refusal) {
	shown := c.Auth.Value()
	if c.Auth.Token != "" && same(c.Auth.Token, g.opts.Token) {
		return "", nil
	}
	if c.Auth.Token != "" || c.Auth.DeviceToken != "" {
		ok, err := g.opts.Registry.TokenValid(ctx, c.Device.ID, shown)
		if err != nil {
			g.log.Error("a device could not be checked", "device", c.Device.ID, "error", err)
			return "", unavailable(detailUnavailable, "the registry does not answer: try again")
		}
		if ok {
			return shown, nil
		}
	}
	switch {
	case c.Auth.Token != "":
		return "", refuse(wire.CodeInvalidRequest, wire.DetailTokenMismatch, "auth.token is neither the gateway's token nor one of this device's")
	case c.Auth.DeviceToken != "":
		return "", refuse(wire.CodeInvalidRequest, wire.DetailDeviceTokenMismatch, "auth.deviceToken is void: forget it, and connect with the gateway's token")
	}
	return "", refuse(wire.CodeInvalidRequest, wire.DetailTokenMismatch, "no usable token: give the gateway's token as auth.token")
}

// same compares in constant time, whatever the lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// admit records what the device declares and turns it down unless it is approved.
func (g *Gateway) admit(ctx context.Context, c wire.Connect) *refusal {
	device, err := g.opts.Registry.Declare(ctx, declaration(c))
	if err == nil && device.State == registry.Pending && g.opts.AutoApprove {
		g.log.Warn("AUTO-APPROVED a device that nobody looked at: this is for development only", "device", device.ID, "name", device.DisplayName)
		err = g.opts.Registry.Approve(ctx, device.ID)
		device.State = registry.Approved
	}
	switch {
	case err != nil:
		g.log.Error("a device could not be recorded", "device", c.Device.ID, "error", err)
		return unavailable(detailUnavailable, "the registry does not answer: try again")
	case device.State == registry.Approved:
		return nil
	case device.State == registry.Revoked:
		return refuse(wire.CodeForbidden, detailRevoked, "this device was revoked: a person must approve it again")
	}
	g.log.Info("a device waits to be approved", "device", device.ID, "name", device.DisplayName, "request", device.RequestID)
	return notPaired(device)
}

// notPaired is the answer to an unapproved device. The details make an unmodified node knock again until it is let in;
// without them it pauses until somebody restarts it.
func notPaired(d registry.Device) *refusal {
	r := refuse(wire.CodeNotPaired, wire.DetailPairingRequired, "pairing required: the device is not approved yet")
	for key, value := range map[string]any{
		"reason": "not-paired", "requestId": d.RequestID, "remediationHint": "approve device " + d.ID,
		"recommendedNextStep": wire.NextStepWait, "retryable": true, "pauseReconnect": false,
		"deviceId": d.ID, "requestedRole": wire.RoleNode, "requestedScopes": []string{},
	} {
		r.answer.Details[key] = value
	}
	r.answer.Retryable = true
	return r
}

// declaration is what a connect says of the device; a plain node declares no profile and no store.
func declaration(c wire.Connect) registry.Declaration {
	d := registry.Declaration{ID: c.Device.ID, PublicKey: c.Device.PublicKey, DisplayName: c.Client.DisplayName, Caps: c.Caps, Commands: c.Commands}
	if e := c.Errand; e != nil {
		d.Profile = plan.Profile(e.Profile)
		d.StoreID, d.RetentionMs = e.StoreID, e.RetentionS*1000
	}
	return d
}
