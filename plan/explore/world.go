package explore

import (
	"slices"

	"errand/plan"
)

// World is everything around one plan: the device, the network between, the shell's requests that are out, and the clock.
// It is small and finite, and like the machine's state it is never changed in place: each move makes a new one.
type World struct {
	Now int64

	// The link, as the registry numbers it, and the device's own counters.
	Online     bool
	Connection int64
	Epoch, Seq int64
	Store      string
	Tasks      []Task        // what the device knows, oldest first
	Buried     []Op          // what it will never take: tombstones and refusals
	Outbox     []*plan.Event // its reports on their way, in order
	Stragglers []*plan.Event // reports that something overtook, and second copies: they come at any time
	Copies     []Copy        // submits that nobody waits for any more, and that may still arrive
	Requests   []Request     // commands that are out, oldest first
	Ledger     []Effect      // what physically happened; only the device writes it, and nothing wipes it
	Decides    int           // decisions asked for so far
	Leased     bool          // the device is this plan's
	Revisions  [objects]int8 // of the home's objects: see home.go
	Consents   []Consent     // what a person agreed to
	Picks      []Pick        // which objects were singled out

	shape *Shape // what never changes
}

// Op names an operation without its text: a step by its place in the plan, and a generation.
type Op struct{ Step, Generation int8 }

// Task is one operation as the device knows it.
type Task struct {
	Op       Op
	Phase    plan.OpPhase
	Stopping bool  // a cancel was taken, and it still moves
	StartBy  int64 // not started by then, it is too old to start
	Object   Object
	End      *plan.Event
}

func (t *Task) over() bool { return t.Phase.Dead() }

// Copy is a submit under way, with the time after which it is too old.
type Copy struct {
	Op     Op
	Until  int64
	Object Object
}

// Request is a command that is out, since when, and its answer once the device gave it but it is still on its way.
type Request struct {
	Command plan.Command
	At      int64
	Reply   plan.Input
	Stopped bool // a worker was asked to stop it
}

// Effect is what one operation physically did: how often it began to move, how often it reached its target, how it ended.
type Effect struct {
	Op          Op
	Began, Done int8
	End         plan.OpPhase // refused: it never ran, and never will
}

// The lists of a world are shared between worlds; whoever changes one copies it first.

func added[T any](list []T, v T) []T { return append(list[:len(list):len(list)], v) }

func without[T any](list []T, i int) []T {
	if len(list) == 1 {
		return nil
	}
	return append(list[:i:i], list[i+1:]...)
}

func replaced[T any](list []T, i int, v T) []T {
	list = slices.Clone(list)
	list[i] = v
	return list
}

// effect returns what an operation did.
func (w *World) effect(op Op) Effect {
	for _, e := range w.Ledger {
		if e.Op == op {
			return e
		}
	}
	return Effect{Op: op}
}

// write changes the ledger's line of an operation.
func (w *World) write(op Op, change func(*Effect)) {
	for i, e := range w.Ledger {
		if e.Op == op {
			change(&e)
			w.Ledger = replaced(w.Ledger, i, e)
			return
		}
	}
	e := Effect{Op: op}
	change(&e)
	w.Ledger = added(w.Ledger, e)
}

func (w *World) task(op Op) int {
	return slices.IndexFunc(w.Tasks, func(t Task) bool { return t.Op == op })
}

// head is the task that the device works on, or -1: the first of its queue.
func (w *World) head() int { return slices.IndexFunc(w.Tasks, func(t Task) bool { return !t.over() }) }

func (w *World) buried(op Op) bool { return slices.Contains(w.Buried, op) }

// canMove reports whether an operation may still move the device, if nobody does anything about it.
func (w *World) canMove(op Op) bool {
	if i := w.task(op); i >= 0 {
		return !w.Tasks[i].over()
	}
	if w.buried(op) || w.fenced(op) {
		return false
	}
	for _, c := range w.Copies {
		if c.Op == op && w.Now < c.Until {
			return true
		}
	}
	for _, r := range w.Requests {
		if s, ok := r.Command.(plan.Submit); ok && r.Reply == nil && opOf(s.OperationID) == op && s.Route.ConnectionEpoch == w.Connection {
			return true
		}
	}
	return false
}
