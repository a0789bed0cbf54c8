package lease_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"errand/plan"
)

// depth is how many moves deep every order of moves is tried: 8 takes a minute or two.
var depth = flag.Int("depth", 5, "moves")

// TestLaw21HoldsInEveryShortHistory tries every order of the moves of two plans, their device and time, as far as depth,
// for each pair of policies, and then lets everything go well.
func TestLaw21HoldsInEveryShortHistory(t *testing.T) {
	t.Parallel()
	worlds := 0
	for _, a := range []plan.LeasePolicy{plan.LeaseQueue, plan.LeaseReplace, plan.LeaseReject} {
		for _, b := range []plan.LeasePolicy{plan.LeaseQueue, plan.LeaseReplace, plan.LeaseReject} {
			seen := map[[32]byte]bool{}
			explore(newWorld(t, "a", "b"), moves(a, b), *depth, seen)
			worlds += len(seen)
		}
	}
	if worlds < 5_000 {
		t.Errorf("only %d different worlds", worlds)
	}
	t.Logf("%d different worlds", worlds)
}

// moves are what can happen next; each says whether it could.
func moves(a, b plan.LeasePolicy) []func(*world) bool {
	list := []func(*world) bool{
		func(w *world) bool { return !w.plans["a"].asked && w.ask("a", a, 0) },
		func(w *world) bool { return !w.plans["b"].asked && w.ask("b", b, 0) },
		func(w *world) bool { return w.goOffline(true) },
		func(w *world) bool { return w.goOnline(true) },
		func(w *world) bool { w.tick(31_000); return true },
		func(w *world) bool {
			for op := range w.dev.alive {
				w.dev.end(op)
				return true
			}
			return false
		},
		func(w *world) bool {
			for op := range w.dev.sent {
				w.arrive(op)
				return true
			}
			return false
		},
	}
	for _, id := range []string{"a", "b"} {
		list = append(list,
			func(w *world) bool { return w.send(id) },
			func(w *world) bool { return w.release(id) },
			func(w *world) bool { return w.plans[id].asked && w.terminate(id) })
	}
	for i := range 2 {
		list = append(list, func(w *world) bool {
			if ready := w.answerable(); i < len(ready) {
				w.answer(ready[i])
				return true
			}
			return false
		})
	}
	return list
}

func explore(w *world, moves []func(*world) bool, left int, seen map[[32]byte]bool) {
	w.copy().settle()
	if left == 0 {
		return
	}
	for _, move := range moves {
		next := w.copy()
		if !move(next) {
			continue
		}
		if key := next.key(left); !seen[key] {
			seen[key] = true
			explore(next, moves, left-1, seen)
		}
	}
}

// key tells worlds apart. The moves that are left are part of it: a world reached sooner is explored deeper.
func (w *world) key(left int) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s %s %v %v", left, w.now, w.timer, marshal(w.state), marshal(w.out), w.device(), w.clients()))
}

func (w *world) device() string { return fmt.Sprintf("%+v", w.dev) }

func (w *world) clients() (all []client) {
	for _, id := range sortedKeys(w.plans) {
		all = append(all, *w.plans[id])
	}
	return all
}

// copy is a world of its own. States and commands are values that nobody changes.
func (w *world) copy() *world {
	c := *w
	c.out, c.order, c.links = slices.Clone(w.out), slices.Clone(w.order), slices.Clone(w.links)
	c.forgotten = maps.Clone(w.forgotten)
	c.dev.alive, c.dev.ended, c.dev.tombstones, c.dev.sent =
		maps.Clone(w.dev.alive), maps.Clone(w.dev.ended), maps.Clone(w.dev.tombstones), maps.Clone(w.dev.sent)
	c.plans = make(map[string]*client, len(w.plans))
	for id, p := range w.plans {
		mine := *p
		c.plans[id] = &mine
	}
	return &c
}
