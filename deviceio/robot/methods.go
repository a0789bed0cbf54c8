package robot

import (
	"slices"
	"unicode/utf8"

	"errand/deviceio/wire"
)

// method is one thing the robot can be told to do: what it needs, how its body goes about it, what comes of it.
type method struct {
	name string
	// room says where it happens: roomNamed must be given, roomOrHere may be, roomStation is fixed, roomNone has no place.
	room roomNeed
	// moves is true where the wheels may turn: then battery and the rooms' policy are asked at admission.
	moves bool
	// home is true for the way back to the station, which a low battery does not stop.
	home bool
	// cancel says what cancelling can still do (contract.md §9, cancel).
	cancel cancelPolicy
	// runMs bounds the run where the submit gives no timeoutMs. Wall-clock milliseconds.
	runMs int64
	// actsOn is the kind of the one object it acts on, makes of the one it makes; "" for none. hinders says what about an
	// object stands in the way of a task; nil means nothing ever does.
	actsOn, makes Kind
	hinders       func(of item, t *Task) *wire.Reason
	// check looks at the parameters beyond the room; nil means nothing to check.
	check func(h Home, params map[string]any) *wire.Reason
	// program is what the body does, one phase after another. The robot may stand anywhere when it begins.
	program func(h Home, t *Task) []phase
	// settle changes the world as the effect comes about, and returns the effect's kind, "" for none.
	settle func(h Home, w *World, t *Task, now int64) string
	// result is what the COMPLETED event tells, listed in the cloud's catalog or not.
	result func(h Home, w *World, t *Task) map[string]any
}

type roomNeed string

const (
	roomNone    roomNeed = "none"
	roomNamed   roomNeed = "named"
	roomOrHere  roomNeed = "or_here"
	roomStation roomNeed = "station"
)

type cancelPolicy string

const (
	cancelStop       cancelPolicy = "stop"
	cancelQueuedOnly cancelPolicy = "queued_only"
)

// methods is every task method of this robot.
var methods = slices.Concat(bodyMethods, objectMethods)

// bodyMethods is what it does with its body.
var bodyMethods = []method{
	{name: "setMoveTo", room: roomNamed, moves: true, cancel: cancelStop, runMs: 120_000,
		program: driveTo, settle: arrive, result: arrived},
	{name: "setRoomCleaning", room: roomNamed, moves: true, cancel: cancelStop, runMs: 600_000,
		program: cleanRoom, settle: cleanUp, result: cleaned},
	{name: "setStationaryPurify", room: roomOrHere, moves: true, cancel: cancelStop, runMs: 600_000,
		program: purifyRoom, settle: purify, result: purified},
	{name: "setReturnToStation", room: roomStation, moves: true, home: true, cancel: cancelStop, runMs: 180_000,
		program: goHome, settle: dock, result: docked},
	{name: "setSecurityMode", room: roomNone, cancel: cancelQueuedOnly, runMs: 30_000, check: checkSecurity,
		program: dwell("arming", 2), settle: secure, result: secured},
	{name: "comeToMe", room: roomOrHere, moves: true, cancel: cancelStop, runMs: 300_000, check: checkComeToMe,
		program: comeToMe, settle: come, result: came},
	{name: "getDeviceStatus", room: roomNone, cancel: cancelQueuedOnly, runMs: 10_000,
		program: func(Home, *Task) []phase { return nil }, settle: noEffect, result: deviceStatus},
	{name: "speak", room: roomNone, cancel: cancelQueuedOnly, runMs: 60_000, check: checkSpeak,
		program: speak, settle: func(Home, *World, *Task, int64) string { return "spoken" }, result: spoken},
}

// Methods lists the task methods, as the planning context tells them under capabilities.
func Methods() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.name
	}
	return names
}

func findMethod(name string) (method, bool) {
	i := slices.IndexFunc(methods, func(m method) bool { return m.name == name })
	if i < 0 {
		return method{}, false
	}
	return methods[i], true
}

// text reads a string parameter by any of its names.
func text(params map[string]any, names ...string) (value, name string) {
	for _, name := range names {
		if s, ok := params[name].(string); ok && s != "" {
			return s, name
		}
	}
	return "", names[0]
}

func missing(parameter string) *wire.Reason {
	return because(ReasonMissingParameter, map[string]any{"parameter": parameter})
}

func invalid(parameter, why string) *wire.Reason {
	return because(ReasonInvalidParameter, map[string]any{"parameter": parameter, "why": why})
}

// drive is the phase that takes the robot to a room.
func drive(h Home, roomID string) phase {
	room, _ := h.Room(roomID)
	return phase{Kind: phaseDrive, Stage: "driving", RoomID: roomID, X: room.X, Y: room.Y, Seconds: 5}
}

// dwell makes a program of one phase that takes a fixed time.
func dwell(stage string, secs float64) func(Home, *Task) []phase {
	return func(Home, *Task) []phase { return []phase{{Kind: phaseDwell, Stage: stage, Seconds: secs}} }
}

func noEffect(Home, *World, *Task, int64) string { return "" }

// --- setMoveTo

func driveTo(h Home, t *Task) []phase { return []phase{drive(h, t.RoomID)} }

func arrive(Home, *World, *Task, int64) string { return "arrived" }

// arrived tells more than anyone listed: the pose and the map's name must not get past a result contract (law 4).
func arrived(h Home, w *World, t *Task) map[string]any {
	room, _ := h.Room(t.RoomID)
	return map[string]any{"area_id": room.ID, "current_room_name": room.Name,
		"raw_pose": map[string]any{"x": w.X, "y": w.Y}, "map_token": "map-7f3a"}
}

// --- setRoomCleaning

func cleanRoom(h Home, t *Task) []phase {
	return []phase{drive(h, t.RoomID), {Kind: phaseDwell, Stage: "cleaning", RoomID: t.RoomID, Seconds: h.CleanSeconds}}
}

func cleanUp(_ Home, w *World, t *Task, now int64) string {
	w.Cleaned = Cleaned{RoomID: t.RoomID, FinishedAt: now}
	w.Sources[sourceCleaning] = now
	return "cleaned"
}

func cleaned(h Home, _ *World, t *Task) map[string]any {
	room, _ := h.Room(t.RoomID)
	return map[string]any{"area_id": room.ID, "current_room_name": room.Name, "cleaned_area_m2": 12.5, "dust_level": "low"}
}

// --- setStationaryPurify

func purifyRoom(h Home, t *Task) []phase {
	return []phase{drive(h, t.RoomID), {Kind: phasePurify, Stage: "purifying", RoomID: t.RoomID, Seconds: 30}}
}

func purify(_ Home, w *World, t *Task, now int64) string {
	air := w.Air[t.RoomID]
	air.PurifiedAt = now
	w.Air[t.RoomID] = air
	return "purified"
}

func purified(_ Home, w *World, t *Task) map[string]any {
	result := map[string]any{"area_id": t.RoomID, "air_quality_after": tenth(w.Air[t.RoomID].PM25), "fan_rpm": 1850.0}
	for _, p := range t.Run.Phases {
		if p.Kind == phasePurify {
			result["air_quality_before"] = tenth(p.From)
		}
	}
	return result
}

// --- setReturnToStation

func goHome(h Home, t *Task) []phase {
	return []phase{drive(h, t.RoomID), {Kind: phaseDwell, Stage: "docking", RoomID: t.RoomID, Seconds: 2}}
}

func dock(_ Home, w *World, _ *Task, now int64) string {
	w.Docked = true
	w.Sources[sourceMovement] = now
	return "docked"
}

func docked(h Home, w *World, t *Task) map[string]any {
	room, _ := h.Room(t.RoomID)
	return map[string]any{"area_id": room.ID, "current_room_name": room.Name, "charging": true, "battery_level": tenth(w.Battery)}
}

// --- setSecurityMode

// checkSecurity reads mode: "on" (the default) or "off", and their other spellings.
func checkSecurity(_ Home, params map[string]any) *wire.Reason {
	if _, given := params["mode"]; !given {
		return nil
	}
	if mode, _ := text(params, "mode"); !slices.Contains([]string{"on", "start", "off", "stop"}, mode) {
		return invalid("mode", "want on or off")
	}
	return nil
}

func secure(_ Home, w *World, t *Task, now int64) string {
	w.Sources[sourceSecurity] = now
	if mode, _ := text(t.Spec.Params, "mode"); mode == "off" || mode == "stop" {
		w.Security = SecurityOff
		return "unsecured"
	}
	w.Security = SecurityStarted
	return "secured"
}

func secured(_ Home, w *World, _ *Task) map[string]any {
	return map[string]any{"security_state": string(w.Security)}
}

// --- getDeviceStatus

func deviceStatus(h Home, w *World, _ *Task) map[string]any {
	room := h.RoomAt(w.X, w.Y)
	return map[string]any{"battery_level": tenth(w.Battery), "charging": w.Docked, "current_room_id": room.ID,
		"current_room_name": room.Name, "security_state": string(w.Security), "firmware": ExecutorRevision}
}

// --- speak

func checkSpeak(_ Home, params map[string]any) *wire.Reason {
	if said, name := text(params, "text", "tts_response"); said == "" {
		return missing(name)
	}
	return nil
}

// speak takes as long as the words do: about ten characters a second.
func speak(_ Home, t *Task) []phase {
	said, _ := text(t.Spec.Params, "text", "tts_response")
	return []phase{{Kind: phaseDwell, Stage: "speaking", Seconds: 0.5 + float64(utf8.RuneCountInString(said))/10}}
}

func spoken(_ Home, _ *World, t *Task) map[string]any {
	said, _ := text(t.Spec.Params, "text", "tts_response")
	return map[string]any{"spoken": true, "characters": utf8.RuneCountInString(said)}
}

// tenth rounds to one decimal, as a sensor tells it.
func tenth(v float64) float64 { return float64(int64(v*10+0.5)) / 10 }
