package robot

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"errand/deviceio/wire"
)

// send sends a request without waiting for its answer, as the gateway does that gives up on it after a while.
func (b *bench) send(ctx context.Context, command string, params any) <-chan any {
	b.t.Helper()
	answered, body := make(chan any, 1), encode(b.t, params)
	go func() {
		a, err := b.Invoke(ctx, command, body)
		if err != nil {
			a = err
		}
		answered <- a
	}()
	return answered
}

// struck waits until a fault has struck.
func (b *bench) struck(id string) {
	b.t.Helper()
	if _, err := b.AwaitFault(b.t.Context(), id, 1); err != nil {
		b.t.Fatal(err)
	}
}

// Case c05: a submit that never arrives is answered by nobody, and known to nobody.
func TestCaseC05LostRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := b.fault(Fault{Kind: FaultLoseRequest, Method: "setMoveTo"})
	ctx, giveUp := context.WithCancel(t.Context())
	answered := b.send(ctx, wire.CommandSubmitTask, moveTo("p/x/1", "안방"))
	b.struck(f)
	b.pass(time.Minute)
	giveUp()
	if err, ok := (<-answered).(error); !ok {
		t.Fatalf("answered %v", err)
	}
	b.wantEffects("p/x/1", 0)
	if a, err := wire.ParseStatusAnswer(b.invokeStatus("p/x/1")); err != nil || a.Found {
		t.Fatalf("it knows of it: %+v, %v", a, err)
	}
	b.accept(moveTo("p/x/1", "안방")) // it strikes once
	b.until("p/x/1", "COMPLETED")
	b.wantEffects("p/x/1", 1)
}

// A submit that is late is carried out when it arrives, though whoever sent it has given up; its cancel may be there first.
func TestCaseC04LateRequest(t *testing.T) {
	t.Parallel()
	for _, cancelled := range []bool{false, true} {
		b := newBench(t)
		f := b.fault(Fault{Kind: FaultLateRequest, DelayMs: 12_000})
		ctx, giveUp := context.WithCancel(t.Context())
		answered := b.send(ctx, wire.CommandSubmitTask, moveTo("p/x/1", "안방"))
		b.struck(f)
		if err := b.await(t.Context(), func() bool { return b.faults.late == 1 }); err != nil {
			t.Fatal(err)
		}
		b.pass(11 * time.Second)
		if got := b.box.names("p/x/1"); got != nil {
			t.Fatalf("it came early: %v", got)
		}
		giveUp()
		want := []string{"QUEUED", "STARTED", "COMPLETED"}
		if cancelled {
			want = nil
			b.invoke(wire.CommandCancelTask, wire.CancelQuery{OperationID: "p/x/1", Reason: "no"})
		}
		b.pass(2 * time.Second)
		<-answered
		b.pass(5 * time.Minute)
		if got := b.box.names("p/x/1"); !slices.Equal(got, want) {
			t.Errorf("cancelled %t: told %v, want %v", cancelled, got, want)
		}
		b.wantEffects("p/x/1", len(want)/3)
	}
}

// A copy of a submit that comes when the work is done moves nothing.
func TestCaseC04CopiedRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fault(Fault{Kind: FaultCopyRequest, DelayMs: 240_000})
	b.invoke(wire.CommandSubmitTask, moveTo("p/x/1", "안방"))
	b.until("p/x/1", "COMPLETED")
	b.invoke(wire.CommandSubmitTask, moveTo("p/y/1", "부엌"))
	b.until("p/y/1", "COMPLETED")
	if err := b.await(t.Context(), func() bool { return b.faults.late == 1 }); err != nil {
		t.Fatal(err)
	}
	b.clock.pass(4 * time.Minute)
	b.pass(50 * time.Millisecond)
	came := func() bool {
		return slices.ContainsFunc(b.lines, func(line string) bool { return strings.Contains(line, "gets a copy of") })
	}
	if err := b.await(t.Context(), came); err != nil {
		t.Fatal(err)
	}
	b.pass(4 * time.Minute)
	b.wantEffects("p/x/1", 1)
	b.wantEffects("p/y/1", 1)
	if w := b.World(); b.home.RoomAt(w.X, w.Y).Name != "부엌" {
		t.Errorf("the copy brought it to %s", b.home.RoomAt(w.X, w.Y).Name)
	}
}
