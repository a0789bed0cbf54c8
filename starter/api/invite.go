package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"errand/deviceio/wire"
	"errand/internal/border"
)

// InviteBody is the body of POST /v1/invites.
type InviteBody struct {
	GatewayURL string `json:"gateway_url,omitempty" maxLength:"2048" doc:"where the device reaches a gateway. Default: the installation's own" example:"wss://gateway.example"`
}

// Invite is how one device comes in without a person who approves it then: whoever hands it out approves in advance.
type Invite struct {
	// SetupCode is unpadded base64url of the JSON {url, bootstrapToken}: what a device's setup takes, as text or as a QR code.
	SetupCode  string    `json:"setup_code" doc:"what the device's setup takes; it is a secret, is shown this once, and lets one device in"`
	GatewayURL string    `json:"gateway_url"`
	ExpiresAt  time.Time `json:"expires_at"`
}

type inviteIn struct{ body }

type inviteOut struct{ Body Invite }

func (a *API) inviteRoutes() {
	post[InviteBody](a, huma.Operation{OperationID: "invite-device", Path: "/v1/invites", DefaultStatus: http.StatusCreated,
		Summary: "Make a setup code for one device",
		Description: "The first device that comes with it within ten minutes is approved, with all that it advertises; its key is trusted from then on. " +
			"The body may be left out.",
		RequestBody: &huma.RequestBody{}, Errors: []int{400, 401, 413, 422, 503}}, a.invite)
}

func (a *API) invite(ctx context.Context, in *inviteIn) (*inviteOut, error) {
	b := InviteBody{GatewayURL: a.GatewayURL}
	if len(in.RawBody) > 0 {
		if err := border.Decode(in.RawBody, bodyLimits, inviteSchema, &b); err != nil {
			return nil, refusal(err)
		}
	}
	gateway, ok := wire.GatewayURL(b.GatewayURL)
	if !ok {
		return nil, refusal(border.Faults{{Path: "gateway_url", Code: "not_allowed", Message: "must be a WebSocket URL such as wss://gateway.example, " +
			"without user, query or fragment (ERRAND_GATEWAY_URL sets the default)"}})
	}
	code, expires, err := a.Registry.NewSetupCode(ctx)
	if err != nil {
		return nil, err
	}
	setup, err := wire.SetupCode{URL: gateway, BootstrapToken: code}.Text()
	if err != nil {
		return nil, err
	}
	return &inviteOut{Invite{SetupCode: setup, GatewayURL: gateway, ExpiresAt: expires}}, nil
}
