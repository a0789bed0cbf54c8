package robot

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"errand/deviceio/wire"
)

// invoke asks as the gateway does, and returns the answer as it goes over the wire.
func (b *bench) invoke(command string, params any) json.RawMessage {
	b.t.Helper()
	answer, err := b.Invoke(b.t.Context(), command, encode(b.t, params))
	if err != nil {
		b.t.Fatalf("%s: %v", command, err)
	}
	return encode(b.t, answer)
}

func (b *bench) invokeStatus(operation string) json.RawMessage {
	b.t.Helper()
	return b.invoke(wire.CommandTaskStatus, wire.StatusQuery{OperationID: operation})
}

// A lying status: RUNNING for ever though it is done, or a word that is none.
func TestLieStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ status, want string }{{"", "RUNNING"}, {"DONE-ISH", "DONE-ISH"}} {
		b := newBench(t)
		f := b.fault(Fault{Kind: FaultLieStatus, Status: c.status, Times: -1})
		b.accept(moveTo("p/x/1", "안방"))
		b.until("p/x/1", "COMPLETED")
		for range 3 {
			var a wire.StatusAnswer
			if err := json.Unmarshal(b.invokeStatus("p/x/1"), &a); err != nil || a.Status != c.want || a.TerminalEvent != nil || !a.Found {
				t.Fatalf("%+v, %v", a, err)
			}
		}
		if a, err := wire.ParseStatusAnswer(b.invokeStatus("p/never/1")); err != nil || a.Found {
			t.Fatalf("it lies about what it does not know: %+v, %v", a, err)
		}
		b.release(f)
		if a, err := wire.ParseStatusAnswer(b.invokeStatus("p/x/1")); err != nil || a.Status != "COMPLETED" || a.TerminalEvent == nil {
			t.Fatalf("the truth: %+v, %v", a, err)
		}
	}
}

// Nonsense in place of an answer; what was asked for is done all the same.
func TestNonsenseAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fault(Fault{Kind: FaultNonsense})
	b.fault(Fault{Kind: FaultNonsense, Command: wire.CommandCancelTask, Answer: json.RawMessage(`{"accepted":"maybe","case":7}`)})
	if got := b.invoke(wire.CommandSubmitTask, moveTo("p/x/1", "안방")); string(got) != `"yes"` {
		t.Fatalf("answered %s", got)
	}
	b.pass(time.Second)
	if got := b.invoke(wire.CommandCancelTask, wire.CancelQuery{OperationID: "p/x/1", Reason: "no"}); string(got) != `{"accepted":"maybe","case":7}` {
		t.Fatalf("answered %s", got)
	}
	b.until("p/x/1", "CANCELLED")
	b.wantEffects("p/x/1", 0)
	if a, err := wire.ParseSubmitAnswer(b.invoke(wire.CommandSubmitTask, moveTo("p/x/1", "안방"))); err != nil || a.TaskState != "CANCELLED" {
		t.Fatalf("it strikes once: %+v, %v", a, err)
	}
}

// A mixed up answer is about another operation, and strikes only once there is another.
func TestMixedUpAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, command := range []string{wire.CommandSubmitTask, wire.CommandTaskStatus, wire.CommandCancelTask} {
		b.fault(Fault{Kind: FaultMixUp, Command: command})
	}
	first, err := wire.ParseSubmitAnswer(b.invoke(wire.CommandSubmitTask, moveTo("p/x/1", "안방")))
	if err != nil || !first.Accepted {
		t.Fatalf("%+v, %v", first, err)
	}
	b.until("p/x/1", "COMPLETED")
	second, err := wire.ParseSubmitAnswer(b.invoke(wire.CommandSubmitTask, moveTo("p/y/1", "부엌")))
	if err != nil || second.TaskID != first.TaskID || second.TerminalEvent == nil || second.TerminalEvent.OperationID != "p/x/1" {
		t.Fatalf("submit: %+v, %v", second, err)
	}
	b.pass(time.Second)
	s, err := wire.ParseStatusAnswer(b.invokeStatus("p/y/1"))
	if err != nil || s.Status != "COMPLETED" || s.TerminalEvent.OperationID != "p/x/1" {
		t.Fatalf("status: %+v, %v", s, err)
	}
	c, err := wire.ParseCancelAnswer(b.invoke(wire.CommandCancelTask, wire.CancelQuery{OperationID: "p/y/1", Reason: "no"}))
	if err != nil || c.Case != wire.CaseAlreadyCompleted || c.OperationID != "p/x/1" {
		t.Fatalf("cancel: %+v, %v", c, err)
	}
	b.until("p/y/1", "CANCELLED") // it was carried out
	b.wantEffects("p/x/1", 1)
	b.wantEffects("p/y/1", 0)
}

// Slow: the answer comes once its time has come, and the events later than they came about, in their order.
func TestSlow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fault(Fault{Kind: FaultSlow, DelayMs: 30_000, Times: -1})
	answered := make(chan any, 1)
	go func() {
		a, err := b.Invoke(t.Context(), wire.CommandSubmitTask, encode(t, moveTo("p/x/1", "안방")))
		if err != nil {
			a = err
		}
		answered <- a
	}()
	if err := b.await(t.Context(), func() bool { return b.faults.late == 1 }); err != nil {
		t.Fatal(err)
	}
	b.pass(29 * time.Second)
	select {
	case a := <-answered:
		t.Fatalf("answered early: %+v", a)
	default:
	}
	if got := b.box.names("p/x/1"); got != nil {
		t.Fatalf("told early: %v", got)
	}
	b.pass(2 * time.Second)
	if a, ok := (<-answered).(wire.SubmitAnswer); !ok || !a.Accepted {
		t.Fatalf("answered %+v", a)
	}
	completed := b.until("p/x/1", "COMPLETED")
	if got := b.box.names("p/x/1"); !slices.Equal(got, []string{"QUEUED", "STARTED", "COMPLETED"}) {
		t.Fatalf("told %v", got)
	}
	if late := b.clock.Now().UnixMilli() - stamp(completed); late < 30_000 || late > 30_200 {
		t.Fatalf("told %d ms after it came about", late)
	}
}

// A wrong clock: everything told of time is off; what was promised for a while, and the world, are not.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	hour := int64(3_600_000)
	for name, c := range map[string]struct {
		fault Fault
		off   int64
	}{
		"fast":               {Fault{Kind: FaultClock, OffsetMs: hour}, hour},
		"slow":               {Fault{Kind: FaultClock, OffsetMs: -hour}, -hour},
		"steps back":         {Fault{Kind: FaultClock, OffsetMs: -hour, At: at(0.5)}, -hour},
		"steps at the start": {Fault{Kind: FaultClock, OffsetMs: hour, Event: "STARTED"}, hour},
		"never set":          {Fault{Kind: FaultClock, OffsetMs: -benchStart.UnixMilli()}, -benchStart.UnixMilli()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			f := b.fault(c.fault)
			b.accept(task("p/x/1", "setStationaryPurify", map[string]any{"area_id": "6"}))
			completed := b.until("p/x/1", "COMPLETED")
			now := b.clock.Now().UnixMilli()
			if off := stamp(completed) - now; off < c.off-1000 || off > c.off+1000 {
				t.Errorf("COMPLETED is stamped %d ms off, want %d", off, c.off)
			}
			b.pass(2 * time.Second)
			now = b.clock.Now().UnixMilli()
			seen := b.Context()
			if seen.SnapshotTS != now+c.off || seen.Freshness[sourceBattery].ObservedAt < seen.SnapshotTS-2000 || !seen.Freshness[sourceBattery].Usable {
				t.Errorf("the context is of %d, the battery's freshness %+v", seen.SnapshotTS-now, seen.Freshness[sourceBattery])
			}
			if at := seen.AirQuality.Rooms["6"].PurifiedAt; at != stamp(completed) {
				t.Errorf("purified at %d, completed at %d", at, stamp(completed))
			}
			if e := b.effects("p/x/1"); len(e) != 1 || e[0].At < benchStart.UnixMilli() || e[0].At > now {
				t.Errorf("the ledger follows the wrong clock: %+v", e)
			}
			b.release(f)
			if seen := b.Context(); seen.SnapshotTS != now {
				t.Errorf("set right, it is %d ms off", seen.SnapshotTS-now)
			}
		})
	}
}
