package lease_test

import (
	"slices"
	"testing"

	"errand/plan"
	"errand/plan/lease"
)

// moving is a world in which plan a moves the device and b waits.
func moving(t *testing.T) *world {
	t.Helper()
	w := in(t, "a", "b")
	w.send("a")
	w.arrive("a/s/1")
	return w
}

func wantState(t *testing.T, w *world, want lease.Standing) lease.View {
	t.Helper()
	v := w.state.View()
	if v.State != want {
		t.Fatalf("the lease is %s, want %s: %+v", v.State, want, v.Quarantine)
	}
	return v
}

func TestLaw21AReleaseOfSomethingUnsettledQuarantines(t *testing.T) {
	w := moving(t)
	w.goOffline(true)
	w.flush()
	w.release("a")
	v := wantState(t, w, lease.Quarantined)
	if q := v.Quarantine; q.PlanID != "a" || q.Since != w.now || len(q.Operations) != 1 || q.Operations[0].ID != "a/s/1" || q.WaitsFor == "" || q.Why == "" {
		t.Errorf("quarantine %+v", q)
	}
	wantHolder(t, w, "", "b")
	w.tick(3_600_000) // however long it takes
	w.flush()
	wantHolder(t, w, "", "b")
	w.goOnline(true)
	if got := pending[lease.CancelTask](w); len(got) != 1 || got[0].OperationID != "a/s/1" {
		t.Fatalf("the cancel is not delivered: %+v", w.out)
	}
	w.flush()
	wantHolder(t, w, "b")
	if w.dev.alive["a/s/1"] {
		t.Error("it still moves")
	}
}

// The news of the connection is lost; the search finds the device.
func TestLaw18AQuarantinedDeviceIsLookedFor(t *testing.T) {
	w := moving(t)
	w.goOffline(true)
	w.flush()
	w.release("a")
	if got := pending[lease.AwaitDevice](w); len(got) != 1 || got[0].Newer != 1 {
		t.Fatalf("out: %+v", w.out)
	}
	w.goOnline(false)
	w.flush()
	wantHolder(t, w, "b")
}

// A device that takes the cancel and goes on is asked, ever less often, and cancelled anew at each connection.
func TestLaw21ADeafDeviceIsWaitedFor(t *testing.T) {
	w := moving(t)
	w.dev.deaf = true
	w.release("a")
	w.flush() // no route is known: it is looked for, and the cancel is taken
	asked := 0
	for range 60 {
		w.tick(10_000)
		asked += len(pending[lease.QueryStatus](w))
		w.flush()
	}
	wantHolder(t, w, "", "b")
	if asked < 5 || asked > 20 {
		t.Errorf("asked %d times in ten minutes", asked)
	}
	w.goOffline(true)
	w.flush()
	w.goOnline(true)
	if got := pending[lease.CancelTask](w); len(got) != 1 {
		t.Errorf("not cancelled anew: %+v", w.out)
	}
	w.flush()
	w.dev.end("a/s/1")
	w.tick(60_000)
	w.flush()
	wantHolder(t, w, "b")
}

func TestLaw21ATerminatedPlanFreesItsLeaseOnceTheDeviceStands(t *testing.T) {
	w := moving(t)
	w.terminate("a")
	w.tick(31_000) // nobody asks: it is looked at all the same
	if got := pending[lease.AskHolder](w); len(got) != 1 || got[0].PlanID != "a" {
		t.Fatalf("out: %+v", w.out)
	}
	w.answer(0)
	wantState(t, w, lease.Settling)
	wantHolder(t, w, "", "b")
	w.flush()
	wantHolder(t, w, "b")
	if w.dev.alive["a/s/1"] {
		t.Error("it still moves for the terminated plan")
	}
}

func TestLaw21EachRequestLooksWhetherTheHolderIsThere(t *testing.T) {
	w := in(t, "a")
	w.plans["b"] = &client{id: "b", open: true}
	w.terminate("a")
	w.ask("b", plan.LeaseQueue, 0)
	w.flush()
	wantHolder(t, w, "b")
}

// One that comes while a look is out is not answered by it: the holder may be gone since.
func TestLaw21ALookThatBeganBeforeARequestDoesNotCountForIt(t *testing.T) {
	w := in(t, "a")
	w.plans["b"], w.plans["c"] = &client{id: "b", open: true}, &client{id: "c", open: true}
	w.ask("b", plan.LeaseReject, 0)
	w.ask("c", plan.LeaseReject, 10) // goes before b
	w.answer(0)
	if len(w.said("c")) != 0 || len(w.said("b")) != 1 {
		t.Errorf("told c %+v, b %+v", w.said("c"), w.said("b"))
	}
	if got := pending[lease.AskHolder](w); len(got) != 1 {
		t.Errorf("%d looks are out, want a second one", len(got))
	}
}

func TestAVanishedPlanWithNothingUnderWayLeavesNoQuarantine(t *testing.T) {
	w := in(t, "a", "b")
	w.dev.online = false
	w.terminate("a")
	w.tick(31_000)
	w.flush()
	wantHolder(t, w, "b")
}

func TestAVanishedPlanOfADeviceThatIsAwayBecomesAQuarantine(t *testing.T) {
	w := moving(t)
	w.goOffline(true)
	w.flush()
	w.terminate("a")
	w.tick(31_000)
	w.flush()
	wantState(t, w, lease.Settling)
	w.plans["c"] = &client{id: "c", open: true}
	w.release("b")
	w.ask("c", plan.LeaseReject, 0) // may still be lucky
	if len(w.said("c")) != 0 {
		t.Fatal("refused while the device is being brought to a standstill")
	}
	w.tick(30_000)
	wantState(t, w, lease.Quarantined)
	if got := w.said("c"); len(got) != 1 || got[0] != (plan.LeaseAnswer{Holder: "a", Reason: "DEVICE_QUARANTINED"}) {
		t.Errorf("told %+v", got)
	}
}

// A submit of the terminated plan may still be on its way: only a tombstone keeps it from coming.
func TestLaw21WhatNeverArrivedLeavesATombstone(t *testing.T) {
	w := in(t, "a", "b")
	w.send("a")
	w.terminate("a")
	w.tick(31_000)
	w.dev.sent["a/s/1"] = w.now // a slow one
	w.flush()
	wantHolder(t, w, "b")
	w.send("b")
	w.arrive("b/s/1")
	w.arrive("a/s/1") // checked by the world: it must not start
	if w.dev.alive["a/s/1"] {
		t.Error("it moves the device")
	}
}

// The device says that it does not know the operation, and runs it: its list is believed.
func TestATombstoneIsHeldAgainstTheDevicesList(t *testing.T) {
	w := moving(t)
	w.release("a")
	w.answerWith(func(c lease.Command) lease.Input {
		if c, ok := c.(lease.CancelTask); ok {
			return lease.CancelAnswered{CancelAnswered: plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelTombstoned}}
		}
		return nil
	})
	wantHolder(t, w, "", "b")
	w.tick(3_000)
	w.flush()
	wantHolder(t, w, "b")
}

// answerWith answers all that can be answered, by the test's word where it has one.
func (w *world) answerWith(word func(lease.Command) lease.Input) {
	w.t.Helper()
	for ready := w.answerable(); len(ready) > 0; ready = w.answerable() {
		i := ready[0]
		if in := word(w.out[i]); in != nil {
			w.out = slices.Delete(w.out, i, i+1)
			w.take(in)
			continue
		}
		w.answer(i)
	}
}

// A device that lost its memory does not know the operation: it is cancelled again, so that it leaves a tombstone.
func TestWhatTheDeviceNoLongerKnowsIsCancelledAgain(t *testing.T) {
	w := moving(t)
	w.dev.deaf = true
	w.release("a")
	w.flush()
	w.wipe()
	w.tick(3_000)
	w.flush()
	if w.state.Unsettled[0].Cancel != "" {
		t.Fatalf("%+v, want it to be cancelled again", w.state.Unsettled[0])
	}
	w.tick(60_000)
	w.flush()
	wantHolder(t, w, "b")
	if !w.dev.tombstones["a/s/1"] {
		t.Error("it left no tombstone")
	}
}

// A plain node can neither be cancelled nor asked: a person must say it.
func TestAPersonMayForgetOnRecord(t *testing.T) {
	w := moving(t)
	plain := func(c lease.Command) lease.Input {
		switch c := c.(type) {
		case lease.CancelTask:
			return lease.CancelAnswered{CancelAnswered: plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelRefused}}
		case lease.QueryStatus:
			return lease.StatusReported{StatusReported: plan.StatusReported{OperationID: c.OperationID, Finding: plan.StatusUnsupported}}
		}
		return nil
	}
	w.dev.unlistable = true
	w.release("a")
	for range 10 {
		w.answerWith(plain)
		w.tick(60_000)
	}
	wantState(t, w, lease.Quarantined)
	w.forget()
	v := wantState(t, w, lease.Held)
	want := lease.Forgotten{By: "kim", Why: "it stands in the hall", At: w.now, PlanID: "a", Operations: []string{"a/s/1"}}
	if len(v.Forgotten) != 1 || v.Forgotten[0].By != want.By || v.Forgotten[0].Why != want.Why || v.Forgotten[0].At != want.At ||
		v.Forgotten[0].PlanID != want.PlanID || !slices.Equal(v.Forgotten[0].Operations, want.Operations) {
		t.Errorf("on record: %+v, want %+v", v.Forgotten, want)
	}
	wantHolder(t, w, "b")
	w.take(lease.Forget{By: "lee", Why: "again"})
	if len(w.state.Forgotten) != 1 {
		t.Error("a forget of nothing is on record")
	}
}

// A device that can only say yes to a cancel, and nothing more, is believed.
func TestACancelThatWasCarriedOutIsEnoughWhereNothingCanBeAsked(t *testing.T) {
	w := moving(t)
	w.release("a")
	w.answerWith(func(c lease.Command) lease.Input {
		if c, ok := c.(lease.QueryStatus); ok {
			return lease.StatusReported{StatusReported: plan.StatusReported{OperationID: c.OperationID, Finding: plan.StatusUnsupported}}
		}
		return nil
	})
	wantHolder(t, w, "b")
}

// The record of the vanished plan cannot be read: only the device can say what it runs, once no submit can be on its way.
func TestLaw21AnUnreadablePlanIsAnsweredForByTheDevice(t *testing.T) {
	w := moving(t)
	w.plans["a"].readable = false
	w.terminate("a")
	w.tick(31_000)
	w.flush()
	wantState(t, w, lease.Settling)
	w.goOffline(true)
	w.flush()
	w.goOnline(true)
	w.dev.partial = true
	w.flush() // a list that comes too early, and not in full
	wantHolder(t, w, "", "b")
	w.tick(20_000)
	w.flush()
	wantHolder(t, w, "", "b") // a submit may wait in the device's queue
	w.dev.partial = false
	w.tick(5_000)
	w.flush()
	wantHolder(t, w, "b")
	if w.dev.alive["a/s/1"] {
		t.Error("it still moves for the plan that vanished")
	}
}

func TestAnUnreadablePlanOfADeviceThatCannotTellNeedsAPerson(t *testing.T) {
	w := moving(t)
	w.plans["a"].readable, w.dev.unlistable = false, true
	w.terminate("a")
	w.tick(31_000)
	w.flush()
	w.tick(31_000)
	w.flush()
	v := wantState(t, w, lease.Quarantined)
	if got := v.Quarantine.WaitsFor; got != "a person: the device cannot say what it runs" {
		t.Errorf("it waits for %q", got)
	}
	w.forget()
	wantHolder(t, w, "b")
}

// The answer to the cancel carries the stored end of the operation: nothing more need be asked.
func TestAStoredEndInTheAnswerToACancelIsEnough(t *testing.T) {
	for _, name := range []plan.EventName{plan.EventCompleted, plan.EventRunning} {
		w := moving(t)
		w.dev.deaf = true
		w.release("a")
		w.answerWith(func(c lease.Command) lease.Input {
			if c, ok := c.(lease.CancelTask); ok {
				if name.Terminal() {
					w.dev.end(c.OperationID)
				}
				return lease.CancelAnswered{CancelAnswered: plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelStopping,
					Terminal: &plan.Event{Name: name}}}
			}
			return nil
		})
		if settled := w.holder() == "b"; settled != name.Terminal() {
			t.Errorf("after %s the lease is held by %q", name, w.holder())
		}
	}
}
