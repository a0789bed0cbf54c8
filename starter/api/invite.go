package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/internal/border"
)

// InviteBody is the body of POST /v1/invites.
type InviteBody struct {
	GatewayURL     string `json:"gateway_url,omitempty" maxLength:"2048" doc:"where the device reaches a gateway. Default: the installation's own" example:"wss://gateway.example"`
	TLSFingerprint string `json:"tls_fingerprint,omitempty" maxLength:"128" doc:"SHA-256 of the certificate that the device will be shown there. Default: the gateways' own, for a wss:// URL; none: the usual authorities vouch for it, such as where something else does TLS for the gateways"`
}

// Invite is how one device comes in without a person who approves it then: whoever hands it out approves in advance.
type Invite struct {
	// SetupCode is unpadded base64url of the JSON {url, bootstrapToken, tlsFingerprint?}: what a device's setup takes, as text or as a QR
	// code.
	SetupCode  string `json:"setup_code" doc:"what the device's setup takes; it is a secret, is shown this once, and lets one device in"`
	GatewayURL string `json:"gateway_url"`
	// TLSFingerprint is what the device will trust there, and NextTLSFingerprint what is announced to take its place.
	TLSFingerprint     string    `json:"tls_fingerprint,omitempty" doc:"lowercase hex SHA-256 of the certificate that the device trusts there"`
	NextTLSFingerprint string    `json:"next_tls_fingerprint,omitempty" doc:"of the certificate that is announced to take its place"`
	ExpiresAt          time.Time `json:"expires_at"`
}

type inviteIn struct{ body }

type inviteOut struct{ Body Invite }

func (a *API) inviteRoutes() {
	post[InviteBody](a, huma.Operation{OperationID: "invite-device", Path: "/v1/invites", DefaultStatus: http.StatusCreated,
		Summary: "Make a setup code for one device",
		Description: "The first device that comes with it within ten minutes is approved, with all that it advertises; its key is trusted from then on. " +
			"The body may be left out.",
		RequestBody: &huma.RequestBody{}, Errors: []int{400, 401, 403, 413, 422, 503}}, a.invite)
}

func (a *API) invite(ctx context.Context, in *inviteIn) (*inviteOut, error) {
	if _, err := a.administers(ctx); err != nil {
		return nil, err
	}
	b := InviteBody{GatewayURL: a.GatewayURL}
	if len(in.RawBody) > 0 {
		if err := border.Decode(in.RawBody, bodyLimits, inviteSchema, &b); err != nil {
			return nil, refusal(err)
		}
	}
	gateway, ok := wire.GatewayURL(b.GatewayURL)
	if !ok {
		return nil, notAllowed("gateway_url", "must be a WebSocket URL such as wss://gateway.example, without user, query or fragment "+
			"(ERRAND_GATEWAY_URL sets the default)")
	}
	shown, err := a.shownAt(ctx, gateway, b.TLSFingerprint)
	if err != nil {
		return nil, err
	}
	code, expires, err := a.Registry.NewSetupCode(ctx)
	if err != nil {
		return nil, err
	}
	setup, err := wire.SetupCode{URL: gateway, BootstrapToken: code, TLSFingerprint: shown.Fingerprint, NextTLSFingerprint: shown.Next}.Text()
	if err != nil {
		return nil, err
	}
	return &inviteOut{Invite{SetupCode: setup, GatewayURL: gateway, TLSFingerprint: shown.Fingerprint, NextTLSFingerprint: shown.Next, ExpiresAt: expires}}, nil
}

// shownAt is the certificate that a device will be shown at the URL, as far as it is to trust that one alone.
func (a *API) shownAt(ctx context.Context, gateway, given string) (registry.Shown, error) {
	switch {
	case given == "none":
		return registry.Shown{}, nil
	case given != "" && !strings.HasPrefix(gateway, "wss://"):
		return registry.Shown{}, notAllowed("tls_fingerprint", "is of no use for a URL without TLS: give a wss:// URL as gateway_url")
	case given != "":
		fingerprint, err := wire.ParseFingerprint(given)
		if err != nil {
			return registry.Shown{}, notAllowed("tls_fingerprint", err.Error())
		}
		return registry.Shown{Fingerprint: fingerprint}, nil
	}
	all, err := a.Registry.Certificates(ctx)
	if err != nil {
		return registry.Shown{}, err
	}
	switch {
	case len(all) > 1:
		return registry.Shown{}, notAllowed("tls_fingerprint", "the gateways show different certificates: behind one URL they must share one "+
			"(ERRAND_GATEWAY_TLS_CERT, ERRAND_GATEWAY_TLS_KEY); else say which one this device will be shown")
	case len(all) == 0:
		return registry.Shown{}, nil
	case all[0].Fingerprint != "" && !strings.HasPrefix(gateway, "wss://"):
		return registry.Shown{}, notAllowed("gateway_url", "must be a wss:// URL: the gateways speak TLS (ERRAND_GATEWAY_URL sets the default)")
	}
	return all[0], nil
}

func notAllowed(path, message string) error {
	return refusal(border.Faults{{Path: path, Code: "not_allowed", Message: message}})
}
