package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/starter/api"
)

// An invite holds what a device's setup reads, and its code lets one device in.
func TestAnInviteLetsADeviceIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for body, url := range map[string]string{"": "ws://house", `{"gateway_url":"wss://Gateway.example:443/errand"}`: "wss://gateway.example/errand"} {
		got := h.ask("POST", "/v1/invites", body)
		var invite api.Invite
		if got.into(t, &invite); got.status != http.StatusCreated || invite.GatewayURL != url || invite.ExpiresAt.Sub(h.clock()) != 10*time.Minute {
			t.Fatalf("answered %d %s", got.status, got.text)
		}
		setup, err := wire.ParseSetupCode(invite.SetupCode)
		if err != nil || setup.URL != url {
			t.Fatalf("setup code %+v, %v", setup, err)
		}
		id := "id-" + url
		if _, err := h.registry.Declare(t.Context(), registry.Declaration{ID: id, PublicKey: "key", DisplayName: url}); err != nil {
			t.Fatal(err)
		}
		if err := h.registry.Redeem(t.Context(), id, setup.BootstrapToken); err != nil {
			t.Errorf("the code lets nobody in: %v", err)
		}
	}
	if got := h.ask("POST", "/v1/invites", `{"gateway_url":"http://gateway.example/"}`); got.status != 422 {
		t.Errorf("a URL that is no WebSocket's: %d %s", got.status, got.text)
	}
}

// An invite tells the certificate that the device will be shown, and is refused where that would be the wrong one.
func TestAnInviteTellsTheGatewaysCertificate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	one, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	shows := func(id string, s registry.Shown) {
		t.Helper()
		if err := h.registry.AddGateway(t.Context(), id, "deviceio@"+id, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := h.registry.ShowCertificate(t.Context(), id, s); err != nil {
			t.Fatal(err)
		}
	}
	invites := func(body, fingerprint, next string) {
		t.Helper()
		got := h.ask("POST", "/v1/invites", body)
		var invite api.Invite
		if got.into(t, &invite); got.status != http.StatusCreated || invite.TLSFingerprint != fingerprint || invite.NextTLSFingerprint != next {
			t.Errorf("%s: %d %s", body, got.status, got.text)
		}
		setup, err := wire.ParseSetupCode(invite.SetupCode)
		if err != nil || setup.TLSFingerprint != fingerprint || setup.NextTLSFingerprint != next {
			t.Errorf("%s: the setup code holds %+v, %v", body, setup, err)
		}
	}
	refuses := func(body, path string) {
		t.Helper()
		if got := h.ask("POST", "/v1/invites", body); got.status != 422 || !strings.Contains(got.text, `"`+path+`"`) {
			t.Errorf("%s: %d %s", body, got.status, got.text)
		}
	}
	const secure = `{"gateway_url":"wss://house"}`
	invites(secure, "", "") // no gateway has TLS: something else has
	shows("gw-1", registry.Shown{Fingerprint: one, Next: other})
	invites(secure, one, other)
	refuses("", "gateway_url")
	invites(`{"gateway_url":"wss://house","tls_fingerprint":"none"}`, "", "")
	invites(`{"gateway_url":"wss://house","tls_fingerprint":"sha256:`+other+`"}`, other, "")
	refuses(`{"gateway_url":"wss://house","tls_fingerprint":"abc"}`, "tls_fingerprint")
	refuses(`{"gateway_url":"ws://house","tls_fingerprint":"`+one+`"}`, "tls_fingerprint")
	shows("gw-2", registry.Shown{Fingerprint: other})
	refuses(secure, "tls_fingerprint")
}

// What is approved is what the device advertises, or less.
func TestApproveIsOfCommands(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.registry.Declare(t.Context(), registry.Declaration{ID: "d-1", PublicKey: "key", Commands: []string{"system.which", "system.run"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body   string
		status int
		want   []string
	}{
		{`{"commands":["system.which"]}`, 200, []string{"system.which"}},
		{`{"commands":["sms.send"]}`, 422, nil},
		{`{"commands":"system.which"}`, 422, nil},
		{`{"commands":[]}`, 200, []string{}},
		{``, 200, []string{"system.which", "system.run"}},
		{`{}`, 200, []string{"system.which", "system.run"}},
	} {
		got := h.ask("POST", "/v1/devices/d-1/approve", c.body)
		if got.status != c.status {
			t.Errorf("%s: %d %s", c.body, got.status, got.text)
			continue
		}
		var d registry.Device
		if c.status != 200 {
			continue
		}
		if got.into(t, &d); !slices.Equal(d.ApprovedCommands, c.want) || d.State != registry.Approved {
			t.Errorf("%s: %+v, want approved with %v", c.body, d, c.want)
		}
	}
}

// Two keys of one installation are never both let in.
func TestApproveRefusesAChangedKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, id := range []string{"d-1", "d-2"} {
		if _, err := h.registry.Declare(t.Context(), registry.Declaration{ID: id, PublicKey: id, InstanceID: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.ask("POST", "/v1/devices/d-1/approve", ""); got.status != 200 {
		t.Fatalf("approve: %d %s", got.status, got.text)
	}
	if got := h.ask("POST", "/v1/devices/d-2/approve", ""); got.status != 409 || got.problem(t).Code != "key_changed" {
		t.Errorf("approve the other: %d %s", got.status, got.text)
	}
}

// A device is shown with the gateway that holds its connection, while one does.
func TestADeviceIsShownWithItsConnection(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "robot")
	shown := func() (d api.DeviceAnswer) {
		h.ask("GET", "/v1/devices/robot", "").into(t, &d)
		return d
	}
	if d := shown(); d.Route != nil || d.Online {
		t.Errorf("not connected it is shown at %+v", d.Route)
	}
	if err := h.registry.AddGateway(t.Context(), "gw-1", "deviceio@gw-1", time.Minute); err != nil {
		t.Fatal(err)
	}
	epoch, err := h.registry.Connect(t.Context(), registry.Connection{DeviceID: "id-robot", GatewayID: "gw-1", BootID: "b", BootEpoch: 7}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if d := shown(); d.Route == nil || d.Route.GatewayID != "gw-1" || d.Route.ConnectionEpoch != epoch || d.Route.BootEpoch != 7 {
		t.Errorf("connected it is shown at %+v", d.Route)
	}
}

// A device is shown with how fresh its sources are now, by what it told last.
func TestLaw17ADeviceIsShownWithTheAgesOfItsSources(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "robot")
	shown := func() (d api.DeviceAnswer) {
		h.ask("GET", "/v1/devices/robot", "").into(t, &d)
		return d
	}
	if d := shown(); d.Sources != nil || d.SourcesAt != nil {
		t.Errorf("it told nothing yet, and is shown with %+v", d.Sources)
	}
	told := map[string]any{"snapshot_ts": 5_000.0, "battery": map[string]any{"level": 41.0},
		"freshness": map[string]any{"battery": map[string]any{"policy": "periodic", "reported_at": 4_000.0, "expires_at": 9_000.0}}}
	for ago, usable := range map[time.Duration]bool{3 * time.Second: true, 5 * time.Second: false} {
		if err := h.registry.SetSources(t.Context(), "id-robot", told, h.now.Add(-ago)); err != nil {
			t.Fatal(err)
		}
		d := shown()
		if len(d.Sources) != 1 || d.Sources[0].Usable != usable || d.Sources[0].ReportedAgo != 1000+ago.Milliseconds() || !d.SourcesAt.Equal(h.now.Add(-ago)) {
			t.Errorf("told %v ago it is shown with %+v at %v", ago, d.Sources, d.SourcesAt)
		}
	}
}
