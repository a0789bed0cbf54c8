package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// tb is what a bench needs of a test.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// vendor is a TaskManager that meets the checklist and no more. It does what it is told, as often as it is told.
type vendor struct {
	b     *bench
	tasks []*vendorTask // in the order of their submits; a task that is over stays here only for the judge
	life  int
	// What goes wrong with the next call.
	refuse     *wire.Reason
	loseSubmit bool // done, and the answer lost
	neverSent  bool
	silent     bool // every call fails
	speakFirst bool // the event comes before the answer
	noTrace    bool // events and status without a trace
	forgetful  bool // its context lists no tasks
	keeps      bool // it still tells of tasks that are over
	cancels    int
	stubborn   bool // it says no to a cancel
}

type vendorTask struct {
	id     string
	spec   wire.Task
	state  string
	life   int
	result map[string]any
}

func (v *vendor) SubmitTask(_ context.Context, t wire.Task) (wire.SubmitAnswer, error) {
	switch {
	case v.silent || v.neverSent:
		v.neverSent = false
		return wire.SubmitAnswer{}, fmt.Errorf("nobody listens: %w", ErrNotDelivered)
	case v.refuse != nil:
		why := *v.refuse
		v.refuse = nil
		return wire.SubmitAnswer{Reason: why}, nil
	}
	task := &vendorTask{id: "t" + strconv.Itoa(len(v.tasks)+1), spec: t, state: wire.TaskQueued, life: v.life}
	v.tasks = append(v.tasks, task)
	if v.speakFirst {
		v.speakFirst = false
		v.move(task, wire.TaskStarted)
		v.b.event(v.tell(task))
	}
	if v.loseSubmit {
		v.loseSubmit = false
		return wire.SubmitAnswer{}, errors.New("the connection was cut")
	}
	return wire.SubmitAnswer{Accepted: true, TaskID: task.id, TaskState: task.state, TaskMethod: t.TaskMethod}, nil
}

func (v *vendor) GetTaskStatus(_ context.Context, id string) (VendorStatus, error) {
	if v.silent {
		return VendorStatus{}, errors.New("nobody listens")
	}
	for _, t := range v.tasks {
		if t.id == id && t.life == v.life && (v.keeps || !wire.Terminal(t.state)) {
			a := VendorStatus{StatusAnswer: wire.StatusAnswer{Found: true, TaskID: id, Status: t.state, TaskMethod: t.spec.TaskMethod, Trace: v.trace(t)}}
			if t.state == wire.TaskCompleted {
				a.Result = t.result
			}
			return a, nil
		}
	}
	return VendorStatus{}, nil
}

// trace is what a plain TaskManager keeps: no operation id.
func (v *vendor) trace(t *vendorTask) wire.Trace {
	if v.noTrace {
		return wire.Trace{}
	}
	tr := t.spec.Trace
	tr.OperationID, tr.PlanRevision, tr.Traceparent = "", 0, ""
	return tr
}

func (v *vendor) CancelTask(ctx context.Context, id, _ string) (VendorCancel, error) {
	v.cancels++
	if v.silent {
		return VendorCancel{}, errors.New("nobody listens")
	}
	if v.stubborn {
		return VendorCancel{Reason: wire.Reason{ReasonCode: "CANCEL_NOT_POSSIBLE"}}, nil
	}
	if a, _ := v.GetTaskStatus(ctx, id); !a.Found {
		return VendorCancel{NotFound: true}, nil
	}
	return VendorCancel{Accepted: true, State: wire.TaskCancelled}, nil
}

func (v *vendor) GetDevicePlanningContext(context.Context) (json.RawMessage, error) {
	if v.silent {
		return nil, errors.New("nobody listens")
	}
	tasks := []map[string]any{}
	for _, t := range v.tasks {
		if t.life == v.life && !wire.Terminal(t.state) {
			tasks = append(tasks, map[string]any{"task_id": t.id})
		}
	}
	area := map[string]any{"available": true, "tasks": tasks}
	if v.forgetful {
		area = map[string]any{"available": true, "queue_length": len(tasks), "running_task_id": ""}
	}
	on := map[string]any{"available": false}
	return json.Marshal(map[string]any{"schema_version": "device_context.v1", "snapshot_ts": 1, "updated_at_ms": 1, "battery": on, "map": on,
		"location": on, "cleaning": on, "movement": on, "capabilities": on, "task_manager": area})
}

// move brings a task into a state, whether or not anybody is told.
func (v *vendor) move(t *vendorTask, state string) {
	t.state = state
	if state == wire.TaskCompleted {
		t.result = map[string]any{"area_id": "6"}
	}
}

// tell is the event of a task as it stands, as such a vendor sends it.
func (v *vendor) tell(t *vendorTask) map[string]any {
	e := map[string]any{"eventName": t.state, "task_id": t.id, "taskMethod": t.spec.TaskMethod, "timestamp": v.b.clock.UnixMilli()}
	if !v.noTrace {
		e["cloud_workflow_id"], e["cloudPlanId"], e["cloud_step_id"] = t.spec.CloudWorkflowID, t.spec.CloudPlanID, t.spec.CloudStepID
	}
	if t.result != nil {
		e["result"] = t.result
	}
	return e
}

// of lists the vendor's tasks of an operation: more than one is a doubled command.
func (v *vendor) of(operationID string) (tasks []*vendorTask) {
	for _, t := range v.tasks {
		if t.spec.OperationID == operationID {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// box is an outbox whose content a test can see.
type box struct {
	boot   string
	events []wire.TaskEvent
	keys   map[string]string
	full   bool
}

func (x *box) Emit(_ context.Context, e device.Event) (string, error) {
	if x.full {
		return "", device.ErrOutboxFull
	}
	if id, ok := x.keys[e.Key]; ok && e.Key != "" {
		return id, nil
	}
	env := wire.Envelope{EventID: fmt.Sprintf("%s-%d", x.boot, len(x.events)+1), BootID: x.boot, Seq: int64(len(x.events) + 1)}
	told, ok := e.Body(env).(wire.TaskEvent)
	if !ok {
		return "", errors.New("not a task event")
	}
	raw, err := json.Marshal(told)
	if err != nil {
		return "", err
	}
	if told, err = wire.ParseTaskEvent(raw); err != nil { // as the device's client does
		return "", err
	}
	x.events, x.keys[e.Key] = append(x.events, told), env.EventID
	return env.EventID, nil
}

func (x *box) BootID() string { return x.boot }
func (x *box) LastSeq() int64 { return int64(len(x.events)) }

// names lists what was told of an operation, in order.
func (x *box) names(operationID string) (names []string) {
	for _, e := range x.events {
		if e.OperationID == operationID {
			names = append(names, e.EventName)
		}
	}
	return names
}

// last is the last event of an operation of that name.
func (x *box) last(operationID, name string) (found wire.TaskEvent) {
	for _, e := range x.events {
		if e.OperationID == operationID && e.EventName == name {
			found = e
		}
	}
	return found
}

// bench is a shim between a plain vendor and an outbox, with a clock that the test moves.
type bench struct {
	tb
	*Shim
	ctx    context.Context
	dir    string
	clock  time.Time
	vendor *vendor
	box    *box
	boots  int // restarts so far
}

func newBench(ctx context.Context, t tb, dir string) *bench {
	t.Helper()
	b := &bench{tb: t, ctx: ctx, dir: dir, clock: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), vendor: &vendor{}, box: &box{boot: "b1", keys: map[string]string{}}}
	b.vendor.b = b
	b.open()
	return b
}

func (b *bench) open() {
	b.Helper()
	s, err := Open(Options{StateDir: b.dir, Vendor: b.vendor, Clock: func() time.Time { return b.clock }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatalf("open: %v", err)
	}
	b.Shim = s
	if err := s.Attach(b.ctx, b.box); err != nil {
		b.Fatalf("attach: %v", err)
	}
}

// restart ends the shim as kill -9 does, and starts it again: nothing is written at the end that is not on disk already.
func (b *bench) restart() {
	b.Helper()
	if err := b.Close(); err != nil {
		b.Fatalf("close: %v", err)
	}
	b.boots++
	b.box.boot = fmt.Sprintf("b%d", b.boots+1)
	b.open()
}

// pass lets time pass, with a round of Watch every second.
func (b *bench) pass(d time.Duration) {
	b.Helper()
	for end := b.clock.Add(d); b.clock.Before(end); {
		b.clock = b.clock.Add(time.Second)
		if err := b.Check(b.ctx); err != nil {
			b.Fatalf("check: %v", err)
		}
	}
}

func task(operationID string) wire.Task {
	step, _, _ := splitOperation(operationID)
	var plan, name string
	for i := range step {
		if step[i] == '/' {
			plan, name = step[:i], step[i+1:]
		}
	}
	return wire.Task{TaskMethod: "setMoveTo", Params: map[string]any{"position_name": "안방"}, Source: "cloud", TimeoutMs: 60_000, TTLMs: 30_000,
		Trace: wire.Trace{OperationID: operationID, CloudWorkflowID: plan, CloudPlanID: plan, CloudStepID: name, CloudOutputKey: "out"}}
}

func (b *bench) submit(operationID string) (wire.SubmitAnswer, error) {
	return b.Submit(b.ctx, task(operationID))
}

// accept submits what has to be accepted, and returns the vendor's task.
func (b *bench) accept(operationID string) (wire.SubmitAnswer, *vendorTask) {
	b.Helper()
	a, err := b.submit(operationID)
	if err != nil || !a.Accepted {
		b.Fatalf("submit %s: %+v, %v", operationID, a, err)
	}
	tasks := b.vendor.of(operationID)
	return a, tasks[len(tasks)-1]
}

// event posts one event of the vendor.
func (b *bench) event(fields map[string]any) Receipt {
	b.Helper()
	raw, err := json.Marshal(fields)
	if err != nil {
		b.Fatalf("%v", err)
	}
	got, err := b.Event(b.ctx, raw)
	if err != nil {
		b.Fatalf("event %s: %v", raw, err)
	}
	return got
}

// becomes moves a task on and tells of it.
func (b *bench) becomes(t *vendorTask, states ...string) (got Receipt) {
	b.Helper()
	for _, state := range states {
		b.vendor.move(t, state)
		got = b.event(b.vendor.tell(t))
	}
	return got
}

// status asks, and brings the answer into the form that the gateway reads.
func (b *bench) status(operationID string) (wire.StatusAnswer, error) {
	b.Helper()
	a, err := b.Status(b.ctx, wire.StatusQuery{OperationID: operationID})
	if err != nil {
		return a, err
	}
	raw, err := json.Marshal(a)
	if err != nil {
		b.Fatalf("%v", err)
	}
	read, err := wire.ParseStatusAnswer(raw)
	if err != nil {
		b.Fatalf("the answer %s cannot be read: %v", raw, err)
	}
	return read, nil
}

func (b *bench) wantStatus(operationID, want string) wire.StatusAnswer {
	b.Helper()
	a, err := b.status(operationID)
	if err != nil || !a.Found || a.Status != want {
		b.Fatalf("status of %s: %+v, %v; want %s", operationID, a, err, want)
	}
	return a
}

func (b *bench) wantTold(operationID string, want ...string) {
	b.Helper()
	if got := b.box.names(operationID); !slices.Equal(got, want) {
		b.Fatalf("told of %s: %v, want %v", operationID, got, want)
	}
}

func (b *bench) wantSubmits(operationID string, want int) {
	b.Helper()
	if got := len(b.vendor.of(operationID)); got != want {
		b.Fatalf("the vendor was told %d times to do %s, want %d", got, operationID, want)
	}
}

// fresh is a bench of a test's own.
func fresh(t *testing.T) *bench {
	t.Helper()
	return newBench(t.Context(), t, t.TempDir())
}
