package lease_test

import (
	"fmt"
	"slices"

	"errand/plan"
	"errand/plan/lease"
)

// What plans, the device and people do in a world. Each returns whether it was possible.

// ask is a plan's request; a second one is a copy of the first.
func (w *world) ask(id string, policy plan.LeasePolicy, priority int) bool {
	w.t.Helper()
	p := w.plans[id]
	if !p.asked {
		if !p.open || p.done {
			return false
		}
		p.asked, p.request = true, plan.LeaseRequest{PlanID: id, DeviceID: testDevice, Policy: policy, Priority: priority, By: "kim"}
		w.order = append(w.order, id)
	}
	w.take(lease.Requested{LeaseRequest: p.request})
	return true
}

// send submits an operation: it is on its way, and arrives later or never.
func (w *world) send(id string) bool {
	p := w.plans[id]
	if !p.open || !p.granted || p.done || p.op != "" || !w.dev.online {
		return false
	}
	p.ops++
	p.op = fmt.Sprintf("%s/s/%d", id, p.ops)
	w.dev.sent[p.op] = w.now
	return true
}

// hear lets the plan learn that its operation is over.
func (w *world) hear(id string) bool {
	p := w.plans[id]
	if !p.open || p.op == "" || !w.dev.ended[p.op] {
		return false
	}
	p.op = ""
	return true
}

// release is the plan's last word: what it does not know the end of is named.
func (w *world) release(id string) bool {
	w.t.Helper()
	p := w.plans[id]
	if !p.open || !p.asked || p.done {
		return false
	}
	p.done = true
	r := plan.LeaseRelease{PlanID: id, DeviceID: testDevice}
	if p.op != "" {
		r.Unsettled = []string{p.op}
	}
	w.take(lease.Released{LeaseRelease: r})
	return true
}

// terminate ends a plan without a last word, unless it said that before.
func (w *world) terminate(id string) bool {
	p := w.plans[id]
	if !p.open {
		return false
	}
	p.open, p.dropped = false, true
	return true
}

func (w *world) goOffline(tell bool) bool {
	w.t.Helper()
	if !w.dev.online {
		return false
	}
	w.dev.online = false
	w.link(plan.DeviceChange{Gone: w.dev.epoch}, tell)
	return true
}

func (w *world) goOnline(tell bool) bool {
	w.t.Helper()
	if w.dev.online {
		return false
	}
	w.dev.online = true
	w.dev.epoch++
	w.link(plan.DeviceChange{Route: w.route()}, tell)
	return true
}

// link tells the lease of the device's connection, or loses the news: it may still come later.
func (w *world) link(c plan.DeviceChange, tell bool) {
	w.t.Helper()
	if w.links = append(w.links, c); tell {
		w.take(lease.Linked{DeviceChange: c})
	}
}

// forget is a person's word. The law does not hold for what they answer for.
func (w *world) forget() bool {
	w.t.Helper()
	if w.state.Idle() {
		return false
	}
	for _, p := range w.plans {
		if p.op != "" && (!p.open || p.done) {
			w.forgotten[p.op] = true
		}
	}
	w.take(lease.Forget{By: "kim", Why: "it stands in the hall"})
	return true
}

// wipe loses the device's memory and what it was doing, and with its tombstones what could stop a submit on its way.
func (w *world) wipe() {
	w.dev.alive, w.dev.ended, w.dev.tombstones = map[string]bool{}, map[string]bool{}, map[string]bool{}
	w.dev.sent = map[string]int64{}
}

// answerable lists the requests that can be answered now: nobody finds a device that is away.
func (w *world) answerable() (indices []int) {
	for i, c := range w.out {
		if _, waits := c.(lease.AwaitDevice); !waits || w.dev.online {
			indices = append(indices, i)
		}
	}
	return indices
}

// settle lets everything go well until the lease is idle: the device comes back and obeys, operations end, plans end.
func (w *world) settle() {
	w.t.Helper()
	w.dev.deaf, w.dev.partial = false, false
	w.goOnline(true)
	for range 400 {
		for {
			ready := w.answerable()
			if len(ready) == 0 {
				break
			}
			w.answer(ready[0])
		}
		if w.state.Idle() {
			break
		}
		for _, op := range sortedKeys(w.dev.alive) {
			w.dev.end(op)
		}
		for _, id := range sortedKeys(w.plans) {
			if p := w.plans[id]; p.granted || p.refused || p.cancelled || p.done {
				w.hear(id)
				w.release(id)
				p.open = false
			}
		}
		w.tick(5_000)
	}
	w.checkEnd()
}

// checkEnd: nobody was forgotten, and the lease is gone when idle.
func (w *world) checkEnd() {
	w.t.Helper()
	for _, p := range w.plans {
		if p.waits() {
			w.t.Fatalf("%s was forgotten: %s", p.id, marshal(w.state))
		}
	}
	if !w.state.Idle() {
		w.t.Fatalf("the lease never becomes idle: %s", marshal(w.state))
	}
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
