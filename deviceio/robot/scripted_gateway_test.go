package robot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// scriptedGateway speaks the gateway's side of the protocol over a real socket: it lets every device in, records and
// acknowledges every event, and sends what a test tells it to.
type scriptedGateway struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	conn    *websocket.Conn // of the connected device, else nil
	node    string
	connect wire.Connect
	ended   int // connections that ended
	invokes int
	waiting map[string]chan wire.InvokeResult
	results map[string][]string // every result that came, by its invoke
	events  []wire.TaskEvent    // every delivery, copies included
	answers []wire.AnswerEvent
	changed chan struct{}
}

func newScriptedGateway(t *testing.T) *scriptedGateway {
	g := &scriptedGateway{t: t, waiting: map[string]chan wire.InvokeResult{}, results: map[string][]string{}, changed: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(g.accept))
	t.Cleanup(server.Close)
	g.url = "ws" + strings.TrimPrefix(server.URL, "http")
	return g
}

func (g *scriptedGateway) accept(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // the device was killed while it knocked
	}
	defer conn.CloseNow()
	conn.SetReadLimit(wire.MaxPayload)
	challenge := wire.Challenge{Nonce: fmt.Sprint(time.Now().UnixNano()), TS: time.Now().UnixMilli()}
	if event, err := wire.NewEvent(wire.EventChallenge, challenge); err != nil || write(conn, event) != nil {
		return
	}
	for {
		_, text, err := conn.Read(context.Background())
		if err != nil {
			break
		}
		f, err := wire.ParseFrame(text)
		if err != nil {
			g.t.Errorf("the device sent: %v", err)
			break
		}
		if err := g.serve(conn, challenge, f); err != nil {
			break
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conn == conn {
		g.conn = nil
		g.ended++
		g.wake()
	}
}

// serve answers one request of the device. An error means that the connection is gone.
func (g *scriptedGateway) serve(conn *websocket.Conn, challenge wire.Challenge, f wire.Frame) error {
	switch f.Method {
	case wire.MethodConnect:
		c, err := wire.ParseConnect(f.Params)
		if err == nil {
			err = wire.VerifyIdentity(c, challenge, challenge.TS)
		}
		if err != nil {
			g.t.Errorf("connect: %v", err)
		}
		err = respond(conn, f.ID, wire.Hello{Type: "hello-ok", Protocol: wire.ProtocolVersion,
			Auth: wire.HelloAuth{Role: wire.RoleNode, Scopes: []string{}}, Server: wire.HelloServer{ConnID: "c"},
			Features: wire.Features{Methods: []string{}, Events: []string{}},
			Snapshot: wire.Snapshot{Presence: []any{}, Health: map[string]any{}},
			Policy:   wire.Policy{MaxPayload: wire.MaxPayload, MaxBufferedBytes: wire.MaxBuffered, TickIntervalMs: 3_600_000}})
		g.mu.Lock()
		defer g.mu.Unlock()
		g.conn, g.node, g.connect = conn, c.Device.ID, c
		g.wake()
		return err
	case wire.MethodInvokeResult:
		r, err := wire.ParseInvokeResult(f.Params)
		if err != nil {
			g.t.Errorf("invoke result: %v", err)
		}
		g.mu.Lock()
		g.results[r.ID] = append(g.results[r.ID], string(r.Body()))
		g.wake()
		if waiting, ok := g.waiting[r.ID]; ok {
			waiting <- r
			delete(g.waiting, r.ID)
		}
		g.mu.Unlock()
		return respond(conn, f.ID, map[string]any{"ok": true})
	case wire.MethodNodeEvent:
		return respond(conn, f.ID, wire.EventAck{EventID: g.record(f), Ack: wire.AckApplied})
	}
	return respond(conn, f.ID, map[string]any{"ok": true})
}

func (g *scriptedGateway) record(f wire.Frame) (eventID string) {
	e, err := wire.ParseNodeEvent(f.Params)
	if err != nil {
		g.t.Errorf("event: %v", err)
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.wake()
	if e.Event == wire.NodeAnswer {
		a, err := wire.ParseAnswerEvent(e.Body())
		if err != nil {
			g.t.Errorf("answer: %v", err)
		}
		g.answers = append(g.answers, a)
		return a.EventID
	}
	task, err := wire.ParseTaskEvent(e.Body())
	if err != nil {
		g.t.Errorf("task event: %v", err)
	}
	g.events = append(g.events, task)
	return task.EventID
}

func (g *scriptedGateway) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// until waits for something about the gateway.
func (g *scriptedGateway) until(what string, holds func() bool) {
	g.t.Helper()
	late := time.After(patience)
	for {
		g.mu.Lock()
		ok, changed := holds(), g.changed
		g.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			g.t.Fatalf("%s did not happen within %v", what, patience)
		}
	}
}

func (g *scriptedGateway) connected() bool { return g.conn != nil }

// named counts the distinct events of an operation with a name.
func (g *scriptedGateway) named(operation, name string) int {
	ids := map[string]bool{}
	for _, e := range g.events {
		if e.OperationID == operation && e.EventName == name {
			ids[e.EventID] = true
		}
	}
	return len(ids)
}

// send asks the device, and returns where its answer will come; the error says that it is not connected.
func (g *scriptedGateway) send(command string, params any) (<-chan wire.InvokeResult, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conn == nil {
		return nil, context.Canceled
	}
	g.invokes++
	id := fmt.Sprintf("i%d", g.invokes)
	answer := make(chan wire.InvokeResult, 1)
	g.waiting[id] = answer
	event, err := wire.NewEvent(wire.EventInvoke, wire.InvokeRequest{ID: id, NodeID: g.node, Command: command, ParamsJSON: string(raw), TimeoutMs: 10_000})
	if err != nil {
		return nil, err
	}
	return answer, write(g.conn, event)
}

// ask sends a request and waits for its answer.
func (g *scriptedGateway) ask(command string, params any) wire.InvokeResult {
	g.t.Helper()
	answer, err := g.send(command, params)
	if err != nil {
		g.t.Fatalf("%s: %v", command, err)
	}
	select {
	case r := <-answer:
		return r
	case <-time.After(patience):
		g.t.Fatalf("%s was not answered", command)
		panic("unreachable")
	}
}

func (g *scriptedGateway) submit(spec wire.Task) wire.SubmitAnswer {
	g.t.Helper()
	r := g.ask(wire.CommandSubmitTask, spec)
	a, err := wire.ParseSubmitAnswer(r.Body())
	if !r.OK || err != nil {
		g.t.Fatalf("submit %s: %+v, %v", spec.OperationID, r, err)
	}
	return a
}

func write(conn *websocket.Conn, f wire.Frame) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return conn.Write(context.Background(), websocket.MessageText, text)
}

func respond(conn *websocket.Conn, id string, payload any) error {
	f, err := wire.NewRes(id, payload)
	if err != nil {
		return err
	}
	return write(conn, f)
}

func spec(operation, method string, params map[string]any) wire.Task {
	return wire.Task{TaskMethod: method, Params: params, Source: "cloud", TimeoutMs: 60_000, TTLMs: 60_000,
		Trace: wire.Trace{CloudWorkflowID: "wf", CloudPlanID: "p", CloudStepID: "s", OperationID: operation}}
}

// running starts a whole robot against the gateway, and ends it with the test.
func (g *scriptedGateway) running(dir string) (control *robot.Control, stop func()) {
	g.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	ready := make(chan string, 1)
	go func() {
		ended <- robot.Run(ctx, robot.Config{URL: g.url, Token: "shared", Logger: slog.New(slog.DiscardHandler), Control: "127.0.0.1:0", Options: robot.Options{StateDir: dir, Speed: 50,
			Report: func(line string) {
				if strings.HasPrefix(line, "robot ready: ") {
					ready <- line
				}
			}}})
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				g.t.Errorf("run: %v", err)
			}
		})
	}
	g.t.Cleanup(stop)
	select {
	case line := <-ready:
		g.until("the connection", g.connected)
		if !strings.HasPrefix(line, "robot ready: "+g.node+" ") {
			g.t.Fatalf("it says %q", line)
		}
	case err := <-ended:
		g.t.Fatalf("it ended: %v", err)
	case <-time.After(patience):
		g.t.Fatal("it is not ready")
	}
	control, err := robot.DialControl(dir)
	if err != nil {
		g.t.Fatal(err)
	}
	return control, stop
}
