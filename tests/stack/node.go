package stack

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
)

// Node is a device on a raw socket that says what the test wants, true or not.
type Node struct {
	ID     string
	conn   *websocket.Conn
	Closed chan error // how the socket ended

	mu       sync.Mutex
	last     int
	answers  map[string]chan wire.Frame
	received []wire.InvokeRequest // all there ever were
	commands chan wire.InvokeRequest
}

// NewKey makes the key of a device.
func NewKey(tb testing.TB) ed25519.PrivateKey {
	tb.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// Declared is what a Node says of itself in connect; a test may change it before it is signed.
func Declared() wire.Connect {
	return wire.Connect{MinProtocol: wire.ProtocolVersion, MaxProtocol: wire.ProtocolVersion, Role: wire.RoleNode,
		Auth: wire.Auth{Token: token}, Caps: []string{}, Scopes: []string{},
		Client:   wire.Client{ID: "errand-test", DisplayName: "node", Version: "1", Platform: "linux", Mode: "node"},
		Commands: []string{wire.CommandSubmitTask, wire.CommandTaskStatus, wire.CommandCancelTask, wire.CommandSay, wire.CommandAsk},
		Errand:   &wire.Errand{Profile: wire.Profile{Status: true, Dedupe: true, Outbox: true}, Boots: []string{"b1"}, StoreID: "store-1", RetentionS: 3600}}
}

// Node connects a raw device.
func (s *Stack) Node(tb testing.TB, key ed25519.PrivateKey, c wire.Connect) *Node {
	tb.Helper()
	n, err := s.TryNode(tb, key, c)
	if err != nil {
		tb.Fatalf("connect: %v", err)
	}
	return n
}

// TryNode is Node for a connect that may be refused, with a *wire.FrameError.
func (s *Stack) TryNode(tb testing.TB, key ed25519.PrivateKey, c wire.Connect) (*Node, error) {
	tb.Helper()
	conn, _, err := websocket.Dial(tb.Context(), s.Gateway, nil) //nolint:bodyclose // never needed, says Dial
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = conn.CloseNow() }) // may be closed already
	conn.SetReadLimit(wire.MaxPayload)
	_, data, err := conn.Read(tb.Context())
	if err != nil {
		return nil, err
	}
	first, err := wire.ParseFrame(data)
	if err != nil {
		return nil, err
	}
	challenge, err := wire.ParseChallenge(first.Payload)
	if err != nil {
		return nil, err
	}
	wire.Sign(key, &c, challenge)
	n := &Node{ID: c.Device.ID, conn: conn, Closed: make(chan error, 1), answers: make(map[string]chan wire.Frame),
		commands: make(chan wire.InvokeRequest, 1000)}
	go n.read()
	f, err := n.Request(tb.Context(), wire.MethodConnect, c)
	if err != nil {
		return nil, err
	}
	if !*f.OK {
		return nil, f.Error
	}
	return n, nil
}

func (n *Node) read() {
	for {
		_, data, err := n.conn.Read(context.Background())
		if err != nil {
			n.Closed <- err
			return
		}
		f, err := wire.ParseFrame(data)
		switch {
		case err != nil:
			n.Closed <- err
			return
		case f.Type == wire.TypeRes:
			n.mu.Lock()
			answer := n.answers[f.ID]
			delete(n.answers, f.ID)
			n.mu.Unlock()
			if answer != nil {
				answer <- f
			}
		case f.Event == wire.EventInvoke:
			if r, err := wire.ParseInvokeRequest(f.Payload); err == nil {
				n.mu.Lock()
				n.received = append(n.received, r)
				n.mu.Unlock()
				n.commands <- r
			}
		}
	}
}

// Request sends a request and waits for its answer.
func (n *Node) Request(ctx context.Context, method string, params any) (wire.Frame, error) {
	answer, err := n.Send(ctx, method, params)
	if err != nil {
		return wire.Frame{}, err
	}
	select {
	case f := <-answer:
		return f, nil
	case err := <-n.Closed:
		n.Closed <- err
		return wire.Frame{}, err
	case <-ctx.Done():
		return wire.Frame{}, ctx.Err()
	case <-time.After(Patience):
		return wire.Frame{}, fmt.Errorf("no answer to %s", method)
	}
}

// Send sends a request and does not wait for its answer.
func (n *Node) Send(ctx context.Context, method string, params any) (<-chan wire.Frame, error) {
	answer := make(chan wire.Frame, 1)
	n.mu.Lock()
	n.last++
	id := fmt.Sprint("r", n.last)
	n.answers[id] = answer
	n.mu.Unlock()
	f, err := wire.NewReq(id, method, params)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return answer, n.conn.Write(ctx, websocket.MessageText, data)
}

// Event sends an event and returns how it was acknowledged.
func (n *Node) Event(tb testing.TB, event, payload string) wire.EventAck {
	tb.Helper()
	f, err := n.Request(tb.Context(), wire.MethodNodeEvent, wire.NodeEvent{Event: event, PayloadJSON: payload})
	if err != nil || !*f.OK {
		tb.Fatalf("%s was not recorded: %v %v", event, err, f.Error)
	}
	ack, err := wire.ParseEventAck(f.Payload)
	if err != nil {
		tb.Fatal(err)
	}
	return ack
}

// Invoked waits for the next of a command; others that come before it are dropped unanswered.
func (n *Node) Invoked(tb testing.TB, command string) wire.InvokeRequest {
	tb.Helper()
	late := time.After(Patience)
	for {
		select {
		case r := <-n.commands:
			if r.Command == command {
				return r
			}
		case err := <-n.Closed:
			tb.Fatalf("the socket closed while %s was awaited: %v", command, err)
		case <-late:
			tb.Fatalf("the command %s never came", command)
		}
	}
}

// Next waits for the next command, whichever it is.
func (n *Node) Next(tb testing.TB) wire.InvokeRequest {
	tb.Helper()
	select {
	case r := <-n.commands:
		return r
	case err := <-n.Closed:
		tb.Fatalf("the socket closed while a command was awaited: %v", err)
	case <-time.After(Patience):
		tb.Fatal("no command came")
	}
	return wire.InvokeRequest{}
}

// Commands are those that nobody waited for yet, as they come.
func (n *Node) Commands() <-chan wire.InvokeRequest { return n.commands }

// Received lists the commands of one kind that came over this socket so far.
func (n *Node) Received(command string) (list []wire.InvokeRequest) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.received {
		if r.Command == command {
			list = append(list, r)
		}
	}
	return list
}

// Cut ends the socket without a word, and waits until it has ended.
func (n *Node) Cut() {
	_ = n.conn.CloseNow() // how it closes tells nothing
	err := <-n.Closed
	n.Closed <- err
}

// Answer answers a command with a payload.
func (n *Node) Answer(tb testing.TB, r wire.InvokeRequest, payload string) wire.Frame {
	tb.Helper()
	f, err := n.Request(tb.Context(), wire.MethodInvokeResult,
		wire.InvokeResult{ID: r.ID, NodeID: n.ID, OK: true, Payload: json.RawMessage(payload)})
	if err != nil {
		tb.Fatalf("answer %s: %v", r.Command, err)
	}
	return f
}

// SubmitTo sends a plan document for a device by its id.
func (s *Stack) SubmitTo(tb testing.TB, deviceID, document string) *Plan {
	tb.Helper()
	return s.Submit(tb, &Robot{ID: deviceID}, document)
}
