package lease_test

import (
	"bytes"
	"testing"

	"errand/plan"
	"errand/plan/lease"
)

// heard lists what a plan is being told of its device.
func (w *world) heard(id string) (changes []plan.DeviceChange) {
	for _, c := range pending[lease.Tell](w) {
		if c.PlanID == id && c.Signal.Device != nil {
			changes = append(changes, *c.Signal.Device)
		}
	}
	return changes
}

func TestTheHolderHearsOfItsDevice(t *testing.T) {
	w := in(t, "a", "b")
	w.goOffline(true)
	if got := w.heard("a"); len(got) != 1 || got[0].Gone != 1 || len(w.heard("b")) != 0 {
		t.Fatalf("a hears %+v, b %+v", got, w.heard("b"))
	}
	w.flush()
	w.goOnline(true)
	if got := w.heard("a"); len(got) != 1 || got[0].Route == nil || got[0].Route.ConnectionEpoch != 2 {
		t.Fatalf("a hears %+v", got)
	}
	w.flush()
	for _, old := range w.links { // news that comes late or twice
		if old.Gone != 0 || old.Route.ConnectionEpoch <= 2 {
			w.take(lease.Linked{DeviceChange: old})
		}
	}
	if got := w.heard("a"); len(got) != 0 || w.state.Device.Route == nil {
		t.Errorf("old news is passed on: %+v", got)
	}
}

// News that cannot be delivered shows that the holder is gone.
func TestLaw21NewsThatFindsNobodyIsAReasonToLook(t *testing.T) {
	w := in(t, "a")
	w.terminate("a")
	w.goOffline(true)
	w.flush()
	if !w.state.Idle() {
		t.Errorf("%s", marshal(w.state))
	}
}

// Tasks that the device runs for a plan that does not hold the lease are stopped; the holder's are not.
func TestLaw21OrphansFoundAtAReconnectAreStopped(t *testing.T) {
	w := in(t, "a")
	w.send("a")
	w.arrive("a/s/1")
	w.dev.alive["old/move/1"], w.dev.alive["by hand"] = true, true
	w.goOffline(true)
	w.flush()
	w.goOnline(true)
	w.flush()
	if w.dev.alive["old/move/1"] || !w.dev.alive["a/s/1"] || !w.dev.alive["by hand"] {
		t.Errorf("running: %v; want the orphan stopped and nothing else", w.dev.alive)
	}
	wantState(t, w, lease.Held)
	delete(w.dev.alive, "by hand")
}

func TestAnOrphanThatCannotBeStoppedHoldsUpTheNext(t *testing.T) {
	w := in(t, "a", "b")
	w.dev.alive["old/move/1"], w.dev.deaf = true, true
	w.goOffline(true)
	w.flush()
	w.goOnline(true)
	w.flush()
	v := wantState(t, w, lease.Held)
	if v.Quarantine == nil || v.Quarantine.PlanID != "old" {
		t.Errorf("quarantine %+v", v.Quarantine)
	}
	w.release("a")
	w.tick(31_000)
	w.flush()
	wantState(t, w, lease.Quarantined)
	wantHolder(t, w, "", "b")
	w.dev.end("old/move/1")
	w.tick(60_000)
	w.flush()
	wantHolder(t, w, "b")
}

// A connection that turned out to be dead is not used again, until a newer one is found.
func TestARefutedRouteIsNotUsedAgain(t *testing.T) {
	w := moving(t)
	w.release("a")
	w.answerWith(func(c lease.Command) lease.Input {
		if c, ok := c.(lease.CancelTask); ok && c.Route.ConnectionEpoch == 1 {
			return lease.CancelAnswered{CancelAnswered: plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelUnreachable, ConnectionEpoch: 1}}
		}
		if c, ok := c.(lease.AwaitDevice); ok && c.Newer > 0 {
			w.dev.epoch = c.Newer + 1
		}
		return nil
	})
	wantHolder(t, w, "b")
	if w.state.Device.Refuted != 1 {
		t.Errorf("refuted %d, want 1", w.state.Device.Refuted)
	}
}

// The news of the connection comes before the search finds the device: the search is withdrawn, once.
func TestNewsOfTheDeviceEndsTheSearchForIt(t *testing.T) {
	w := moving(t)
	w.goOffline(true)
	w.flush()
	w.release("a")
	if len(pending[lease.AwaitDevice](w)) != 1 {
		t.Fatalf("out: %+v", w.out)
	}
	w.goOnline(true)
	if len(pending[lease.AwaitDevice](w)) != 0 || w.state.Device.Awaiting {
		t.Errorf("it is still looked for: %+v", w.out)
	}
	before := marshal(w.state)
	w.take(lease.DeviceFound{DeviceFound: plan.DeviceFound{Route: *w.route()}}) // it came back just then
	if !bytes.Equal(marshal(w.state), before) {
		t.Error("an answer to nothing changes something")
	}
}
