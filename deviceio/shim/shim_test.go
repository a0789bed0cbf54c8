package shim

import (
	"errors"
	"strings"
	"testing"
	"time"

	"errand/deviceio/wire"
)

func TestLaw11TheSameOperationAgainMovesNothing(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	first, vt := b.accept("p/move/1")
	for _, restart := range []bool{false, true} {
		if restart {
			b.restart()
		}
		if again, _ := b.accept("p/move/1"); again.TaskID != first.TaskID || again.StoreID != first.StoreID {
			t.Fatalf("first %+v, again %+v", first, again)
		}
	}
	b.becomes(vt, wire.TaskCompleted)
	b.restart()
	again, _ := b.accept("p/move/1")
	if again.TaskID != first.TaskID || again.TerminalEvent == nil || again.TerminalEvent.EventName != "COMPLETED" || again.TerminalEvent.EventID != b.box.last("p/move/1", "COMPLETED").EventID {
		t.Fatalf("%+v", again)
	}
	b.wantSubmits("p/move/1", 1)
}

func TestLaw11ALowerGenerationIsRefusedAndAnOlderOneThatRunsKeepsTheNextAway(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	if a, err := b.submit("p/move/2"); err != nil || a.Accepted || a.ReasonCode != ReasonGenerationAlive {
		t.Fatalf("beside the first: %+v, %v", a, err)
	}
	b.becomes(vt, wire.TaskFailed)
	b.accept("p/move/3")
	b.restart()
	if a, err := b.submit("p/move/2"); err != nil || a.Accepted {
		t.Fatalf("refused once, and after a restart: %+v, %v", a, err)
	}
	if a, err := b.submit("q/move/1"); err != nil || !a.Accepted {
		t.Fatalf("another plan: %+v, %v", a, err)
	}
	b.wantSubmits("p/move/2", 0)
}

func TestARefusalIsRemembered(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	decide := true
	b.vendor.refuse = &wire.Reason{ReasonCode: "BATTERY_LOW", RequiresCloudDecision: &decide}
	for range 2 { // the second time, the battery is full
		if a, err := b.submit("p/move/1"); err != nil || a.Accepted || a.ReasonCode != "BATTERY_LOW" {
			t.Fatalf("%+v, %v", a, err)
		}
		b.restart()
	}
	b.wantSubmits("p/move/1", 0)
	if a, err := b.status("p/move/1"); err != nil || a.Found || a.ReasonCode != "BATTERY_LOW" {
		t.Fatalf("%+v, %v", a, err)
	}
}

func TestCancelOfTheUnknownLeavesATombstone(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	c, err := b.Cancel(t.Context(), wire.CancelQuery{OperationID: "p/move/1", Reason: "changed my mind"})
	if err != nil || !c.Accepted || c.Case != wire.CaseUnknownTombstoned || c.StoreID != b.StoreID() {
		t.Fatalf("%+v, %v", c, err)
	}
	b.restart()
	if a, err := b.submit("p/move/1"); err != nil || a.Accepted || a.ReasonCode != ReasonTombstoned {
		t.Fatalf("%+v, %v", a, err)
	}
	b.wantSubmits("p/move/1", 0)
}

// Law 9: the submit went out, the answer did not come back.
func TestLaw09ALostAnswerIsLookedForAmongTheVendorsTasks(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	b.vendor.loseSubmit = true
	if _, err := b.submit("p/move/1"); err == nil {
		t.Fatal("the shim answers though it knows nothing")
	}
	b.restart()
	a := b.wantStatus("p/move/1", "QUEUED")
	again, vt := b.accept("p/move/1")
	if again.TaskID != a.TaskID {
		t.Fatalf("%+v, %+v", a, again)
	}
	b.becomes(vt, wire.TaskCompleted)
	b.wantTold("p/move/1", "COMPLETED")
	b.wantSubmits("p/move/1", 1)
}

// Law 9: it ran and ended while the shim was dead, and the vendor knows nothing of it any more.
func TestLaw09WhatNobodyCanTellIsUnknown(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	b.vendor.loseSubmit = true
	if _, err := b.submit("p/move/1"); err == nil {
		t.Fatal("the shim answers though it knows nothing")
	}
	b.vendor.move(b.vendor.of("p/move/1")[0], wire.TaskCompleted) // told to nobody
	b.restart()
	if a, err := b.status("p/move/1"); err == nil {
		t.Fatalf("it may still be under way, and the shim says %+v", a)
	}
	b.pass(20 * time.Second)
	a := b.wantStatus("p/move/1", wire.TaskUnknown)
	if a.ReasonCode != ReasonOutcomeUnknown || a.TerminalEvent != nil {
		t.Fatalf("%+v", a)
	}
	again, err := b.submit("p/move/1")
	if err != nil || !again.Accepted || again.TaskState != wire.TaskUnknown || again.TaskID != a.TaskID {
		t.Fatalf("%+v, %v", again, err)
	}
	b.wantTold("p/move/1", wire.TaskUnknown)
	b.wantSubmits("p/move/1", 1)
}

// What the vendor surely never got may be sent again, and the shim says so by not knowing it.
func TestLaw09WhatWasNeverDeliveredIsNotFound(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	b.vendor.neverSent = true
	var no *wire.InvokeError
	if _, err := b.submit("p/move/1"); !errors.As(err, &no) || no.Code != wire.InvokeUnavailable {
		t.Fatalf("%v", err)
	}
	if a, err := b.status("p/move/1"); err != nil || a.Found || a.StoreID != b.StoreID() {
		t.Fatalf("%+v, %v", a, err)
	}
	b.accept("p/move/1")
	b.wantSubmits("p/move/1", 1)
}

// While the vendor is silent, nothing is said of what it does.
func TestLaw09ASilentVendorIsNoAnswer(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	b.becomes(vt, wire.TaskStarted)
	b.vendor.silent = true
	b.pass(time.Minute)
	if a, err := b.status("p/move/1"); err == nil {
		t.Fatalf("%+v", a)
	}
	b.vendor.silent = false
	b.wantStatus("p/move/1", "STARTED")
}

// Case c08, law 19: the vendor restarts and reports idle. Its task is not running for ever.
func TestLaw19CaseC08ATaskThatTheVendorLost(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	b.becomes(vt, wire.TaskStarted)
	b.vendor.life++
	if a, err := b.status("p/move/1"); err == nil {
		t.Fatalf("its last event may be on its way, and the shim says %+v", a)
	}
	b.pass(5 * time.Second)
	if a := b.wantStatus("p/move/1", wire.TaskUnknown); a.ReasonCode != ReasonTaskLost {
		t.Fatalf("%+v", a)
	}
	b.wantTold("p/move/1", "STARTED", wire.TaskUnknown)
	b.accept("p/move/2") // a person declared the first dead
	b.wantSubmits("p/move/2", 1)
}

// Law 10: the end comes late, after the shim had given up.
func TestLaw10LateTruthEndsTheUnknown(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	b.vendor.move(vt, wire.TaskCompleted)
	b.pass(10 * time.Second)
	b.wantStatus("p/move/1", wire.TaskUnknown)
	b.restart()
	b.event(b.vendor.tell(vt))
	a := b.wantStatus("p/move/1", "COMPLETED")
	if a.TerminalEvent == nil || a.TerminalEvent.Result["area_id"] != "6" {
		t.Fatalf("%+v", a)
	}
	b.wantTold("p/move/1", wire.TaskUnknown, "COMPLETED")
}

// A task that nobody was told about is told by the shim, where the vendor still has it.
func TestLaw19AnEndThatWasToldToNobodyIsAskedFor(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	b.vendor.keeps = true
	_, vt := b.accept("p/move/1")
	b.vendor.move(vt, wire.TaskCompleted)
	if a := b.wantStatus("p/move/1", "COMPLETED"); a.TerminalEvent != nil {
		t.Fatalf("the event may be on its way: %+v", a)
	}
	b.pass(5 * time.Second)
	if a := b.wantStatus("p/move/1", "COMPLETED"); a.TerminalEvent == nil || a.TerminalEvent.Result["area_id"] != "6" {
		t.Fatalf("%+v", a)
	}
	b.wantTold("p/move/1", "COMPLETED")
}

// A BLOCKED that was lost is told when the vendor says so, once.
func TestLaw19ABlockThatWasToldToNobodyIsAskedFor(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	b.becomes(vt, wire.TaskStarted)
	b.vendor.move(vt, wire.TaskBlocked)
	b.pass(10 * time.Second)
	b.becomes(vt, wire.TaskRunning)
	b.wantTold("p/move/1", "STARTED", "BLOCKED", "RUNNING")
}

func TestLaw15Cancel(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	ask := func() wire.CancelAnswer {
		c, err := b.Cancel(t.Context(), wire.CancelQuery{OperationID: "p/move/1", Reason: "stop"})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range 2 { // the second is no second order (case c05)
		if c := ask(); !c.Accepted || c.Case != wire.CaseCancelling {
			t.Fatalf("%+v", c)
		}
	}
	if b.vendor.cancels != 1 {
		t.Fatalf("the vendor was told %d times", b.vendor.cancels)
	}
	b.becomes(vt, wire.TaskCompleted) // it got there first (case c06)
	if c := ask(); c.Accepted || c.Case != wire.CaseAlreadyCompleted || c.TerminalEvent == nil {
		t.Fatalf("%+v", c)
	}
	_, vt = b.accept("p/other/1")
	b.vendor.stubborn = true
	c, err := b.Cancel(t.Context(), wire.CancelQuery{OperationID: "p/other/1", Reason: "stop"})
	if err != nil || c.Accepted || c.Case != wire.CaseRefused || c.ReasonCode != "CANCEL_NOT_POSSIBLE" {
		t.Fatalf("%+v, %v", c, err)
	}
	b.vendor.stubborn = false
	if c, err := b.Cancel(t.Context(), wire.CancelQuery{OperationID: "p/other/1", Reason: "stop"}); err != nil || !c.Accepted {
		t.Fatalf("%+v, %v", c, err)
	}
	b.becomes(vt, wire.TaskCancelled)
	if e := b.box.last("p/other/1", "CANCELLED"); e.ReasonCode != ReasonCancelRequested || e.ReasonParams["reason"] != "stop" {
		t.Fatalf("%+v", e)
	}
}

// Law 15: a cancel of what cannot be named yet reaches the vendor as soon as it can be.
func TestLaw15ACancelOfALostSubmitIsKept(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	b.vendor.loseSubmit = true
	if _, err := b.submit("p/move/1"); err == nil {
		t.Fatal("the shim answers though it knows nothing")
	}
	b.vendor.silent = true
	c, err := b.Cancel(t.Context(), wire.CancelQuery{OperationID: "p/move/1", Reason: "stop"})
	if err != nil || c.Case != wire.CaseCancelling || c.State != wire.TaskUnknown {
		t.Fatalf("%+v, %v", c, err)
	}
	b.restart()
	b.vendor.silent = false
	b.pass(time.Second)
	if b.vendor.cancels != 1 {
		t.Fatalf("the vendor was told %d times", b.vendor.cancels)
	}
}

// Old intentions do not move robots, whatever the vendor knows of ttl; and no task runs for ever.
func TestLaw18TTLAndTimeoutAreKeptForTheVendor(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, waits := b.accept("p/wait/1")
	b.pass(35 * time.Second)
	if b.vendor.cancels != 1 {
		t.Fatalf("told %d times to cancel", b.vendor.cancels)
	}
	b.becomes(waits, wire.TaskCancelled)
	if got := b.event(b.vendor.tell(waits)); got.Note != noteDuplicate {
		t.Fatalf("%+v", got)
	}
	b.wantTold("p/wait/1", "QUEUED", "FAILED") // that it waits, the shim found by asking
	if e := b.box.last("p/wait/1", "FAILED"); e.ReasonCode != ReasonTaskExpired {
		t.Fatalf("%+v", e)
	}
	_, runs := b.accept("p/run/1")
	b.becomes(runs, wire.TaskStarted)
	b.pass(65 * time.Second)
	b.becomes(runs, wire.TaskCancelled)
	if e := b.box.last("p/run/1", "TIMED_OUT"); e.ReasonCode != ReasonTaskTimedOut {
		t.Fatalf("%+v", b.box.events)
	}
}

func TestSubmitsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	for name, c := range map[string]struct {
		change func(*wire.Task)
		code   string
	}{
		"no operation id":  {func(w *wire.Task) { w.OperationID = "" }, ReasonMissingParameter},
		"an ill-formed id": {func(w *wire.Task) { w.OperationID = "p/move/01" }, ReasonInvalidParameter},
		"no method":        {func(w *wire.Task) { w.TaskMethod = "" }, ReasonMissingParameter},
		"a revision":       {func(w *wire.Task) { w.ExpectedRevision = "w1" }, ReasonInvalidParameter},
	} {
		w := task("p/" + strings.ReplaceAll(name, " ", "_") + "/1")
		c.change(&w)
		a, err := b.Submit(t.Context(), w)
		if err != nil || a.Accepted || a.ReasonCode != c.code || a.RequiresCloudDecision == nil {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	if len(b.vendor.tasks) != 0 {
		t.Errorf("the vendor got %+v", b.vendor.tasks)
	}
}

// The context lists our operations, by which the cloud finds what still runs.
func TestContextNamesTheOperations(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	a, _ := b.accept("p/move/1")
	seen, err := b.Context(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	area, _ := seen["task_manager"].(map[string]any)
	tasks, _ := area["tasks"].([]any)
	if len(tasks) != 1 {
		t.Fatalf("%+v", area)
	}
	if one, _ := tasks[0].(map[string]any); one["operation_id"] != "p/move/1" || one["task_id"] != a.TaskID {
		t.Fatalf("%+v", tasks)
	}
}

// A vendor that does not say which tasks it has leaves a lost submit open: it may be at work.
func TestLaw09ATaskManagerThatListsNothingLeavesItOpen(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	b.vendor.loseSubmit, b.vendor.forgetful = true, true
	if _, err := b.submit("p/move/1"); err == nil {
		t.Fatal("the shim answers though it knows nothing")
	}
	b.pass(time.Minute)
	if a, err := b.status("p/move/1"); err == nil {
		t.Fatalf("%+v", a)
	}
	b.becomes(b.vendor.tasks[0], wire.TaskCompleted)
	b.wantStatus("p/move/1", "COMPLETED")
}

// What is older than the declared retention is forgotten, and the file with it.
func TestRetention(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	_, vt := b.accept("p/move/1")
	b.becomes(vt, wire.TaskCompleted)
	b.clock = b.clock.Add(Retention + time.Hour)
	if err := b.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.restart()
	if a, err := b.status("p/move/1"); err != nil || a.Found || len(b.memory.fences) != 0 {
		t.Fatalf("%+v, %v", a, err)
	}
}
