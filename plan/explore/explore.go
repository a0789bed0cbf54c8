package explore

import "slices"

// Result is what an exploration found.
type Result struct {
	Shape       string
	Faults      int
	States      []int // by the least number of faults that leads there
	Transitions int64
	Ends        int64 // moves that closed the plan
	Met         [numberOfLaws]int64
	Broken      []*Violation
}

// explorer walks every state that is reached with at most so many faults, once.
//
// It goes by the number of faults: first all that is reached without any, then all that takes one, and so on. A state is
// held at the least number that leads to it; from there it can do all that it could do with fewer faults left. So how many
// were spent is no part of a state, and what is proved is about every history with at most so many.
type explorer struct {
	shape  *Shape
	step   Machine
	court  *court
	canon  *canon
	known  *table
	result Result
	// next says, by state, where the world that behaves goes from there; came how it was first reached.
	next []int32
	came []arrival
	// silent and well hold keys from where the plan was seen to end.
	silent, well *table
	// machines holds the machine's part of the states.
	machines *table

	child        Node // room, used again and again
	moves, ahead []Move
	path         []uint64
}

// arrival is how a state was first reached.
type arrival struct {
	from int32
	by   Move
}

const (
	nowhere int32 = -1
	closed  int32 = -2
)

// Explore walks a shape with at most so many faults.
func Explore(sh *Shape, step Machine, faults int) Result {
	sh.ready()
	x := &explorer{shape: sh, step: step, canon: newCanon(), known: newTable(), silent: newTable(), well: newTable(), machines: newTable()}
	x.court = &court{canon: x.canon, step: step}
	x.result = Result{Shape: sh.Name, Faults: faults, States: make([]int, faults+1)}
	root := *sh.root
	key, _ := x.canon.key(&root)
	x.meet(key, nowhere, Move{})
	layer := x.closure([]*Node{&root}, 0, faults > 0)
	for used := 1; used <= faults; used++ {
		var held []*Node
		for i, n := range layer {
			layer[i] = nil
			for _, seed := range x.expand(n, false, used) {
				held = append(held, x.closure([]*Node{seed}, used, used < faults)...)
			}
		}
		layer = held
	}
	x.result.States[0]++ // the root
	x.ends()
	x.result.Met = x.court.met
	for _, v := range x.court.broken {
		if v != nil {
			x.result.Broken = append(x.result.Broken, v)
		}
	}
	return x.result
}

// closure walks on from new states as far as free moves lead, and returns all that it met if they are to be held.
func (x *explorer) closure(open []*Node, used int, hold bool) (held []*Node) {
	for len(open) > 0 {
		n := open[len(open)-1]
		open = open[:len(open)-1]
		if hold {
			held = append(held, n)
		}
		open = append(open, x.expand(n, true, used)...)
	}
	return held
}

// expand makes every free move, or every fault, from a state and returns the states that are new.
func (x *explorer) expand(n *Node, free bool, used int) (fresh []*Node) {
	x.moves = n.moves(x.moves[:0], free)
	for i, mv := range x.moves {
		to, isNew := x.move(n, mv)
		if isNew {
			x.result.States[used]++
			kept := x.child
			fresh = append(fresh, &kept)
		}
		if free && i == 0 {
			x.next[n.number] = to
			if mv.Kind == wakes && to != closed && n.State.Deadline-n.World.Now > far {
				x.goesWell(n)
				x.next[n.number] = closed
			}
		}
	}
	return fresh
}

// move makes one move into x.child, holds it against the laws and returns the number of where it leads.
func (x *explorer) move(n *Node, mv Move) (to int32, isNew bool) {
	child := &x.child
	*child = *n
	t := Transition{Before: n, After: child, Move: mv}
	t.make(x.step)
	x.result.Transitions++
	if child.State.Outcome != nil {
		x.court.transition(&t)
		x.result.Ends++
		return closed, false
	}
	key, machine := x.canon.key(child)
	t.machine = machine
	if x.canon.found {
		x.court.violated(4, "a field that no contract lists is in the state")
	}
	x.court.transition(&t)
	child.State.Journal = nil
	if to, isNew = x.meet(key, n.number, mv); isNew {
		child.number = to
		x.held(child, machine)
	}
	return to, isNew
}

func (x *explorer) meet(key uint64, from int32, by Move) (int32, bool) {
	index, isNew := x.known.add(key)
	if isNew {
		x.next = append(x.next, nowhere)
		x.came = append(x.came, arrival{from, by})
	}
	return index, isNew
}

// way is the history that first led to a state.
func (x *explorer) way(to int32) []Move {
	var moves []Move
	for ; x.came[to].from != nowhere; to = x.came[to].from {
		moves = append(moves, x.came[to].by)
	}
	slices.Reverse(moves)
	return moves
}

// held holds a new state against the laws that ask what would be if. What belongs to nothing, and silence, are the
// machine's business alone, so they are tried once for each of its states.
func (x *explorer) held(n *Node, machine uint64) {
	if _, isNew := x.machines.add(machine); isNew {
		x.court.noise(n)
		x.goesSilently(n)
	}
	x.court.confluence(n)
}

// make makes the move: After is a copy of Before when it is called.
func (t *Transition) make(step Machine) {
	t.Input = t.After.do(t.Move)
	if t.Input != nil {
		t.Commands = t.After.take(step, t.Input)
	}
}
