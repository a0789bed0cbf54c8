package robot

import (
	"slices"
	"strconv"
	"strings"
)

// defaultObjects is a home in which names alone do not tell: two alarms ring at seven, and two lamps are called 스탠드.
func defaultObjects() Objects {
	return Objects{
		Alarms: []Alarm{
			{Object: Object{ID: "alarm-1"}, Time: "07:00", Label: "출근", Enabled: true},
			{Object: Object{ID: "alarm-2"}, Time: "07:00", Label: "운동", Enabled: true},
		},
		Reminders: []Reminder{
			{Object: Object{ID: "reminder-1"}, Text: "약 먹기", Due: "2026-12-02T09:00"},
			{Object: Object{ID: "reminder-2"}, Text: "분리수거 내놓기", Due: "2026-12-03T20:00"},
		},
		Lights: []Light{
			{Object: Object{ID: "light-1"}, Name: "스탠드", RoomName: "안방"},
			{Object: Object{ID: "light-2"}, Name: "스탠드", RoomName: "거실"},
			{Object: Object{ID: "light-3"}, Name: "천장등", RoomName: "거실", On: true},
			{Object: Object{ID: "light-4"}, Name: "식탁등", RoomName: "부엌"},
		},
		Doors: []Door{
			{Object: Object{ID: "door-1"}, Name: "현관", RoomName: "거실"},
			{Object: Object{ID: "door-2"}, Name: "베란다", RoomName: "거실", Locked: true},
		},
	}
}

// objects are the home's as nobody has touched them yet.
func (h Home) objects() Objects {
	o := Objects{Alarms: h.Alarms, Reminders: h.Reminders, Lights: h.Lights, Doors: h.Doors}.clone()
	o.each(func(_ Kind, _ int, of item) { of.object().Revision = "r0" })
	return o
}

// each visits every object.
func (o *Objects) each(visit func(k Kind, i int, of item)) {
	for i := range o.Alarms {
		visit(KindAlarm, i, &o.Alarms[i])
	}
	for i := range o.Reminders {
		visit(KindReminder, i, &o.Reminders[i])
	}
	for i := range o.Lights {
		visit(KindLight, i, &o.Lights[i])
	}
	for i := range o.Doors {
		visit(KindDoor, i, &o.Doors[i])
	}
}

// spellObjects brings every name to the one spelling; what is wrong with an object is told by checkObjects.
func (h *Home) spellObjects() {
	o := h.objects()
	o.each(func(_ Kind, _ int, of item) {
		_ = of.check() // it spells on the way
		of.object().Revision = ""
	})
	h.Alarms, h.Reminders, h.Lights, h.Doors = o.Alarms, o.Reminders, o.Lights, o.Doors
}

// checkObjects tells what is wrong with the home's objects, each with its place in the file.
func (h Home) checkObjects(fault func(path, format string, args ...any)) {
	seen := map[string]bool{}
	o := h.objects()
	o.each(func(k Kind, i int, of item) {
		path, id := k.area()+"["+strconv.Itoa(i)+"]", of.object().ID
		switch {
		case !objectID.MatchString(id):
			fault(path+".id", "%q: want 1 to 64 letters, digits, - or _", id)
		case strings.HasPrefix(id, newPrefix):
			fault(path+".id", "%q: %s begins the ids of what is made later", id, newPrefix)
		case seen[id]:
			fault(path+".id", "%q is used twice", id)
		}
		seen[id] = true
		if err := of.check(); err != nil {
			fault(path, "%v", err)
		}
		if room := roomNameOf(of); room != "" && len(h.RoomsNamed(room)) == 0 {
			fault(path+".room_name", "%q is no room of this home", room)
		}
	})
}

// roomNameOf is where an object is, "" for one that has no place.
func roomNameOf(of item) string {
	switch v := of.(type) {
	case *Light:
		return v.RoomName
	case *Door:
		return v.RoomName
	}
	return ""
}

// adoptObjects fits a stored world to its home file. A world from before there were any gets the home's; later, a lamp or a
// door that is new in the file is new in the home. Alarms and reminders are people's own by then.
func (w *World) adoptObjects(h Home, now int64) {
	for _, k := range Kinds() {
		if _, known := w.Sources[k.area()]; !known {
			w.Sources[k.area()] = now
		}
	}
	if w.Objects == nil {
		o := h.objects()
		w.Objects = &o
		return
	}
	fresh := h.objects()
	fresh.Lights = slices.DeleteFunc(fresh.Lights, func(l Light) bool { return w.Objects.of(KindLight).find(l.ID) != nil })
	fresh.Doors = slices.DeleteFunc(fresh.Doors, func(d Door) bool { return w.Objects.of(KindDoor).find(d.ID) != nil })
	w.Objects.Lights = append(w.Objects.Lights, fresh.Lights...)
	w.Objects.Doors = append(w.Objects.Doors, fresh.Doors...)
}
