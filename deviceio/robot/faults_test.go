package robot

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"errand/deviceio/wire"
)

// powerCut is what the fault crash does on the bench.
type powerCut struct{}

// crashing runs what is to be cut short, and starts the next life.
func (b *bench) crashing(work func()) {
	b.t.Helper()
	func() {
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(powerCut); !ok {
					panic(p)
				}
			}
		}()
		work()
		b.t.Fatal("the power was not cut")
	}()
	b.cut()
}

// Law 19 and case c08: whatever the moment of the crash, the task goes on, its effect comes about once, and each of its
// stored events is told once. A crash between commit and outbox is the one that loses callbacks.
func TestLaw19CrashAtEveryMoment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault Fault
	}{
		{"before QUEUED is told", Fault{Kind: FaultCrash, Event: "QUEUED"}},
		{"before STARTED is told", Fault{Kind: FaultCrash, Event: "STARTED"}},
		{"at the start", Fault{Kind: FaultCrash, At: at(0)}},
		{"on the way", Fault{Kind: FaultCrash, At: at(0.5)}},
		{"all but there", Fault{Kind: FaultCrash, At: at(0.97)}},
		{"before COMPLETED is told", Fault{Kind: FaultCrash, Event: "COMPLETED"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(o *Options) { o.Crash = func() { panic(powerCut{}) } })
			b.fault(c.fault)
			b.crashing(func() {
				b.accept(moveTo("p/x/1", "안방"))
				b.until("p/x/1", "COMPLETED")
			})
			b.until("p/x/1", "COMPLETED")
			b.wantEffects("p/x/1", 1)
			told := slices.DeleteFunc(b.box.names("p/x/1"), func(n string) bool { return n == "RUNNING" })
			if !slices.Equal(told, []string{"QUEUED", "STARTED", "COMPLETED"}) {
				t.Fatalf("told %v", b.box.names("p/x/1"))
			}
			if m := b.motions("p/x/1"); len(m) != 1 || !m[0].Completed {
				t.Fatalf("motions %+v", m)
			}
			if again := b.accept(moveTo("p/x/1", "안방")); again.TerminalEvent == nil {
				t.Fatalf("sent again: %+v", again)
			}
		})
	}
}

// The other half of that moment: the outbox has the event, and the robot dies before it noted so. It tells it again
// under the same key, and the outbox adds nothing (law 7).
func TestLaw07CrashBetweenOutboxAndNote(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"QUEUED", "STARTED", "COMPLETED"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.box.after = func(told string) {
				if told == name {
					b.box.after = nil
					panic(powerCut{})
				}
			}
			b.crashing(func() {
				b.accept(moveTo("p/x/1", "안방"))
				b.until("p/x/1", "COMPLETED")
			})
			b.until("p/x/1", "COMPLETED")
			told := slices.DeleteFunc(b.box.names("p/x/1"), func(n string) bool { return n == "RUNNING" })
			if !slices.Equal(told, []string{"QUEUED", "STARTED", "COMPLETED"}) {
				t.Fatalf("told %v", b.box.names("p/x/1"))
			}
			b.wantEffects("p/x/1", 1)
		})
	}
}

// A restarted robot goes on from where it was stored, not from the start, and keeps its queue.
func TestRestartGoesOnFromThePersistedPosition(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/x/1", "안방"))
	b.accept(moveTo("p/y/1", "부엌"))
	b.pass(8 * time.Second)
	before := b.status("p/x/1").Progress
	b.cut()
	after := b.status("p/x/1")
	if after.Status != "RUNNING" || after.Progress > before || after.Progress < before-0.05 {
		t.Fatalf("progress %v before, %v after", before, after)
	}
	if b.status("p/y/1").Status != "QUEUED" {
		t.Fatal("the queue is gone")
	}
	b.until("p/y/1", "COMPLETED")
	b.wantEffects("p/x/1", 1)
	b.wantEffects("p/y/1", 1)
	if m := b.motions("p/x/1"); len(m) != 1 || m[0].Resumed != 1 {
		t.Fatalf("motions %+v", m)
	}
	if running := b.box.last("p/x/1", "RUNNING"); running == nil || running["boot_id"] != "boot2" {
		t.Fatalf("the restart went by without a word: %v", running)
	}
}

// The outbox may be unable to take anything for a while: nothing is lost, and nothing told twice.
func TestLaw19OutboxAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.box.fail = errors.New("disk full")
	b.accept(moveTo("p/x/1", "안방"))
	b.pass(time.Minute)
	s := b.status("p/x/1")
	if s.Status != "COMPLETED" || s.TerminalEvent == nil || len(b.box.events) != 0 {
		t.Fatalf("status %+v after %d events", s, len(b.box.events))
	}
	if _, err := wire.ParseStatusAnswer(encode(t, s)); err != nil {
		t.Fatalf("the answer cannot be read: %v", err)
	}
	b.box.fail = nil
	b.pass(50 * time.Millisecond)
	if got := b.box.names("p/x/1"); !slices.Equal(got, []string{"QUEUED", "STARTED", "COMPLETED"}) {
		t.Fatalf("told %v", got)
	}
}

// What is wrong with events, each as a gateway will see it.
func TestEventFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault Fault
		want  []string
		after []string // once released
	}{
		{fault: Fault{Kind: FaultDropEvent, Event: "COMPLETED"}, want: []string{"QUEUED", "STARTED"}, after: []string{"QUEUED", "STARTED"}},
		{fault: Fault{Kind: FaultDuplicateEvent, Event: "COMPLETED"}, want: []string{"QUEUED", "STARTED", "COMPLETED", "COMPLETED"}},
		{fault: Fault{Kind: FaultDuplicateEvent, Times: -1}, want: []string{"QUEUED", "QUEUED", "STARTED", "STARTED", "COMPLETED", "COMPLETED"}},
		{fault: Fault{Kind: FaultReorderEvent, Event: "STARTED"}, want: []string{"QUEUED", "COMPLETED", "STARTED"}},
		{fault: Fault{Kind: FaultReorderEvent, Event: "QUEUED"}, want: []string{"STARTED", "QUEUED", "COMPLETED"}},
		{fault: Fault{Kind: FaultHoldEvent, Event: "COMPLETED"}, want: []string{"QUEUED", "STARTED"}, after: []string{"QUEUED", "STARTED", "COMPLETED"}},
		{fault: Fault{Kind: FaultHoldEvent, Event: "COMPLETED", DurationMs: 5_000}, want: []string{"QUEUED", "STARTED", "COMPLETED"}},
	} {
		t.Run(string(c.fault.Kind)+" "+c.fault.Event, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			f := b.fault(c.fault)
			b.accept(moveTo("p/x/1", "안방"))
			b.pass(time.Minute)
			if got := b.box.names("p/x/1"); !slices.Equal(got, c.want) {
				t.Fatalf("told %v, want %v", got, c.want)
			}
			// Asking brings the truth to light, whatever was told, in a form that can be read.
			s := b.status("p/x/1")
			if s.Status != "COMPLETED" || s.TerminalEvent == nil {
				t.Fatalf("status %+v", s)
			}
			if _, err := wire.ParseStatusAnswer(encode(t, s)); err != nil {
				t.Fatalf("the answer cannot be read: %v", err)
			}
			if c.after != nil {
				b.release(f)
				b.pass(50 * time.Millisecond)
				if got := b.box.names("p/x/1"); !slices.Equal(got, c.after) {
					t.Fatalf("released, told %v, want %v", got, c.after)
				}
			}
			b.wantEffects("p/x/1", 1)
		})
	}
}

// A copy is a second event of the same content, with its own number; ids are never shared.
func TestDuplicateEventHasANumberOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fault(Fault{Kind: FaultDuplicateEvent, Event: "COMPLETED"})
	b.accept(moveTo("p/x/1", "안방"))
	b.until("p/x/1", "COMPLETED")
	var ids []any
	for _, e := range b.box.events {
		if e.payload["event_name"] == "COMPLETED" {
			ids = append(ids, e.payload["event_id"])
		}
	}
	if len(ids) != 2 || ids[0] == ids[1] {
		t.Fatalf("ids %v", ids)
	}
	if s := b.status("p/x/1"); s.TerminalEvent.EventID != ids[0] {
		t.Fatalf("the stored terminal is %s, the first told was %v", s.TerminalEvent.EventID, ids[0])
	}
}

func TestRefuseFaultCountsAndFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fault(Fault{Kind: FaultRefuse, RoomID: "6", Times: 2})
	b.fault(Fault{Kind: FaultRefuse, Method: "speak", ReasonCode: "DEVICE_BUSY"})
	b.accept(moveTo("p/other/1", "부엌"))
	for i, want := range []string{ReasonMovePolicy, ReasonMovePolicy, ""} {
		a := b.submit(moveTo("p/move/"+string(rune('1'+i)), "안방"))
		if a.ReasonCode != want {
			t.Fatalf("try %d: %+v, want %q", i+1, a, want)
		}
		if want != "" && !*a.RequiresCloudDecision {
			t.Fatalf("policy needs a decision: %+v", a)
		}
	}
	if a := b.submit(task("p/say/1", "speak", map[string]any{"text": "안녕"})); a.ReasonCode != "DEVICE_BUSY" {
		t.Fatalf("%+v", a)
	}
}

// Case c01 and c03: the work is done, the answer never sent, or sent only after COMPLETED.
func TestCaseC01C03AnswerFaults(t *testing.T) {
	t.Parallel()
	t.Run("dropped", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.fault(Fault{Kind: FaultDropAnswer})
		ctx, giveUp := context.WithCancel(t.Context())
		answered := make(chan error, 1)
		go func() {
			_, err := b.Invoke(ctx, wire.CommandSubmitTask, encode(t, moveTo("p/x/1", "안방")))
			answered <- err
		}()
		if err := b.await(t.Context(), func() bool { return len(b.faults.list) == 1 && b.faults.list[0].Hits == 1 }); err != nil {
			t.Fatal(err)
		}
		b.until("p/x/1", "COMPLETED")
		select {
		case err := <-answered:
			t.Fatalf("it was answered: %v", err)
		default:
		}
		giveUp()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Fatalf("answered %v", err)
		}
		b.wantEffects("p/x/1", 1)
		b.accept(moveTo("p/x/1", "안방")) // the next answer is sent
	})
	t.Run("after COMPLETED", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.fault(Fault{Kind: FaultDelayAnswer})
		answered := make(chan any, 1)
		go func() {
			a, err := b.Invoke(t.Context(), wire.CommandSubmitTask, encode(t, moveTo("p/x/1", "안방")))
			if err != nil {
				a = err
			}
			answered <- a
		}()
		if err := b.await(t.Context(), func() bool { return len(b.faults.list) == 1 && b.faults.list[0].Hits == 1 }); err != nil {
			t.Fatal(err)
		}
		select {
		case a := <-answered:
			t.Fatalf("answered before COMPLETED: %+v", a)
		default:
		}
		b.until("p/x/1", "COMPLETED")
		if a, ok := (<-answered).(wire.SubmitAnswer); !ok || !a.Accepted || a.TaskState != "QUEUED" {
			t.Fatalf("answer %+v", a)
		}
	})
}

func TestFaultsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, f := range []Fault{{}, {Kind: "gremlin"}, {Kind: FaultHold, At: at(2)}, {Kind: FaultCrash}, {Kind: FaultLoseStore},
		{Kind: FaultDropTask}, {Kind: FaultDropTask, At: at(0.5), Event: "COMPLETED"}, {Kind: FaultClock}, {Kind: FaultSlow, DelayMs: -1}, {Kind: FaultSilence, Source: "location"}} {
		if _, err := b.AddFault(f); !errors.Is(err, ErrFault) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if err := b.ReleaseFault("f9"); !errors.Is(err, ErrFault) {
		t.Errorf("release: %v", err)
	}
	if _, err := b.AwaitFault(t.Context(), "f9", 1); !errors.Is(err, ErrFault) {
		t.Errorf("await: %v", err)
	}
}

// A hold waits for its moment, keeps the robot still, and lets go; tests drive it without a sleep.
func TestHoldAndRelease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := b.fault(Fault{Kind: FaultHold, Method: "setMoveTo", At: at(0.5)})
	b.accept(moveTo("p/x/1", "안방"))
	b.pass(30 * time.Second)
	if struck, err := b.AwaitFault(t.Context(), f, 1); err != nil || struck.Hits != 1 {
		t.Fatalf("%+v, %v", struck, err)
	}
	before := b.World()
	if p := b.status("p/x/1").Progress; p < 0.5 || p > 0.55 {
		t.Fatalf("held at %v", p)
	}
	b.pass(30 * time.Second)
	if w := b.World(); w.X != before.X || w.MovedAt != before.MovedAt {
		t.Fatal("it moved while held")
	}
	b.release(f)
	b.until("p/x/1", "COMPLETED")
	b.wantEffects("p/x/1", 1)
}
