package robot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"errand/deviceio/wire"
)

// The tests of this file are the vendor acceptance checklist, API by API: each "테스트" row of it is one subtest,
// asked through Invoke as the gateway asks. submitWorkflow's rows come with submitWorkflow.

// ask invokes a command and brings its answer into the form it has on the wire, read by the gateway's own parser.
func ask[T any](b *bench, command string, params any, parse func(raw []byte) (T, error)) T {
	b.t.Helper()
	body, err := b.Invoke(b.t.Context(), command, encode(b.t, params))
	if err != nil {
		b.t.Fatalf("%s: %v", command, err)
	}
	answer, err := parse(encode(b.t, body))
	if err != nil {
		b.t.Fatalf("the answer to %s cannot be read: %v", command, err)
	}
	return answer
}

func submitAnswer(raw []byte) (wire.SubmitAnswer, error) { return wire.ParseSubmitAnswer(raw) }
func statusAnswer(raw []byte) (wire.StatusAnswer, error) { return wire.ParseStatusAnswer(raw) }
func cancelAnswer(raw []byte) (wire.CancelAnswer, error) { return wire.ParseCancelAnswer(raw) }

func TestChecklistSubmitTask(t *testing.T) {
	t.Parallel()
	t.Run("정상 task", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		a := ask(b, wire.CommandSubmitTask, moveTo("p/move/1", "안방"), submitAnswer)
		if !a.Accepted || a.TaskID == "" || a.TaskState == "" || a.TaskMethod != "setMoveTo" || a.StoreID != b.StoreID() {
			t.Fatalf("%+v", a)
		}
		b.until("p/move/1", "COMPLETED")
		if got := b.box.names("p/move/1"); !slices.Equal(got, []string{"QUEUED", "STARTED", "COMPLETED"}) {
			t.Fatalf("told %v", got)
		}
	})
	for name, c := range map[string]struct {
		params any
		code   string
	}{
		"누락 param":               {task("p/x/1", "setMoveTo", nil), ReasonMissingParameter},
		"taskMethod 누락":          {map[string]any{"operation_id": "p/x/1"}, ReasonMissingParameter},
		"unsupported method":     {task("p/x/1", "setTeleport", nil), ReasonUnsupportedMethod},
		"taskMethod 형식":          {map[string]any{"operation_id": "p/x/1", "taskMethod": 7}, ReasonInvalidParameter},
		"capability unavailable": {task("p/x/1", "comeToMe", map[string]any{"rolloutStage": "2", "commandType": "follow"}), ReasonStageNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := ask(b, wire.CommandSubmitTask, c.params, submitAnswer)
			if a.Accepted || a.ReasonCode != c.code || a.RequiresCloudDecision == nil || a.ReasonParams == nil {
				t.Fatalf("%+v, want %s", a, c.code)
			}
		})
	}
}

func TestChecklistSubmitWorkflowIsRefusedInWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := ask(b, wire.CommandSubmitFlow, map[string]any{"workflowName": "w", "subTasks": []any{}}, submitAnswer)
	if a.Accepted || a.ReasonCode != ReasonUnsupportedMethod || a.ReasonParams["instead"] != wire.CommandSubmitTask {
		t.Fatalf("%+v", a)
	}
}

func TestChecklistGetTaskStatus(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	taskID := b.accept(moveTo("p/move/1", "안방")).TaskID
	b.pass(5 * time.Second)
	running := ask(b, wire.CommandTaskStatus, wire.StatusQuery{TaskID: taskID}, statusAnswer)
	if running.Status != "RUNNING" || running.Progress <= 0 || running.Progress >= 1 || running.Stage != "driving" ||
		running.TaskMethod != "setMoveTo" || running.CloudWorkflowID != "wf-1" || running.CloudStepID != "s" || running.CloudOutputKey != "out" {
		t.Fatalf("running: %+v", running)
	}
	b.until("p/move/1", "COMPLETED")
	completed := ask(b, wire.CommandTaskStatus, wire.StatusQuery{OperationID: "p/move/1"}, statusAnswer)
	if completed.Status != "COMPLETED" || completed.Progress != 1 || completed.TerminalEvent == nil || completed.BootID != "boot1" {
		t.Fatalf("completed: %+v", completed)
	}
	unknown := ask(b, wire.CommandTaskStatus, wire.StatusQuery{TaskID: "t-none-1"}, statusAnswer)
	if unknown.Found || unknown.ReasonCode != ReasonTaskNotFound || unknown.StoreID != b.StoreID() {
		t.Fatalf("unknown: %+v", unknown)
	}
}

func TestChecklistCancelTask(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.accept(moveTo("p/running/1", "안방"))
	b.accept(moveTo("p/pending/1", "부엌"))
	b.pass(2 * time.Second)
	pending := ask(b, wire.CommandCancelTask, wire.CancelQuery{OperationID: "p/pending/1", Reason: "r"}, cancelAnswer)
	if !pending.Accepted || pending.Case != wire.CaseCancelled || pending.State != "CANCELLED" {
		t.Fatalf("pending: %+v", pending)
	}
	running := ask(b, wire.CommandCancelTask, wire.CancelQuery{OperationID: "p/running/1", Reason: "r"}, cancelAnswer)
	if !running.Accepted || running.Case != wire.CaseCancelling {
		t.Fatalf("running: %+v", running)
	}
	for _, id := range []string{"p/pending/1", "p/running/1"} {
		if e := b.until(id, "CANCELLED"); e["reason_code"] != ReasonCancelRequested || e["requires_cloud_decision"] != false {
			t.Fatalf("event: %v", e)
		}
	}
	b.accept(moveTo("p/done/1", "부엌"))
	b.until("p/done/1", "COMPLETED")
	done := ask(b, wire.CommandCancelTask, wire.CancelQuery{OperationID: "p/done/1", Reason: "r"}, cancelAnswer)
	if done.Case != wire.CaseAlreadyCompleted || done.TerminalEvent == nil || done.TerminalEvent.EventName != "COMPLETED" {
		t.Fatalf("completed: %+v", done)
	}
}

func TestChecklistPlanningContext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	get := func() map[string]any {
		c := ask(b, wire.CommandContext, map[string]any{}, func(raw []byte) (map[string]any, error) { return wire.ParseDeviceContext(raw) })
		return c
	}
	area := func(c map[string]any, name string) map[string]any {
		found, _ := c[name].(map[string]any)
		return found
	}
	idle := get()
	for _, axis := range []string{"battery", "map", "location", "cleaning", "movement", "task_manager", "capabilities", "air_quality", "security"} {
		if area(idle, axis)["available"] != true {
			t.Errorf("%s: %v", axis, idle[axis])
		}
	}
	if idle["schema_version"] != "device_context.v1" || idle["snapshot_ts"] == nil || idle["updated_at_ms"] == nil || idle["boot_id"] != "boot1" {
		t.Errorf("header: %v", idle)
	}
	if rooms := fmt.Sprint(area(idle, "map")["rooms"]); !strings.Contains(rooms, "map[id:1 name:거실]") || !strings.Contains(rooms, "map[id:6 name:안방]") {
		t.Errorf("rooms: %v", rooms)
	}
	if area(idle, "movement")["state"] != "charging" || area(idle, "task_manager")["queue_length"] != 0.0 {
		t.Errorf("idle: %v %v", idle["movement"], idle["task_manager"])
	}
	// busy queue
	running := b.accept(moveTo("p/a/1", "안방")).TaskID
	b.accept(moveTo("p/b/1", "부엌"))
	b.pass(2 * time.Second)
	busy := get()
	if tm := area(busy, "task_manager"); tm["queue_length"] != 1.0 || tm["running_task_id"] != running {
		t.Errorf("busy: %v", tm)
	}
	if m := area(busy, "movement"); m["state"] != "moving" || m["last_target"] != "6" {
		t.Errorf("busy: %v", m)
	}
}

func TestChecklistOnTaskEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		event string
		start func(id string)
	}{
		{"COMPLETED", func(id string) { b.accept(moveTo(id, "안방")) }},
		{"FAILED", func(id string) {
			b.fault(Fault{Kind: FaultFail, At: at(0.2)})
			b.accept(moveTo(id, "거실"))
		}},
		{"BLOCKED", func(id string) {
			b.fault(Fault{Kind: FaultBlock, At: at(0.2)})
			b.accept(moveTo(id, "부엌"))
		}},
		{"CANCELLED", func(id string) { b.cancel("p/BLOCKED/1"); b.accept(moveTo(id, "서재")); b.cancel(id) }},
	} {
		id := "p/" + c.event + "/1"
		c.start(id)
		e := b.until(id, c.event)
		for _, field := range []string{"event_name", "task_id", "task_method", "cloud_workflow_id", "cloud_step_id", "cloud_output_key", "operation_id", "timestamp"} {
			if e[field] == nil || e[field] == "" {
				t.Errorf("%s: %s is missing: %v", c.event, field, e)
			}
		}
		for _, field := range []string{"reason_code", "reason_params", "requires_cloud_decision", "recoverability", "suggested_action"} {
			if given := e[field] != nil; given != (c.event != "COMPLETED") && field != "reason_params" {
				t.Errorf("%s: %s is %v", c.event, field, e[field])
			}
		}
	}
}

// 19.comToMe: rollout stages, the speaker gate, the slots and the trace, kept through its whole inner life.
func TestChecklistComeToMe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stage, command, speaker string
		kind                    string // "" means FAILED
		moves                   bool
	}{
		{"0-1", "come", "", "answered", false},
		{"0-2", "come", "stranger", "turned", false},
		{"1", "come", "owner", "came", true},
		{"1", "come", "stranger", "", false},
		{"2", "come", "owner", "came", true},
		{"2", "come", "", "", false},
		{"3", "follow", "owner", "followed", true},
		{"3", "follow", "stranger", "", false},
	} {
		t.Run(c.stage+" "+c.command+" "+c.speaker, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			params := map[string]any{"commandType": c.command, "roomName": "안방", "rolloutStage": c.stage}
			if c.speaker != "" {
				params["speakerId"] = c.speaker
			}
			b.accept(task("p/come/1", "comeToMe", params))
			if c.kind == "" {
				e := b.until("p/come/1", "FAILED")
				if e["reason_code"] != ReasonSpeakerUnknown || e["requires_cloud_decision"] != true || e["cloud_output_key"] != "out" {
					t.Fatalf("%v", e)
				}
				b.wantStill(e)
			} else {
				e := b.until("p/come/1", "COMPLETED")
				if r := result(e); r["rolloutStage"] != c.stage || r["commandType"] != c.command || e["cloud_output_key"] != "out" {
					t.Fatalf("%v", e)
				}
				if effects := b.effects("p/come/1"); len(effects) != 1 || effects[0].Kind != c.kind {
					t.Fatalf("%+v, want %s", effects, c.kind)
				}
			}
			if moved := b.World().MovedAt != 0; moved != c.moves {
				t.Fatalf("moved: %v", moved)
			}
			if moved := len(b.motions("p/come/1")) > 0; moved != c.moves {
				t.Fatalf("motions: %v", moved)
			}
		})
	}
}
