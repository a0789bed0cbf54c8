package explore

import (
	"fmt"
	"slices"
	"strings"

	"errand/plan"
)

// trail is a node of the search for the shortest history, with the way it was reached.
type trail struct {
	node   Node
	parent *trail
	move   Move
	used   int
	depth  int
}

// Shortest finds the shortest history with at most so many faults that breaks a law, and tells it as a script; "" if none
// does. It goes by length, so it holds all that it met; it is meant for a law that is known to be broken.
func Shortest(sh *Shape, step Machine, faults, law int) string {
	sh.ready()
	c := newCanon()
	judge := &court{canon: c, step: step}
	known := make([]*table, faults+1)
	for i := range known {
		known[i] = newTable()
	}
	x := &explorer{canon: c, step: step, court: judge, silent: newTable(), well: newTable(), machines: newTable()}
	open := []*trail{{node: *sh.root}}
	for len(open) > 0 {
		at := open[0]
		open[0], open = nil, open[1:]
		for _, fault := range []bool{false, true} {
			if fault && at.used == faults {
				continue
			}
			for _, mv := range at.node.moves(nil, !fault) {
				next := &trail{node: at.node, parent: at, move: mv, used: at.used, depth: at.depth + 1}
				if fault {
					next.used++
				}
				if v := x.judged(next, law); v != nil {
					return v.String() + "\n" + sh.script(step, next.history())
				}
				if next.node.State.Outcome != nil {
					continue
				}
				key, _ := c.key(&next.node)
				if before(known, key, next.used) {
					continue
				}
				known[next.used].add(key)
				open = append(open, next)
			}
		}
	}
	return ""
}

// before reports whether a state was met with no more faults.
func before(known []*table, key uint64, used int) bool {
	for i := 0; i <= used; i++ {
		if known[i].has(key) {
			return true
		}
	}
	return false
}

// judged makes the last move of a trail and returns how it breaks the law, if it does.
func (x *explorer) judged(at *trail, law int) *Violation {
	clear(x.court.broken[:])
	t := Transition{Before: &at.parent.node, After: &at.node, Move: at.move}
	t.make(x.step)
	over := at.node.State.Outcome != nil
	if !over {
		_, t.machine = x.canon.key(&at.node)
		if x.canon.found {
			x.court.violated(4, "a field that no contract lists is in the state")
		}
	}
	x.court.transition(&t)
	at.node.State.Journal = nil
	if !over {
		x.held(&at.node, t.machine)
		if law == 18 && x.court.broken[18] == nil {
			x.goesWell(&at.node)
		}
	}
	return x.court.broken[law]
}

// history is the moves of a trail, the first one first.
func (at *trail) history() []Move {
	var moves []Move
	for ; at.parent != nil; at = at.parent {
		moves = append(moves, at.move)
	}
	slices.Reverse(moves)
	return moves
}

// script tells a history, one line a move: when, what happened, what the machine was told and what it commanded. A fault
// has an asterisk.
func (sh *Shape) script(step Machine, moves []Move) string {
	var out strings.Builder
	fmt.Fprintf(&out, "  shape %s, decider %q, %d moves:\n", sh.Name, sh.Decider, len(moves))
	n := *sh.root
	for _, mv := range moves {
		what := n.describe(mv)
		t := Transition{After: &n, Move: mv}
		t.make(step)
		mark := " "
		if mv.Fault {
			mark = "*"
		}
		fmt.Fprintf(&out, "  %8.1fs %s %-42s %s\n", float64(n.World.Now-askedAt)/1000, mark, what, spoken(t.Input, t.Commands))
	}
	fmt.Fprintf(&out, "  then: %s\n", n.stands())
	return out.String()
}

func spoken(in plan.Input, commands []plan.Command) string {
	if in == nil {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s →", brief(in))
	for _, c := range commands {
		text.WriteString(" " + brief(c))
	}
	return text.String()
}

// stands says how the plan stands, in one line.
func (n *Node) stands() string {
	line := string(n.State.Phase())
	for i := range n.State.Steps {
		st := &n.State.Steps[i]
		line += fmt.Sprintf("; %s %s", st.ID, st.Phase)
		for j := range st.Ops {
			op := &st.Ops[j]
			line += fmt.Sprintf(" [%d %s", op.Generation, op.Phase)
			if op.Lost {
				line += " lost: " + op.Why
			}
			line += "]"
		}
	}
	for _, e := range n.World.Ledger {
		line += fmt.Sprintf("; ledger %s began %d done %d %s", idOf(e.Op), e.Began, e.Done, e.End)
	}
	return line
}
