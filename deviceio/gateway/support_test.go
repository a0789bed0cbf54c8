package gateway_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/catalog"
	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

const sharedToken = "a-token-of-the-tests"

// patience bounds every wait of the tests; none is waited out unless something is broken.
const patience = 10 * time.Second

// home is a gateway with its registry, and a signaller that the test holds.
type home struct {
	t        *testing.T
	gateway  *gateway.Gateway
	registry *faulty
	signals  *signals
	url      string
	path     string             // of the registry
	stop     context.CancelFunc // ends Run: the gateway drains
	ended    chan error
	// current is the gateway that devices reach now; see restart.
	current atomic.Pointer[gateway.Gateway]
}

// newHome starts a gateway. change may set further options.
func newHome(t *testing.T, change func(*gateway.Options)) *home {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	file, err := registry.Open(t.Context(), path)
	must(t, err)
	h := &home{t: t, path: path, registry: &faulty{Registry: file}, signals: &signals{arrived: make(chan signal, 100)}, ended: make(chan error, 1)}
	opts := gateway.Options{Registry: h.registry, Catalog: testCatalog(), Signaller: h.signals, Token: sharedToken,
		Logger: slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if change != nil {
		change(&opts)
	}
	h.gateway, err = gateway.New(opts)
	must(t, err)
	h.current.Store(h.gateway)
	server := httptest.NewServer(h.gateway.Handler())
	h.url = server.URL
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go func() { h.ended <- h.gateway.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := await(t, h.ended, "the gateway to end"); err != nil {
			t.Errorf("Run: %v", err)
		}
		h.ended <- nil
		server.Close()
		must(t, file.Close())
	})
	return h
}

// serve serves a further gateway, and returns where.
func (h *home) serve(g *gateway.Gateway) string {
	server := httptest.NewServer(g.Handler())
	h.t.Cleanup(server.Close)
	return server.URL
}

// exec changes the registry behind its back.
func (h *home) exec(statement string, args ...any) {
	h.t.Helper()
	db, err := sql.Open("sqlite", h.path+"?_pragma=busy_timeout(5000)")
	must(h.t, err)
	_, err = db.ExecContext(h.t.Context(), statement, args...)
	must(h.t, errors.Join(err, db.Close()))
}

// digest is how the registry keeps a token or a code.
func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// testCatalog lists two capabilities; only move reports its start.
func testCatalog() *catalog.Catalog {
	text := catalog.SlotSchema{Type: "string"}
	return &catalog.Catalog{
		Capabilities: []catalog.Capability{
			{ID: "move_to_room", TaskMethod: "setMoveTo", Enabled: true, ReportStarted: true, ResultContract: catalog.ResultContract{
				BindableResultFields: []catalog.ResultField{{Name: "area_id", Schema: text}, {Name: "current_room_name", Schema: text}}}},
			{ID: "purify", TaskMethod: "setStationaryPurify", Enabled: true},
		},
		Reasons: []catalog.Reason{{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}, {Code: "LOW_BATTERY"}},
	}
}

// faulty is a registry whose calls can be made to fail.
type faulty struct {
	*registry.Registry
	mu    sync.Mutex
	down  error
	stops error
	// read, if set, is called with what StopOf read, before it is told, and standing before Standing reads.
	read     func(stopped bool)
	standing func()
}

func (f *faulty) onStanding(standing func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.standing = standing
}

func (f *faulty) failStops(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops = err
}

func (f *faulty) StopOf(ctx context.Context, id string) (registry.Stop, bool, error) {
	f.mu.Lock()
	broken, read := f.stops, f.read
	f.mu.Unlock()
	if broken != nil {
		return registry.Stop{}, false, broken
	}
	stop, stopped, err := f.Registry.StopOf(ctx, id)
	if read != nil {
		read(stopped)
	}
	return stop, stopped, err
}

func (f *faulty) onRead(read func(stopped bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = read
}

func (f *faulty) StopDevice(ctx context.Context, s registry.Stop) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stops != nil {
		return f.stops
	}
	return f.Registry.StopDevice(ctx, s)
}

func (f *faulty) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = err
}

func (f *faulty) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.down
}

func (f *faulty) KeepStray(ctx context.Context, e registry.StrayEvent) (registry.StrayEvent, error) {
	if err := f.fault(); err != nil {
		return registry.StrayEvent{}, err
	}
	return f.Registry.KeepStray(ctx, e)
}

func (f *faulty) ShowCertificate(ctx context.Context, id string, s registry.Shown) error {
	if err := f.fault(); err != nil {
		return err
	}
	return f.Registry.ShowCertificate(ctx, id, s)
}

func (f *faulty) Declare(ctx context.Context, d registry.Declaration) (registry.Device, error) {
	if err := f.fault(); err != nil {
		return registry.Device{}, err
	}
	return f.Registry.Declare(ctx, d)
}

func (f *faulty) Standing(ctx context.Context, id string) (registry.State, []string, error) {
	if err := f.fault(); err != nil {
		return "", nil, err
	}
	f.mu.Lock()
	standing := f.standing
	f.mu.Unlock()
	if standing != nil {
		standing()
	}
	return f.Registry.Standing(ctx, id)
}

// signal is one call of the signaller.
type signal struct {
	workflowID, requestID string
	sent                  plan.Signal
}

// signals is a signaller that keeps what it got, or fails as told.
type signals struct {
	arrived chan signal
	tries   atomic.Int64 // calls so far, those that fail included
	mu      sync.Mutex
	answer  error
	owners  map[string]gateway.Owner
	hold    chan struct{} // if set, calls wait for it or their context
}

var _ gateway.Signaller = (*signals)(nil)

func (s *signals) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = err
}

func (s *signals) Signal(ctx context.Context, workflowID, requestID string, sent plan.Signal) error {
	s.tries.Add(1)
	s.mu.Lock()
	answer, hold := s.answer, s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if answer == nil {
		s.arrived <- signal{workflowID, requestID, sent}
	}
	return answer
}

// OwnerOf is what the test says; by default it cannot be told.
func (s *signals) OwnerOf(_ context.Context, workflowID string) (gateway.Owner, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[workflowID], nil
}

// own makes the plan one of that device, in the default home.
func (s *signals) own(workflowID, deviceID string) {
	s.ownAt(workflowID, gateway.Owner{DeviceID: deviceID})
}

func (s *signals) ownAt(workflowID string, owner gateway.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		s.owners = make(map[string]gateway.Owner)
	}
	s.owners[workflowID] = owner
}

// none checks that nothing more was signalled.
func (s *signals) none(t *testing.T) {
	t.Helper()
	select {
	case got := <-s.arrived:
		t.Errorf("an unexpected signal: %+v", got)
	default:
	}
}

// newKey makes a device's key.
func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	return key
}

func idOf(key ed25519.PrivateKey) string {
	return wire.DeviceID(ed25519.PublicKey(key[ed25519.SeedSize:])) // a private key ends in its public one
}

// publicOf is the key's public half as it travels.
func publicOf(key ed25519.PrivateKey) string {
	return base64.RawURLEncoding.EncodeToString(wire.PublicKey(key))
}

// robotCommands is what a person approved of every robot of the tests.
var robotCommands = []string{wire.CommandSubmitTask, wire.CommandTaskStatus, wire.CommandCancelTask, wire.CommandSay, wire.CommandAsk, wire.CommandContext}

// agent is the connect of a DeviceAgent; change may spoil it before it is signed.
func agent(key ed25519.PrivateKey, ch wire.Challenge, change func(*wire.Connect)) wire.Connect {
	c := wire.Connect{MinProtocol: 4, MaxProtocol: 4, Role: wire.RoleNode, Auth: wire.Auth{Token: sharedToken}, Caps: []string{}, Scopes: []string{},
		Client:   wire.Client{ID: "errand-device", DisplayName: "robot", Version: "1", Platform: "Linux", DeviceFamily: "Linux", Mode: "node"},
		Commands: []string{wire.CommandSubmitTask, wire.CommandTaskStatus, wire.CommandCancelTask, wire.CommandSay, wire.CommandAsk},
		Errand:   &wire.Errand{Profile: wire.Profile{Status: true, Dedupe: true, Outbox: true}, Boots: []string{"b1"}, StoreID: "store-1", RetentionS: 60}}
	if change != nil {
		change(&c)
	}
	wire.Sign(key, &c, ch)
	return c
}

// approved declares and approves the key's device, so that it may connect at once.
func (h *home) approved(key ed25519.PrivateKey) ed25519.PrivateKey {
	h.t.Helper()
	_, err := h.registry.Registry.Declare(h.t.Context(), registry.Declaration{ID: idOf(key), PublicKey: publicOf(key), Commands: robotCommands})
	must(h.t, err)
	must(h.t, h.registry.Approve(h.t.Context(), idOf(key)))
	return key
}

// robot connects a new approved device.
func (h *home) robot(change func(*wire.Connect)) *node {
	h.t.Helper()
	return h.join(h.approved(newKey(h.t)), change)
}

// join connects the device of the key and expects hello.
func (h *home) join(key ed25519.PrivateKey, change func(*wire.Connect)) *node {
	h.t.Helper()
	n := h.dial(key)
	res := n.request(wire.MethodConnect, agent(key, n.challenge, change))
	if !*res.OK {
		h.t.Fatalf("connect refused: %v", res.Error)
	}
	hello, err := wire.ParseHello(res.Payload)
	must(h.t, err)
	n.hello = hello
	return n
}

// route is where the registry says that the device is.
func (h *home) route(n *node) plan.Route {
	h.t.Helper()
	route, ok, err := h.registry.Route(h.t.Context(), n.id)
	if err != nil || !ok {
		h.t.Fatalf("Route = %v, %v", ok, err)
	}
	return route
}

// node is a scripted device on a real socket.
type node struct {
	t         *testing.T
	conn      *websocket.Conn
	id        string
	challenge wire.Challenge
	hello     wire.Hello
	mu        sync.Mutex
	requests  int
	answers   map[string]chan wire.Frame
	events    chan wire.Frame
	closed    chan error // how the socket ended
}

// dial opens a socket and takes the challenge.
func (h *home) dial(key ed25519.PrivateKey) *node {
	h.t.Helper()
	return h.dialAs(idOf(key))
}

func (h *home) dialAs(deviceID string) *node {
	h.t.Helper()
	conn, _, err := websocket.Dial(h.t.Context(), h.url, nil) //nolint:bodyclose // never needed, says Dial
	must(h.t, err)
	conn.SetReadLimit(wire.MaxPayload)
	n := &node{t: h.t, conn: conn, id: deviceID, answers: map[string]chan wire.Frame{}, events: make(chan wire.Frame, 100), closed: make(chan error, 1)}
	h.t.Cleanup(func() { _ = conn.CloseNow() }) // may be closed already
	go n.read()
	n.challenge, err = wire.ParseChallenge(n.next(wire.EventChallenge).Payload)
	must(h.t, err)
	return n
}

func (n *node) read() {
	for {
		_, data, err := n.conn.Read(context.Background())
		if err != nil {
			n.closed <- err
			return
		}
		f, err := wire.ParseFrame(data)
		if err != nil {
			n.t.Errorf("the gateway sent no frame: %v: %s", err, data)
			return
		}
		if f.Type != wire.TypeRes {
			n.events <- f
			continue
		}
		n.mu.Lock()
		answer := n.answers[f.ID]
		n.mu.Unlock()
		if answer == nil {
			n.t.Errorf("an answer to nothing: %s", data)
			return
		}
		answer <- f
	}
}

// ask sends a request and returns where its answer will come.
func (n *node) ask(method string, params any) <-chan wire.Frame {
	n.t.Helper()
	n.mu.Lock()
	n.requests++
	id := fmt.Sprint("r-", n.requests)
	n.mu.Unlock()
	answer := n.expect(id)
	f, err := wire.NewReq(id, method, params)
	must(n.t, err)
	data, err := json.Marshal(f)
	must(n.t, err)
	must(n.t, n.conn.Write(n.t.Context(), websocket.MessageText, data))
	return answer
}

// expect returns where the answer to a request will come.
func (n *node) expect(id string) <-chan wire.Frame {
	answer := make(chan wire.Frame, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers[id] = answer
	return answer
}

// request is ask, and waits for the answer.
func (n *node) request(method string, params any) wire.Frame {
	n.t.Helper()
	return await(n.t, n.ask(method, params), "the answer to "+method)
}

// next returns the next event of that name; others are skipped.
func (n *node) next(event string) wire.Frame {
	n.t.Helper()
	for {
		if f := await(n.t, n.events, "the event "+event); f.Event == event {
			return f
		}
	}
}

// invoked returns the next command.
func (n *node) invoked() wire.InvokeRequest {
	n.t.Helper()
	r, err := wire.ParseInvokeRequest(n.next(wire.EventInvoke).Payload)
	must(n.t, err)
	return r
}

// answer answers a command.
func (n *node) answer(r wire.InvokeRequest, payload string) wire.Frame {
	n.t.Helper()
	return n.request(wire.MethodInvokeResult, wire.InvokeResult{ID: r.ID, NodeID: n.id, OK: true, Payload: json.RawMessage(payload)})
}

// emit sends an event and returns the answer.
func (n *node) emit(event, payload string) wire.Frame {
	n.t.Helper()
	return n.request(wire.MethodNodeEvent, wire.NodeEvent{Event: event, PayloadJSON: payload})
}

// ack is emit for an event that must be acknowledged.
func (n *node) ack(event, payload string) wire.EventAck {
	n.t.Helper()
	f := n.emit(event, payload)
	if !*f.OK {
		n.t.Fatalf("%s was not recorded: %v", event, f.Error)
	}
	ack, err := wire.ParseEventAck(f.Payload)
	must(n.t, err)
	return ack
}

// end returns the code with which the gateway closed the socket.
func (n *node) end() websocket.StatusCode {
	n.t.Helper()
	return websocket.CloseStatus(await(n.t, n.closed, "the socket to close"))
}

func await[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// eventually looks until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var errDown = errors.New("out of order")

// testWriter shows the gateway's log with a failed test.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

type ctx = context.Context

// get fetches an HTTP route and returns its body.
func get(t *testing.T, h *home, path, token string, want int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
	must(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	body, err := io.ReadAll(res.Body)
	must(t, errors.Join(err, res.Body.Close()))
	if res.StatusCode != want {
		t.Errorf("GET %s = %d %s, want %d", path, res.StatusCode, body, want)
	}
	return string(body)
}

func say(deviceID string) plan.Say {
	return plan.Say{DeviceID: deviceID, Text: "안녕하세요", Locale: "ko-KR"}
}
