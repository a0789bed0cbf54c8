package explore

import (
	"errand/plan"
)

// Law 18: whatever a plan waits for, it ends.

// waits holds the half of it that can be seen in one state: there is a time at which the plan moves by itself.
func (c *court) waits(n *Node) {
	if !n.State.Begun {
		return
	}
	c.meets(18)
	if n.State.Wake <= n.State.At {
		c.violated(18, "the plan is %s, and its next wake is %d ms from now", n.State.Phase(), n.State.Wake-n.State.At)
	}
}

// ends holds it over the whole graph: from every state the plan closes if from now on the world behaves. Where the world
// has nothing to do any more and the end of the plan's time is far, goesWell has walked there.
func (x *explorer) ends() {
	good := make([]bool, len(x.next))
	for i := range x.next {
		var path []int32
		on := map[int32]bool{}
		for at := int32(i); at != closed && !good[at]; at = x.next[at] {
			if x.next[at] == nowhere || on[at] {
				x.court.violated(18, "the plan never ends, though the world behaves:\n%s", x.round(at))
				return
			}
			on[at] = true
			path = append(path, at)
		}
		for _, at := range path {
			good[at] = true
		}
	}
}

// round tells how a state was reached from where the world that behaves comes back to it.
func (x *explorer) round(at int32) string {
	moves := x.way(at)
	n := *x.shape.root
	for _, mv := range moves {
		t := Transition{After: &n, Move: mv}
		t.make(x.step)
	}
	for range 12 {
		ahead := n.moves(nil, true)
		if len(ahead) == 0 {
			break
		}
		moves = append(moves, ahead[0])
		t := Transition{After: &n, Move: ahead[0]}
		t.make(x.step)
	}
	return x.shape.script(x.step, moves)
}

// longestWay is how many moves a plan may take to its end, be they of a world that behaves or only of the clock.
const longestWay = 1000

// goesWell follows the world that behaves to the end of the plan.
func (x *explorer) goesWell(n *Node) {
	x.follow(n, x.well, "when from now on the world behaves", x.whole, func(n *Node) (Move, bool) {
		if x.ahead = n.moves(x.ahead[:0], true); len(x.ahead) == 0 {
			return Move{}, false
		}
		return x.ahead[0], true
	})
}

func (x *explorer) whole(n *Node) uint64 {
	key, _ := x.canon.key(n)
	return key
}

// goesSilently lets nothing come any more but the time at which the plan asked to be woken.
func (x *explorer) goesSilently(n *Node) {
	x.follow(n, x.silent, "when from now on nothing comes but the time", x.canon.machine, func(*Node) (Move, bool) { return Move{Kind: wakes}, true })
}

// follow walks one way to the end of the plan, or to where it was walked before. What leads to an end is remembered.
func (x *explorer) follow(n *Node, ended *table, how string, keyOf func(*Node) uint64, way func(*Node) (Move, bool)) {
	at := *n
	x.path = x.path[:0]
	x.court.aside = ", " + how
	defer func() { x.court.aside = "" }()
	for range longestWay {
		key := keyOf(&at)
		known := ended.has(key)
		if !known {
			x.path = append(x.path, key)
		}
		if known || x.onward(&at, way) {
			for _, key := range x.path {
				ended.add(key)
			}
			return
		}
	}
	x.court.violated(18, "the plan never ends: it is still %s after %d moves", at.State.Phase(), longestWay)
}

// onward makes the next move of a way and reports whether the plan is over.
func (x *explorer) onward(at *Node, way func(*Node) (Move, bool)) bool {
	mv, ok := way(at)
	if !ok {
		return false
	}
	t := Transition{After: at, Move: mv}
	t.make(x.step)
	at.State.Journal = nil
	if at.State.Outcome == nil {
		return false
	}
	x.court.outcome(at)
	return true
}

var _ Machine = plan.Step
