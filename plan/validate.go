package plan

import (
	"fmt"

	"errand/catalog"
	"errand/internal/border"
)

const (
	// MaxSteps bounds a plan.
	MaxSteps = 200
	// maxText bounds a string argument whose slot sets no bound of its own, in characters.
	maxText = 500
)

// Grounding is what a plan is held against besides the catalog: facts of one device.
type Grounding struct {
	DeviceID string
	// Rooms is the device's own room catalog; nil means unknown, and the device itself refuses an unknown room.
	Rooms []catalog.Room
	// By is who puts the steps in a plan (catalog.StartedBy...); "" does not ask.
	By string
}

// Validate holds a document against a catalog slice and a device, and reports every fault at once, each with its path
// (contract.md §2). It is the one gate of law 14: every plan passes it, whoever wrote it.
func Validate(doc Document, slice *catalog.Slice, g Grounding) border.Faults {
	v := &validation{doc: &doc, slice: slice, g: g}
	v.document()
	for i := range doc.Steps {
		v.step(i)
	}
	v.cycles()
	return v.faults
}

type validation struct {
	doc    *Document
	slice  *catalog.Slice
	g      Grounding
	faults border.Faults
}

func (v *validation) fault(path, code, format string, args ...any) {
	v.faults = append(v.faults, border.Fault{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

func stepPath(i int, field string) string { return fmt.Sprintf("steps[%d].%s", i, field) }

func (v *validation) document() {
	switch n := len(v.doc.Steps); {
	case n == 0:
		v.fault("steps", "no_steps", "a plan needs at least one step")
	case n > MaxSteps:
		v.fault("steps", "too_many_steps", "has %d steps, may have %d: split it into several plans", n, MaxSteps)
	}
	if id := v.doc.DeviceID; id != "" && v.g.DeviceID != "" && id != v.g.DeviceID {
		v.fault("device_id", "other_device", "names %q, the plan is for %q", id, v.g.DeviceID)
	}
	names := make(map[string]string) // id or output key → the path that took it
	for i, st := range v.doc.Steps {
		v.name(names, st.ID, stepPath(i, "id"), "")
		if st.OutputKey != "" {
			v.name(names, st.OutputKey, stepPath(i, "output_key"), st.ID)
		}
	}
}

// name checks an id or output key. A step's output key may repeat its own id, nothing else.
func (v *validation) name(names map[string]string, name, path, own string) {
	taken, ok := names[name]
	switch {
	case !ValidID(name):
		v.fault(path, "ill_formed_id", "%q is not an id: use 1 to 64 of A-Z a-z 0-9 _ -", name)
	case ok && name != own:
		v.fault(path, "reused_id", "%q is already taken by %s", name, taken)
	case !ok:
		names[name] = path
	}
}

func (v *validation) step(i int) {
	st := &v.doc.Steps[i]
	v.reserved(i, st)
	v.dependencies(i, st)
	c, ok := v.slice.Capability(st.Action.CapabilityID)
	if !ok {
		v.fault(stepPath(i, "action.capability_id"), "unknown_capability", "the catalog has no capability %q", st.Action.CapabilityID)
		v.sources(i, st, nil)
		return
	}
	v.action(i, st, c)
	v.arguments(i, st, c)
	v.sources(i, st, c)
	v.required(i, st, c)
}

func (v *validation) reserved(i int, st *StepSpec) {
	if st.WaitPolicy != "" && st.WaitPolicy != "completed" {
		v.fault(stepPath(i, "wait_policy"), "reserved", "%q is reserved: only \"completed\" is offered for now", st.WaitPolicy)
	}
	if st.DispatchGroup != "" {
		v.fault(stepPath(i, "dispatch_group"), "reserved", "groups are reserved: leave it out for now")
	}
	if st.DeviceID != "" {
		v.fault(stepPath(i, "device_id"), "reserved", "a step's own device is reserved: leave it out for now")
	}
}

func (v *validation) action(i int, st *StepSpec, c *catalog.Capability) {
	if !c.HasOperation(st.Action.OperationID) {
		v.fault(stepPath(i, "action.operation_id"), "unknown_operation", "%s has no operation %q; it has %v", c.ID, st.Action.OperationID, c.Operations)
	}
	if !c.Enabled {
		v.fault(stepPath(i, "action.capability_id"), "disabled_capability", "%s is not enabled in the catalog", c.ID)
	}
	if !v.slice.Policy(c).Starts(v.g.By) {
		v.fault(stepPath(i, "action.capability_id"), "not_startable", "%s is %s: it may not be started by a %s", c.ID, c.Impact, v.g.By)
	}
	target, path := orText(st.ExecutionTarget, "device"), stepPath(i, "execution_target")
	switch {
	case target != "device" && target != TargetCloud:
		v.fault(path, "unknown_target", "%q is neither \"device\" nor \"cloud\"", target)
	case !c.RunsOn(target):
		v.fault(path, "wrong_target", "%s does not run on the %s", c.ID, target)
	}
}

// arguments checks the values given in the document itself.
func (v *validation) arguments(i int, st *StepSpec, c *catalog.Capability) {
	for _, name := range sortedKeys(st.Action.Arguments) {
		path := stepPath(i, "action.arguments."+name)
		slot, ok := c.Slot(name)
		if !ok {
			v.fault(path, "undeclared_slot", "%s has no slot %q", c.ID, name)
			continue
		}
		value := st.Action.Arguments[name]
		if wrong := slot.Schema.Check(value); wrong != "" {
			v.fault(path, "wrong_value", "%s", wrong)
			continue
		}
		v.text(path, slot, value)
	}
}

// text checks a string's length and its grounding: a room must be one the device knows.
func (v *validation) text(path string, slot *catalog.Slot, value any) {
	text, ok := value.(string)
	if !ok {
		return
	}
	if n := len([]rune(text)); slot.Schema.MaxLength == nil && n > maxText {
		v.fault(path, "too_long", "has %d characters, may have %d", n, maxText)
		return
	}
	if v.g.Rooms == nil || (slot.Grounding != "room" && slot.Grounding != "room_id") {
		return
	}
	for _, room := range v.g.Rooms {
		if (slot.Grounding == "room" && room.Name == text) || (slot.Grounding == "room_id" && room.ID == text) {
			return
		}
	}
	v.fault(path, "unknown_room", "%q is not in the device's room catalog (%s)", text, roomNames(v.g.Rooms))
}

func (v *validation) required(i int, st *StepSpec, c *catalog.Capability) {
	for _, slot := range c.Slots {
		_, given := st.Action.Arguments[slot.Name]
		_, bound := st.InputFrom[slot.Name]
		switch {
		case given && bound:
			v.fault(stepPath(i, "input_from."+slot.Name), "slot_given_twice", "is given in arguments too: keep one")
		case slot.Required && !given && !bound && slot.Object == nil:
			v.fault(stepPath(i, "action.arguments."+slot.Name), "missing_slot", "%s needs the slot %q", c.ID, slot.Name)
		}
	}
}

func roomNames(rooms []catalog.Room) string {
	text := ""
	for i, r := range rooms {
		if i > 0 {
			text += ", "
		}
		text += r.Name
	}
	return text
}
