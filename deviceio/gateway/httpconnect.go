package gateway

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

// challenges is what was handed out over HTTP and not answered yet. Each may be answered once, to this gateway, within the time of a
// handshake.
type challenges struct {
	mu     sync.Mutex
	byText map[string]time.Time // until when
}

// maxChallenges bounds them; over a socket the socket itself is the bound.
const maxChallenges = 4096

// add hands one out; false if there are too many.
func (c *challenges) add(nonce string, now, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byText) >= maxChallenges {
		for old, end := range c.byText {
			if now.After(end) {
				delete(c.byText, old)
			}
		}
	}
	if len(c.byText) >= maxChallenges {
		return false
	}
	if c.byText == nil {
		c.byText = make(map[string]time.Time)
	}
	c.byText[nonce] = until
	return true
}

// take uses one up; false if it was not handed out, was used, or is too old.
func (c *challenges) take(nonce string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.byText[nonce]
	delete(c.byText, nonce)
	return ok && now.Before(until)
}

// challenge answers POST /v1/challenge.
func (g *Gateway) challenge(w http.ResponseWriter, _ *http.Request) {
	now := g.opts.Now()
	ch := wire.Challenge{Nonce: g.newID(), TS: now.UnixMilli()}
	if !g.challenges.add(ch.Nonce, now, now.Add(g.opts.HandshakeTimeout)) {
		later(http.StatusTooManyRequests, "busy", "too many devices connect at once: try again", g.opts.HandshakeTimeout).write(w)
		return
	}
	writeJSON(w, http.StatusOK, "application/json", ch)
}

// connected is the answer to POST /v1/connect.
type connected struct {
	DeviceID    string `json:"device_id"`
	DeviceToken string `json:"device_token"` // for the header Authorization of all other routes
	Protocol    int    `json:"protocol"`
}

// connect answers POST /v1/connect, whose body is a socket's connect, signed over a challenge of POST /v1/challenge. The device is
// checked, paired and described as over a socket; it counts as connected once it asks for its commands.
func (g *Gateway) connect(w http.ResponseWriter, r *http.Request) *problem {
	if g.draining.Load() {
		return later(http.StatusServiceUnavailable, detailDraining, "the gateway is shutting down: try again", restartExpected*time.Millisecond)
	}
	body, bad := readBody(w, r, wire.MaxFrameBeforeConnect)
	if bad != nil {
		return bad
	}
	c, err := wire.ParseConnect(body)
	if err != nil {
		return turnedAway(badConnect(err))
	}
	if retry, ok := g.flood.admit(r.Context()); !ok {
		return turnedAway(busy(retry))
	}
	// VerifyIdentity holds the signature against the nonce; whether that is one of ours, and unused, is seen here.
	if !g.challenges.take(c.Device.Nonce, g.opts.Now()) {
		return newProblem(http.StatusUnauthorized, wire.AuthNonceMismatch, "device.nonce is no challenge of this gateway, or was used or too old: ask for a new one")
	}
	shown, refused := g.prove(r.Context(), c, wire.Challenge{Nonce: c.Device.Nonce, TS: c.Device.SignedAt})
	var d registry.Device
	if refused == nil {
		d, refused = g.admit(r.Context(), c, shown)
	}
	if refused != nil {
		g.counters.handshakes.WithLabelValues("refused").Inc()
		return turnedAway(refused)
	}
	token, p := g.credentials(r, d, c, shown)
	if p != nil {
		return p
	}
	g.counters.handshakes.WithLabelValues("accepted").Inc()
	writeJSON(w, http.StatusOK, "application/json", connected{DeviceID: d.ID, DeviceToken: token, Protocol: wire.ProtocolVersion})
	return nil
}

// credentials records the device's boots and gives it its token: the one it showed, or a new one.
func (g *Gateway) credentials(r *http.Request, d registry.Device, c wire.Connect, shown credential) (token string, p *problem) {
	if c.Errand != nil {
		_, err := g.opts.Registry.Boots(r.Context(), d.ID, c.Errand.Boots)
		if errors.Is(err, registry.ErrBootOrder) {
			return "", newProblem(http.StatusConflict, detailBootOrder, err.Error())
		} else if err != nil {
			return "", g.registryDown("record boots", d.ID, err)
		}
	}
	if shown.deviceToken != "" {
		return shown.deviceToken, nil
	}
	token, err := g.opts.Registry.IssueToken(r.Context(), d.ID)
	if err != nil {
		return "", g.registryDown("issue a token", d.ID, err)
	}
	return token, nil
}
