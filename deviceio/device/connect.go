package device

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
)

// maxRetryAfter bounds how long a gateway may keep a device waiting.
const maxRetryAfter = 5 * time.Minute

// connect makes one connection and lives on it until it is lost. stop ends Run: only a failed outbox uses it.
func (c *Client) connect(ctx context.Context, stop context.CancelCauseFunc) (established bool, err error) {
	live, end := context.WithCancel(ctx) // commands outlive the connection, so they get ctx
	defer end()
	conn, shown, err := c.dial(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.CloseNow() }() // the connection is over: how it closes tells nothing more
	conn.SetReadLimit(wire.MaxPayload)
	s := &session{conn: conn, log: c.opts.Logger, shown: shown, calls: make(map[string]chan wire.Frame), ended: live.Done()}
	hello, err := c.handshake(ctx, s)
	if err != nil {
		return false, err
	}
	s.methods = hello.Features.Methods
	c.followCertificate(shown)
	c.keepToken(hello.Auth.DeviceToken)
	c.opts.Logger.Info("device: connected", "gateway", c.opts.URL, "device", c.id, "connection", hello.Server.ConnID)
	c.opts.OnState(State{Connected: true})

	var delivering sync.WaitGroup
	for _, next := range []func(context.Context) (Pending, error){c.outbox.Next, c.outbox.NextUrgent} {
		delivering.Go(func() {
			if err := c.deliver(live, s, next); err != nil {
				stop(err)
			}
		})
	}
	err = c.serve(ctx, s, hello.Policy)
	end()
	delivering.Wait()
	return true, err
}

// dial opens a socket, and tells the fingerprint of the certificate that the gateway proved to be its own; "" without TLS.
func (c *Client) dial(ctx context.Context) (conn *websocket.Conn, shown string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.HandshakeTimeout)
	defer cancel()
	transport := c.transport()
	defer transport.CloseIdleConnections()
	conn, resp, err := websocket.Dial(ctx, c.opts.URL, &websocket.DialOptions{ //nolint:bodyclose // never needed, says Dial
		HTTPClient: &http.Client{Transport: c.opts.Dialer(transport)}})
	if err != nil {
		return nil, "", fmt.Errorf("dial the gateway: %w", err)
	}
	if resp.TLS != nil && len(resp.TLS.PeerCertificates) > 0 {
		shown = wire.Fingerprint(resp.TLS.PeerCertificates[0].Raw)
	}
	return conn, shown, nil
}

// handshake waits for the challenge, answers it signed, and waits for hello. A refusal is a *wire.FrameError.
func (c *Client) handshake(ctx context.Context, s *session) (wire.Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.HandshakeTimeout)
	defer cancel()
	first, err := s.read(ctx)
	if err != nil {
		return wire.Hello{}, fmt.Errorf("wait for the challenge: %w", err)
	}
	if first.Event != wire.EventChallenge {
		return wire.Hello{}, fmt.Errorf("the first frame must be %s, is %s %s", wire.EventChallenge, first.Type, first.Event)
	}
	challenge, err := wire.ParseChallenge(first.Payload)
	if err != nil {
		return wire.Hello{}, fmt.Errorf("read the challenge: %w", err)
	}
	params := c.connectParams(challenge)
	id, err := s.request(ctx, wire.MethodConnect, params)
	if err != nil {
		return wire.Hello{}, err
	}
	for {
		f, err := s.read(ctx)
		if err != nil {
			return wire.Hello{}, fmt.Errorf("wait for hello: %w", err)
		}
		if f.Type != wire.TypeRes || f.ID != id {
			continue
		}
		if !*f.OK {
			c.refused(f.Error, params.Auth)
			return wire.Hello{}, f.Error
		}
		return wire.ParseHello(f.Payload)
	}
}

func (c *Client) connectParams(challenge wire.Challenge) wire.Connect {
	o := c.opts
	params := wire.Connect{
		MinProtocol: wire.ProtocolVersion, MaxProtocol: wire.ProtocolVersion, Client: o.Client,
		Caps: nonNil(o.Caps), Commands: nonNil(o.Commands), Role: wire.RoleNode, Scopes: []string{},
		Auth:   wire.Auth{Token: o.Token},
		Errand: &wire.Errand{Profile: o.Profile, Boots: c.outbox.Boots(), StoreID: o.StoreID, RetentionS: o.RetentionS},
	}
	c.mu.Lock()
	switch {
	case c.token != "":
		params.Auth = wire.Auth{DeviceToken: c.token}
	case o.SetupCode != "" && !c.setupOver:
		params.Auth = wire.Auth{BootstrapToken: o.SetupCode}
	}
	c.mu.Unlock()
	wire.Sign(c.key, &params, challenge)
	return params
}

func nonNil(list []string) []string { return append([]string{}, list...) }

// keepToken stores the device token for the next connection. Without it the device still works: it pairs again.
func (c *Client) keepToken(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token == "" || token == c.token {
		return
	}
	c.token = token
	if err := storeToken(c.opts.StateDir, token); err != nil {
		c.opts.Logger.Error("device: the device token could not be stored", "err", err)
	}
}

// refused forgets a device token or a setup code that the gateway no longer takes, so that the next try uses Options.Token.
func (c *Client) refused(e *wire.FrameError, used wire.Auth) {
	if e.Detail() == wire.DetailSetupCode && used.BootstrapToken != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.setupOver = true
		c.opts.Logger.Error("device: the setup code is over or was used: ask for a new one", "gateway", c.opts.URL)
		return
	}
	if e.Detail() != wire.DetailDeviceTokenMismatch || used.DeviceToken == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = ""
	if err := forgetToken(c.opts.StateDir); err != nil {
		c.opts.Logger.Error("device: the dead device token could not be removed", "err", err)
	}
}

// delay is how long to wait before the next connection: doubling, with jitter so that a house of devices does not
// come back in one moment. A gateway that restarts (1012) is back soon; one that says when to come is obeyed.
func (c *Client) delay(attempt int, err error) time.Duration {
	if websocket.CloseStatus(err) == wire.CloseServiceRestart {
		return jitter(c.opts.BackoffMin / 2)
	}
	d := jitter(backoff(c.opts.BackoffMin, c.opts.BackoffMax, attempt))
	var refused *wire.FrameError
	if errors.As(err, &refused) {
		d = max(d, min(time.Duration(refused.RetryAfterMs)*time.Millisecond, maxRetryAfter))
	}
	return d
}

// backoff doubles from least to most.
func backoff(least, most time.Duration, attempt int) time.Duration {
	d := least
	for range attempt {
		if d *= 2; d >= most {
			return most
		}
	}
	return min(d, most)
}

// jitter spreads a wait over its second half.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}
