package lease_test

import (
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
	"errand/plan/lease"
)

var policies = []plan.LeasePolicy{plan.LeaseQueue, plan.LeaseQueue, plan.LeaseReplace, plan.LeaseReject, ""}

// TestLaw21HoldsInRandomHistories lets plans, the device, the network and people do what they like for a while, in any
// order, and then lets everything go well. Two plans never move the device, the order is kept, nobody is forgotten, and
// the lease is gone when idle.
func TestLaw21HoldsInRandomHistories(t *testing.T) {
	ids := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, ids...)
		w.dev.unlistable = rapid.IntRange(0, 5).Draw(t, "unlistable") == 0
		which := rapid.SampledFrom(ids)
		told := rapid.Bool()
		done := func(ok bool) {
			if !ok {
				t.Skip("not now")
			}
		}
		rarely := func(t *rapid.T) bool { return rapid.IntRange(0, 9).Draw(t, "rarely") == 0 }
		actions := map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				done(w.ask(which.Draw(t, "plan"), rapid.SampledFrom(policies).Draw(t, "policy"), rapid.SampledFrom([]int{0, 0, 0, 5, 10}).Draw(t, "priority")))
			},
			"send":    func(t *rapid.T) { done(w.send(which.Draw(t, "plan"))) },
			"hear":    func(t *rapid.T) { done(w.hear(which.Draw(t, "plan"))) },
			"release": func(t *rapid.T) { done(w.release(which.Draw(t, "plan"))) },
			"terminate": func(t *rapid.T) {
				id := which.Draw(t, "plan")
				w.plans[id].readable = w.plans[id].readable && (w.dev.unlistable || !rarely(t))
				done(w.terminate(id))
			},
			"arrives": func(t *rapid.T) {
				if len(w.dev.sent) == 0 {
					t.Skip("nothing is on its way")
				}
				w.arrive(rapid.SampledFrom(sortedKeys(w.dev.sent)).Draw(t, "op"))
			},
			"ends": func(t *rapid.T) {
				if len(w.dev.alive) == 0 {
					t.Skip("nothing runs")
				}
				w.dev.end(rapid.SampledFrom(sortedKeys(w.dev.alive)).Draw(t, "op"))
			},
			"offline": func(t *rapid.T) { done(w.goOffline(told.Draw(t, "told"))) },
			"online":  func(t *rapid.T) { done(w.goOnline(told.Draw(t, "told"))) },
			"deaf":    func(t *rapid.T) { w.dev.deaf = told.Draw(t, "deaf") },
			"partial": func(t *rapid.T) { w.dev.partial = told.Draw(t, "partial") },
			"news comes late or twice": func(t *rapid.T) {
				if len(w.links) == 0 {
					t.Skip("no news")
				}
				w.take(lease.Linked{DeviceChange: rapid.SampledFrom(w.links).Draw(t, "link")})
			},
			"wipe": func(t *rapid.T) {
				if rarely(t) {
					w.wipe()
				}
			},
			"forget": func(t *rapid.T) {
				if rarely(t) {
					done(w.forget())
				}
			},
			"new run": func(*rapid.T) {
				w.out = without[lease.AwaitDevice](w.out)
				w.take(lease.Resumed{})
			},
			"time": func(t *rapid.T) { w.tick(rapid.SampledFrom([]int64{10, 1000, 4000, 31_000}).Draw(t, "ms")) },
			"answer": func(t *rapid.T) {
				ready := w.answerable()
				if len(ready) == 0 {
					t.Skip("nothing is out")
				}
				w.answer(rapid.SampledFrom(ready).Draw(t, "which"))
			},
			"": func(*rapid.T) {},
		}
		for range 4 { // one round is some thirty actions, most of which are not possible at the time
			t.Repeat(actions)
		}
		w.settle()
	})
}

func without[T lease.Command](out []lease.Command) (kept []lease.Command) {
	for _, c := range out {
		if _, ok := c.(T); !ok {
			kept = append(kept, c)
		}
	}
	return kept
}
