package lease_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"errand/plan"
	"errand/plan/lease"
)

const testDevice = "robot-1"

// fataler is what a world needs of a test, of rapid's or of Go's.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is everything around one lease: plans that want the device, the device, and what is on its way between them.
type world struct {
	t     fataler
	now   int64
	state lease.State
	timer int64
	out   []lease.Command // requests without an answer
	plans map[string]*client
	order []string // plan ids as they first asked
	links []plan.DeviceChange
	dev   device
	// forgotten holds the operations that a person answered for: the law does not hold for them.
	forgotten map[string]bool
}

// client is one plan, as far as its lease goes. It moves the device only from its grant to its last word.
type client struct {
	id                          string
	request                     plan.LeaseRequest
	open, readable              bool
	asked, granted, done        bool // done: it said its last word
	refused, cancelled, dropped bool // dropped: nobody can tell it anything any more
	answered                    bool // a refusal or a cancel is on its way to it
	op                          string
	ops                         int
}

// device is what physically happens: operations that run, and what it remembers.
type device struct {
	online, deaf        bool
	unlistable, partial bool // it cannot say what it runs, or only what it runs now
	epoch               int64
	alive               map[string]bool  // operations that move it
	ended, tombstones   map[string]bool  // what it remembers of others
	sent                map[string]int64 // submits on their way to it, and since when
}

func newWorld(t fataler, plans ...string) *world {
	w := &world{t: t, now: 1_000_000, state: lease.New(testDevice), plans: map[string]*client{}, forgotten: map[string]bool{},
		dev: device{online: true, epoch: 1, alive: map[string]bool{}, ended: map[string]bool{}, tombstones: map[string]bool{}, sent: map[string]int64{}}}
	for _, id := range plans {
		w.plans[id] = &client{id: id, open: true, readable: true}
	}
	return w
}

// take steps the lease, keeps its requests, and holds it against what must be true after every step.
func (w *world) take(in lease.Input) {
	w.t.Helper()
	before := marshal(w.state)
	next, commands := lease.Step(w.state, w.now, in)
	if !bytes.Equal(before, marshal(w.state)) {
		w.t.Fatalf("Step changed the state it was given")
	}
	w.state = next
	for _, c := range commands {
		switch c := c.(type) {
		case lease.SetTimer:
			w.timer = c.At
		case lease.StopAwaiting:
			w.out = slices.DeleteFunc(w.out, func(c lease.Command) bool { _, ok := c.(lease.AwaitDevice); return ok })
		case lease.Tell:
			w.checkGrant(c)
			if p := w.plans[c.PlanID]; c.Signal.Cancel != nil || (c.Signal.Lease != nil && !c.Signal.Lease.Granted) {
				p.answered = true
			}
			w.out = append(w.out, c)
		default:
			w.out = append(w.out, c)
		}
	}
	w.checkState()
}

// checkGrant: law 21. Nobody else has the lease, and nothing of anybody else moves the device, nor ever will.
func (w *world) checkGrant(c lease.Tell) {
	w.t.Helper()
	if c.Signal.Lease == nil || !c.Signal.Lease.Granted || c.PlanID == "" {
		return
	}
	for _, other := range w.plans {
		if other.id == c.PlanID {
			continue
		}
		if other.open && other.granted && !other.done {
			w.t.Fatalf("Law21: granted to %s while %s has it", c.PlanID, other.id)
		}
		if other.op != "" && !w.forgotten[other.op] && (w.dev.alive[other.op] || (w.comes(other.op) && !w.dev.tombstones[other.op])) {
			w.t.Fatalf("Law21: granted to %s while %s may move the device", c.PlanID, other.op)
		}
	}
	w.checkTurn(c.PlanID)
}

// checkTurn: order. Nobody who waits goes before by priority or arrival.
func (w *world) checkTurn(id string) {
	w.t.Helper()
	mine := w.plans[id]
	if mine.granted || mine.done {
		return // told again
	}
	at := slices.Index(w.order, id)
	for i, other := range w.order {
		c := w.plans[other]
		if other == id || !c.waits() || c.answered {
			continue
		}
		if c.request.Priority > mine.request.Priority || (c.request.Priority == mine.request.Priority && i < at) {
			w.t.Fatalf("order: granted to %s (priority %d) before %s (priority %d)", id, mine.request.Priority, other, c.request.Priority)
		}
	}
}

// waits reports whether the plan is owed an answer.
func (c *client) waits() bool {
	return c.asked && c.open && !c.granted && !c.done && !c.refused && !c.cancelled && !c.dropped
}

func (w *world) comes(op string) bool { _, ok := w.dev.sent[op]; return ok }

// checkState holds the state against what must always be so.
func (w *world) checkState() {
	w.t.Helper()
	s := &w.state
	var again lease.State
	if err := json.Unmarshal(marshal(*s), &again); err != nil || !bytes.Equal(marshal(again), marshal(*s)) {
		w.t.Fatalf("the state does not survive JSON: %v", err)
	}
	seen := map[string]bool{}
	if s.Holder != nil {
		seen[s.Holder.PlanID] = true
	}
	for i, q := range s.Queue {
		if seen[q.PlanID] {
			w.t.Fatalf("%s is in line twice", q.PlanID)
		}
		seen[q.PlanID] = true
		if i > 0 && (s.Queue[i-1].Priority < q.Priority || (s.Queue[i-1].Priority == q.Priority && s.Queue[i-1].N > q.N)) {
			w.t.Fatalf("the queue is out of order: %+v", s.Queue)
		}
	}
	if s.Holder == nil && len(s.Queue) > 0 && s.Quarantine == nil {
		w.t.Fatalf("%s waits for nothing", s.Queue[0].PlanID)
	}
	if (s.Quarantine != nil) != (len(s.Unsettled) > 0 || s.Unlisted > 0) {
		w.t.Fatalf("quarantine %+v with %d unsettled operations", s.Quarantine, len(s.Unsettled))
	}
	if s.Holder != nil && s.Wake == 0 && !s.Holder.Checking && !s.Holder.Telling {
		w.t.Fatalf("Law18: nobody will look whether %s is still there", s.Holder.PlanID)
	}
	if s.Quarantine != nil && s.Device.Route == nil && !s.Device.Awaiting {
		w.t.Fatalf("Law18: the device is not looked for, though something may move it")
	}
}

// answer answers the i-th request that is out, truthfully where the world can be reached.
func (w *world) answer(i int) {
	w.t.Helper()
	c := w.out[i]
	w.out = slices.Delete(w.out, i, i+1)
	switch c := c.(type) {
	case lease.Tell:
		w.take(w.deliver(c))
	case lease.AskHolder:
		w.take(w.plans[c.PlanID].seen())
	case lease.AwaitDevice:
		w.take(lease.DeviceFound{DeviceFound: plan.DeviceFound{Route: *w.route()}})
	case lease.ListTasks:
		w.take(w.dev.list(c))
	case lease.CancelTask:
		w.take(lease.CancelAnswered{CancelAnswered: w.dev.cancel(c)})
	case lease.QueryStatus:
		w.take(lease.StatusReported{StatusReported: w.dev.status(c)})
	default:
		w.t.Fatalf("unknown request %T", c)
	}
}

// deliver gives a plan its signal.
func (w *world) deliver(c lease.Tell) lease.Told {
	told, p := c.Answer(), w.plans[c.PlanID]
	if told.Gone = !p.open; told.Gone || p.done {
		return told
	}
	switch s := c.Signal; {
	case s.Lease != nil && s.Lease.Granted:
		p.granted = true
	case s.Lease != nil:
		p.refused = true
	case s.Cancel != nil:
		p.cancelled = true
	}
	return told
}

func (c *client) seen() lease.HolderSeen {
	in := lease.HolderSeen{PlanID: c.id, Open: c.open, Known: c.readable}
	if !in.Open && in.Known && c.op != "" {
		in.Operations = []string{c.op}
	}
	return in
}

func (w *world) route() *plan.Route {
	return &plan.Route{GatewayID: "g", TaskQueue: "deviceio@g", ConnectionEpoch: w.dev.epoch, Profile: plan.Profile{Status: true}}
}

func (d *device) list(c lease.ListTasks) lease.TasksListed {
	switch {
	case !d.online || c.Route.ConnectionEpoch != d.epoch:
		return lease.TasksListed{Listing: lease.Unreachable, ConnectionEpoch: c.Route.ConnectionEpoch}
	case d.unlistable:
		return lease.TasksListed{Listing: lease.Unlistable, ConnectionEpoch: d.epoch}
	}
	in := lease.TasksListed{Listing: lease.Listed, ConnectionEpoch: d.epoch}
	for op, alive := range d.alive {
		if alive {
			in.Operations = append(in.Operations, op)
		}
	}
	slices.Sort(in.Operations)
	if in.Partial = d.partial; in.Partial && len(in.Operations) > 1 {
		in.Operations = in.Operations[:1]
	}
	return in
}

func (d *device) cancel(c lease.CancelTask) plan.CancelAnswered {
	a := plan.CancelAnswered{OperationID: c.OperationID, ConnectionEpoch: c.Route.ConnectionEpoch}
	switch {
	case !d.online:
		a.Case = plan.CancelUnreachable
	case d.alive[c.OperationID] && d.deaf:
		a.Case = plan.CancelStopping
	case d.alive[c.OperationID]:
		d.end(c.OperationID)
		a.Case = plan.CancelDone
	case d.ended[c.OperationID]:
		a.Case = plan.CancelAlreadyCompleted
	default:
		d.tombstones[c.OperationID] = true
		a.Case = plan.CancelTombstoned
	}
	return a
}

func (d *device) status(c lease.QueryStatus) plan.StatusReported {
	a := plan.StatusReported{OperationID: c.OperationID, ConnectionEpoch: c.Route.ConnectionEpoch, Finding: plan.StatusFound, Status: plan.OpRunning}
	switch {
	case !d.online:
		a.Finding = plan.StatusUnreachable
	case d.alive[c.OperationID]:
	case d.ended[c.OperationID]:
		a.Status = plan.OpCancelled
	default:
		a.Finding = plan.StatusNotFound
	}
	return a
}

func (d *device) end(op string) { delete(d.alive, op); d.ended[op] = true }

// arrive brings a submit to the device. Law 21: it must not start while another plan's operation moves it.
func (w *world) arrive(op string) {
	w.t.Helper()
	if delete(w.dev.sent, op); !w.dev.online || w.dev.tombstones[op] || w.dev.ended[op] {
		return
	}
	mine, err := plan.ParseOperationID(op)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	for other := range w.dev.alive {
		if theirs, err := plan.ParseOperationID(other); err != nil || theirs.Plan != mine.Plan && !w.forgotten[other] && !w.forgotten[op] {
			w.t.Fatalf("Law21: %s starts while %s moves the device", op, other)
		}
	}
	w.dev.alive[op] = true
}

// tick lets time pass. A submit that is not there by then never comes: its activity is over.
func (w *world) tick(ms int64) {
	w.t.Helper()
	w.now += ms
	for op, since := range w.dev.sent {
		if w.now-since > 15_000 {
			delete(w.dev.sent, op)
		}
	}
	if w.timer > 0 && w.now >= w.timer {
		w.take(lease.Woken{})
	}
}

func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint("a value that is not JSON: ", err))
	}
	return text
}
