package prompt

import (
	"slices"
	"strings"

	"errand/catalog"
	"errand/catalog/fresh"
	"errand/internal/border"
	"errand/plan"
)

// maxRooms bounds the rooms that a model may name.
const maxRooms = 100

// Setting is one moment of one device, as far as a model may know it.
type Setting struct {
	// Context is what of the device's context is told, without its map.
	Context map[string]any
	// Rooms are the device's own, those that can be told apart: never nil, since no rooms are not any room.
	Rooms []catalog.Room
	// Offered are the capabilities that may be used: enabled, and advertised by this device unless they are the cloud's.
	Offered []catalog.Capability
	// LeftOut is what is not told or not offered, and why: for an operator.
	LeftOut []LeftOut

	whole catalog.Slice
}

// NewSetting takes a catalog, or the slice that a plan carries, and a device_context.v1 of the present (nil if there is
// none). nowMs is Unix milliseconds, for a context that does not say when it was assembled.
func NewSetting(whole catalog.Slice, deviceContext map[string]any, nowMs int64) Setting {
	t := &teller{}
	s := Setting{whole: whole, Rooms: []catalog.Room{}}
	s.Context = t.context(deviceContext, nowMs, read(whole.Capabilities))
	usable := fresh.AsTold(deviceContext, nowMs)
	s.rooms(t, plan.RoomsOf(usable))
	s.offer(t, usable)
	s.LeftOut = t.left
	return s
}

// rooms keeps those that a name stands for alone: which of two was meant would be a guess (case c10).
func (s *Setting) rooms(t *teller, all []catalog.Room) {
	count := make(map[string]int)
	for _, room := range all {
		count[spelled(room.Name)]++
	}
	for _, room := range all {
		switch {
		case count[spelled(room.Name)] > 1:
			t.leave("map.rooms."+room.ID, "another room has the same name")
		case len([]rune(room.Name)) > maxText || len(room.ID) > maxText:
			t.leave("map.rooms."+room.ID, "a name too long")
		case len(s.Rooms) == maxRooms:
			t.leave("map.rooms", "rooms beyond the first %d", maxRooms)
			return
		default:
			s.Rooms = append(s.Rooms, room)
		}
	}
}

// spelled is a name without what people do not hear.
func spelled(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), "")) }

// offer keeps the capabilities that can be used here and now.
func (s *Setting) offer(t *teller, usable map[string]any) {
	methods, told := advertised(usable)
	for _, c := range s.whole.Capabilities {
		switch {
		case c.NodeCommand != "" && !slices.Contains(methods, c.TaskMethod):
			// A command of other devices than this one: there are many, and none is worth a line of the record.
		case !c.Enabled:
			t.leave(c.ID, "not enabled in the catalog")
		case told && c.RunsOn("device") && !slices.Contains(methods, c.TaskMethod):
			t.leave(c.ID, "the device does not offer it")
		case len(s.Rooms) == 0 && slices.ContainsFunc(c.Slots, func(slot catalog.Slot) bool { return slot.Required && slot.Grounding == "room" }):
			t.leave(c.ID, "needs a room, and no room is known")
		default:
			s.Offered = append(s.Offered, c)
		}
	}
}

// advertised lists the task methods that the device says it has; told is false where it says nothing.
func advertised(usable map[string]any) (methods []string, told bool) {
	area, _ := usable["capabilities"].(map[string]any)
	list, told := area["task_methods"].([]any)
	for _, item := range list {
		if method, ok := item.(string); ok {
			methods = append(methods, method)
		}
	}
	return methods, told
}

// offers finds a capability that may be used.
func (s *Setting) offers(id string) bool {
	return slices.ContainsFunc(s.Offered, func(c catalog.Capability) bool { return c.ID == id })
}

// Faults holds a model's plan against the gate that every plan passes (law 14), and against what it was offered: only the
// device's own rooms, only what is enabled and what this device said it can do.
func (s *Setting) Faults(doc plan.Document, deviceID string) border.Faults {
	faults := plan.Validate(doc, &s.whole, plan.Grounding{DeviceID: deviceID, Rooms: s.Rooms})
	faults = append(faults, plan.Claims(doc.Steps, &s.whole)...)
	for i, step := range doc.Steps {
		id := step.Action.CapabilityID
		if c, known := s.whole.Capability(id); known && c.Enabled && !s.offers(id) {
			faults = append(faults, border.Fault{Path: border.Index("steps", i) + ".action.capability_id", Code: "not_offered",
				Message: id + " cannot be used now: " + s.whyNot(id)})
		}
	}
	return faults
}

func (s *Setting) whyNot(id string) string {
	for _, left := range s.LeftOut {
		if left.What == id {
			return left.Why
		}
	}
	return "it is not offered"
}

// Told is the setting as content: what the device is like, and which rooms it knows.
func (s *Setting) Told() string {
	rooms := make([]any, len(s.Rooms))
	for i, room := range s.Rooms {
		rooms[i] = map[string]any{"id": room.ID, "name": room.Name}
	}
	return encode(map[string]any{"device_context": s.Context, "rooms": rooms})
}

// Personal lists the strings of the setting that tell of people or their home.
func (s *Setting) Personal() []string {
	names := make([]string, len(s.Rooms))
	for i, room := range s.Rooms {
		names[i] = room.Name
	}
	return names
}

// Note tells an operator what the model was not told; "" if that is nothing.
func (s *Setting) Note() string {
	if len(s.LeftOut) == 0 {
		return ""
	}
	var reasons []string
	by := make(map[string][]string)
	for _, left := range s.LeftOut {
		if by[left.Why] == nil {
			reasons = append(reasons, left.Why)
		}
		by[left.Why] = append(by[left.Why], left.What)
	}
	texts := make([]string, len(reasons))
	for i, why := range reasons {
		texts[i] = strings.Join(by[why], ", ") + " (" + why + ")"
	}
	return "not told to the model: " + strings.Join(texts, "; ")
}
