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
	detailKeyChanged  = "DEVICE_KEY_CHANGED"
	detailBootOrder   = "BOOT_ORDER_CONTRADICTED"
	detailUnavailable = "REGISTRY_UNAVAILABLE"
	detailDraining    = "GATEWAY_DRAINING"
	detailBusy        = "GATEWAY_BUSY"
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
	if detail == detailProtocol {
		r.answer.Details["expectedProtocol"] = wire.ProtocolVersion
	}
	return r
}

// credential is what a device showed to be let in, one of three: the shared token (both fields empty), a device token, or a
// setup code.
type credential struct{ deviceToken, setupCode string }

// prove checks who is knocking and whether it may: key, role and token.
func (g *Gateway) prove(ctx context.Context, c wire.Connect, challenge wire.Challenge) (credential, *refusal) {
	var impostor *wire.AuthError
	if err := wire.VerifyIdentity(c, challenge, g.opts.Now().UnixMilli()); errors.As(err, &impostor) {
		return credential{}, refuse(wire.CodeInvalidRequest, impostor.Code, impostor.Message)
	} else if err != nil {
		return credential{}, refuse(wire.CodeInvalidRequest, wire.AuthSignatureInvalid, err.Error())
	}
	if c.Role != wire.RoleNode {
		return credential{}, refuse(wire.CodeForbidden, detailRole, fmt.Sprintf(
			"role %q is not served here: this gateway takes devices only, connect with role node", c.Role))
	}
	return g.checkToken(ctx, c)
}

// checkToken accepts the shared token, a token issued to this very device (which Android sends as auth.token), or a setup code.
func (g *Gateway) checkToken(ctx context.Context, c wire.Connect) (credential, *refusal) {
	if c.Auth.Token != "" && same(c.Auth.Token, g.opts.Token) {
		return credential{}, nil
	}
	for _, shown := range []string{c.Auth.Token, c.Auth.DeviceToken} {
		if shown == "" {
			continue
		}
		ok, err := g.opts.Registry.TokenValid(ctx, c.Device.ID, shown)
		if err != nil {
			return credential{}, g.unchecked(c, err)
		}
		if ok {
			return credential{deviceToken: shown}, nil
		}
	}
	if code := c.Auth.BootstrapToken; code != "" {
		ok, err := g.opts.Registry.SetupCodeValid(ctx, c.Device.ID, code)
		if err != nil {
			return credential{}, g.unchecked(c, err)
		}
		if ok {
			return credential{setupCode: code}, nil
		}
	}
	return credential{}, wrongToken(c.Auth)
}

// unchecked refuses for now, since the registry does not say whether the device may come in.
func (g *Gateway) unchecked(c wire.Connect, err error) *refusal {
	g.log.Error("a device could not be checked", "device", c.Device.ID, "error", err)
	return unavailable(detailUnavailable, "the registry does not answer: try again")
}

// wrongToken says which of the tokens is no good, by the codes on which clients act.
func wrongToken(shown wire.Auth) *refusal {
	switch {
	case shown.Token != "":
		return refuse(wire.CodeInvalidRequest, wire.DetailTokenMismatch, "auth.token is neither the gateway's token nor one of this device's")
	case shown.DeviceToken != "":
		return refuse(wire.CodeInvalidRequest, wire.DetailDeviceTokenMismatch, "auth.deviceToken is void: forget it, and connect with the gateway's token")
	case shown.BootstrapToken != "":
		return refuse(wire.CodeInvalidRequest, wire.DetailSetupCode, "the setup code is unknown, over, or was used by another device: ask for a new one")
	}
	return refuse(wire.CodeInvalidRequest, wire.DetailTokenMismatch, "no usable token: give the gateway's token as auth.token")
}

// same compares in constant time, whatever the lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// admit records what the device declares, and turns it down unless it is approved: by a person, or by the setup code that a
// person handed out.
func (g *Gateway) admit(ctx context.Context, c wire.Connect, shown credential) (registry.Device, *refusal) {
	device, err := g.opts.Registry.Declare(ctx, declaration(c))
	if err == nil {
		device, err = g.approveUnseen(ctx, device, shown)
	}
	switch {
	case errors.Is(err, registry.ErrKeyChanged):
		return device, g.keyChanged(c, err)
	case errors.Is(err, registry.ErrSetupCode):
		return device, wrongToken(wire.Auth{BootstrapToken: shown.setupCode})
	case err != nil:
		g.log.Error("a device could not be recorded", "device", c.Device.ID, "error", err)
		return device, unavailable(detailUnavailable, "the registry does not answer: try again")
	case device.State == registry.Approved:
		return device, nil
	case device.State == registry.Revoked:
		return device, refuse(wire.CodeForbidden, detailRevoked, "this device was revoked: a person must approve it again")
	}
	g.log.Info("a device waits to be approved", "device", device.ID, "name", device.DisplayName, "request", device.RequestID)
	return device, notPaired(device)
}

// approveUnseen approves a device without a person who looks at it: with a setup code, or where the gateway is told to. Both are
// trust on first use, and both say so.
func (g *Gateway) approveUnseen(ctx context.Context, d registry.Device, shown credential) (registry.Device, error) {
	switch {
	case d.State == registry.Revoked:
		return d, nil
	case shown.setupCode != "":
		if err := g.opts.Registry.Redeem(ctx, d.ID, shown.setupCode); err != nil {
			return d, err
		}
		g.log.Info("a device was let in by a setup code: its key is trusted from now on", "device", d.ID, "name", d.DisplayName)
	case g.opts.AutoApprove && (d.State == registry.Pending || len(d.Unapproved()) > 0):
		g.log.Warn("AUTO-APPROVED a device that nobody looked at: this is for development only", "device", d.ID, "name", d.DisplayName)
		if err := g.opts.Registry.Approve(ctx, d.ID); err != nil {
			return d, err
		}
	default:
		return d, nil
	}
	d.State = registry.Approved
	_, approved, err := g.opts.Registry.Standing(ctx, d.ID)
	d.ApprovedCommands = approved
	return d, err
}

// keyChanged refuses a known device that comes with another key: it was set up anew, or somebody else says to be it.
func (g *Gateway) keyChanged(c wire.Connect, err error) *refusal {
	g.counters.keyChanges.Inc()
	g.log.Error("A KNOWN DEVICE CAME WITH ANOTHER KEY and was turned away: if it was set up anew, revoke the old one", "device", c.Device.ID,
		"name", c.Client.DisplayName, "installation", c.Client.InstanceID, "error", err)
	return refuse(wire.CodeInvalidRequest, detailKeyChanged,
		"this installation is known with another key: a person must revoke the old device before it can be paired anew")
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
	d := registry.Declaration{ID: c.Device.ID, PublicKey: c.Device.PublicKey, DisplayName: c.Client.DisplayName,
		InstanceID: c.Client.InstanceID, Caps: c.Caps, Commands: c.Commands, Permissions: c.Permissions}
	if e := c.Errand; e != nil {
		d.Profile = plan.Profile(e.Profile)
		d.StoreID, d.RetentionMs = e.StoreID, e.RetentionS*1000
	}
	return d
}
