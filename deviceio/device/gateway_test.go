package device

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"errand/deviceio/wire"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// fakeGateway is a gateway whose every word a test says itself, over a real WebSocket.
type fakeGateway struct {
	t      *testing.T
	server *httptest.Server
	peers  chan *peer
}

func newGateway(t *testing.T) *fakeGateway {
	g := &fakeGateway{t: t, peers: make(chan *peer, 16)}
	g.server = httptest.NewServer(http.HandlerFunc(g.accept))
	t.Cleanup(g.server.Close)
	return g
}

func (g *fakeGateway) url() string { return "ws" + strings.TrimPrefix(g.server.URL, "http") }

// accept does what every gateway does first, and checks who connects.
func (g *fakeGateway) accept(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		g.t.Errorf("accept: %v", err)
		return
	}
	conn.SetReadLimit(wire.MaxPayload)
	p := &peer{t: g.t, conn: conn, frames: make(chan wire.Frame, 256)}
	challenge := wire.Challenge{Nonce: randomID(), TS: time.Now().UnixMilli()}
	p.event(wire.EventChallenge, challenge)
	go p.readAll()
	var ok bool
	select {
	case p.request, ok = <-p.frames:
		if !ok {
			return // the device left again, as one does at the end of a test
		}
	case <-time.After(patience):
		g.t.Error("no connect came")
		return
	}
	if p.connect, err = wire.ParseConnect(p.request.Params); err != nil {
		g.t.Errorf("connect: %v", err)
		return
	}
	if err := wire.VerifyIdentity(p.connect, challenge, challenge.TS); err != nil {
		g.t.Errorf("identity: %v", err)
		return
	}
	g.peers <- p
}

// next is the next connection, past its connect request and not answered yet.
func (g *fakeGateway) next() *peer {
	g.t.Helper()
	return receive(g.t, g.peers, "a connection")
}

// connected is the next connection, answered with hello; ticks are due every hour.
func (g *fakeGateway) connected() *peer {
	g.t.Helper()
	p := g.next()
	p.hello(time.Hour, "")
	return p
}

// peer is the gateway's end of one connection.
type peer struct {
	t       *testing.T
	conn    *websocket.Conn
	frames  chan wire.Frame // what the device sends; closed when it is gone
	request wire.Frame
	connect wire.Connect
	closed  error // why reading ended; valid once frames is closed
}

func (p *peer) readAll() {
	defer close(p.frames)
	for {
		_, text, err := p.conn.Read(context.Background())
		if err != nil {
			p.closed = err
			return
		}
		f, err := wire.ParseFrame(text)
		if err != nil {
			p.t.Errorf("the device sent: %v", err)
			return
		}
		p.frames <- f
	}
}

func (p *peer) write(f wire.Frame) {
	text, err := json.Marshal(f)
	if err != nil {
		p.t.Errorf("frame: %v", err)
		return
	}
	_ = p.conn.Write(context.Background(), websocket.MessageText, text) // a test may have closed it on purpose
}

func (p *peer) event(name string, payload any) {
	f, err := wire.NewEvent(name, payload)
	if err != nil {
		p.t.Errorf("event: %v", err)
	}
	p.write(f)
}

func (p *peer) result(id string, payload any) {
	f, err := wire.NewRes(id, payload)
	if err != nil {
		p.t.Errorf("answer: %v", err)
	}
	p.write(f)
}

func (p *peer) hello(tick time.Duration, deviceToken string) {
	p.result(p.request.ID, wire.Hello{Type: "hello-ok", Protocol: wire.ProtocolVersion,
		Auth: wire.HelloAuth{Role: wire.RoleNode, DeviceToken: deviceToken}, Server: wire.HelloServer{ConnID: randomID()},
		Features: wire.Features{Methods: []string{}, Events: []string{}},
		Snapshot: wire.Snapshot{Presence: []any{}, Health: map[string]any{}},
		Policy:   wire.Policy{MaxPayload: wire.MaxPayload, MaxBufferedBytes: wire.MaxBuffered, TickIntervalMs: tick.Milliseconds()}})
}

// next is the next frame from the device.
func (p *peer) next() wire.Frame {
	p.t.Helper()
	return receive(p.t, p.frames, "a frame")
}

// taskEvent is the next frame, which must be a task event.
func (p *peer) taskEvent() (id string, e wire.TaskEvent) {
	p.t.Helper()
	f := p.next()
	require.Equal(p.t, wire.MethodNodeEvent, f.Method)
	n, err := wire.ParseNodeEvent(f.Params)
	require.NoError(p.t, err)
	require.Equal(p.t, wire.NodeTaskEvent, n.Event)
	e, err = wire.ParseTaskEvent(n.Body())
	require.NoError(p.t, err)
	return f.ID, e
}

func (p *peer) ack(requestID, eventID string) {
	p.result(requestID, wire.EventAck{EventID: eventID, Ack: wire.AckApplied})
}

// invokeResult is the next frame, which must be an invoke's result. It is acknowledged.
func (p *peer) invokeResult() wire.InvokeResult {
	p.t.Helper()
	f := p.next()
	require.Equal(p.t, wire.MethodInvokeResult, f.Method)
	r, err := wire.ParseInvokeResult(f.Params)
	require.NoError(p.t, err)
	p.result(f.ID, map[string]any{"ok": true})
	return r
}

func (p *peer) invoke(r wire.InvokeRequest) { p.event(wire.EventInvoke, r) }

// drop cuts the connection without a word.
func (p *peer) drop() { _ = p.conn.CloseNow() }

func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v, ok := <-from:
		require.True(t, ok, "%s was due, but the other side is gone", what)
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not come within %v", what, patience)
		panic("unreachable")
	}
}

// handlerFunc makes a Handler of a function.
type handlerFunc func(ctx context.Context, command string, params json.RawMessage) (any, error)

func (f handlerFunc) Invoke(ctx context.Context, command string, params json.RawMessage) (any, error) {
	return f(ctx, command, params)
}

var _ Handler = handlerFunc(nil)

func options(t *testing.T, g *fakeGateway) Options {
	return Options{URL: g.url(), Token: "shared", StateDir: t.TempDir(), Commands: []string{"light.set", "light.get"},
		Profile: wire.Profile{Status: true, Dedupe: true}, StoreID: "s-1", RetentionS: 3600,
		Handler:    handlerFunc(func(context.Context, string, json.RawMessage) (any, error) { return map[string]any{}, nil }),
		BackoffMin: time.Millisecond, BackoffMax: 4 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

// open runs a client until the test ends or stop is called, which waits for it.
func open(t *testing.T, o Options) (c *Client, stop func() error) {
	t.Helper()
	c, err := Open(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	done := false
	stop = func() error {
		if done {
			return nil
		}
		done = true
		cancel()
		err := receive(t, ended, "the end of Run")
		require.NoError(t, c.Close())
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return c, stop
}
