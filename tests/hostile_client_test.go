package tests

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// `make hostile` sets it to 10,000.
var halfOpen = flag.Int("half-open", 600, "how many connections the hostile client leaves half open")

// settled is how long after an attack the gateway is to be as it was before.
const settled = 30 * time.Second

// A hostile client gets nowhere: not with a bad signature, a replayed nonce, another's id or what is too large, not with answers
// to what others were asked, and not by keeping thousands of connections half open. An honest robot is served all the while, and
// half a minute later the gateway is as large as it was.
func TestAHostileClientGetsNowhere(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.Robot(t, robotSpeed)
	wantOutcome(t, s.Say(t, r, sentence), plan.Completed, "completed")
	h := &hostile{T: t, stack: s, victim: r.ID}
	defer h.hangUp()
	h.leaveHalfOpen(*halfOpen / 10) // the code for it is in memory from now on: that is no growth
	h.lie()
	h.hangUp()
	before := h.calm()

	var served atomic.Int64
	honest, enough := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { serveHonest(honest, t, s, r, &served) })
	h.leaveHalfOpen(*halfOpen)
	h.lie()
	during := h.size()
	atLeast := served.Load() + 1
	stack.Eventually(t, "the honest robot is served meanwhile", func(context.Context) (bool, error) { return served.Load() >= atLeast, nil })
	over := time.Now() // the client hangs up nothing: the gateway must
	enough()
	all.Wait()

	var after size
	bound := before
	if h.raced() {
		bound.bytes = math.Inf(1)
	}
	for after = h.size(); !after.as(bound) && time.Since(over) < settled; after = h.size() {
		pause := time.NewTimer(100 * time.Millisecond)
		<-pause.C
	}
	t.Logf("before %v; with %d half open %v; %s later %v; %d plans of the honest robot", before, *halfOpen, during, time.Since(over).Round(100*time.Millisecond), after, served.Load())
	if !after.as(bound) {
		t.Errorf("%s after the attack the gateway has %v, before it had %v", settled, after, before)
	}
}

// serveHonest has the robot do one thing after the other until ctx ends, and counts what was done.
func serveHonest(ctx context.Context, t *testing.T, s *stack.Stack, r *stack.Robot, served *atomic.Int64) {
	for ctx.Err() == nil {
		if o, how := s.Submit(t, r, thereAndBack(plan.LeaseQueue)).Wait(t); o.State != plan.Completed {
			t.Errorf("the honest robot's plan ended %s, %s: %+v", o.State, how, o.Reason)
			return
		}
		served.Add(1)
	}
}

// hostile is a client that means harm. It knows the shared token.
type hostile struct {
	*testing.T
	stack  *stack.Stack
	victim string
	open   []io.Closer
}

// size is how large the gateway is.
type size struct{ goroutines, bytes float64 }

// raced tells whether the gateway was built with the race detector. That keeps memory of its own for all that ever was, so
// that only the goroutines tell then.
func (h *hostile) raced() bool {
	h.Helper()
	info, err := buildinfo.ReadFile(filepath.Join(os.Getenv("ERRAND_TEST_BIN"), "gateway"))
	if err != nil {
		h.Fatalf("read how the gateway was built: %v", err)
	}
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func (s size) String() string {
	return fmt.Sprintf("%.0f goroutines and %.1f MiB", s.goroutines, s.bytes/(1<<20))
}

// as tells whether it is as large as another, within a tenth.
func (s size) as(other size) bool {
	return s.goroutines <= other.goroutines*1.1 && s.bytes <= other.bytes*1.1
}

// size reads the gateway's own figures: its goroutines, and the memory that the system gave it.
func (h *hostile) size() (s size) {
	h.Helper()
	url := "http" + strings.TrimPrefix(h.stack.Gateway, "ws") + "metrics"
	req, err := http.NewRequestWithContext(h.Context(), http.MethodGet, url, nil)
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Authorization", h.stack.Authorization())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		for figure, into := range map[string]*float64{"go_goroutines": &s.goroutines, "process_resident_memory_bytes": &s.bytes} {
			if name == figure {
				if *into, err = strconv.ParseFloat(value, 64); err != nil {
					h.Fatal(err)
				}
			}
		}
	}
	if s.goroutines == 0 || s.bytes == 0 {
		h.Fatal("the gateway tells nothing of its size")
	}
	return s
}

// calm is the size once the goroutines of what was hung up are gone.
func (h *hostile) calm() (s size) {
	h.Helper()
	last := h.size()
	stack.Eventually(h.T, "the gateway is calm", func(context.Context) (bool, error) {
		s = h.size()
		same := s.goroutines == last.goroutines
		last = s
		return same, nil
	})
	return s
}

// leaveHalfOpen opens n connections that come to nothing: silent ones, ones whose request never ends, and sockets that never
// answer the challenge. One that is turned away is as well.
func (h *hostile) leaveHalfOpen(n int) {
	h.Helper()
	address := strings.Trim(strings.TrimPrefix(h.stack.Gateway, "ws://"), "/")
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			conn, err := new(net.Dialer).DialContext(h.Context(), "tcp", address)
			if err != nil {
				return
			}
			if text := []string{"", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", upgrade}[i%3]; text != "" {
				_, _ = conn.Write([]byte(text)) // turned away already: as well
			}
			mu.Lock()
			defer mu.Unlock()
			h.open = append(h.open, conn)
		})
	}
	all.Wait()
	if len(h.open) < n*9/10 {
		h.Fatalf("only %d of %d connections could be opened: this machine's limit of open files?", len(h.open), n)
	}
}

// upgrade asks for a WebSocket, as the protocol has it.
const upgrade = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

func (h *hostile) hangUp() {
	for _, c := range h.open {
		_ = c.Close() // by the gateway before, perhaps
	}
	h.open = nil
}

// lie tries everything that is refused, a few times each.
func (h *hostile) lie() {
	h.Helper()
	key := stack.NewKey(h.T)
	var recorded wire.Connect // a connect that was good, once
	stack.Eventually(h.T, "the hostile client knows the token, and is let in", func(context.Context) (bool, error) {
		err := h.connect(key, func(c *wire.Connect) { recorded = *c })
		return err == nil, err // while it holds so many half open, it is told to come again later
	})
	for range 5 {
		for what, spoil := range map[string]func(*wire.Connect){
			"a bad signature":  func(c *wire.Connect) { c.Device.Signature = recorded.Device.Signature },
			"a replayed nonce": func(c *wire.Connect) { *c = recorded },
			"another's id":     func(c *wire.Connect) { c.Device.ID = h.victim },
			"too large":        func(c *wire.Connect) { c.Client.DisplayName = strings.Repeat("x", wire.MaxFrameBeforeConnect) },
		} {
			if err := h.connect(key, spoil); err == nil {
				h.Errorf("%s was let in", what)
			}
		}
	}
	n := h.stack.Node(h.T, key, stack.Declared())
	for i := range 20 {
		h.answerForOthers(n, i)
	}
	n.Cut()
}

// answerForOthers answers what others were asked, and reports the end of what they do.
func (h *hostile) answerForOthers(n *stack.Node, i int) {
	h.Helper()
	f, err := n.Request(h.Context(), wire.MethodInvokeResult, wire.InvokeResult{ID: fmt.Sprint("guess-", i), NodeID: h.victim, OK: true,
		Payload: json.RawMessage(`{"accepted":true,"taskId":"t-1"}`)})
	if err != nil {
		h.Fatal(err)
	}
	if *f.OK && !bytes.Contains(f.Payload, []byte(`"ignored":true`)) {
		h.Errorf("a result for another's command was taken: %s", f.Payload)
	}
	ack := n.Event(h.T, wire.NodeTaskEvent, fmt.Sprintf(`{"event_id":"b1-%[1]d","boot_id":"b1","seq":%[1]d,"event_name":"COMPLETED","operation_id":"p-of-others/move/1"}`, i+1))
	if ack.Ack != wire.AckUnmatched {
		h.Errorf("an event about another's plan: %+v", ack)
	}
}

// connect tries one connect, spoiled after it was signed; nil means that it was let in.
func (h *hostile) connect(key ed25519.PrivateKey, spoil func(*wire.Connect)) error {
	ctx, cancel := context.WithTimeout(h.Context(), stack.Patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, h.stack.Gateway, nil) //nolint:bodyclose // never needed, says Dial
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }() // the gateway has closed it, as a rule
	_, data, err := conn.Read(ctx)
	if err != nil {
		return err
	}
	first, err := wire.ParseFrame(data)
	if err != nil {
		return err
	}
	challenge, err := wire.ParseChallenge(first.Payload)
	if err != nil {
		return err
	}
	c := stack.Declared()
	wire.Sign(key, &c, challenge)
	spoil(&c)
	f, err := wire.NewReq("1", wire.MethodConnect, c)
	if err != nil {
		return err
	}
	text, err := json.Marshal(f)
	if err == nil {
		err = conn.Write(ctx, websocket.MessageText, text)
	}
	if err != nil {
		return err
	}
	_, data, err = conn.Read(ctx)
	if err != nil {
		return err
	}
	if f, err = wire.ParseFrame(data); err == nil && !*f.OK {
		err = errors.Join(f.Error)
	}
	return err
}
