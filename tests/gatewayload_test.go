package tests

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

var (
	loadDevices = flag.Int("load-devices", 100, "devices that TestGatewayUnderLoad connects")
	loadActive  = flag.Int("load-active", 10, "how many of them send events")
	loadFor     = flag.Duration("load-for", 3*time.Second, "for how long they do")
	loadEvery   = flag.Duration("load-every", 2*time.Second, "how often each of them sends one")
	loadBounds  = flag.Bool("load-bounds", false, "fail where the figures are outside of what a gateway is to hold")
)

// What a gateway is to hold (with -load-bounds).
const (
	mostMemory     = 600 << 20 // bytes resident, with all devices connected
	leastPerSecond = 300.0     // handshakes
	mostOverBare   = 1.5       // an event's way to history against a bare signal's, both at the 99th percentile
)

// TestGatewayUnderLoad connects devices over real sockets with real handshakes, measures what they cost the gateway, and then how long
// an event takes from the wire into a plan's history, beside bare signals that are sent by turns with the events. make
// bench-gateway runs it at its full size.
func TestGatewayUnderLoad(t *testing.T) {
	if !*loadBounds {
		t.Parallel()
	}
	s := stack.Start(t, "ERRAND_AUTO_APPROVE=false", "ERRAND_LOG_LEVEL=warn")
	fleet := pairedFleet(t, s, *loadDevices)
	before := resident(t, s.GatewayProc)
	took := connectAll(t, s, fleet)
	perSecond := float64(len(fleet)) / took.Seconds()
	after := resident(t, s.GatewayProc)
	t.Logf("connected   %d devices in %s: %.0f handshakes a second", len(fleet), took.Round(time.Millisecond), perSecond)
	t.Logf("memory      %d MiB before, %d MiB with all of them: %d bytes per connection", before>>20, after>>20, (after-before)/len(fleet))

	events, bare := byTurns(t, s, fleet[:*loadActive])
	t.Logf("event       %s, wire to history: %s", spread(events), "sent until acknowledged as applied")
	t.Logf("bare signal %s", spread(bare))
	ratio := float64(percentile(events, 99)) / float64(percentile(bare, 99))
	t.Logf("ratio       %.2f at the 99th percentile, %.2f at the median", ratio, float64(percentile(events, 50))/float64(percentile(bare, 50)))
	settled := resident(t, s.GatewayProc)
	t.Logf("memory      %d MiB at the end", settled>>20)
	for _, d := range fleet {
		if err := d.err(); err != nil {
			t.Fatalf("device %s lost its connection: %v", d.id[:8], err)
		}
	}
	if !*loadBounds {
		return
	}
	if max(after, settled) > mostMemory || perSecond < leastPerSecond || ratio > mostOverBare {
		t.Errorf("want at most %d MiB, at least %.0f handshakes a second and a ratio of at most %.1f", mostMemory>>20, leastPerSecond, mostOverBare)
	}
}

// loadDevice is one of many devices on a raw socket.
type loadDevice struct {
	key     ed25519.PrivateKey
	id      string
	token   string
	conn    *websocket.Conn
	answers chan wire.Frame
	mu      sync.Mutex
	ended   error
	seq     int
}

func (d *loadDevice) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// pairedFleet makes devices that were paired before: known, approved, each with its token.
func pairedFleet(t *testing.T, s *stack.Stack, n int) []*loadDevice {
	t.Helper()
	devices := s.OpenRegistry(t)
	fleet := make([]*loadDevice, n)
	for i := range fleet {
		d := &loadDevice{key: stack.NewKey(t), answers: make(chan wire.Frame, 4)}
		d.id = wire.DeviceID(wire.PublicKey(d.key))
		_, err := devices.Declare(t.Context(), registry.Declaration{ID: d.id, PublicKey: base64.RawURLEncoding.EncodeToString(wire.PublicKey(d.key)),
			Commands: stack.Declared().Commands})
		if err == nil {
			err = devices.Approve(t.Context(), d.id)
		}
		if err == nil {
			d.token, err = devices.IssueToken(t.Context(), d.id)
		}
		if err != nil {
			t.Fatal(err)
		}
		fleet[i] = d
	}
	return fleet
}

// connectors is how many devices connect at a time.
const connectors = 64

// connectAll connects all devices, as they come back when a gateway was restarted, and returns how long that took.
func connectAll(t *testing.T, s *stack.Stack, fleet []*loadDevice) time.Duration {
	t.Helper()
	next := make(chan *loadDevice)
	failed := make(chan error, len(fleet))
	var all sync.WaitGroup
	began := time.Now()
	for range min(connectors, len(fleet)) {
		all.Go(func() {
			for d := range next {
				if err := d.connect(t.Context(), s.Gateway); err != nil {
					failed <- err
				}
			}
		})
	}
	for _, d := range fleet {
		next <- d
	}
	close(next)
	all.Wait()
	took := time.Since(began)
	t.Cleanup(func() {
		for _, d := range fleet {
			if d.conn != nil {
				_ = d.conn.CloseNow() // the test is over
			}
		}
	})
	if len(failed) > 0 {
		t.Fatalf("%d devices could not connect; the first: %v", len(failed), <-failed)
	}
	return took
}

// connect makes one connection, and another if the gateway says to come again.
func (d *loadDevice) connect(ctx context.Context, url string) error {
	for {
		err := d.tryConnect(ctx, url)
		refused := (*wire.FrameError)(nil)
		if !errors.As(err, &refused) || refused.RetryAfterMs == 0 {
			return err
		}
		select {
		case <-time.After(time.Duration(refused.RetryAfterMs) * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func (d *loadDevice) tryConnect(ctx context.Context, url string) error {
	conn, _, err := websocket.Dial(ctx, url, nil) //nolint:bodyclose // never needed, says Dial
	if err != nil {
		return err
	}
	first, err := readFrame(ctx, conn)
	if err != nil {
		return err
	}
	challenge, err := wire.ParseChallenge(first.Payload)
	if err != nil {
		return err
	}
	c := stack.Declared()
	c.Auth = wire.Auth{DeviceToken: d.token}
	c.Errand.StoreID = "store-" + d.id[:8]
	wire.Sign(d.key, &c, challenge)
	if err := writeRequest(ctx, conn, wire.MethodConnect, c); err != nil {
		return err
	}
	hello, err := readFrame(ctx, conn)
	if err != nil {
		return err
	}
	if !*hello.OK {
		_ = conn.CloseNow() // it was refused, and closes
		return hello.Error
	}
	d.conn = conn
	go d.read()
	return nil
}

// read keeps the connection alive, and hands on the answers to events.
func (d *loadDevice) read() {
	for {
		f, err := readFrame(context.Background(), d.conn)
		if err != nil {
			d.mu.Lock()
			d.ended = err
			d.mu.Unlock()
			close(d.answers)
			return
		}
		if f.Type == wire.TypeRes {
			d.answers <- f
		}
	}
}

func readFrame(ctx context.Context, conn *websocket.Conn) (wire.Frame, error) {
	_, data, err := conn.Read(ctx)
	if err != nil {
		return wire.Frame{}, err
	}
	return wire.ParseFrame(data)
}

func writeRequest(ctx context.Context, conn *websocket.Conn, method string, params any) error {
	f, err := wire.NewReq("r", method, params)
	if err != nil {
		return err
	}
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return conn.Write(ctx, websocket.MessageText, data)
}

// byTurns has each device send events of a plan of its own, and as many bare signals to another workflow like it, by turns, and returns how
// long each took. Every plan is told of one event first that is not measured: from then on the gateway knows whose it is, as it does of a
// plan whose steps it sent.
func byTurns(t *testing.T, s *stack.Stack, active []*loadDevice) (events, bare []time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, d := range active {
		all.Go(func() {
			own, other := loadPlan(t, s, d, fmt.Sprintf("load-%d", i)), loadPlan(t, s, d, fmt.Sprintf("bare-%d", i))
			if err := d.event(t.Context(), own); err != nil {
				t.Errorf("the first event: %v", err)
				return
			}
			sent := 1
			over := time.After(*loadFor)
			for turn := 0; ; turn++ {
				select {
				case <-time.After(*loadEvery/2 + rand.N(*loadEvery/2+1)):
				case <-over:
					wantHistory(t, s, own, sent)
					return
				}
				e, b, err := d.turn(t.Context(), s, own, other, turn%2 == 0)
				if err != nil {
					t.Errorf("device %d: %v", i, err)
					return
				}
				sent++
				mu.Lock()
				events, bare = append(events, e), append(bare, b)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(events) == 0 {
		t.Fatal("nothing was measured")
	}
	return events, bare
}

// turn measures one event and one bare signal of the same content, one after the other.
func (d *loadDevice) turn(ctx context.Context, s *stack.Stack, own, other string, eventFirst bool) (event, bare time.Duration, err error) {
	sendEvent := func() error {
		began := time.Now()
		err := d.event(ctx, own)
		event = time.Since(began)
		return err
	}
	sendBare := func() error {
		ev := plan.Event{EventID: fmt.Sprint("b1-", d.seq), DeviceID: d.id, Epoch: 1, Seq: int64(d.seq), Name: plan.EventCompleted,
			OperationID: other + "/move/1", TaskID: "t-1", TaskMethod: "setMoveTo", Result: map[string]any{"area_id": "6"}}
		began := time.Now()
		err := s.Temporal.SignalWorkflow(ctx, other, "", plan.SignalName, plan.Signal{Event: &ev})
		bare = time.Since(began)
		return err
	}
	if eventFirst {
		return event, bare, errors.Join(sendEvent(), sendBare())
	}
	err = errors.Join(sendBare(), sendEvent())
	return event, bare, err
}

// event sends a completion and waits until it is acknowledged as applied: then it is in the history.
func (d *loadDevice) event(ctx context.Context, planID string) error {
	d.seq++
	e := wire.TaskEvent{Envelope: wire.Envelope{EventID: fmt.Sprint("b1-", d.seq), BootID: "b1", Seq: int64(d.seq)}, EventName: wire.TaskCompleted,
		TaskID: "t-1", TaskMethod: "setMoveTo", Trace: wire.Trace{OperationID: planID + "/move/1"}, Result: map[string]any{"area_id": "6"}}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := writeRequest(ctx, d.conn, wire.MethodNodeEvent, wire.NodeEvent{Event: wire.NodeTaskEvent, Payload: body}); err != nil {
		return err
	}
	f, ok := <-d.answers
	if !ok {
		return d.err()
	}
	if !*f.OK {
		return f.Error
	}
	ack, err := wire.ParseEventAck(f.Payload)
	if err == nil && ack.Ack != wire.AckApplied {
		err = fmt.Errorf("acknowledged as %s: %s", ack.Ack, ack.Reason)
	}
	return err
}

// loadPlan starts a workflow that nobody runs, so that what is measured is the way into its history alone.
func loadPlan(t *testing.T, s *stack.Stack, d *loadDevice, name string) string {
	t.Helper()
	device := temporal.NewSearchAttributeKeyKeyword(plan.AttributeDevice).ValueSet(d.id)
	run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: name, TaskQueue: "nobody",
		TypedSearchAttributes: temporal.NewSearchAttributes(device)}, "load")
	if err != nil {
		t.Errorf("start %s: %v", name, err)
		return name
	}
	return run.GetID()
}

// wantHistory fails the test unless the workflow's history has all the signals that were acknowledged, behind its start and its first task.
func wantHistory(t *testing.T, s *stack.Stack, workflowID string, signals int) {
	t.Helper()
	d, err := s.Temporal.DescribeWorkflow(t.Context(), workflowID, "")
	if err != nil {
		t.Error(err)
		return
	}
	if got := int(d.RawResponse.GetWorkflowExecutionInfo().GetHistoryLength()) - 2; got != signals {
		t.Errorf("Law19: %s has %d signals in its history, %d were acknowledged", workflowID, got, signals)
	}
}

// resident is how much memory the process holds, in bytes.
func resident(t *testing.T, p *stack.Process) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		t.Skipf("memory is read from /proc, which is not here: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("no VmRSS in %s", text)
	return 0
}

func percentile(of []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func spread(of []time.Duration) string {
	return fmt.Sprintf("%d samples, p50 %s, p90 %s, p99 %s", len(of), percentile(of, 50).Round(10*time.Microsecond),
		percentile(of, 90).Round(10*time.Microsecond), percentile(of, 99).Round(10*time.Microsecond))
}
