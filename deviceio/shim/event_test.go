package shim

import (
	"errors"
	"testing"
	"time"

	"errand/deviceio/wire"
)

func TestEventsCarryTheOperationAndTheWholeTrace(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	a, vt := b.accept("p/move/1")
	b.becomes(vt, wire.TaskStarted, wire.TaskCompleted)
	b.wantTold("p/move/1", "STARTED", "COMPLETED")
	e := b.box.last("p/move/1", "COMPLETED")
	if e.TaskID != a.TaskID || e.CloudOutputKey != "out" || e.CloudPlanID != "p" || e.TaskMethod != "setMoveTo" || e.Result["area_id"] != "6" {
		t.Fatalf("%+v", e)
	}
}

func TestLaw07And10EventsTwiceLateAndContradicting(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	b.becomes(vt, wire.TaskStarted, wire.TaskStarted, wire.TaskBlocked, wire.TaskRunning, wire.TaskBlocked)
	b.wantTold("p/move/1", "STARTED", "BLOCKED", "RUNNING", "BLOCKED")
	b.becomes(vt, wire.TaskCompleted)
	if got := b.event(b.vendor.tell(vt)); got.Note != noteDuplicate || !got.Recorded {
		t.Fatalf("twice: %+v", got)
	}
	b.restart()
	if got := b.becomes(vt, wire.TaskRunning); got.Note != noteLate {
		t.Fatalf("late: %+v", got)
	}
	b.becomes(vt, wire.TaskFailed)
	b.wantTold("p/move/1", "STARTED", "BLOCKED", "RUNNING", "BLOCKED", "COMPLETED", "FAILED") // the second end is on record
	b.wantStatus("p/move/1", "COMPLETED")
}

// Law 8: an event overtakes the answer to its submit.
func TestLaw08AnEventBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for name, noTrace := range map[string]bool{"with a trace": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fresh(t)
			b.vendor.speakFirst, b.vendor.noTrace = true, noTrace
			b.accept("p/move/1")
			b.wantTold("p/move/1", "STARTED")
		})
	}
}

// Law 6: somebody pressed a button on the device.
func TestLaw06AnEventOfATaskThatNobodySubmitted(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	got := b.event(map[string]any{"event_name": "COMPLETED", "task_id": "button-1", "task_method": "setMoveTo", "timestamp": 1})
	if got.Note != noteForeign || got.OperationID != "" {
		t.Fatalf("%+v", got)
	}
	if e := b.box.events[0]; e.OperationID != "" || e.CloudWorkflowID != "" || e.TaskID != "button-1" {
		t.Fatalf("%+v", e)
	}
	b.wantStatus("p/move/1", "QUEUED")
	// One that claims our step under another task id is not ours either: the task id is known.
	e := b.vendor.tell(vt)
	e["task_id"], e["eventName"] = "t77", "COMPLETED"
	if got := b.event(e); got.OperationID != "" {
		t.Fatalf("%+v", got)
	}
	b.wantTold("p/move/1")
}

// Law 6: the vendor restarted and counts from the beginning again.
func TestLaw06AVendorThatGivesATaskIDOutAgain(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	b.accept("p/move/1")
	b.vendor.tasks[0].id = "gone"
	b.vendor.life++
	_, second := b.accept("q/move/1")
	second.id = "t1" // as it would have been
	b.vendor.life = second.life
	b.memory.operations["q/move/1"].VendorID = "t1"
	b.becomes(second, wire.TaskCompleted)
	b.wantTold("q/move/1", "COMPLETED")
	b.pass(10 * time.Second)
	b.wantStatus("p/move/1", wire.TaskUnknown)
}

func TestEventsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	for text, path := range map[string]string{
		`{"eventName":"DONE","task_id":"t1"}`:                        "event_name",
		`{"eventName":"COMPLETED","task_id":"t1","progress":100}`:    "progress",
		`{"eventName":"COMPLETED","event_name":"FAILED"}`:            "event_name",
		`{"eventName":"UNKNOWN","task_id":"t1"}`:                     "event_name",
		`{"eventName":"COMPLETED","task_id":"t1","timestamp":"now"}`: "timestamp",
		`[]`: "", `{`: "",
	} {
		_, err := b.Event(t.Context(), []byte(text))
		var refused *wire.RefusedEvent
		if !errors.As(err, &refused) || len(refused.Faults) == 0 || path != "" && refused.Faults[0].Path != path {
			t.Errorf("%s: %v, want a fault at %q", text, err, path)
		}
	}
	if len(b.box.events) != 0 {
		t.Errorf("told %+v", b.box.events)
	}
}

// Law 19: a full outbox loses nothing that the vendor told.
func TestLaw19AFullOutboxIsToldLater(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	b.box.full = true
	if got := b.becomes(vt, wire.TaskStarted, wire.TaskCompleted); !got.Recorded {
		t.Fatalf("%+v", got)
	}
	if a := b.wantStatus("p/move/1", "COMPLETED"); a.TerminalEvent == nil || a.TerminalEvent.EventID == "" {
		t.Fatalf("%+v", a)
	}
	b.restart()
	b.box.full = false
	b.pass(time.Second)
	b.wantTold("p/move/1", "STARTED", "COMPLETED")
}
