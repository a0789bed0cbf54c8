package robot

import (
	"slices"
	"testing"
	"time"

	"errand/deviceio/wire"
)

// Law 15, every state a cancel can meet: the answer's case, the event that follows, and no motion after it.
func TestLaw15CancelInEveryState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spec   wire.Task
		before func(b *bench)
		want   string // case
		state  string
		ends   string // terminal event of the operation
	}{
		{name: "queued", spec: moveTo("p/x/1", "안방"), want: wire.CaseCancelled, state: "CANCELLED", ends: "CANCELLED"},
		{name: "driving", spec: moveTo("p/x/1", "안방"), before: func(b *bench) { b.pass(2 * time.Second) },
			want: wire.CaseCancelling, state: "CANCELLING", ends: "CANCELLED"},
		{name: "cleaning", spec: task("p/x/1", "setRoomCleaning", map[string]any{"position_name": "거실"}),
			before: func(b *bench) { b.pass(2 * time.Second) }, want: wire.CaseCancelled, state: "CANCELLED", ends: "CANCELLED"},
		{name: "blocked", spec: moveTo("p/x/1", "안방"), before: func(b *bench) {
			b.fault(Fault{Kind: FaultBlock, At: at(0.3)})
			b.until("p/x/1", "BLOCKED")
		}, want: wire.CaseCancelled, state: "CANCELLED", ends: "CANCELLED"},
		{name: "held", spec: moveTo("p/x/1", "안방"), before: func(b *bench) {
			b.fault(Fault{Kind: FaultHold, At: at(0.3)})
			b.pass(30 * time.Second)
		}, want: wire.CaseCancelled, state: "CANCELLED", ends: "CANCELLED"},
		{name: "completed", spec: moveTo("p/x/1", "안방"), before: func(b *bench) { b.until("p/x/1", "COMPLETED") },
			want: wire.CaseAlreadyCompleted, state: "COMPLETED", ends: "COMPLETED"},
		{name: "failed", spec: moveTo("p/x/1", "안방"), before: func(b *bench) {
			b.fault(Fault{Kind: FaultFail, At: at(0.3)})
			b.until("p/x/1", "FAILED")
		}, want: wire.CaseAlreadyFailed, state: "FAILED", ends: "FAILED"},
		{name: "cancelled", spec: moveTo("p/x/1", "안방"), before: func(b *bench) { b.cancel("p/x/1") },
			want: wire.CaseAlreadyCancelled, state: "CANCELLED", ends: "CANCELLED"},
		{name: "unstoppable", spec: task("p/x/1", "setSecurityMode", nil), before: func(b *bench) { b.pass(500 * time.Millisecond) },
			want: wire.CaseRefused, state: "RUNNING", ends: "COMPLETED"},
		{name: "hung, ended by its timeout", spec: moveTo("p/x/1", "안방"), before: func(b *bench) {
			b.fault(Fault{Kind: FaultHang, At: at(0.3)})
			b.pass(30 * time.Second)
		}, want: wire.CaseCancelling, state: "CANCELLING", ends: "TIMED_OUT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c.spec.TimeoutMs = 120_000
			b.accept(c.spec)
			if c.before != nil {
				c.before(b)
			}
			a := b.cancel("p/x/1")
			if a.Case != c.want || a.State != c.state || a.OperationID != "p/x/1" || a.TaskID == "" || a.StoreID == "" {
				t.Fatalf("answer %+v, want %s %s", a, c.want, c.state)
			}
			if over := a.TerminalEvent != nil; over != State(a.State).Terminal() {
				t.Fatalf("state %s with terminal event %+v", a.State, a.TerminalEvent)
			}
			b.wantStill(b.until("p/x/1", c.ends))
			ends := 0
			for _, name := range b.box.names("p/x/1") {
				if State(name).Terminal() {
					ends++
				}
			}
			if ends != 1 {
				t.Fatalf("%d terminal events: %v", ends, b.box.names("p/x/1"))
			}
			effects := 0
			if c.ends == "COMPLETED" {
				effects = 1
			}
			b.wantEffects("p/x/1", effects)
		})
	}
}

// Case c05: cancelling twice is cancelling once, and the device is free.
func TestCaseC05SecondCancelIsANoOp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/x/1", "안방"))
	b.pass(2 * time.Second)
	for range 3 {
		if a := b.cancel("p/x/1"); a.Case != wire.CaseCancelling {
			t.Fatalf("%+v", a)
		}
	}
	b.until("p/x/1", "CANCELLED")
	if a := b.cancel("p/x/1"); a.Case != wire.CaseAlreadyCancelled || !a.Accepted {
		t.Fatalf("%+v", a)
	}
	if got := b.box.names("p/x/1"); !slices.Equal(got, []string{"QUEUED", "STARTED", "CANCELLED"}) {
		t.Fatalf("told %v", got)
	}
	b.accept(moveTo("p/y/1", "부엌"))
	b.until("p/y/1", "COMPLETED")
}

// Case c06: the robot was all but there; it says so, with the cancel on record in the answer.
func TestCaseC06CompletionBeatsCancel(t *testing.T) {
	t.Parallel()
	t.Run("rolling over the line", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.accept(moveTo("p/x/1", "안방"))
		for w := b.World(); w.distance(4, -4) > 0.08; w = b.World() { // less than the way it rolls while braking
			b.pass(50 * time.Millisecond)
		}
		if a := b.cancel("p/x/1"); a.Case != wire.CaseCancelling {
			t.Fatalf("%+v", a)
		}
		b.until("p/x/1", "COMPLETED")
		b.wantEffects("p/x/1", 1)
		if a := b.cancel("p/x/1"); a.Case != wire.CaseAlreadyCompleted || a.TerminalEvent.Result["area_id"] != "6" {
			t.Fatalf("%+v", a)
		}
	})
	t.Run("deaf", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.fault(Fault{Kind: FaultDeaf})
		b.accept(moveTo("p/x/1", "안방"))
		b.pass(time.Second)
		if a := b.cancel("p/x/1"); a.Case != wire.CaseCancelling || !a.Accepted {
			t.Fatalf("%+v", a)
		}
		b.until("p/x/1", "COMPLETED")
		b.wantEffects("p/x/1", 1)
	})
}

func TestCancelByTaskID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.accept(moveTo("p/x/1", "안방")).TaskID
	a, err := b.Cancel(t.Context(), wire.CancelQuery{TaskID: id, Reason: "test"})
	if err != nil || a.Case != wire.CaseCancelled || a.OperationID != "p/x/1" {
		t.Fatalf("%+v, %v", a, err)
	}
	// A task id that was never given out names nothing that could still come: there is nothing to bury.
	a, err = b.Cancel(t.Context(), wire.CancelQuery{TaskID: "t-else-9", Reason: "test"})
	if err != nil || a.Case != wire.CaseRefused || a.Accepted || a.ReasonCode != ReasonTaskNotFound {
		t.Fatalf("%+v, %v", a, err)
	}
}

// A cancel while braking survives a restart: the robot still ends cancelled and does not set out again.
func TestLaw15CancelSurvivesARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/x/1", "안방"))
	b.pass(2 * time.Second)
	b.cancel("p/x/1")
	b.cut()
	b.wantStill(b.until("p/x/1", "CANCELLED"))
	b.wantEffects("p/x/1", 0)
}
