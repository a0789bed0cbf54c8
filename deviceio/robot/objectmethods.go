package robot

import (
	"strings"
	"unicode/utf8"

	"errand/deviceio/wire"
)

// objectMethods is what the robot can be told to do with the objects of the home. None turns a wheel. What acts on one object
// names it by id; whether that is there, is still as the submit expects it, and can be acted on is asked at admission and
// again when the effect comes about, since a person may have been at it in between.
var objectMethods = []method{
	searchOf(KindAlarm, "searchAlarms", "time", "label"),
	createOf(KindAlarm, "createAlarm", "alarm_created", map[string]any{"enabled": true}, "time", "label"),
	deleteOf(KindAlarm, "deleteAlarm", "alarm_deleted"),
	searchOf(KindReminder, "searchReminders", "text", "due"),
	createOf(KindReminder, "createReminder", "reminder_created", nil, "text", "due"),
	deleteOf(KindReminder, "deleteReminder", "reminder_deleted"),
	switchOf(KindLight, "setLight", "on", "switching", "light_on", "light_off", nil),
	switchOf(KindDoor, "setDoorLock", "locked", "turning the lock", "door_locked", "door_unlocked", openDoor),
}

// stands asks whether the object a task acts on is there, is as the task expects it, and can be acted on, and whether there is
// room for one that it makes: nil means yes.
func (r *Robot) stands(m method, t *Task) *wire.Reason {
	if m.makes != "" && r.world.Objects.of(m.makes).size() >= maxObjects {
		return because(ReasonObjectLimit, map[string]any{"kind": string(m.makes), "limit": maxObjects})
	}
	if m.actsOn == "" {
		return nil
	}
	of := r.world.Objects.of(m.actsOn).find(t.TargetID)
	if of == nil {
		return because(ReasonTargetNotFound, map[string]any{"parameter": m.actsOn.parameter(), "value": t.TargetID})
	}
	if want, has := t.Spec.ExpectedRevision, of.object().Revision; want != "" && want != has {
		return because(ReasonStateChanged, map[string]any{"target_id": t.TargetID, "expected_revision": want, "revision": has})
	}
	if m.hinders != nil {
		return m.hinders(of, t)
	}
	return nil
}

// target reads which object a task is about.
func (m method) target(t *Task) *wire.Reason {
	if m.actsOn == "" {
		return nil
	}
	id, name := text(t.Spec.Params, m.actsOn.parameter())
	if id == "" {
		return missing(name)
	}
	t.TargetID = id
	return nil
}

// --- search

const (
	searchMs = 10_000
	setMs    = 30_000
	// listedMost bounds what a search tells in words, in characters.
	listedMost = 400
)

func searchOf(k Kind, name string, by ...string) method {
	return method{name: name, room: roomNone, cancel: cancelQueuedOnly, runMs: searchMs,
		program: func(Home, *Task) []phase { return nil }, settle: noEffect,
		result: func(_ Home, w *World, t *Task) map[string]any {
			found := w.Objects.search(k, t.Spec.Params, by)
			return map[string]any{"count": len(found), "listed": listed(found, by)}
		}}
}

// search finds the objects whose fields equal the parameters that are given.
func (o *Objects) search(k Kind, params map[string]any, by []string) []map[string]any {
	var found []map[string]any
	o.each(func(is Kind, _ int, of item) {
		if is != k {
			return
		}
		fields := described(k, of)
		for _, name := range by {
			if want, _ := text(params, name); want != "" && fields[name] != spelled(want) {
				return
			}
		}
		found = append(found, fields)
	})
	return found
}

// listed tells what was found in words, such as "07:00 출근, 07:00 운동".
func listed(found []map[string]any, by []string) string {
	var all string
	for _, fields := range found {
		var words []string
		for _, name := range by {
			if word, _ := fields[name].(string); word != "" {
				words = append(words, word)
			}
		}
		next := strings.Join(words, " ")
		if all != "" {
			next = all + ", " + next
		}
		if utf8.RuneCountInString(next) > listedMost {
			return all
		}
		all = next
	}
	return all
}

// --- create

func createOf(k Kind, name, effect string, fixed map[string]any, fields ...string) method {
	made := func(params map[string]any) map[string]any {
		all := map[string]any{}
		for _, field := range fields {
			if value, given := params[field]; given {
				all[field] = value
			}
		}
		for field, value := range fixed {
			all[field] = value
		}
		return all
	}
	return method{name: name, room: roomNone, cancel: cancelQueuedOnly, runMs: setMs, program: dwell("noting", 0.5),
		check: func(_ Home, params map[string]any) *wire.Reason {
			if _, given := params[fields[0]]; !given {
				return missing(fields[0])
			}
			if _, err := new(Objects).create(k, made(params)); err != nil {
				return invalid(fields[0], err.Error())
			}
			return nil
		},
		makes: k,
		settle: func(_ Home, w *World, t *Task, now int64) string {
			of, err := w.Objects.create(k, made(t.Spec.Params))
			if err != nil {
				return "" // admission and the look before the effect asked the same
			}
			w.Sources[k.area()] = now
			t.TargetID, t.Object = of.object().ID, described(k, of)
			return effect
		},
		result: func(_ Home, w *World, t *Task) map[string]any {
			if t.Object != nil {
				return t.Object
			}
			claimed := w.Objects.clone() // it says so, and nothing was made
			of, err := claimed.create(k, made(t.Spec.Params))
			if err != nil {
				return nil
			}
			return described(k, of)
		}}
}

// --- delete

func deleteOf(k Kind, name, effect string) method {
	return method{name: name, room: roomNone, cancel: cancelQueuedOnly, runMs: setMs, actsOn: k, program: dwell("removing", 0.5),
		settle: func(_ Home, w *World, t *Task, now int64) string {
			t.Object = described(k, w.Objects.of(k).find(t.TargetID))
			w.Objects.of(k).remove(t.TargetID)
			w.Objects.mark(nil)
			w.Sources[k.area()] = now
			return effect
		},
		result: heldOrSeen(k)}
}

// heldOrSeen tells the object as the effect left it, or, where there was no effect, as it is.
func heldOrSeen(k Kind) func(Home, *World, *Task) map[string]any {
	return func(_ Home, w *World, t *Task) map[string]any {
		if t.Object != nil {
			return t.Object
		}
		if of := w.Objects.of(k).find(t.TargetID); of != nil {
			return described(k, of)
		}
		return map[string]any{k.parameter(): t.TargetID}
	}
}

// --- lights and locks

// switchOf sets the truth field of an object. To set it to what it is already changes nothing about the object, and is an
// effect all the same: the switch was used.
func switchOf(k Kind, name, field, stage, onEffect, offEffect string, hinders func(item, *Task) *wire.Reason) method {
	return method{name: name, room: roomNone, cancel: cancelQueuedOnly, runMs: setMs, actsOn: k, hinders: hinders,
		program: dwell(stage, 1),
		check: func(_ Home, params map[string]any) *wire.Reason {
			switch params[field].(type) {
			case nil:
				return missing(field)
			case bool:
				return nil
			}
			return invalid(field, "want true or false")
		},
		settle: func(_ Home, w *World, t *Task, now int64) string {
			of := w.Objects.of(k).find(t.TargetID)
			want := t.Spec.Params[field] == true
			if described(k, of)[field] != want {
				if err := w.Objects.change(of, map[string]any{field: want}); err != nil {
					return "" // what could hinder it was asked a moment ago
				}
				w.Sources[k.area()] = now
			}
			t.Object = described(k, of)
			if want {
				return onEffect
			}
			return offEffect
		},
		result: func(h Home, w *World, t *Task) map[string]any {
			told := heldOrSeen(k)(h, w, t)
			told[field] = t.Spec.Params[field] == true // what it claims, if it did nothing
			return told
		}}
}

// openDoor refuses to lock a door that stands open: the bolt would shut on nothing.
func openDoor(of item, t *Task) *wire.Reason {
	door, ok := of.(*Door)
	if ok && door.Open && t.Spec.Params["locked"] == true {
		return because(ReasonDoorOpen, map[string]any{"door_id": door.ID, "door": door.Name})
	}
	return nil
}
