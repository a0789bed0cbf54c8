package gateway

import (
	"sync"

	"errand/plan"
)

// liveOps is how many operations of one device are remembered; the least recently heard of are forgotten.
const liveOps = 64

// live remembers the latest word about each operation in flight: for views, and to tell which events a plan must hear.
type live struct {
	mu       sync.Mutex
	byDevice map[string]map[string]*liveOp
	clock    int64 // counts what was heard
}

type liveOp struct {
	latest  plan.Event
	heard   int64
	blocked bool // its plan heard BLOCKED last
	started bool // its plan heard that it runs
}

// key names an operation; an event without its id is told apart by what else it carries.
func key(ev plan.Event) string {
	if ev.OperationID != "" {
		return ev.OperationID
	}
	return ev.WorkflowID + " " + ev.StepID + " " + ev.TaskID
}

// expect notes an operation that is being submitted here, so that its first RUNNING is known to follow no BLOCKED.
func (l *live) expect(deviceID, operationID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op(deviceID, operationID)
}

// needsSignal tells whether a plan must hear of the event: it is over, it is blocked, or it goes on after a BLOCKED.
// That it started matters only to those who ask. Of an operation never heard of here, whose BLOCKED may have gone through
// another gateway, the first RUNNING is passed on.
func (l *live) needsSignal(ev plan.Event, wantsStarted bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	op, known := l.byDevice[ev.DeviceID][key(ev)]
	switch phaseOf(string(ev.Name)) {
	case plan.OpAccepted:
		return false
	case plan.OpRunning:
		return !known || op.blocked || (wantsStarted && !op.started)
	default: // blocked, or over
		return true
	}
}

// record remembers an event that was handled.
func (l *live) record(ev plan.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev.Name.Terminal() {
		delete(l.byDevice[ev.DeviceID], key(ev))
		return
	}
	op := l.op(ev.DeviceID, key(ev))
	if op.latest.Epoch > ev.Epoch || (op.latest.Epoch == ev.Epoch && op.latest.Seq >= ev.Seq) {
		return // heard before: what came after it stands
	}
	op.latest = ev
	if phase := phaseOf(string(ev.Name)); phase != plan.OpAccepted {
		op.blocked, op.started = phase == plan.OpBlocked, true
	}
}

// op returns the entry of an operation, made if needed. The caller holds the lock.
func (l *live) op(deviceID, key string) *liveOp {
	if l.byDevice == nil {
		l.byDevice = make(map[string]map[string]*liveOp)
	}
	ops := l.byDevice[deviceID]
	if ops == nil {
		ops = make(map[string]*liveOp)
		l.byDevice[deviceID] = ops
	}
	op, ok := ops[key]
	if !ok {
		op = &liveOp{}
		ops[key] = op
	}
	l.clock++
	op.heard = l.clock
	if len(ops) > liveOps {
		forgetOldest(ops)
	}
	return op
}

// operations lists the operations of a device that may be in flight; what carries no operation id cannot be named to it.
func (l *live) operations(deviceID string) (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.byDevice[deviceID] {
		if _, err := plan.ParseOperationID(id); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func forgetOldest(ops map[string]*liveOp) {
	oldest := ""
	for k, op := range ops {
		if oldest == "" || op.heard < ops[oldest].heard {
			oldest = k
		}
	}
	delete(ops, oldest)
}

// Live returns the latest that a device said about an operation in flight, progress included; ok is false if nothing was
// heard since this process started, or the operation is over.
func (g *Gateway) Live(deviceID, operationID string) (ev plan.Event, ok bool) {
	g.live.mu.Lock()
	defer g.live.mu.Unlock()
	op, ok := g.live.byDevice[deviceID][operationID]
	if !ok || op.latest.Name == "" {
		return plan.Event{}, false
	}
	return op.latest, true
}
