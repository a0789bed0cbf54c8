package load_test

import (
	"slices"
	"strings"
	"testing"

	"errand/catalog"
	"errand/catalog/condition"
	"errand/catalog/fresh"
	"errand/catalog/load"
)

func TestBuiltinIsSound(t *testing.T) {
	t.Parallel()
	if _, err := load.Parse("builtin.yaml", load.BuiltinFile()); err != nil {
		t.Fatalf("\n%v", err)
	}
}

func TestBuiltinIsACopyForEachCaller(t *testing.T) {
	t.Parallel()
	first := load.Builtin()
	first.Capabilities[0].ID = "changed"
	first.Sentences["done"] = catalog.Text{}
	if second := load.Builtin(); second.Capabilities[0].ID == "changed" || second.Sentences["done"].Ko == "" {
		t.Error("two callers share a catalog")
	}
}

// The contract names what must be there, down to the method and the completion target (contract.md §9).
func TestBuiltinHoldsWhatTheContractNames(t *testing.T) {
	t.Parallel()
	whole := load.Builtin().Whole()
	for id, want := range map[string]struct{ method, target, slots, results string }{
		"move_to_room":      {"setMoveTo", "movement.arrived", "position_name!", "area_id current_room_name"},
		"room_cleaning":     {"setRoomCleaning", "cleaning.finished", "position_name! arrival", ""},
		"stationary_purify": {"setStationaryPurify", "purify.finished", "area_id!", "area_id air_quality_after"},
		"return_to_station": {"setReturnToStation", "movement.stationCharging", "", ""},
		"security_mode":     {"setSecurityMode", "security.started", "", ""},
		"come_to_me":        {"comeToMe", "comeToMe.arrived", "commandType! roomName rolloutStage speakerId", ""},
		"device_status":     {"getDeviceStatus", "status.reported", "", "battery_level"},
		"speak":             {"speak", "speech.finished", "text!", ""},
	} {
		c, ok := whole.Capability(id)
		if !ok || c.TaskMethod != want.method || c.CompletionTarget != want.target || !c.Enabled {
			t.Errorf("%s: got %+v", id, c)
			continue
		}
		for _, name := range strings.Fields(want.slots) {
			bare, required := strings.CutSuffix(name, "!")
			if slot, ok := c.Slot(bare); !ok || slot.Required != required {
				t.Errorf("%s: slot %s is %+v", id, bare, slot)
			}
		}
		for _, name := range strings.Fields(want.results) {
			if _, ok := c.ResultContract.Field(name); !ok {
				t.Errorf("%s: does not list %s", id, name)
			}
		}
	}
	if c, _ := whole.Capability("move_to_room"); !c.ResultContract.Envelope || c.Slots[0].Grounding != "room" {
		t.Error("move_to_room must allow its envelope and ground its room")
	}
	if c, _ := whole.Capability("device_status"); c.Impact != catalog.ReadOnly {
		t.Error("device_status reads only")
	}
	stage, _ := mustCapability(t, "come_to_me").Slot("rolloutStage")
	if !slices.Equal(stage.Schema.Enum, []string{"0-1", "0-2", "1", "2", "3"}) {
		t.Errorf("rollout stages are %q", stage.Schema.Enum)
	}
}

func mustCapability(t *testing.T, id string) *catalog.Capability {
	t.Helper()
	whole := load.Builtin().Whole()
	c, ok := whole.Capability(id)
	if !ok {
		t.Fatalf("no capability %s", id)
	}
	return c
}

func TestBuiltinKnowsTheReasonsOfTheDomain(t *testing.T) {
	t.Parallel()
	whole := load.Builtin().Whole()
	for _, code := range strings.Fields(`MOVE_POLICY_NOT_ALLOWED BATTERY_LOW PATH_BLOCKED MAP_UNAVAILABLE UNSUPPORTED_METHOD MISSING_PARAMETER
		INVALID_PARAMETER ROOM_UNKNOWN EXECUTOR_FAILED TASK_TIMED_OUT TASK_EXPIRED QUEUE_FULL DEVICE_BUSY CAPABILITY_DISABLED STALE_GENERATION TOMBSTONED
		REVISION_MISMATCH STEP_RESULT_BINDING_FAILED START_TOO_LATE VERIFY_CONTRADICTED DEVICE_UNREACHABLE OPERATION_UNRESOLVED PRECONDITION_FAILED
		SPEAKER_NOT_VERIFIED ROLLOUT_STAGE_NOT_ALLOWED LOCALIZATION_LOST STUCK DOCK_NOT_FOUND FILTER_MISSING NODE_BACKGROUND_UNAVAILABLE NO_PLAN CANNOT_GROUND
		ROOM_AMBIGUOUS GENERATION_ALIVE STATE_CHANGED TASK_NOT_FOUND CANCEL_REQUESTED CANCEL_NOT_POSSIBLE SPEAKER_NOT_REGISTERED STAGE_NOT_ALLOWED EXECUTOR_FAULT`) {
		if !slices.ContainsFunc(whole.Reasons, func(r catalog.Reason) bool { return r.Code == code }) {
			t.Errorf("no row for %s", code)
		}
	}
	if r := whole.Reason("MOVE_POLICY_NOT_ALLOWED"); !r.RequiresDecision {
		t.Error("the seed's own example needs a decision")
	}
	if r := whole.Reason("STEP_RESULT_BINDING_FAILED"); !r.RequiresDecision || r.Recovery.Action != "none" {
		t.Error("a failed binding waits for a decision (law 3)")
	}
}

type object = map[string]any

const completedAt = 1_700_000_000_000

// Each check of an effect is right, wrong and unknown about what a robot's context can show (contract.md §6).
func TestBuiltinChecksOfEffects(t *testing.T) {
	t.Parallel()
	moveArgs, purifyArgs := object{"position_name": "안방"}, object{"area_id": "6"}
	purified := object{"area_id": "6", "air_quality_after": 12.0}
	air := func(pm25, at float64) object {
		return object{"air_quality": object{"available": true, "rooms": object{"6": object{"pm25": pm25, "purified_at": at}}}}
	}
	at := func(snapshot float64, context object) object {
		context["snapshot_ts"] = snapshot
		return context
	}
	tests := []struct {
		capability            string
		context, args, result object
		want                  condition.Truth
	}{
		{"move_to_room", object{"location": object{"room_name": "안방"}}, moveArgs, nil, condition.True},
		{"move_to_room", object{"location": object{"room_name": "거실"}}, moveArgs, nil, condition.False},
		{"move_to_room", object{"location": object{"available": false}}, moveArgs, nil, condition.Unknown},
		{"room_cleaning", object{"cleaning": object{"last_room_name": "안방", "last_finished_at": 1.7e12}}, moveArgs, nil, condition.True},
		{"room_cleaning", object{"cleaning": object{"last_room_name": "안방", "last_finished_at": 1.6e12}}, moveArgs, nil, condition.False}, // an earlier one
		{"room_cleaning", object{"cleaning": object{"last_room_name": "거실"}}, moveArgs, nil, condition.False},
		{"room_cleaning", object{"cleaning": object{"state": "idle"}}, moveArgs, nil, condition.Unknown},
		{"stationary_purify", air(12, 1.7e12), purifyArgs, purified, condition.True},
		{"stationary_purify", air(21.9, 1.7e12), purifyArgs, purified, condition.True},
		{"stationary_purify", at(1.7e12+700_000, air(60, 1.7e12)), purifyArgs, purified, condition.True}, // looked at long after
		{"stationary_purify", at(1.7e12+1_000, air(60, 1.7e12)), purifyArgs, purified, condition.False},
		{"stationary_purify", air(12, 1.6e12), purifyArgs, purified, condition.False}, // an earlier one
		{"stationary_purify", air(12, 0), purifyArgs, purified, condition.False},
		{"stationary_purify", air(12, 1.7e12), object{"area_id": "7"}, purified, condition.Unknown},
		{"stationary_purify", air(12, 1.7e12), purifyArgs, nil, condition.Unknown},
		{"return_to_station", object{"movement": object{"state": "charging"}}, nil, nil, condition.True},
		{"return_to_station", object{"movement": object{"state": "idle"}, "battery": object{"charging": true}}, nil, nil, condition.True},
		{"return_to_station", object{"movement": object{"state": "idle"}, "battery": object{"charging": false}}, nil, nil, condition.False},
		{"return_to_station", object{"movement": object{"state": "idle"}}, nil, nil, condition.Unknown},
		{"security_mode", object{"security": object{"state": "started"}}, nil, nil, condition.True},
		{"security_mode", object{"security": object{"state": "off"}}, nil, nil, condition.False},
		{"come_to_me", object{"location": object{"room_name": "안방"}}, object{"commandType": "come"}, nil, condition.Unknown},
		{"come_to_me", object{"location": object{"room_name": "안방"}}, object{"commandType": "come", "roomName": "안방"}, nil, condition.True},
	}
	for _, tt := range tests {
		check, err := condition.Compile(mustCapability(t, tt.capability).Verify)
		if err != nil {
			t.Fatal(err)
		}
		got, err := check.EvalAfter(fresh.Context(tt.context, 0), tt.args, tt.result, completedAt)
		if err != nil || got != tt.want {
			t.Errorf("%s with %v: got %s, %v, want %s", tt.capability, tt.context, got, err, tt.want)
		}
	}
}

// Law 20: a device whose clock was never set counts from 1970. There "never" (0) is less than a minute before its first
// completion, and still proves nothing.
func TestLaw20NeverIsNotJustNow(t *testing.T) {
	t.Parallel()
	for id, seen := range map[string]object{
		"stationary_purify": {"air_quality": object{"rooms": object{"6": object{"pm25": 12.0, "purified_at": 0.0}}}},
		"room_cleaning":     {"cleaning": object{"last_room_name": "안방", "last_finished_at": 0.0}},
	} {
		check, err := condition.Compile(mustCapability(t, id).Verify)
		if err != nil {
			t.Fatal(err)
		}
		args := object{"area_id": "6", "position_name": "안방"}
		if got, err := check.EvalAfter(seen, args, object{"air_quality_after": 12.0}, 10_000); err != nil || got != condition.False {
			t.Errorf("%s never done, told at 10 s: got %s, %v, want false", id, got, err)
		}
	}
}

// What runs programs, sends messages or looks through a camera is switched off until an operator enables it.
func TestNodeCommandsThatAnOperatorMustEnableAreOff(t *testing.T) {
	t.Parallel()
	whole := load.Builtin().Whole()
	off := strings.Fields("system.run system.which camera.snap camera.clip screen.record contacts.add calendar.add reminders.add sms.send sms.search")
	on := strings.Fields("camera.list location.get notifications.list notifications.actions system.notify device.info device.status device.permissions " +
		"device.health device.apps contacts.search calendar.events callLog.search reminders.list photos.latest motion.activity motion.pedometer")
	for _, name := range slices.Concat(off, on) {
		i := slices.IndexFunc(whole.Capabilities, func(c catalog.Capability) bool { return c.NodeCommand == name })
		if i < 0 {
			t.Errorf("%s is no capability", name)
			continue
		}
		if c := whole.Capabilities[i]; c.Enabled == slices.Contains(off, name) || c.TaskMethod != name || c.CompletionTarget != name+".result" {
			t.Errorf("%s: enabled %v, method %q, target %q", name, c.Enabled, c.TaskMethod, c.CompletionTarget)
		}
	}
	for id, impact := range map[string]catalog.Impact{"sms_send": catalog.Irreversible, "system_run": catalog.Irreversible, "contacts_add": catalog.Persistent,
		"location_get": catalog.ReadOnly, "phone_notify": catalog.Reversible} {
		if c := mustCapability(t, id); c.Impact != impact || c.Idempotent {
			t.Errorf("%s is %s", id, c.Impact)
		}
	}
}
