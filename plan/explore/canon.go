package explore

import (
	"math"
	"reflect"
	"slices"
	"unsafe"

	"errand/catalog"
	"errand/plan"
)

// canon turns a node into its key: two nodes with one key have the same future. The machine's state is copied and what
// has no future is blanked in the copy, field by field, each by name; then everything that is left counts, known here or
// not. So a new field makes more states until somebody says here what it means, and never fewer.
//
// Times become distances from now, cut where a distance makes no difference any more. Numbers of events become their
// places in the order of all that can still be compared. Numbers of connections become distances from the present one.
type canon struct {
	documents interned[plan.Document]
	slices    interned[catalog.Slice]

	// sum and request are room for the sums, used again and again.
	sum, request digest
	// The copy, and room for what it points to.
	state    plan.State
	add      adder
	steps    []plan.StepState
	ops      []plan.Operation
	ends     []plan.Event
	yes      [8]plan.Confirmation
	route    plan.Route
	cancel   plan.Latch
	ending   plan.Ending
	question plan.Question
	boundary plan.Boundary

	now        int64
	connection int64
	points     []point
	found      bool // the secret was in the last state
}

func newCanon() *canon {
	return &canon{add: compiled.of(reflect.TypeFor[plan.State]())}
}

// point is a place in the device's order: epoch and sequence.
type point int64

func pointOf(epoch, seq int64) point { return point(epoch<<32 | seq) }

// far is a distance in time beyond which only "far" counts.
const far = 10 * 60_000

// key returns the node's key, and that of the machine's part of it. Documents and slices that are equal get one pointer on
// the way.
func (c *canon) key(n *Node) (whole, machine uint64) {
	machine = c.machine(n)
	c.found = c.sum.found
	c.world(&c.sum, n)
	return c.sum.sum, machine
}

// machine returns the key of the machine's part alone.
func (c *canon) machine(n *Node) uint64 {
	c.sum = newDigest()
	c.stateOf(&c.sum, n)
	return c.sum.sum
}

func (c *canon) stateOf(d *digest, n *Node) {
	d.word(uint64(c.documents.number(&n.State.Document)))
	d.word(uint64(c.slices.number(&n.State.Slice)))
	c.now, c.connection = n.World.Now, n.World.Connection
	c.collect(n)
	c.blank(n)
	c.add(d, unsafe.Pointer(&c.state))
}

func (c *canon) blank(n *Node) {
	s := &c.state
	*s = n.State
	if s.Start == n.World.shape.root.State.Start {
		s.Start = plan.Start{} // as it always was
	}
	s.Document, s.Slice = nil, nil // counted by number
	s.At = 0                       // the world's clock is never behind it
	s.Wake = c.until(s.Wake)
	s.Seen = nil // each report that is under way says whether it was seen
	s.Journal, s.Entries = nil, 0
	s.Asked, s.LLMCalls = 0, 0 // they only number and count
	s.Taken = nil              // for people
	s.Answers = nil            // an answer to an old question is refused, whatever it was
	s.Lease.Since = 0          // for people
	c.times(s, &n.State)
	c.device(s)
	c.stepsOf(s)
}

func (c *canon) times(s, full *plan.State) {
	stopping := s.Cancel != nil || s.Ending != nil
	if s.Deadline = c.until(s.Deadline); s.Deadline > far {
		s.Deadline = far
	}
	if stopping {
		s.Deadline = 0 // patience counts
	}
	if s.StartBy = c.until(s.StartBy); stopping || moved(full) {
		s.StartBy = 0
	}
	if s.Ending != nil {
		c.ending = *s.Ending
		c.ending.At, c.ending.GiveUpAt = c.since(c.ending.At, 120_000), c.until(c.ending.GiveUpAt)
		if s.Cancel != nil {
			c.ending.At, c.ending.GiveUpAt = 0, 0
		}
		s.Ending = &c.ending
	}
	if s.Cancel != nil {
		c.cancel = *s.Cancel
		c.cancel.At, c.cancel.GiveUpAt = c.since(c.cancel.At, 120_000), c.until(c.cancel.GiveUpAt)
		s.Cancel = &c.cancel
	}
	if s.Question != nil {
		c.question = *s.Question
		c.question.ID, c.question.ExpiresAt = "", c.until(c.question.ExpiresAt) // whoever answers reads the id first
		s.Question = &c.question
	}
	if s.Boundary != nil {
		c.boundary = *s.Boundary
		c.boundary.At, c.boundary.Unseen = 0, "" // for people
		s.Boundary = &c.boundary
	}
}

// moved reports whether the device ever took an operation: from then on the plan's StartBy binds nothing.
func moved(s *plan.State) bool {
	for i := range s.Steps {
		for _, op := range s.Steps[i].Ops {
			if !op.Cloud && op.Phase != plan.OpUnsent && op.Phase != plan.OpSent && op.Phase != plan.OpRefused {
				return true
			}
		}
	}
	return false
}

func (c *canon) device(s *plan.State) {
	d := &s.Device
	if d.Route != nil {
		c.route = *d.Route
		c.route.ConnectionEpoch = c.ago(c.route.ConnectionEpoch)
		c.route.BootEpoch = 0 // only handed on
		d.Route = &c.route
	}
	if d.Refuted = c.ago(d.Refuted); d.Refuted > 1 {
		d.Refuted = 0 // what comes is newer than that anyway
	}
	if d.Since = c.since(d.Since, 15*60_000+1); d.Since > 0 && d.Since <= 15*60_000 {
		d.Since = 1 // only a long wait counts
	}
}

func (c *canon) stepsOf(s *plan.State) {
	c.steps, c.ops, c.ends = append(c.steps[:0], s.Steps...), c.ops[:0], c.ends[:0]
	c.ops, c.ends = slices.Grow(c.ops, 64), slices.Grow(c.ends, 64) // never moved while it is pointed to
	for i := range c.steps {
		st := &c.steps[i]
		from := len(c.ops)
		c.ops = append(c.ops, st.Ops...)
		st.Ops = c.ops[from:len(c.ops):len(c.ops)]
		for j := range st.Ops {
			c.operation(&st.Ops[j], st.VerifyBy > 0)
		}
		st.VerifyBy, st.WaitUntil = c.until(st.VerifyBy), c.until(st.WaitUntil)
		if st.Confirmation != nil && i < len(c.yes) {
			c.yes[i] = plan.Confirmation{Hash: st.Confirmation.Hash, Until: c.until(st.Confirmation.Until)}
			st.Confirmation = &c.yes[i]
		}
	}
	s.Steps = c.steps
}

func (c *canon) operation(op *plan.Operation, verifying bool) {
	op.Why = "" // for people
	op.Sends, op.Asks = min(op.Sends, 7), min(op.Asks, 7)
	op.CheckAt = c.until(op.CheckAt)
	if op.StartBy = c.until(op.StartBy); !op.Sending {
		op.StartBy = 0
	}
	op.LooseUntil = c.until(op.LooseUntil)
	remembered := op.RetentionMs
	switch {
	case op.Phase == plan.OpUnsent || op.Sending:
		if op.CheckAt == 1 {
			op.CheckAt = 0 // it is sent, or its answer sets another time
		}
	case op.Phase.Dead():
		op.CheckAt, op.Sends, op.Asks, op.LooseUntil = 0, min(op.Sends, 1), 0, 0
	case op.Phase != plan.OpSent && !op.Cloud: // the device has it: how it got there is past
		op.Sends, op.Loose, op.LooseUntil, remembered = 1, false, 0, 0
	}
	op.SentAt = c.since(op.SentAt, max(queueMs+runMs, remembered)) // what is older gives a stop no more time
	if op.Phase.Dead() && !verifying {
		op.SentAt = 0
	}
	op.Epoch, op.Seq = c.place(op.Epoch, op.Seq), 0
	if op.Terminal != nil {
		c.ends = append(c.ends, *op.Terminal)
		end := &c.ends[len(c.ends)-1]
		end.Epoch, end.Seq = c.place(end.Epoch, end.Seq), 0
		op.Terminal = end
	}
}

// until is the distance to a time: 0 for no time, 1 for one that has come.
func (c *canon) until(t int64) int64 {
	if t == 0 {
		return 0
	}
	return 1 + max(t-c.now, 0)
}

// since is the distance from a time, as far as it counts.
func (c *canon) since(t, limit int64) int64 {
	if t == 0 {
		return 0
	}
	return 1 + min(max(c.now-t, 0), limit)
}

// ago is how many connections ago a connection was: 0 for none, 1 for the present one.
func (c *canon) ago(connection int64) int64 {
	if connection == 0 {
		return 0
	}
	return 1 + min(c.connection-connection, 4)
}

// collect finds every place in the device's order that can still be compared with another.
func (c *canon) collect(n *Node) {
	c.points = append(c.points[:0], pointOf(n.World.Epoch, n.World.Seq))
	for i := range n.State.Steps {
		for j := range n.State.Steps[i].Ops {
			op := &n.State.Steps[i].Ops[j]
			c.points = append(c.points, pointOf(op.Epoch, op.Seq))
			c.event(op.Terminal)
		}
	}
	for _, ev := range n.World.Outbox {
		c.event(ev)
	}
	for _, ev := range n.World.Stragglers {
		c.event(ev)
	}
	for _, t := range n.World.Tasks {
		c.event(t.End)
	}
	for _, r := range n.World.Requests {
		if in, ok := r.Reply.(plan.StatusReported); ok {
			c.points = append(c.points, pointOf(in.Epoch, in.AsOfSeq))
		}
	}
	slices.Sort(c.points)
	c.points = slices.Compact(c.points)
}

func (c *canon) event(ev *plan.Event) {
	if ev != nil {
		c.points = append(c.points, pointOf(ev.Epoch, ev.Seq))
	}
}

// place is where (epoch, seq) stands among them: 0 for none.
func (c *canon) place(epoch, seq int64) int64 {
	if epoch == 0 && seq == 0 {
		return 0
	}
	i, found := slices.BinarySearch(c.points, pointOf(epoch, seq))
	if !found {
		return math.MinInt64 | epoch<<32 | seq // nothing to compare it with: it stays itself
	}
	return int64(i) + 1
}
