package robot

import (
	"testing"
	"time"

	"errand/deviceio/wire"
)

func mortal(o *Options) { o.Crash = func() { panic(powerCut{}) } }

// A robot that comes back without the task it ran: idle, silent about it, and in the same memory that now does not know it.
func TestDropTask(t *testing.T) {
	t.Parallel()
	b := newBench(t, mortal)
	store := b.StoreID()
	b.fault(Fault{Kind: FaultDropTask, Method: "setMoveTo", At: at(0.5)})
	b.accept(task("p/say/1", "speak", map[string]any{"text": "안녕"}))
	b.until("p/say/1", "COMPLETED")
	b.crashing(func() {
		b.accept(moveTo("p/x/1", "안방"))
		b.until("p/x/1", "COMPLETED")
	})
	moved := b.World().MovedAt
	b.pass(time.Minute)
	if s := b.status("p/x/1"); s.Found || s.StoreID != store || s.ReasonCode != ReasonTaskNotFound {
		t.Fatalf("status %+v", s)
	}
	if s := b.status("p/say/1"); s.Status != "COMPLETED" {
		t.Fatalf("it forgot more than that: %+v", s)
	}
	if b.running != nil || b.World().MovedAt != moved || b.box.last("p/x/1", "RUNNING") != nil {
		t.Fatalf("it goes on: %v", b.box.names("p/x/1"))
	}
	if m := b.motions("p/x/1"); len(m) != 1 || m[0].Completed || m[0].EndedAt == 0 {
		t.Fatalf("motions %+v", m)
	}
	b.accept(moveTo("p/x/1", "안방")) // to the robot it is new
	b.pass(time.Minute)
	b.wantEffects("p/x/1", 1)
}

// A lost memory has a new name, knows no task, and the ledger still shows what was done: twice, if it is asked twice.
func TestLoseStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault   Fault
		effects int
	}{
		"on the way":               {Fault{Kind: FaultLoseStore, At: at(0.5)}, 0},
		"before COMPLETED is told": {Fault{Kind: FaultLoseStore, Event: "COMPLETED"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, mortal)
			store := b.StoreID()
			b.cancel("p/dead/1")
			b.fault(c.fault)
			b.crashing(func() {
				b.accept(moveTo("p/x/1", "안방"))
				b.until("p/x/1", "COMPLETED")
			})
			if b.StoreID() == store {
				t.Fatal("the new memory has the old one's name")
			}
			b.wantEffects("p/x/1", c.effects)
			if s := b.status("p/x/1"); s.Found || s.StoreID != b.StoreID() {
				t.Fatalf("status %+v", s)
			}
			if a := b.cancel("p/x/1"); a.Case != wire.CaseUnknownTombstoned || a.StoreID != b.StoreID() {
				t.Fatalf("cancel %+v", a)
			}
			b.accept(moveTo("p/dead/1", "안방")) // its tombstone is gone too
			b.pass(time.Minute)
			b.wantEffects("p/dead/1", 1)
			for _, m := range b.motions("p/x/1") {
				if m.EndedAt == 0 {
					t.Fatalf("the ledger shows a drive without an end: %+v", m)
				}
			}
		})
	}
}
