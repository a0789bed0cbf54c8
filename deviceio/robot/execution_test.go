package robot

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"errand/deviceio/wire"
)

// The seed's own sentence, as the robot sees it: go to 안방, purify, return.
func TestJourneyMovePurifyReturn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.World().Air["6"].PM25

	b.accept(moveTo("p-1/move/1", "안방"))
	arrival := b.until("p-1/move/1", "COMPLETED")
	came := result(arrival)
	if came["area_id"] != "6" || came["current_room_name"] != "안방" {
		t.Fatalf("arrived: %v", came)
	}
	if _, extra := came["raw_pose"]; !extra {
		t.Fatal("the result must hold fields that no contract lists, for law 4 to have something to strip")
	}

	b.accept(task("p-1/purify/1", "setStationaryPurify", map[string]any{"area_id": "6"}))
	purified := result(b.until("p-1/purify/1", "COMPLETED"))
	if after, ok := purified["air_quality_after"].(float64); !ok || after >= before || after > b.home.CleanAir+0.1 {
		t.Fatalf("the air went from %v to %v", before, purified["air_quality_after"])
	}
	if purified["area_id"] != "6" || b.World().Air["6"].PurifiedAt == 0 {
		t.Fatalf("purified: %v", purified)
	}

	b.accept(task("p-1/return/1", "setReturnToStation", nil))
	b.until("p-1/return/1", "COMPLETED")
	if w := b.World(); !w.Docked || w.X != 0 || w.Y != 0 {
		t.Fatalf("not on the station: %+v", w)
	}
	for operation, kind := range map[string]string{"p-1/move/1": "arrived", "p-1/purify/1": "purified", "p-1/return/1": "docked"} {
		if e := b.effects(operation); len(e) != 1 || e[0].Kind != kind {
			t.Fatalf("%s: %+v, want one %s", operation, e, kind)
		}
	}
}

func TestEventsOfATaskInOrderWithItsWholeTrace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	spec := moveTo("p-1/move/1", "안방")
	answer := b.accept(spec)
	b.until("p-1/move/1", "COMPLETED")
	if got := b.box.names("p-1/move/1"); !slices.Equal(got, []string{"QUEUED", "STARTED", "COMPLETED"}) {
		t.Fatalf("told %v", got)
	}
	var last int64
	progress := 0
	for _, e := range b.box.events {
		p := e.payload
		if p["cloud_workflow_id"] != "wf-1" || p["cloud_plan_id"] != "p-1" || p["cloud_step_id"] != "s" ||
			p["cloud_output_key"] != "out" || p["traceparent"] != "00-abc-def-01" || p["plan_revision"] != 1.0 ||
			p["task_id"] != answer.TaskID || p["task_method"] != "setMoveTo" {
			t.Fatalf("the trace of %v got lost: %v", p["event_name"], p)
		}
		if ts := stamp(p); ts < last {
			t.Fatalf("timestamps go back at %v", p["event_name"])
		} else {
			last = ts
		}
		if p["event_name"] == "PROGRESS" {
			progress++
		}
	}
	if progress == 0 || progress > 10 {
		t.Fatalf("%d PROGRESS events: want some, at most ten", progress)
	}
	if c := b.box.last("p-1/move/1", "COMPLETED")["effect_count"]; c != 1.0 {
		t.Fatalf("effect_count %v", c)
	}
}

func TestLaw05AcceptedIsNotCompleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if a := b.accept(moveTo("p/move/1", "안방")); a.TaskState != "QUEUED" || a.TerminalEvent != nil {
		t.Fatalf("accepted: %+v", a)
	}
	b.wantEffects("p/move/1", 0)
	if s := b.status("p/move/1"); s.Status != "QUEUED" {
		t.Fatalf("status %q right after the submit", s.Status)
	}
}

func TestTasksRunOneByOneInOrderOfArrival(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := []string{"p/a/1", "p/b/1", "p/c/1"}
	for i, room := range []string{"안방", "부엌", "거실"} {
		b.accept(moveTo(ids[i], room))
	}
	b.until("p/c/1", "COMPLETED")
	var order []string
	for _, e := range b.box.events {
		if name := e.payload["event_name"]; name == "STARTED" || name == "COMPLETED" {
			order = append(order, fmt.Sprint(e.payload["operation_id"], " ", name))
		}
	}
	want := []string{"p/a/1 STARTED", "p/a/1 COMPLETED", "p/b/1 STARTED", "p/b/1 COMPLETED", "p/c/1 STARTED", "p/c/1 COMPLETED"}
	if !slices.Equal(order, want) {
		t.Fatalf("order %v", order)
	}
}

// The run timeout is the device's own: motion stops, then TIMED_OUT is told (design §6 Timeouts).
func TestRunTimeoutStopsTheMotion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	spec := moveTo("p/move/1", "안방")
	spec.TimeoutMs = 3_000
	b.accept(spec)
	e := b.until("p/move/1", "TIMED_OUT")
	if e["reason_code"] != ReasonTaskTimedOut || e["effect_count"] != 0.0 {
		t.Fatalf("timed out: %v", e)
	}
	b.wantStill(e)
	b.wantEffects("p/move/1", 0)
	if m := b.motions("p/move/1"); len(m) != 1 || m[0].Completed || m[0].EndedAt == 0 {
		t.Fatalf("motions %+v", m)
	}
}

// Old intentions do not move robots: a task that waited longer than its ttl ends in the queue, also when the robot was off.
func TestTTLExpiresInTheQueue(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(b *bench){
		"waiting behind another": func(b *bench) { b.pass(2 * time.Second) },
		"while the robot is off": func(b *bench) { b.clock.pass(time.Hour); b.cut(); b.pass(50 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.accept(moveTo("p/first/1", "안방"))
			b.pass(50 * time.Millisecond)
			spec := moveTo("p/late/1", "부엌")
			spec.TTLMs = 1_000
			b.accept(spec)
			wait(b)
			e := b.box.last("p/late/1", "FAILED")
			if e == nil || e["reason_code"] != ReasonTaskExpired {
				t.Fatalf("told %v", b.box.names("p/late/1"))
			}
			b.wantEffects("p/late/1", 0)
			if m := b.motions("p/late/1"); len(m) != 0 {
				t.Fatalf("it moved: %+v", m)
			}
		})
	}
}

func TestBatteryEndsAndGuardsMotion(t *testing.T) {
	t.Parallel()
	low := newBench(t, func(o *Options) { o.Home = DefaultHome(); o.Home.Battery = 5 })
	if a := low.submit(moveTo("p/move/1", "안방")); a.ReasonCode != ReasonBatteryLow || !*a.RequiresCloudDecision {
		t.Fatalf("low battery: %+v", a)
	}
	low.accept(task("p/home/1", "setReturnToStation", nil)) // the way home stays open
	low.until("p/home/1", "COMPLETED")

	empty := newBench(t, func(o *Options) { o.Home = DefaultHome(); o.Home.Battery, o.Home.LowBattery = 0.1, 0.05 })
	empty.accept(moveTo("p/move/1", "안방"))
	e := empty.until("p/move/1", "FAILED")
	if e["reason_code"] != ReasonBatteryLow {
		t.Fatalf("empty battery: %v", e)
	}
	empty.wantStill(e)
}

func TestBlockedIsAliveAndGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := b.fault(Fault{Kind: FaultBlock, At: at(0.4)})
	b.accept(moveTo("p/move/1", "안방"))
	e := b.until("p/move/1", "BLOCKED")
	if e["reason_code"] != ReasonPathBlocked || e["requires_cloud_decision"] != true {
		t.Fatalf("blocked: %v", e)
	}
	if s := b.status("p/move/1"); s.Status != "BLOCKED" || s.ReasonCode != ReasonPathBlocked || s.TerminalEvent != nil {
		t.Fatalf("status: %+v", s)
	}
	if c := b.Context(); c.Movement.State != "blocked" {
		t.Fatalf("movement %q", c.Movement.State)
	}
	b.release(f)
	b.until("p/move/1", "COMPLETED")
	if got := b.box.names("p/move/1"); !slices.Equal(got, []string{"QUEUED", "STARTED", "BLOCKED", "RUNNING", "COMPLETED"}) {
		t.Fatalf("told %v", got)
	}
	b.wantEffects("p/move/1", 1)
}

// Every method comes to its effect, and each exactly once.
func TestEveryMethodComesToItsEffect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method string
		params map[string]any
		kind   string // "" leaves nothing in the ledger
		holds  func(w World, result map[string]any) bool
	}{
		{"setMoveTo", map[string]any{"position_name": "서재"}, "arrived", func(w World, r map[string]any) bool { return w.X == -3 && r["area_id"] == "4" }},
		{"setRoomCleaning", map[string]any{"position_name": "부엌"}, "cleaned", func(w World, _ map[string]any) bool { return w.Cleaned.RoomID == "2" && w.Cleaned.FinishedAt > 0 }},
		{"setStationaryPurify", nil, "purified", func(w World, r map[string]any) bool { return r["area_id"] == "1" && w.Air["1"].PurifiedAt > 0 }},
		{"setReturnToStation", nil, "docked", func(w World, r map[string]any) bool { return w.Docked && r["charging"] == true }},
		{"setSecurityMode", nil, "secured", func(w World, _ map[string]any) bool { return w.Security == SecurityStarted }},
		{"comeToMe", map[string]any{"roomName": "안방", "rolloutStage": "2", "speakerId": "owner", "commandType": "come"}, "came",
			func(_ World, r map[string]any) bool { return r["area_id"] == "6" && r["commandType"] == "come" }},
		{"getDeviceStatus", nil, "", func(_ World, r map[string]any) bool { return r["current_room_name"] == "거실" }},
		{"speak", map[string]any{"text": "다녀왔어요"}, "spoken", func(_ World, r map[string]any) bool { return r["characters"] == 5.0 }},
	} {
		t.Run(c.method, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.accept(task("p/s/1", c.method, c.params))
			e := b.until("p/s/1", "COMPLETED")
			if !c.holds(b.World(), result(e)) {
				t.Fatalf("world %+v, result %v", b.World(), e["result"])
			}
			effects := b.effects("p/s/1")
			if c.kind == "" {
				b.wantEffects("p/s/1", 0)
				return
			}
			if len(effects) != 1 || effects[0].Kind != c.kind || effects[0].TaskMethod != c.method || effects[0].BootID != "boot1" {
				t.Fatalf("ledger %+v, want one %s", effects, c.kind)
			}
		})
	}
	for _, name := range Methods() {
		if _, ok := findMethod(name); !ok {
			t.Fatalf("%s is announced and unknown", name)
		}
	}
}

// The terminal event that status carries is the one that was told: same id, same content.
func TestStatusCarriesTheStoredTerminalEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/move/1", "안방"))
	b.until("p/move/1", "COMPLETED")
	s := b.status("p/move/1")
	if !s.Found || s.Status != "COMPLETED" || s.Progress != 1 || s.TerminalEvent == nil || s.TerminalEvent.Result["area_id"] != "6" {
		t.Fatalf("status %+v", s)
	}
	if got := b.box.keys["p/move/1#COMPLETED"]; s.TerminalEvent.EventID != got || s.TerminalEvent.Seq != s.AsOfSeq || s.BootID != "boot1" {
		t.Fatalf("terminal event %+v as of %d, told as %s", s.TerminalEvent.Envelope, s.AsOfSeq, got)
	}
	if byTask, err := b.Status(t.Context(), wire.StatusQuery{TaskID: s.TaskID}); err != nil || byTask.OperationID != "p/move/1" {
		t.Fatalf("by task id: %+v, %v", byTask, err)
	}
}
