package gateway_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
)

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
