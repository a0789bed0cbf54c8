package device

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"errand/deviceio/wire"
)

func notPaired(requestID string) wire.FrameError {
	return wire.FrameError{Code: wire.CodeNotPaired, Message: "pairing required", Retryable: true, Details: map[string]any{
		"code": wire.DetailPairingRequired, "requestId": requestID, "recommendedNextStep": wire.NextStepWait}}
}

// refuse answers the connect as the protocol has it: the error, then close 1008.
func (p *peer) refuse(e wire.FrameError) {
	p.write(wire.NewError(p.request.ID, e))
	_ = p.conn.Close(websocket.StatusPolicyViolation, "connect failed")
}

// An unapproved device keeps asking, as one device with one key, until it is let in.
func TestPairingWaits(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	states := make(chan State, 16)
	o.OnState = func(s State) { states <- s }
	c, _ := open(t, o)
	for range 4 {
		p := g.next()
		require.Equal(t, c.DeviceID(), p.connect.Device.ID)
		require.Equal(t, wire.Auth{Token: "shared"}, p.connect.Auth)
		p.refuse(notPaired("r-1"))
		var refused *wire.FrameError
		require.ErrorAs(t, receive(t, states, "the refusal").Err, &refused)
		require.Equal(t, wire.DetailPairingRequired, refused.Detail())
	}
	g.connected()
	require.Equal(t, State{Connected: true}, receive(t, states, "the connection"))
}

// The device token that hello brings is kept, private, and used in place of the shared one, after a restart too.
func TestDeviceTokenIsKeptAndUsed(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	_, stop := open(t, o)
	p := g.next()
	p.hello(time.Hour, "device-token-1")
	p.drop()
	p = g.next()
	require.Equal(t, wire.Auth{DeviceToken: "device-token-1"}, p.connect.Auth)
	p.hello(time.Hour, "")
	require.ErrorIs(t, stop(), context.Canceled)
	for _, name := range []string{tokenName, keyName} {
		stat, err := os.Stat(filepath.Join(o.StateDir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), stat.Mode(), name)
	}
	open(t, o)
	require.Equal(t, wire.Auth{DeviceToken: "device-token-1"}, g.connected().connect.Auth)
}

// A device token that the gateway no longer knows is forgotten, and the device comes back with the shared one.
func TestDeadDeviceTokenIsForgotten(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	require.NoError(t, storeToken(o.StateDir, "dead"))
	open(t, o)
	p := g.next()
	require.Equal(t, wire.Auth{DeviceToken: "dead"}, p.connect.Auth)
	p.refuse(wire.FrameError{Code: wire.CodeForbidden, Message: "no such token", Details: map[string]any{"code": wire.DetailDeviceTokenMismatch}})
	require.Equal(t, wire.Auth{Token: "shared"}, g.connected().connect.Auth)
	_, err := os.Stat(filepath.Join(o.StateDir, tokenName))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Ticks are the only sign of life: pings and other traffic do not count. Silence closes with 4000, and the device comes back.
func TestTickTimeout(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	c, _ := open(t, options(t, g))
	p := g.next()
	const tick = 500 * time.Millisecond
	p.hello(tick, "")
	ticks := time.NewTicker(tick / 5)
	defer ticks.Stop()
	for start := time.Now(); time.Since(start) < 3*tick; <-ticks.C { // longer than silence would be borne
		p.event(wire.EventTick, map[string]any{"ts": 1})
	}
	require.Empty(t, g.peers, "the connection lives on ticks")
	p.event("presence", nil) // no tick
	for range p.frames {
		t.Error("nothing was to be sent")
	}
	require.Equal(t, websocket.StatusCode(wire.CloseTickTimeout), websocket.CloseStatus(p.closed))
	require.Equal(t, c.DeviceID(), g.connected().connect.Device.ID)
}

// Whatever a gateway says wrong in the handshake, the device tries again.
func TestHandshakeFaultsAreTriedAgain(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	o.HandshakeTimeout = 100 * time.Millisecond
	states := make(chan State, 16)
	o.OnState = func(s State) { states <- s }
	open(t, o)
	for name, answer := range map[string]func(*peer){
		"closes":            func(p *peer) { p.drop() },
		"says nothing":      func(*peer) {},
		"hello without ok":  func(p *peer) { p.result(p.request.ID, map[string]any{"type": "hello"}) },
		"wrong token":       func(p *peer) { p.refuse(wire.FrameError{Code: wire.CodeForbidden, Message: "token"}) },
		"restarts (1012)":   func(p *peer) { _ = p.conn.Close(wire.CloseServiceRestart, "restart") },
		"no frame":          func(p *peer) { _ = p.conn.Write(t.Context(), websocket.MessageText, []byte("?")); p.drop() },
		"answers elsewhere": func(p *peer) { p.result("77", nil); p.event(wire.EventTick, nil); p.drop() },
	} {
		answer(g.next())
		require.Error(t, receive(t, states, name).Err, name)
	}
	g.connected()
	require.True(t, receive(t, states, "the connection").Connected)
}

func TestDelay(t *testing.T) {
	c := &Client{opts: Options{BackoffMin: time.Second, BackoffMax: 30 * time.Second}}
	between := func(low, high, d time.Duration) {
		t.Helper()
		require.GreaterOrEqual(t, d, low)
		require.LessOrEqual(t, d, high)
	}
	lost := errors.New("lost")
	for attempt, seconds := range []int64{1, 2, 4, 8, 16, 30, 30} {
		want := time.Duration(seconds * int64(time.Second))
		between(want/2, want, c.delay(attempt, lost))
	}
	between(15*time.Second, 30*time.Second, c.delay(1<<20, lost))
	restart := websocket.CloseError{Code: wire.CloseServiceRestart}
	between(0, time.Second/2, c.delay(9, restart))
	between(time.Minute, time.Minute, c.delay(0, &wire.FrameError{RetryAfterMs: 60_000}))
	between(maxRetryAfter, maxRetryAfter, c.delay(0, &wire.FrameError{RetryAfterMs: 1 << 40}))
}

func TestRunEndsWhenTheOutboxFails(t *testing.T) {
	g := newGateway(t)
	c, err := Open(options(t, g))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	g.connected()
	require.NoError(t, c.Close())
	require.ErrorIs(t, receive(t, ended, "the end of Run"), ErrOutboxClosed)
}

func TestOpenRefusesWhatCannotWork(t *testing.T) {
	g := newGateway(t)
	good := options(t, g)
	for name, spoil := range map[string]func(*Options){
		"no URL":             func(o *Options) { o.URL = "" },
		"no directory":       func(o *Options) { o.StateDir = "" },
		"no handler":         func(o *Options) { o.Handler = nil },
		"dedupe, no store":   func(o *Options) { o.StoreID = "" },
		"negative retention": func(o *Options) { o.RetentionS = -1 },
	} {
		o := good
		spoil(&o)
		_, err := Open(o)
		require.Error(t, err, name)
	}
	// A key that cannot be read is never replaced: with another key it would be another device.
	for name, key := range map[string]string{"not PEM": "x", "not a key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		o := options(t, g)
		path := filepath.Join(o.StateDir, keyName)
		require.NoError(t, os.WriteFile(path, []byte(key), 0o600))
		_, err := Open(o)
		require.ErrorContains(t, err, path, name)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, key, string(left))
		_, err = Open(o)
		require.NotErrorIs(t, err, ErrOutboxLocked, "a failed Open gives the directory back")
	}
}

// A setup code says where the gateway is and lets the device in, until it has a token of its own; one that is over gives way to
// the shared token.
func TestASetupCodeIsShownUntilThereIsAToken(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	code, err := wire.SetupCode{URL: o.URL, BootstrapToken: "once"}.Text()
	require.NoError(t, err)
	o.URL, o.SetupCode = "", "oc-pair://"+code
	_, stop := open(t, o)
	p := g.next()
	require.Equal(t, wire.Auth{BootstrapToken: "once"}, p.connect.Auth)
	p.hello(time.Hour, "device-token-1")
	p.drop()
	require.Equal(t, wire.Auth{DeviceToken: "device-token-1"}, g.connected().connect.Auth)
	require.ErrorIs(t, stop(), context.Canceled)

	o.StateDir = t.TempDir()
	open(t, o)
	g.next().refuse(wire.FrameError{Code: wire.CodeInvalidRequest, Message: "over", Details: map[string]any{"code": wire.DetailSetupCode}})
	require.Equal(t, wire.Auth{Token: "shared"}, g.connected().connect.Auth)
	o.SetupCode = "half a cod"
	_, err = Open(o)
	require.ErrorIs(t, err, wire.ErrSetupCode)
}

// The installation has a name that outlives its key, so that a gateway sees when it comes with another one.
func TestAnInstallationHasAName(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	_, stop := open(t, o)
	first := g.connected().connect
	require.NotEmpty(t, first.Client.InstanceID)
	require.ErrorIs(t, stop(), context.Canceled)
	require.NoError(t, os.Remove(filepath.Join(o.StateDir, keyName)))
	_, stop = open(t, o)
	again := g.connected().connect
	require.Equal(t, first.Client.InstanceID, again.Client.InstanceID)
	require.NotEqual(t, first.Device.ID, again.Device.ID)
	require.ErrorIs(t, stop(), context.Canceled)
	o.StateDir = t.TempDir()
	_, stop = open(t, o)
	require.NotEqual(t, first.Client.InstanceID, g.connected().connect.Client.InstanceID)
	require.ErrorIs(t, stop(), context.Canceled)
	o.Client.InstanceID = "of the program's own"
	open(t, o)
	require.Equal(t, "of the program's own", g.connected().connect.Client.InstanceID)
}
