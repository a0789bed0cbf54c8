package robot

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// bench is a robot on a table: its clock is ours, its outbox is a list, and time passes only when we say so.
type bench struct {
	*Robot
	t     *testing.T
	dir   string
	opts  Options
	clock *handClock
	box   *listOutbox
}

// handClock is moved by hand.
type handClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// listOutbox keeps what the robot told, as a real outbox does: numbered, once for each key, across restarts.
type listOutbox struct {
	mu     sync.Mutex
	boot   int
	seq    int64
	keys   map[string]string
	events []told
	fail   error // what Emit answers
	// after, if set, is called once an event is in, before Emit returns.
	after func(name string)
}

type told struct {
	id      string
	event   string
	payload map[string]any
}

func newListOutbox() *listOutbox { return &listOutbox{boot: 1, keys: map[string]string{}} }

func (o *listOutbox) Emit(_ context.Context, ev device.Event) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		return "", o.fail
	}
	if id, known := o.keys[ev.Key]; known && ev.Key != "" {
		return id, nil
	}
	env := wire.Envelope{BootID: o.BootID(), Seq: o.seq + 1}
	env.EventID = fmt.Sprintf("%s-%d", env.BootID, env.Seq)
	text, err := json.Marshal(ev.Body(env))
	if err != nil {
		return "", err
	}
	if ev.Name == wire.NodeTaskEvent { // a real outbox refuses what the gateway would
		if _, err := wire.ParseTaskEvent(text); err != nil {
			return "", err
		}
	}
	o.seq++
	e := told{id: env.EventID, event: ev.Name}
	if err := json.Unmarshal(text, &e.payload); err != nil {
		return "", err
	}
	o.events = append(o.events, e)
	if ev.Key != "" {
		o.keys[ev.Key] = e.id
	}
	if name, _ := e.payload["event_name"].(string); o.after != nil {
		o.after(name)
	}
	return e.id, nil
}

func (o *listOutbox) BootID() string { return fmt.Sprintf("boot%d", o.boot) }

func (o *listOutbox) LastSeq() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seq
}

func (o *listOutbox) reboot() {
	o.boot++
	o.seq = 0
}

// names lists the event names told about an operation, PROGRESS left out.
func (o *listOutbox) names(operation string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var names []string
	for _, e := range o.events {
		if name, _ := e.payload["event_name"].(string); e.payload["operation_id"] == operation && name != "PROGRESS" {
			names = append(names, name)
		}
	}
	return names
}

// last is the last event of an operation with that name.
func (o *listOutbox) last(operation, name string) map[string]any {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found map[string]any
	for _, e := range o.events {
		if e.payload["operation_id"] == operation && e.payload["event_name"] == name {
			found = e.payload
		}
	}
	return found
}

var benchStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// newBench puts a robot on the table; change may alter its options.
func newBench(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), clock: &handClock{at: benchStart}, box: newListOutbox()}
	b.opts = Options{StateDir: b.dir, Clock: b.clock.Now, SaveEvery: 500 * time.Millisecond, Crash: func() { panic("crash without a test for it") }}
	for _, c := range change {
		c(&b.opts)
	}
	b.open()
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func (b *bench) open() {
	b.t.Helper()
	r, err := Open(b.t.Context(), b.opts)
	if err != nil {
		b.t.Fatalf("open: %v", err)
	}
	b.Robot = r
	if err := r.Attach(b.t.Context(), b.box); err != nil {
		b.t.Fatalf("attach: %v", err)
	}
}

// cut ends this life of the robot without a word, as a power cut does, and starts the next.
func (b *bench) cut() {
	b.t.Helper()
	if err := b.store.close(); err != nil {
		b.t.Fatalf("cut: %v", err)
	}
	b.box.reboot()
	b.open()
}

// pass lets time go by, in ticks of 50 ms.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	for ; d > 0; d -= 50 * time.Millisecond {
		b.clock.pass(50 * time.Millisecond)
		if err := b.Tick(b.t.Context()); err != nil {
			b.t.Fatalf("tick: %v", err)
		}
	}
}

// until lets time go by until an event of the operation was told.
func (b *bench) until(operation, event string) map[string]any {
	b.t.Helper()
	for range 20 * 60 * 10 { // ten minutes
		if e := b.box.last(operation, event); e != nil {
			return e
		}
		b.pass(50 * time.Millisecond)
	}
	b.t.Fatalf("%s never told %s; it told %v", operation, event, b.box.names(operation))
	return nil
}

// task makes a submit for an operation id.
func task(operation, method string, params map[string]any) wire.Task {
	return wire.Task{TaskMethod: method, Params: params, Source: "cloud", TimeoutMs: 600_000, TTLMs: 60_000,
		Trace: wire.Trace{CloudWorkflowID: "wf-1", CloudPlanID: "p-1", CloudStepID: "s", CloudOutputKey: "out",
			OperationID: operation, PlanRevision: 1, Traceparent: "00-abc-def-01"}}
}

func moveTo(operation, room string) wire.Task {
	return task(operation, "setMoveTo", map[string]any{"position_name": room})
}

func (b *bench) submit(spec wire.Task) wire.SubmitAnswer {
	b.t.Helper()
	answer, err := b.Submit(b.t.Context(), spec)
	if err != nil {
		b.t.Fatalf("submit %s: %v", spec.OperationID, err)
	}
	return answer
}

// accept submits a task that must be taken in.
func (b *bench) accept(spec wire.Task) wire.SubmitAnswer {
	b.t.Helper()
	answer := b.submit(spec)
	if !answer.Accepted {
		b.t.Fatalf("submit %s: refused with %s %v", spec.OperationID, answer.ReasonCode, answer.ReasonParams)
	}
	return answer
}

func (b *bench) cancel(operation string) wire.CancelAnswer {
	b.t.Helper()
	answer, err := b.Cancel(b.t.Context(), wire.CancelQuery{OperationID: operation, Reason: "the person changed her mind"})
	if err != nil {
		b.t.Fatalf("cancel %s: %v", operation, err)
	}
	return answer
}

func (b *bench) status(operation string) wire.StatusAnswer {
	b.t.Helper()
	answer, err := b.Status(b.t.Context(), wire.StatusQuery{OperationID: operation})
	if err != nil {
		b.t.Fatalf("status %s: %v", operation, err)
	}
	return answer
}

func (b *bench) fault(f Fault) string {
	b.t.Helper()
	id, err := b.AddFault(f)
	if err != nil {
		b.t.Fatalf("fault: %v", err)
	}
	return id
}

func (b *bench) release(id string) {
	b.t.Helper()
	if err := b.ReleaseFault(id); err != nil {
		b.t.Fatalf("release: %v", err)
	}
}

// effects are the ledger's rows for an operation, read as any other program reads them.
func (b *bench) effects(operation string) []Effect {
	b.t.Helper()
	all, err := ReadLedger(b.dir)
	if err != nil {
		b.t.Fatalf("ledger: %v", err)
	}
	var found []Effect
	for _, e := range all {
		if e.OperationID == operation {
			found = append(found, e)
		}
	}
	return found
}

func (b *bench) motions(operation string) []Motion {
	b.t.Helper()
	all, err := ReadMotions(b.dir)
	if err != nil {
		b.t.Fatalf("motions: %v", err)
	}
	var found []Motion
	for _, m := range all {
		if m.OperationID == operation {
			found = append(found, m)
		}
	}
	return found
}

// wantEffects checks how often an operation came about.
func (b *bench) wantEffects(operation string, n int) {
	b.t.Helper()
	if got := b.effects(operation); len(got) != n {
		b.t.Fatalf("%s came about %d times, want %d: %+v", operation, len(got), n, got)
	}
}

// wantStill checks law 15: after an operation's terminal event the wheels do not turn.
func (b *bench) wantStill(terminal map[string]any) {
	b.t.Helper()
	b.pass(30 * time.Second)
	if moved, ended := b.World().MovedAt, stamp(terminal); moved > ended {
		b.t.Fatalf("Law15: the robot moved at %d, after it reported %s at %d", moved, terminal["event_name"], ended)
	}
}

func at(progress float64) *float64 { return &progress }

// encode writes a request or an answer as it goes over the wire.
func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encode %T: %v", v, err)
	}
	return raw
}

// result is the result of an event, empty where it has none; stamp its timestamp.
func result(event map[string]any) map[string]any {
	r, _ := event["result"].(map[string]any)
	return r
}

func stamp(event map[string]any) int64 {
	ms, _ := event["timestamp"].(float64)
	return int64(ms)
}
