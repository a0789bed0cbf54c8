package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/gateway"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

// testdata/transcripts holds what a real, unmodified OpenClaw node sent to a throwaway gateway, frame by frame: see its README.
// Each is replayed against this gateway, byte for byte: it challenges with the recorded nonce at the recorded time, so that the
// node's own signatures are what is verified. Every frame of the node must be accepted, and each answer be what the node needs.
func TestTranscriptsOfAnUnmodifiedNode(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/transcripts/*.jsonl")
	must(t, err)
	if len(files) < 9 {
		t.Fatalf("only %d transcripts", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			p := newReplay(t, readTranscript(t, file))
			for p.at = range p.entries {
				p.play(p.entries[p.at])
			}
			if p.frames == 0 {
				t.Error("the node said nothing")
			}
		})
	}
}

// entry is one line of a transcript: a frame, or the start or end of a connection.
type entry struct {
	Conn  int             `json:"conn"`
	Event string          `json:"event"` // upgrade, close
	Code  int             `json:"code"`
	From  string          `json:"from"` // node, gateway
	Raw   json.RawMessage `json:"frame"`
	frame wire.Frame
}

func readTranscript(t *testing.T, file string) (all []entry) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		var e entry
		must(t, json.Unmarshal([]byte(line), &e))
		if len(e.Raw) > 0 {
			e.frame, err = wire.ParseFrame(e.Raw)
			must(t, err)
		}
		all = append(all, e)
	}
	return all
}

// replay plays the node's part of a transcript, and has the gateway play the recorded one's.
type replay struct {
	t       *testing.T
	home    *home
	entries []entry
	at      int
	node    *node
	invokes map[string]*invocation // by id
	frames  int                    // of the node, accepted

	mu  sync.Mutex
	id  string    // the next id that the gateway gives
	now time.Time // its clock
}

// invocation is a command that the gateway was told to send.
type invocation struct {
	cancel context.CancelFunc
	ended  chan error
	result json.RawMessage
}

func newReplay(t *testing.T, entries []entry) *replay {
	t.Helper()
	p := &replay{t: t, entries: entries, invokes: map[string]*invocation{}, now: time.Now()}
	p.home = newHome(t, func(o *gateway.Options) {
		o.Token, o.TickInterval = "test-shared-token", 50*time.Millisecond
		o.Now = func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return p.now }
	})
	p.home.gateway.SetIDs(func() string { p.mu.Lock(); defer p.mu.Unlock(); return p.id })
	return p
}

func (p *replay) play(e entry) {
	p.t.Helper()
	switch {
	case e.Event == "upgrade":
		p.open()
	case e.Event == "close":
		p.close(e.Code)
	case e.From == "node" && e.frame.Method == wire.MethodConnect:
		p.connect(e)
	case e.From == "node":
		p.send(e)
	case e.frame.Event == wire.EventInvoke:
		p.invoke(e)
	case e.frame.Event == wire.EventCancel:
		p.cancel(e)
	case e.frame.Event == wire.EventTick:
		p.node.next(wire.EventTick)
	}
}

// later finds the next entry of this connection that holds.
func (p *replay) later(holds func(entry) bool) (entry, bool) {
	conn := p.entries[p.at].Conn
	for _, e := range p.entries[p.at+1:] {
		if e.Conn == conn && holds(e) {
			return e, true
		}
	}
	return entry{}, false
}

func (p *replay) recordedAnswer(id string) (wire.Frame, bool) {
	e, ok := p.later(func(e entry) bool { return e.From == "gateway" && e.frame.Type == wire.TypeRes && e.frame.ID == id })
	return e.frame, ok
}

// open dials, and is challenged as the node was.
func (p *replay) open() {
	p.t.Helper()
	recorded, ok := p.later(func(e entry) bool { return e.frame.Event == wire.EventChallenge })
	if !ok {
		p.t.Fatal("a connection without its challenge")
	}
	want, err := wire.ParseChallenge(recorded.frame.Payload)
	must(p.t, err)
	p.mu.Lock()
	p.id, p.now = want.Nonce, time.UnixMilli(want.TS)
	p.mu.Unlock()
	p.node = p.home.dialAs("")
	if p.node.challenge != want {
		p.t.Fatalf("challenged with %+v, want %+v", p.node.challenge, want)
	}
}

// connect sends the node's connect, once what it shows is on record as it was at the recorded gateway.
func (p *replay) connect(e entry) {
	p.t.Helper()
	c, err := wire.ParseConnect(e.frame.Params)
	must(p.t, err)
	recorded, ok := p.recordedAnswer(e.frame.ID)
	if !ok {
		p.t.Fatal("a connect without its answer")
	}
	if *recorded.OK {
		p.prepare(c)
	}
	p.node.id = c.Device.ID
	got := p.exchange(e)
	if *got.OK != *recorded.OK {
		p.t.Fatalf("connect answered %v, recorded %v: %v", *got.OK, *recorded.OK, got.Error)
	}
	if !*recorded.OK {
		wantSameRefusal(p.t, got.Error, recorded.Error)
		return
	}
	hello, err := wire.ParseHello(got.Payload)
	must(p.t, err)
	if hello.Type != "hello-ok" || hello.Protocol != 4 || hello.Auth.Role != "node" || hello.Auth.DeviceToken == "" ||
		hello.Policy.MaxPayload != 26214400 || hello.Policy.TickIntervalMs == 0 {
		p.t.Errorf("hello %s lacks what the node needs", got.Payload)
	}
	if c.Auth.DeviceToken != "" && hello.Auth.DeviceToken != c.Auth.DeviceToken {
		p.t.Errorf("told another device token than the one it came with")
	}
}

// wantSameRefusal holds a refusal against the recorded one, on which the node is known to come again.
func wantSameRefusal(t *testing.T, got, want *wire.FrameError) {
	t.Helper()
	if got.Code != want.Code || got.Retryable != want.Retryable {
		t.Errorf("refused with %+v, want %+v", got, want)
	}
	for _, name := range []string{"code", "reason", "recommendedNextStep", "retryable", "pauseReconnect", "deviceId", "requestedRole"} {
		if got.Details[name] != want.Details[name] {
			t.Errorf("details.%s = %v, want %v", name, got.Details[name], want.Details[name])
		}
	}
}

// prepare puts on record what the recorded gateway knew: a person's approval, or the setup code, and a token that is not the shared one.
func (p *replay) prepare(c wire.Connect) {
	p.t.Helper()
	ctx := p.t.Context()
	if code := c.Auth.BootstrapToken; code != "" {
		now := time.Now().UnixMilli()
		p.home.exec(`INSERT INTO setup_codes (code_hash, created_at, expires_at) VALUES (?, ?, ?)`, digest(code), now, now+60_000)
		return
	}
	_, err := p.home.registry.Declare(ctx, registry.Declaration{ID: c.Device.ID, PublicKey: c.Device.PublicKey, InstanceID: c.Client.InstanceID, Commands: c.Commands})
	must(p.t, err)
	must(p.t, p.home.registry.Approve(ctx, c.Device.ID))
	if token := c.Auth.Value(); token != "test-shared-token" {
		p.home.exec(`INSERT INTO device_tokens (token_hash, device_id, issued_at) VALUES (?, ?, 1) ON CONFLICT DO NOTHING`, digest(token), c.Device.ID)
	}
}

// send sends a frame of the node as it was, and checks the answer. A result also reaches whoever asked.
func (p *replay) send(e entry) {
	p.t.Helper()
	if _, answered := p.recordedAnswer(e.frame.ID); !answered { // the socket was lost before the acknowledgement
		must(p.t, p.node.conn.Write(p.t.Context(), websocket.MessageText, e.Raw))
		p.node.expect(e.frame.ID)
	} else {
		got := p.exchange(e)
		var said struct {
			OK, Ignored bool
			Event       string
		}
		must(p.t, json.Unmarshal(got.Payload, &said))
		if !*got.OK || !said.OK || said.Ignored {
			p.t.Errorf("%s %s answered %s", e.frame.Method, e.frame.Params, got.Payload)
		}
	}
	if e.frame.Method == wire.MethodInvokeResult {
		p.arrived(e)
	}
}

// exchange sends a frame and returns its answer.
func (p *replay) exchange(e entry) wire.Frame {
	p.t.Helper()
	p.frames++
	answer := p.node.expect(e.frame.ID)
	must(p.t, p.node.conn.Write(p.t.Context(), websocket.MessageText, e.Raw))
	return await(p.t, answer, "the answer to "+e.frame.Method)
}

// invoke has the gateway send the recorded command.
func (p *replay) invoke(e entry) {
	p.t.Helper()
	var want wire.InvokeRequest
	must(p.t, json.Unmarshal(e.frame.Payload, &want))
	if want.ParamsJSON == "" {
		want.ParamsJSON = "{}" // we always send some
	}
	p.mu.Lock()
	p.id = want.ID
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	p.t.Cleanup(cancel)
	call := &invocation{cancel: cancel, ended: make(chan error, 1)}
	p.invokes[want.ID] = call
	go func() {
		var err error
		call.result, err = p.home.gateway.Invoke(ctx, p.node.id, want.Command, json.RawMessage(want.ParamsJSON))
		call.ended <- err
	}()
	got := p.node.invoked()
	if got.ID != want.ID || got.NodeID != want.NodeID || got.Command != want.Command || !sameJSON(p.t, got.ParamsJSON, want.ParamsJSON) || got.TimeoutMs <= 0 {
		p.t.Errorf("sent %+v, want %+v", got, want)
	}
}

// sameJSON compares what two texts say, however they are written.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	must(t, json.Unmarshal([]byte(a), &x))
	must(t, json.Unmarshal([]byte(b), &y))
	return reflect.DeepEqual(x, y)
}

// arrived checks that a result, read once, reached whoever asked, also when the socket was lost before it was acknowledged.
func (p *replay) arrived(e entry) {
	p.t.Helper()
	said, err := wire.ParseInvokeResult(e.frame.Params)
	must(p.t, err)
	call := p.invokes[said.ID]
	delete(p.invokes, said.ID)
	err = await(p.t, call.ended, "the result of "+said.ID)
	var failed *gateway.DeviceError
	switch {
	case said.OK && (err != nil || string(call.result) != string(said.Body())):
		p.t.Errorf("%s came back as %s, %v, want %s", said.ID, call.result, err, said.Body())
	case !said.OK && (!errors.As(err, &failed) || failed.Message != said.Error.Message):
		p.t.Errorf("%s failed with %v, want %v", said.ID, err, said.Error)
	}
}

// cancel gives up a command: the node is told, and no result follows.
func (p *replay) cancel(e entry) {
	p.t.Helper()
	want, err := wire.ParseInvokeCancel(e.frame.Payload)
	must(p.t, err)
	call := p.invokes[want.InvokeID]
	delete(p.invokes, want.InvokeID)
	call.cancel()
	if err := await(p.t, call.ended, "the command given up"); !errors.Is(err, gateway.ErrNoAnswer) {
		p.t.Errorf("given up with %v, want ErrNoAnswer", err)
	}
	got, err := wire.ParseInvokeCancel(p.node.next(wire.EventCancel).Payload)
	if must(p.t, err); got.InvokeID != want.InvokeID || got.NodeID != p.node.id {
		p.t.Errorf("cancelled %+v, want %s", got, want.InvokeID)
	}
}

// close ends the connection as it ended: by the gateway that turns a node away, or by the node. What is in flight is unknown then.
func (p *replay) close(code int) {
	p.t.Helper()
	if code == int(websocket.StatusPolicyViolation) {
		if got := p.node.end(); got != websocket.StatusPolicyViolation {
			p.t.Errorf("closed with %d, want 1008", got)
		}
		return
	}
	_ = p.node.conn.CloseNow() // cut off, or gone
	for id, call := range p.invokes {
		delete(p.invokes, id)
		if err := await(p.t, call.ended, "the end of "+id); !errors.Is(err, gateway.ErrSocketLost) {
			p.t.Errorf("%s ended with %v, want ErrSocketLost: the node may have run it", id, err)
		}
	}
}
