package explore

import (
	"reflect"
	"slices"

	"errand/plan"
)

// Machine is plan.Step, or one that was broken on purpose.
type Machine func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command)

// Node is one state of the whole: the machine's and the world's.
type Node struct {
	State plan.State
	World World

	number int32 // in the exploration's table
}

// Transition is one move, with what it was: what the laws look at.
type Transition struct {
	Before, After *Node
	Move          Move
	Input         plan.Input // nil if only the world moved
	Commands      []plan.Command

	machine uint64 // the key of the machine's part of After
}

// take lets the machine take an input, and puts what it commands into the world.
func (n *Node) take(step Machine, in plan.Input) []plan.Command {
	next, commands := step(n.State, n.World.Now, in)
	n.State = next
	for _, c := range commands {
		n.World.command(c)
	}
	return commands
}

// command notes what is to be carried out. What needs no answer leaves no trace in the world.
func (w *World) command(c plan.Command) {
	switch c.(type) {
	case plan.Finish, plan.Say, plan.Ask, plan.SetDeadline, plan.WithdrawQuestion, plan.ReleaseLease:
		return
	case plan.StopAwaiting:
		waits := func(r Request) bool { _, ok := r.Command.(plan.AwaitDevice); return ok }
		w.Requests = slices.DeleteFunc(slices.Clone(w.Requests), waits)
		return
	case plan.StopPerforming:
		w.stopPerforming()
		return
	case plan.Decide:
		w.Decides++
	}
	w.Requests = added(w.Requests, Request{Command: c, At: w.Now})
}

// ready makes the state before anything happened.
func (sh *Shape) ready() {
	sh.slice = slice()
	start := plan.Start{PlanID: planID, DeviceID: device, AskedAt: askedAt, StartByMs: startByMs, Decider: sh.Decider}
	if sh.Spoken {
		start.Utterance = &plan.Utterance{Text: "do it"}
	} else {
		start.Document, start.Slice = sh.Document, sh.slice
	}
	sh.root = &Node{State: plan.New(start), World: World{Now: askedAt, Online: true, Connection: 1, Epoch: 1, Store: "store", shape: sh}}
	if sh.Home {
		sh.root.World.Revisions = [objects]int8{1, 1}
	}
}

// interned gives documents and slices that are equal one pointer and a number, so that they need not be read again.
type interned[T any] struct{ known []*T }

func (in *interned[T]) number(p **T) int {
	if *p == nil {
		return -1
	}
	for i, k := range in.known {
		if k == *p {
			return i
		}
	}
	for i, k := range in.known {
		if reflect.DeepEqual(k, *p) {
			*p = k
			return i
		}
	}
	in.known = append(in.known, *p)
	return len(in.known) - 1
}
