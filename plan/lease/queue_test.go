package lease_test

import (
	"slices"
	"testing"

	"errand/plan"
	"errand/plan/lease"
)

// in is a world in which the plans have asked one after the other, each with queue, and all they were told arrived.
func in(t *testing.T, plans ...string) *world {
	t.Helper()
	w := newWorld(t, plans...)
	for _, id := range plans {
		w.ask(id, plan.LeaseQueue, 0)
		w.flush()
	}
	return w
}

// flush answers all that can be answered.
func (w *world) flush() {
	w.t.Helper()
	for ready := w.answerable(); len(ready) > 0; ready = w.answerable() {
		w.answer(ready[0])
	}
}

// holder is whose the lease is; "" if nobody's.
func (w *world) holder() string {
	if w.state.Holder == nil {
		return ""
	}
	return w.state.Holder.PlanID
}

func (w *world) queue() (ids []string) {
	for _, q := range w.state.Queue {
		ids = append(ids, q.PlanID)
	}
	return ids
}

// pending lists the requests of a kind that are out.
func pending[T lease.Command](w *world) (found []T) {
	for _, c := range w.out {
		if c, ok := c.(T); ok {
			found = append(found, c)
		}
	}
	return found
}

// said lists what a plan is being told of its lease.
func (w *world) said(id string) (answers []plan.LeaseAnswer) {
	for _, c := range pending[lease.Tell](w) {
		if c.PlanID == id && c.Signal.Lease != nil {
			answers = append(answers, *c.Signal.Lease)
		}
	}
	return answers
}

func wantHolder(t *testing.T, w *world, id string, queue ...string) {
	t.Helper()
	if w.holder() != id || !slices.Equal(w.queue(), queue) {
		t.Fatalf("held by %q, %v wait; want %q, %v", w.holder(), w.queue(), id, queue)
	}
}

func TestLaw21TurnsAreTakenInOrder(t *testing.T) {
	w := in(t, "a", "b", "c")
	wantHolder(t, w, "a", "b", "c")
	for _, next := range []string{"b", "c", ""} {
		w.release(w.holder())
		if w.holder() != next {
			t.Fatalf("held by %q, want %q", w.holder(), next)
		}
		w.flush()
	}
	if !w.state.Idle() {
		t.Error("nobody wants the device, and the lease is not idle")
	}
}

func TestLaw21PriorityGoesBeforeThoseThatWaitAndNotBeforeTheHolder(t *testing.T) {
	w := in(t, "a", "b")
	w.plans["safety"], w.plans["soon"] = &client{id: "safety", open: true}, &client{id: "soon", open: true}
	w.plans["later"] = &client{id: "later", open: true}
	w.ask("soon", plan.LeaseQueue, 5)
	w.ask("safety", plan.LeaseQueue, 99) // more than there is
	w.ask("later", plan.LeaseQueue, 5)
	wantHolder(t, w, "a", "safety", "soon", "later", "b")
}

func TestLaw21ReplaceCancelsTheHolderAndThoseThatWaitAndGoesNext(t *testing.T) {
	w := in(t, "a", "b", "c")
	w.plans["new"], w.plans["newer"] = &client{id: "new", open: true}, &client{id: "newer", open: true}
	w.ask("new", plan.LeaseReplace, 0)
	told := pending[lease.Tell](w)
	if len(told) != 3 {
		t.Fatalf("%d plans are told to stop, want 3: %+v", len(told), told)
	}
	for _, c := range told {
		if stop := c.Signal.Cancel; stop == nil || stop.By != "kim" || stop.Why != "replaced by plan new" || stop.Source != "lease" {
			t.Errorf("%s is told %+v", c.PlanID, c.Signal)
		}
	}
	wantHolder(t, w, "a", "new") // until it stands still
	w.flush()
	w.ask("newer", plan.LeaseReplace, 0)
	if told = pending[lease.Tell](w); len(told) != 1 || told[0].PlanID != "new" {
		t.Errorf("the second replacement tells %+v; the holder is stopping already", told)
	}
	w.release("a")
	wantHolder(t, w, "newer")
}

func TestAWishDoesNotReplaceASafetyStop(t *testing.T) {
	w := newWorld(t, "stop", "stop2", "wish")
	w.ask("stop", plan.LeaseQueue, 10)
	w.flush()
	w.ask("stop2", plan.LeaseQueue, 10)
	w.flush()
	w.ask("wish", plan.LeaseReplace, 0)
	for _, c := range pending[lease.Tell](w) {
		t.Errorf("%s is told %+v", c.PlanID, c.Signal)
	}
	wantHolder(t, w, "stop", "stop2", "wish")
}

func TestLaw21RejectIsAnsweredAtOnceWithTheHolder(t *testing.T) {
	w := in(t, "a")
	w.plans["b"] = &client{id: "b", open: true}
	w.ask("b", plan.LeaseReject, 0)
	if len(w.said("b")) != 0 {
		t.Fatal("refused before it was known whether the holder is there")
	}
	w.answer(0) // the look at the holder
	if got := w.said("b"); len(got) != 1 || got[0] != (plan.LeaseAnswer{Holder: "a", Reason: "DEVICE_BUSY"}) {
		t.Errorf("told %+v, want DEVICE_BUSY with holder a", got)
	}
	wantHolder(t, w, "a")
}

func TestLaw21RejectBehindOneThatWaitsNeedsNoLook(t *testing.T) {
	w := in(t, "a", "b")
	w.plans["c"] = &client{id: "c", open: true}
	w.ask("c", plan.LeaseReject, 0)
	if got := w.said("c"); len(got) != 1 || got[0].Reason != "DEVICE_BUSY" || got[0].Holder != "a" {
		t.Errorf("told %+v", got)
	}
}

// A plan that was terminated just before is not a reason to refuse.
func TestLaw21RejectGetsWhatATerminatedPlanLeft(t *testing.T) {
	w := in(t, "a")
	w.plans["b"] = &client{id: "b", open: true}
	w.terminate("a")
	w.ask("b", plan.LeaseReject, 0)
	w.flush()
	wantHolder(t, w, "b")
}

func TestADuplicateRequestChangesNothing(t *testing.T) {
	w := in(t, "a", "b")
	w.ask("b", plan.LeaseQueue, 0)
	w.ask("a", plan.LeaseQueue, 0)
	wantHolder(t, w, "a", "b")
	if got := w.said("a"); len(got) != 1 || !got[0].Granted || len(w.said("b")) != 0 {
		t.Errorf("a is told %+v, b %+v; want the grant again, and nothing", got, w.said("b"))
	}
	w.ask("a", plan.LeaseQueue, 0)
	if got := w.said("a"); len(got) != 1 {
		t.Errorf("told %d times at once", len(got))
	}
}

func TestAPlanThatLeavesTheQueueIsNotGranted(t *testing.T) {
	w := in(t, "a", "b", "c")
	w.release("b")
	w.release("a")
	wantHolder(t, w, "c")
}

// A grant that finds nobody was never used: the next one has it, and no device is asked.
func TestAGrantThatFindsNobodyGoesToTheNext(t *testing.T) {
	w := in(t, "a", "b", "c")
	w.dev.online = false
	w.terminate("b")
	w.release("a")
	w.flush()
	wantHolder(t, w, "c")
}

// A request of a plan that is over, told again by a retry, holds up nobody.
func TestALateCopyOfARequestHoldsUpNobody(t *testing.T) {
	w := in(t, "a", "b")
	w.release("a")
	w.terminate("a")
	w.take(lease.Requested{LeaseRequest: w.plans["a"].request})
	w.flush()
	w.release("b")
	w.flush()
	if !w.state.Idle() {
		t.Errorf("%s", marshal(w.state))
	}
}

func TestForeignAndIllFormedRequestsAreNotTaken(t *testing.T) {
	w := newWorld(t)
	w.take(lease.Requested{LeaseRequest: plan.LeaseRequest{PlanID: "a", DeviceID: "another"}})
	w.take(lease.Requested{LeaseRequest: plan.LeaseRequest{PlanID: "a b", DeviceID: testDevice}})
	w.take(lease.Released{LeaseRelease: plan.LeaseRelease{PlanID: "a", DeviceID: "another", Unsettled: []string{"a/s/1"}}})
	if !w.state.Idle() {
		t.Errorf("%s", marshal(w.state))
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	w := in(t, "a")
	refused := 0
	for i := range 600 {
		id := "p" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		w.plans[id] = &client{id: id, open: true}
		w.ask(id, plan.LeaseQueue, 0)
		refused += len(w.said(id))
	}
	if len(w.state.Queue) != 500 || refused != 100 {
		t.Errorf("%d wait, %d refused", len(w.state.Queue), refused)
	}
}
