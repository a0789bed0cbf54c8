package robot

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Law 11: the same operation id answers the same task id, and the stored terminal event, and moves nothing.
func TestLaw11SameOperationMovesOnce(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"in one life": false, "across a restart": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			first := b.accept(moveTo("p/move/1", "안방"))
			for _, moment := range []string{"QUEUED", "RUNNING", "COMPLETED"} {
				switch moment {
				case "RUNNING":
					b.pass(2 * time.Second)
				case "COMPLETED":
					b.until("p/move/1", "COMPLETED")
				}
				if restart {
					b.cut()
				}
				again := b.accept(moveTo("p/move/1", "안방"))
				if again.TaskID != first.TaskID || again.TaskState != moment || again.StoreID != first.StoreID {
					t.Fatalf("%s: %+v, first %+v", moment, again, first)
				}
				if over := again.TerminalEvent != nil; over != (moment == "COMPLETED") {
					t.Fatalf("%s: terminal event %+v", moment, again.TerminalEvent)
				}
			}
			b.pass(30 * time.Second)
			b.wantEffects("p/move/1", 1)
			if m := b.motions("p/move/1"); len(m) != 1 {
				t.Fatalf("motions %+v", m)
			}
		})
	}
}

// Case c01: the acknowledgement is lost, the cloud asks, sends again; one movement.
func TestCaseC01LostAcknowledgement(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/move/1", "안방")) // its answer never arrives
	b.pass(time.Second)
	if s := b.status("p/move/1"); !s.Found || s.Status != "RUNNING" {
		t.Fatalf("status %+v", s)
	}
	b.accept(moveTo("p/move/1", "안방"))
	b.until("p/move/1", "COMPLETED")
	b.wantEffects("p/move/1", 1)
}

// Case c04: the device refuses a try older than one it has seen, and a new one while an older can still move.
func TestCaseC04GenerationsAreFenced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/move/1", "안방"))
	b.pass(time.Second)
	if a := b.submit(moveTo("p/move/2", "안방")); a.ReasonCode != ReasonGenerationAlive || a.ReasonParams["alive"] != "p/move/1" {
		t.Fatalf("a second performer: %+v", a)
	}
	b.cancel("p/move/1")
	b.until("p/move/1", "CANCELLED")
	b.accept(moveTo("p/move/3", "안방"))
	b.until("p/move/3", "COMPLETED")
	b.accept(moveTo("r/move/3", "부엌"))
	b.until("r/move/3", "COMPLETED")
	b.cut() // the fence is on disk
	for range 2 {
		if a := b.submit(moveTo("r/move/2", "안방")); a.ReasonCode != ReasonStaleGeneration || a.ReasonParams["highest_seen"] != 3 {
			t.Fatalf("an older try after r/move/3: %+v", a)
		}
	}
	if a := b.submit(moveTo("p/move/2", "안방")); a.Accepted { // it was refused once already
		t.Fatalf("an older try after p/move/3: %+v", a)
	}
	b.cancel("q/move/5") // seen, though it never came
	if a := b.submit(moveTo("q/move/4", "부엌")); a.ReasonCode != ReasonStaleGeneration || a.ReasonParams["highest_seen"] != 5 {
		t.Fatalf("stale generation: %+v", a)
	}
	b.accept(moveTo("q/other/1", "부엌")) // another step is another fence
	b.wantEffects("p/move/1", 0)
	b.wantEffects("p/move/3", 1)
}

// A cancel that comes before its submit leaves a tombstone; the delayed submit moves nothing, also after a restart.
func TestLaw15TombstoneRefusesTheDelayedSubmit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 2 {
		if a := b.cancel("p/move/1"); a.Case != "unknown_tombstoned" || !a.Accepted {
			t.Fatalf("cancel: %+v", a)
		}
	}
	b.cut()
	for range 2 {
		a := b.submit(moveTo("p/move/1", "안방"))
		if a.Accepted || a.ReasonCode != ReasonTombstoned || *a.RequiresCloudDecision {
			t.Fatalf("delayed submit: %+v", a)
		}
	}
	if s := b.status("p/move/1"); s.Found || s.ReasonCode != ReasonTombstoned || s.StoreID == "" {
		t.Fatalf("status: %+v", s)
	}
	b.pass(10 * time.Second)
	b.wantEffects("p/move/1", 0)
	if w := b.World(); w.MovedAt != 0 {
		t.Fatal("it moved")
	}
}

// A refusal means that the generation is dead (design §6): a copy of the submit that arrives when the queue has room
// again must not move the robot.
func TestLaw11RefusedStaysRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Home = DefaultHome(); o.Home.QueueLimit = 1 })
	f := b.fault(Fault{Kind: FaultHold})
	b.accept(moveTo("p/a/1", "안방"))
	b.pass(time.Second)
	b.accept(moveTo("p/b/1", "부엌"))
	full := b.submit(moveTo("p/c/1", "서재"))
	if full.ReasonCode != ReasonQueueFull || *full.RequiresCloudDecision || full.Recoverability != "transient" {
		t.Fatalf("queue full: %+v", full)
	}
	b.release(f)
	b.until("p/b/1", "COMPLETED")
	if again := b.submit(moveTo("p/c/1", "서재")); again.Accepted || again.ReasonCode != ReasonQueueFull {
		t.Fatalf("the dead generation came back: %+v", again)
	}
	b.accept(moveTo("p/c/2", "서재"))
}

// Every way a submit can be wrong has a structured reason, and moves nothing.
func TestSubmitRefusals(t *testing.T) {
	t.Parallel()
	home := DefaultHome()
	home.Rooms = append(home.Rooms, Room{ID: "7", Name: "안방", X: 9}, Room{ID: "8", Name: "금고", X: -9, NoEntry: true})
	for _, c := range []struct {
		name, method string
		params       map[string]any
		code         string
		param        string
	}{
		{"no method", "", nil, ReasonMissingParameter, "taskMethod"},
		{"unknown method", "setTeleport", nil, ReasonUnsupportedMethod, ""},
		{"no room", "setMoveTo", nil, ReasonMissingParameter, "position_name"},
		{"unknown room", "setMoveTo", map[string]any{"position_name": "다락"}, ReasonRoomUnknown, ""},
		{"unknown area", "setStationaryPurify", map[string]any{"area_id": "99"}, ReasonRoomUnknown, ""},
		{"case c10: two rooms of one name", "setMoveTo", map[string]any{"position_name": "안방"}, ReasonRoomAmbiguous, ""},
		{"policy", "setMoveTo", map[string]any{"position_name": "금고"}, ReasonMovePolicy, ""},
		{"mode", "setSecurityMode", map[string]any{"mode": "perhaps"}, ReasonInvalidParameter, "mode"},
		{"mode of a wrong type", "setSecurityMode", map[string]any{"mode": 3.0}, ReasonInvalidParameter, "mode"},
		{"nothing to say", "speak", map[string]any{"text": ""}, ReasonMissingParameter, "text"},
		{"stage", "comeToMe", map[string]any{"rolloutStage": "7"}, ReasonInvalidParameter, "rolloutStage"},
		{"follow before stage 3", "comeToMe", map[string]any{"rolloutStage": "1", "commandType": "follow"}, ReasonStageNotAllowed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(o *Options) { o.Home = home })
			a := b.submit(task("p/s/1", c.method, c.params))
			if a.Accepted || a.ReasonCode != c.code || a.RequiresCloudDecision == nil || a.Recoverability == "" || a.SuggestedAction == "" {
				t.Fatalf("answer %+v, want %s", a, c.code)
			}
			if c.param != "" && a.ReasonParams["parameter"] != c.param {
				t.Fatalf("reason_params %v, want parameter %s", a.ReasonParams, c.param)
			}
			b.pass(10 * time.Second)
			if w := b.World(); w.MovedAt != 0 || len(b.box.events) != 0 {
				t.Fatalf("it moved at %d and told %d events", w.MovedAt, len(b.box.events))
			}
		})
	}
}

func TestSubmitNeedsAnOperationID(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for id, code := range map[string]string{
		"": ReasonMissingParameter, "p/move": ReasonInvalidParameter, "p/move/0": ReasonInvalidParameter,
		"p/move/01": ReasonInvalidParameter, "p/move/x": ReasonInvalidParameter, "/move/1": ReasonInvalidParameter, "p//1": ReasonInvalidParameter,
	} {
		if a := b.submit(moveTo(id, "안방")); a.Accepted || a.ReasonCode != code {
			t.Errorf("%q: %+v, want %s", id, a, code)
		}
	}
}

// Case c14: "안방" typed as decomposed jamo is the same room.
func TestCaseC14SpellingOfHangul(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/move/1", "\u110b\u1161\u11ab\u1107\u1161\u11bc"))
	if r := result(b.until("p/move/1", "COMPLETED")); r["area_id"] != "6" {
		t.Fatalf("arrived in %v", r)
	}
}

// Case c12, the device's half: a submit bound to a state that has passed is refused.
func TestCaseC12ExpectedRevision(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	seen := b.accept(moveTo("p/a/1", "안방")).PreStateRevision
	b.until("p/a/1", "COMPLETED")
	stale := moveTo("p/b/1", "부엌")
	stale.ExpectedRevision = seen
	if a := b.submit(stale); a.ReasonCode != ReasonStateChanged || a.ReasonParams["expected_revision"] != seen {
		t.Fatalf("stale: %+v", a)
	}
	fresh := moveTo("p/c/1", "부엌")
	fresh.ExpectedRevision = fmt.Sprint(b.revision())
	b.accept(fresh)
}

// What is older than the declared retention is forgotten, what is younger is not; the ledger keeps everything.
func TestRetention(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/old/1", "안방"))
	b.until("p/old/1", "COMPLETED")
	b.cancel("p/never/1")
	b.clock.pass(Retention - 24*time.Hour)
	b.pass(50 * time.Millisecond)
	b.accept(moveTo("p/young/1", "부엌"))
	b.until("p/young/1", "COMPLETED")
	if !b.status("p/old/1").Found {
		t.Fatal("forgotten within the retention")
	}
	b.clock.pass(25 * time.Hour)
	b.pass(50 * time.Millisecond)
	if b.status("p/old/1").Found || !b.status("p/young/1").Found || b.status("p/never/1").ReasonCode != ReasonTaskNotFound {
		t.Fatal("the retention is not what was declared")
	}
	b.wantEffects("p/old/1", 1)
	if got := b.box.names("p/old/1"); !slices.Equal(got, []string{"QUEUED", "STARTED", "COMPLETED"}) {
		t.Fatalf("told %v", got)
	}
}
