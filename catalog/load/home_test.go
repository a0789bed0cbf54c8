package load_test

import (
	"bytes"
	"strings"
	"testing"

	"errand/catalog"
	"errand/catalog/condition"
	"errand/catalog/load"
)

// What a mistake would cost decides who is asked: only a person's word deletes, and unlocking is never undone.
func TestHomeCapabilities(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]struct {
		method  string
		impact  catalog.Impact
		confirm string
		target  string // the slot of the object it acts on
	}{
		"alarm_search":    {"searchAlarms", catalog.ReadOnly, "", ""},
		"alarm_create":    {"createAlarm", catalog.Persistent, "persistent_from_model", ""},
		"alarm_delete":    {"deleteAlarm", catalog.Persistent, "always", "alarm_id"},
		"reminder_search": {"searchReminders", catalog.ReadOnly, "", ""},
		"reminder_create": {"createReminder", catalog.Persistent, "persistent_from_model", ""},
		"reminder_delete": {"deleteReminder", catalog.Persistent, "always", "reminder_id"},
		"light_on":        {"setLight", catalog.Reversible, "", "light_id"},
		"light_off":       {"setLight", catalog.Reversible, "", "light_id"},
		"door_lock":       {"setDoorLock", catalog.Persistent, "persistent_from_model", "door_id"},
		"door_unlock":     {"setDoorLock", catalog.Irreversible, "always", "door_id"},
	} {
		c := mustCapability(t, id)
		policy := ""
		if c.Confirm != nil {
			policy = string(c.Confirm.Policy)
		}
		if c.TaskMethod != want.method || c.Impact != want.impact || policy != want.confirm || !c.Enabled {
			t.Errorf("%s: %s, %s, confirm %q", id, c.TaskMethod, c.Impact, policy)
		}
		if slot := c.ObjectSlot(); (slot == nil) != (want.target == "") || slot != nil && (slot.Name != want.target || !slot.Required) {
			t.Errorf("%s: acts on %+v", id, slot)
		}
		if want.impact != catalog.ReadOnly && c.Verify == "" {
			t.Errorf("%s: nobody looks whether it is so", id)
		}
	}
}

// What tells light_on from light_off is the capability's, and no argument changes it.
func TestParamsAreTheCapabilitysOwn(t *testing.T) {
	t.Parallel()
	args := map[string]any{"light_id": "light-1", "on": true}
	sent := mustCapability(t, "light_off").Sent(args)
	if sent["on"] != false || sent["light_id"] != "light-1" || args["on"] != true {
		t.Errorf("sent %v, of %v", sent, args)
	}
	if sent := mustCapability(t, "speak").Sent(args); len(sent) != 2 {
		t.Errorf("without params: %v", sent)
	}
	for name, c := range map[string]struct{ from, to, says string }{
		"a slot":      {`params: {"on": true}`, `params: {"on": true, light_id: light-1}`, "is a slot too"},
		"the same":    {`params: {"on": true}`, `params: {"on": false}`, "is the same task method"},
		"nothing":     {`params: {"on": true}`, `params: {}`, "params"},
		"a structure": {`params: {"on": true}`, `params: {"on": [true]}`, "params"},
	} {
		text := load.BuiltinFile()
		if !bytes.Contains(text, []byte(c.from)) {
			t.Fatalf("%s: %q is not in the catalog", name, c.from)
		}
		if _, err := load.Parse("mine.yaml", bytes.Replace(text, []byte(c.from), []byte(c.to), 1)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// Each check of an effect is right, wrong and unknown about what a device's context can show.
func TestHomeChecksOfEffects(t *testing.T) {
	t.Parallel()
	area := func(name string, items ...any) object { return object{name: object{"available": true, "items": items}} }
	alarm := object{"id": "a1", "revision": "r0", "time": "07:00", "label": "출근", "enabled": true}
	note := object{"id": "n1", "revision": "r0", "text": "약 먹기", "due": "", "done": false}
	lamp := func(on bool) object { return object{"id": "l1", "revision": "r0", "name": "스탠드", "on": on} }
	door := func(locked bool) object {
		return object{"id": "d1", "revision": "r0", "name": "현관", "locked": locked, "open": false}
	}
	for _, c := range []struct {
		capability            string
		context, args, result object
		want                  condition.Truth
	}{
		{"alarm_create", area("alarms", alarm), object{"time": "07:00"}, object{"alarm_id": "a1"}, condition.True},
		{"alarm_create", area("alarms", alarm), object{"time": "08:00"}, object{"alarm_id": "a1"}, condition.False},
		{"alarm_create", area("alarms"), object{"time": "07:00"}, object{"alarm_id": "a1"}, condition.False},
		{"alarm_create", area("alarms", alarm), object{"time": "07:00"}, object{}, condition.Unknown},
		{"alarm_create", object{}, object{"time": "07:00"}, object{"alarm_id": "a1"}, condition.Unknown},
		{"alarm_delete", area("alarms"), object{"alarm_id": "a1"}, nil, condition.True},
		{"alarm_delete", area("alarms", alarm), object{"alarm_id": "a2"}, nil, condition.True},
		{"alarm_delete", area("alarms", alarm), object{"alarm_id": "a1"}, nil, condition.False},
		{"alarm_delete", object{"alarms": object{"available": false}}, object{"alarm_id": "a1"}, nil, condition.Unknown},
		{"reminder_create", area("reminders", note), object{"text": "약 먹기"}, object{"reminder_id": "n1"}, condition.True},
		{"reminder_create", area("reminders"), object{"text": "약 먹기"}, object{"reminder_id": "n1"}, condition.False},
		{"reminder_delete", area("reminders", note), object{"reminder_id": "n1"}, nil, condition.False},
		{"reminder_delete", area("reminders"), object{"reminder_id": "n1"}, nil, condition.True},
		{"light_on", area("lights", lamp(true)), object{"light_id": "l1"}, nil, condition.True},
		{"light_on", area("lights", lamp(false)), object{"light_id": "l1"}, nil, condition.False},
		{"light_off", area("lights", lamp(false)), object{"light_id": "l1"}, nil, condition.True},
		{"light_off", area("lights"), object{"light_id": "l1"}, nil, condition.False},
		{"door_lock", area("doors", door(true)), object{"door_id": "d1"}, nil, condition.True},
		{"door_lock", area("doors", door(false)), object{"door_id": "d1"}, nil, condition.False},
		{"door_unlock", area("doors", door(false)), object{"door_id": "d1"}, nil, condition.True},
		{"door_unlock", area("doors", door(true)), object{"door_id": "d1"}, nil, condition.False},
		{"door_unlock", object{}, object{"door_id": "d1"}, nil, condition.Unknown},
	} {
		check, err := condition.Compile(mustCapability(t, c.capability).Verify)
		if err != nil {
			t.Fatal(err)
		}
		kept := object{}
		for name, value := range c.context {
			if a, ok := value.(object); !ok || a["available"] != false { // as package fresh leaves it out (law 17)
				kept[name] = value
			}
		}
		if got, err := check.EvalAfter(kept, c.args, c.result, completedAt); err != nil || got != c.want {
			t.Errorf("%s with %v, %v: got %s, %v, want %s", c.capability, c.context, c.args, got, err, c.want)
		}
	}
}

// What a person hears has the particle that fits, and no gap where a label is missing.
func TestHomeSentences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		capability, locale, want string
		values                   map[string]string
	}{
		{"alarm_delete", "ko", "07:00 출근 알람을 지웠어요.", map[string]string{"target": "07:00 출근 알람"}},
		{"alarm_delete", "en", "I deleted the 07:00 alarm.", map[string]string{"target": "the 07:00 alarm"}},
		{"alarm_search", "ko", "알람이 0개 있어요.", map[string]string{"count": "0"}},
		{"alarm_search", "en", "Alarms found: 2. 07:00 출근, 07:00 운동.", map[string]string{"count": "2", "listed": "07:00 출근, 07:00 운동"}},
		{"alarm_search", "ko", "알람을 찾아봤어요.", nil},
		{"light_on", "ko", "안방 스탠드를 켰어요.", map[string]string{"target": "안방 스탠드"}},
		{"light_on", "ko", "안방 스탠드 (2)를 켰어요.", map[string]string{"target": "안방 스탠드 (2)"}},
		{"light_off", "ko", "거실 천장등을 껐어요.", map[string]string{"target": "거실 천장등"}},
		{"door_lock", "ko", "거실 베란다를 잠갔어요.", map[string]string{"target": "거실 베란다"}},
		{"door_lock", "ko", "현관을 잠갔어요.", map[string]string{"target": "현관"}},
		{"door_unlock", "ko", "현관 잠금을 풀었어요.", map[string]string{"target": "현관"}},
		{"device_status", "ko", "배터리는 80퍼센트예요.", map[string]string{"battery_level": "80"}},
		{"device_status", "en", "I am in the 거실.", map[string]string{"current_room_name": "거실"}},
	} {
		if got := catalog.Render(mustCapability(t, c.capability).Say["done"].In(c.locale), c.values); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.capability, c.locale, got, c.want)
		}
	}
}

func TestReasonsOfObjects(t *testing.T) {
	t.Parallel()
	whole := load.Builtin().Whole()
	for _, code := range strings.Fields("TARGET_NOT_FOUND TARGET_TOO_MANY STATE_CHANGED STATE_UNKNOWN NOT_CONFIRMED CONFIRMATION_EXPIRED DOOR_OPEN OBJECT_LIMIT") {
		r := whole.Reason(code)
		if r.Class == "unknown" || r.Recovery.Action != "none" || r.Default == "retry" || r.Say.Ko == "" || r.Say.En == "" {
			t.Errorf("%s: %+v: nothing about an object is tried again by itself", code, r)
		}
	}
}
