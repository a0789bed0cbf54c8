package robot

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"errand/deviceio/wire"
)

func object(operation, method string, params map[string]any, revision string) wire.Task {
	spec := task(operation, method, params)
	spec.ExpectedRevision = revision
	return spec
}

func (b *bench) hand(h Hand) string {
	b.t.Helper()
	id, err := b.ByHand(b.t.Context(), h)
	if err != nil {
		b.t.Fatalf("by hand %+v: %v", h, err)
	}
	return id
}

// wantNothing checks that nothing about the objects is other than it was.
func (b *bench) wantNothing(before World) {
	b.t.Helper()
	if after := b.World(); !reflect.DeepEqual(after.Objects, before.Objects) {
		b.t.Fatalf("the objects changed: %+v, were %+v", after.Objects, before.Objects)
	}
}

// Each method does what it says: one effect with its target in the ledger, its fields in the result, no wheel turned.
func TestObjectMethods(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params map[string]any
		kind   string // "" has no effect
		target string
		result map[string]any
		holds  func(o *Objects) bool
	}{
		"searchAlarms": {params: map[string]any{"time": "07:00"}, result: map[string]any{"count": 2.0, "listed": "07:00 출근, 07:00 운동"}},
		"createAlarm": {params: map[string]any{"time": "06:30", "label": "산책"}, kind: "alarm_created", target: "new-1",
			result: map[string]any{"alarm_id": "new-1", "time": "06:30", "label": "산책", "enabled": true},
			holds: func(o *Objects) bool {
				return len(o.Alarms) == 3 && o.Alarms[2] == Alarm{Object: Object{"new-1", "r1"}, Time: "06:30", Label: "산책", Enabled: true}
			}},
		"deleteAlarm": {params: map[string]any{"alarm_id": "alarm-1"}, kind: "alarm_deleted", target: "alarm-1",
			result: map[string]any{"alarm_id": "alarm-1", "time": "07:00", "label": "출근", "enabled": true},
			holds:  func(o *Objects) bool { return len(o.Alarms) == 1 && o.Alarms[0].ID == "alarm-2" }},
		"searchReminders": {params: map[string]any{"text": "없는 것"}, result: map[string]any{"count": 0.0, "listed": ""}},
		"createReminder": {params: map[string]any{"text": "우산 챙기기"}, kind: "reminder_created", target: "new-1",
			result: map[string]any{"reminder_id": "new-1", "text": "우산 챙기기", "done": false},
			holds:  func(o *Objects) bool { return len(o.Reminders) == 3 }},
		"deleteReminder": {params: map[string]any{"reminder_id": "reminder-2"}, kind: "reminder_deleted", target: "reminder-2",
			result: map[string]any{"reminder_id": "reminder-2", "text": "분리수거 내놓기", "due": "2026-12-03T20:00", "done": false},
			holds:  func(o *Objects) bool { return len(o.Reminders) == 1 }},
		"setLight": {params: map[string]any{"light_id": "light-1", "on": true}, kind: "light_on", target: "light-1",
			result: map[string]any{"light_id": "light-1", "name": "스탠드", "room_name": "안방", "on": true},
			holds:  func(o *Objects) bool { return o.Lights[0].On && o.Lights[0].Revision == "r1" && !o.Lights[1].On }},
		"setDoorLock": {params: map[string]any{"door_id": "door-2", "locked": false}, kind: "door_unlocked", target: "door-2",
			result: map[string]any{"door_id": "door-2", "name": "베란다", "room_name": "거실", "locked": false, "open": false},
			holds:  func(o *Objects) bool { return !o.Doors[1].Locked && o.Doors[1].Revision == "r1" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.accept(task("p/x/1", name, c.params))
			e := b.until("p/x/1", "COMPLETED")
			if !reflect.DeepEqual(result(e), c.result) {
				t.Errorf("told %v, want %v", result(e), c.result)
			}
			effects := b.effects("p/x/1")
			switch {
			case c.kind == "" && len(effects) != 0, c.kind != "" && (len(effects) != 1 || effects[0].Kind != c.kind || effects[0].TargetID != c.target):
				t.Errorf("ledger: %+v, want %s of %s", effects, c.kind, c.target)
			}
			if c.holds != nil && !c.holds(b.World().Objects) {
				t.Errorf("the objects are %+v", b.World().Objects)
			}
			if b.World().MovedAt != 0 || len(b.motions("p/x/1")) != 0 {
				t.Error("the wheels turned")
			}
		})
	}
}

// A refused submit names what is wrong with it, and changes nothing.
func TestObjectSubmitsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec wire.Task
		code string
	}{
		"no id":               {task("p/x/1", "deleteAlarm", nil), ReasonMissingParameter},
		"an id of another":    {task("p/x/1", "deleteAlarm", map[string]any{"alarm_id": "light-1"}), ReasonTargetNotFound},
		"an id that is none":  {task("p/x/1", "setLight", map[string]any{"light_id": "light-9", "on": true}), ReasonTargetNotFound},
		"another revision":    {object("p/x/1", "deleteAlarm", map[string]any{"alarm_id": "alarm-1"}, "r7"), ReasonStateChanged},
		"the world's own":     {object("p/x/1", "deleteAlarm", map[string]any{"alarm_id": "alarm-1"}, "w1"), ReasonStateChanged},
		"no time":             {task("p/x/1", "createAlarm", map[string]any{"label": "x"}), ReasonMissingParameter},
		"no time of a day":    {task("p/x/1", "createAlarm", map[string]any{"time": "24:00"}), ReasonInvalidParameter},
		"a time as a number":  {task("p/x/1", "createAlarm", map[string]any{"time": 7.0}), ReasonInvalidParameter},
		"no text":             {task("p/x/1", "createReminder", nil), ReasonMissingParameter},
		"empty text":          {task("p/x/1", "createReminder", map[string]any{"text": " "}), ReasonInvalidParameter},
		"no moment":           {task("p/x/1", "createReminder", map[string]any{"text": "x", "due": "내일"}), ReasonInvalidParameter},
		"a light neither":     {task("p/x/1", "setLight", map[string]any{"light_id": "light-1"}), ReasonMissingParameter},
		"a lock by a word":    {task("p/x/1", "setDoorLock", map[string]any{"door_id": "door-1", "locked": "yes"}), ReasonInvalidParameter},
		"the world moved on":  {object("p/x/1", "createAlarm", map[string]any{"time": "07:00"}, "w9"), ReasonStateChanged},
		"a note without end":  {task("p/x/1", "createReminder", map[string]any{"text": strings.Repeat("가", 201)}), ReasonInvalidParameter},
		"an object as its id": {task("p/x/1", "deleteReminder", map[string]any{"reminder_id": map[string]any{}}), ReasonMissingParameter},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			before := b.World()
			if a := b.submit(c.spec); a.Accepted || a.ReasonCode != c.code {
				t.Fatalf("%+v, want %s", a, c.code)
			}
			b.pass(2 * time.Second)
			b.wantNothing(before)
			b.wantEffects("p/x/1", 0)
		})
	}
}

// Law16: what was confirmed for one state of an object is not done to another; the rest of the world may change meanwhile.
func TestLaw16RevisionIsTheObjectsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hand(Hand{Do: HandChange, Kind: KindAlarm, ID: "alarm-2", Set: map[string]any{"label": "수영"}})
	b.accept(object("p/other/1", "setLight", map[string]any{"light_id": "light-1", "on": true}, "r0"))
	b.until("p/other/1", "COMPLETED")
	b.accept(object("p/x/1", "deleteAlarm", map[string]any{"alarm_id": "alarm-1"}, "r0"))
	b.until("p/x/1", "COMPLETED")
	if a := b.submit(object("p/y/1", "deleteAlarm", map[string]any{"alarm_id": "alarm-2"}, "r0")); a.ReasonCode != ReasonStateChanged || a.ReasonParams["revision"] != "r1" {
		t.Fatalf("%+v", a)
	}
}

// What changes while a task waits or works is met when its effect would come about (law 16, law 20).
func TestLaw16ObjectChangesUnderATask(t *testing.T) {
	t.Parallel()
	lock := map[string]any{"door_id": "door-1", "locked": true}
	for name, c := range map[string]struct {
		spec wire.Task
		hand Hand
		code string
	}{
		"gone":    {object("p/x/1", "deleteAlarm", map[string]any{"alarm_id": "alarm-1"}, "r0"), Hand{Do: HandRemove, Kind: KindAlarm, ID: "alarm-1"}, ReasonTargetNotFound},
		"changed": {object("p/x/1", "deleteAlarm", map[string]any{"alarm_id": "alarm-1"}, "r0"), Hand{Do: HandChange, Kind: KindAlarm, ID: "alarm-1", Set: map[string]any{"time": "08:00"}}, ReasonStateChanged},
		"opened":  {task("p/x/1", "setDoorLock", lock), Hand{Do: HandChange, Kind: KindDoor, ID: "door-1", Set: map[string]any{"open": true}}, ReasonDoorOpen},
	} {
		for _, when := range []string{"queued", "running"} {
			t.Run(name+" while "+when, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				if when == "queued" {
					b.accept(moveTo("p/first/1", "부엌"))
				}
				b.accept(c.spec)
				b.pass(300 * time.Millisecond)
				b.hand(c.hand)
				before := b.World()
				e := b.until("p/x/1", "FAILED")
				if e["reason_code"] != c.code || e["effect_count"] != 0.0 || e["requires_cloud_decision"] != true {
					t.Fatalf("%v, want %s", e, c.code)
				}
				b.wantNothing(before)
				b.wantEffects("p/x/1", 0)
			})
		}
	}
}

func TestOpenDoorCannotBeLocked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hand(Hand{Do: HandChange, Kind: KindDoor, ID: "door-1", Set: map[string]any{"open": true}})
	if a := b.submit(task("p/x/1", "setDoorLock", map[string]any{"door_id": "door-1", "locked": true})); a.ReasonCode != ReasonDoorOpen || a.ReasonParams["door"] != "현관" {
		t.Fatalf("%+v", a)
	}
	b.accept(task("p/x/2", "setDoorLock", map[string]any{"door_id": "door-1", "locked": false})) // it is unlocked already
	b.until("p/x/2", "COMPLETED")
	if b.World().Objects.Doors[0].Revision != "r1" {
		t.Error("nothing about the door changed but by hand, and its revision says otherwise")
	}
}

// Law11: the same submit twice makes one alarm.
func TestLaw11OneAlarmForOneOperation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	spec := task("p/x/1", "createAlarm", map[string]any{"time": "06:30"})
	first := b.accept(spec)
	if again := b.accept(spec); again.TaskID != first.TaskID {
		t.Fatalf("%+v, then %+v", first, again)
	}
	b.until("p/x/1", "COMPLETED")
	b.cut()
	if again := b.accept(spec); again.TaskID != first.TaskID || again.TerminalEvent == nil || again.TerminalEvent.Result["alarm_id"] != "new-1" {
		t.Fatalf("after a restart: %+v", again)
	}
	b.pass(2 * time.Second)
	b.wantEffects("p/x/1", 1)
	if n := len(b.World().Objects.Alarms); n != 3 {
		t.Fatalf("%d alarms", n)
	}
}

// An id is never given again, and a revision never twice to the same object, over restarts too.
func TestObjectIdsAreNeverReused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	given := map[string]bool{}
	for range 5 {
		id := b.hand(Hand{Do: HandAdd, Kind: KindAlarm, Set: map[string]any{"time": "09:00"}})
		if given[id] {
			t.Fatalf("%s was given before", id)
		}
		given[id] = true
		b.hand(Hand{Do: HandRemove, Kind: KindAlarm, ID: id})
		b.cut()
	}
	seen := map[string]bool{}
	for range 5 {
		b.hand(Hand{Do: HandChange, Kind: KindLight, ID: "light-1", Set: map[string]any{"on": true}})
		b.hand(Hand{Do: HandChange, Kind: KindLight, ID: "light-1", Set: map[string]any{"on": false}})
		revision := b.World().Objects.Lights[0].Revision
		if seen[revision] {
			t.Fatalf("%s came before", revision)
		}
		seen[revision] = true
	}
}

func TestByHandStandsApartInTheLedger(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hand(Hand{Do: HandChange, Kind: KindDoor, ID: "door-2", Set: map[string]any{"locked": false, "open": true}})
	id := b.hand(Hand{Do: HandAdd, Kind: KindReminder, Set: map[string]any{"text": norm.NFD.String("물 주기")}})
	hands, err := ReadByHand(b.dir)
	if err != nil || len(hands) != 2 || hands[0].Kind != "door_changed" || hands[0].TargetID != "door-2" || hands[1].Kind != "reminder_added" || hands[1].TargetID != id {
		t.Fatalf("%+v, %v", hands, err)
	}
	if effects, err := ReadLedger(b.dir); err != nil || len(effects) != 0 {
		t.Fatalf("%+v, %v", effects, err)
	}
	if r := b.World().Objects.Reminders[2]; r.Text != "물 주기" {
		t.Errorf("kept as %q, want one spelling", r.Text)
	}
	for name, h := range map[string]Hand{
		"no kind":              {Do: HandAdd, Kind: "window"},
		"nothing to do":        {Kind: KindAlarm, ID: "alarm-1"},
		"nothing to set":       {Do: HandChange, Kind: KindAlarm, ID: "alarm-1"},
		"nobody's id":          {Do: HandRemove, Kind: KindAlarm, ID: "alarm-9"},
		"a field it lacks":     {Do: HandChange, Kind: KindAlarm, ID: "alarm-1", Set: map[string]any{"on": true}},
		"no time":              {Do: HandAdd, Kind: KindAlarm},
		"locked and open":      {Do: HandChange, Kind: KindDoor, ID: "door-2", Set: map[string]any{"locked": true}},
		"another id":           {Do: HandChange, Kind: KindAlarm, ID: "alarm-1", Set: map[string]any{"id": "alarm-9"}},
		"a revision":           {Do: HandAdd, Kind: KindAlarm, Set: map[string]any{"time": "09:00", "revision": "r9"}},
		"a name without words": {Do: HandChange, Kind: KindLight, ID: "light-1", Set: map[string]any{"name": " "}},
	} {
		before := b.World()
		if _, err := b.ByHand(t.Context(), h); !errors.Is(err, ErrObject) {
			t.Errorf("%s: %v", name, err)
		}
		b.wantNothing(before)
	}
}

// The areas tell every object with its id and revision, and are as fresh as the channel they are told through (case c09).
func TestObjectsInThePlanningContext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	told := b.Context()
	if !told.Alarms.Available || len(told.Alarms.Items) != 2 || told.Alarms.Items[0] != (Alarm{Object: Object{"alarm-1", "r0"}, Time: "07:00", Label: "출근", Enabled: true}) {
		t.Errorf("alarms: %+v", told.Alarms)
	}
	if len(told.Reminders.Items) != 2 || len(told.Lights.Items) != 4 || len(told.Doors.Items) != 2 {
		t.Errorf("%+v", told)
	}
	b.pass(time.Minute)
	b.hand(Hand{Do: HandRemove, Kind: KindDoor, ID: "door-1"})
	b.hand(Hand{Do: HandRemove, Kind: KindDoor, ID: "door-2"})
	doc, err := wire.ParseDeviceContext(encode(t, b.Context()))
	if err != nil {
		t.Fatal(err)
	}
	doors, _ := doc["doors"].(map[string]any)
	if items, ok := doors["items"].([]any); !ok || len(items) != 0 || doors["available"] != true {
		t.Errorf("no doors: %v", doors)
	}
	for _, k := range Kinds() {
		f := b.Context().Freshness[k.area()]
		if f.Policy != "on_change" || !f.Usable || f.Stale {
			t.Errorf("%s: %+v", k.area(), f)
		}
		if changed := f.ObservedAt > benchStart.UnixMilli(); changed != (k == KindDoor) {
			t.Errorf("%s: observed at %d", k.area(), f.ObservedAt)
		}
	}
}

// A robot that boasts tells what it would have done; the context and the ledger know better.
func TestBoastAboutObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.World()
	b.fault(Fault{Kind: FaultBoast, Times: -1})
	for method, params := range map[string]map[string]any{
		"createAlarm": {"time": "06:30"}, "deleteAlarm": {"alarm_id": "alarm-1"},
		"setLight": {"light_id": "light-1", "on": true}, "setDoorLock": {"door_id": "door-1", "locked": true},
	} {
		id := "p/" + method + "/1"
		b.accept(task(id, method, params))
		e := b.until(id, "COMPLETED")
		if e["effect_count"] != 0.0 {
			t.Errorf("%s: counts %v effects", method, e["effect_count"])
		}
		for name, want := range params {
			if result(e)[name] != want {
				t.Errorf("%s: claims %s %v, want %v", method, name, result(e)[name], want)
			}
		}
		b.wantEffects(id, 0)
	}
	b.wantNothing(before)
}

func TestThereIsNoRoomForMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range maxObjects - 2 {
		b.hand(Hand{Do: HandAdd, Kind: KindAlarm, Set: map[string]any{"time": "09:00"}})
	}
	if a := b.submit(task("p/x/1", "createAlarm", map[string]any{"time": "09:00"})); a.ReasonCode != ReasonObjectLimit {
		t.Fatalf("%+v", a)
	}
	b.accept(task("p/search/1", "searchAlarms", nil))
	r := result(b.until("p/search/1", "COMPLETED"))
	if words, ok := r["listed"].(string); !ok || r["count"] != 100.0 || len([]rune(words)) > listedMost || !strings.HasSuffix(words, "09:00") {
		t.Fatalf("%v", r)
	}
}

func TestObjectsOfAHomeFile(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "home.yaml")
		if err := os.WriteFile(path, []byte("rooms: [{id: a, name: 방}]\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	h, err := LoadHome(write(norm.NFD.String("alarms: [{id: wake, time: \"06:00\", label: 기상, enabled: true}]\ndoors: [{id: front, name: 현관, room_name: 방, locked: true}]\n")))
	if err != nil || h.Alarms[0].Label != "기상" || h.Doors[0].RoomName != "방" || !h.Doors[0].Locked {
		t.Fatalf("%+v, %v", h, err)
	}
	for text, want := range map[string]string{
		`alarms: [{id: a, time: "6:00"}]`:                                   "alarms[0]: no such object can be: time",
		`alarms: [{time: "06:00"}]`:                                         "alarms[0].id",
		`alarms: [{id: new-1, time: "06:00"}]`:                              "begins the ids of what is made later",
		`alarms: [{id: x, time: "06:00", revision: r3}]`:                    "revision",
		`reminders: [{id: x, text: a}, {id: x, text: b}]`:                   `reminders[1].id: "x" is used twice`,
		`lights: [{id: x, name: a, room_name: 없는방}]`:                        "lights[0].room_name",
		`doors: [{id: x, name: a, room_name: 방, open: true, locked: true}]`: "cannot be locked",
	} {
		if _, err := LoadHome(write(text)); !errors.Is(err, ErrHome) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A world from before the objects gets the home's; one that has them keeps them, and takes in what is new about the house itself.
func TestObjectsOfAnOlderWorld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hand(Hand{Do: HandRemove, Kind: KindAlarm, ID: "alarm-1"})
	home := DefaultHome()
	home.Lights = append(home.Lights, Light{Object: Object{ID: "light-5"}, Name: "무드등", RoomName: "서재"})
	b.opts.Home = home
	b.cut()
	if o := b.World().Objects; len(o.Alarms) != 1 || len(o.Lights) != 5 {
		t.Fatalf("%+v", o)
	}
	if err := exec(t.Context(), b.store.db, `UPDATE world SET doc = json_remove(doc, '$.objects')`); err != nil {
		t.Fatal(err)
	}
	if err := exec(t.Context(), b.store.db, `ALTER TABLE effects DROP COLUMN target_id`); err != nil {
		t.Fatal(err)
	}
	b.cut()
	if o := b.World().Objects; len(o.Alarms) != 2 || len(o.Lights) != 5 || o.Alarms[0].Revision != "r0" {
		t.Fatalf("%+v", o)
	}
	b.accept(task("p/x/1", "deleteAlarm", map[string]any{"alarm_id": "alarm-1"}))
	b.until("p/x/1", "COMPLETED")
	if e := b.effects("p/x/1"); len(e) != 1 || e[0].TargetID != "alarm-1" {
		t.Fatalf("%+v", e)
	}
}
