package prompt

import (
	"fmt"
	"slices"
	"strings"

	"errand/catalog"
	"errand/llm"
	"errand/plan"
)

// Steps is the shape of a list of steps (contract.md §2) over what is offered: its capabilities, their operations and
// slots, and for a room only those that the device knows.
//
// A shape is help for the model and no gate: not every model keeps to it, and it cannot say which slot is whose.
func (s *Setting) Steps() *llm.Schema {
	var ids, operations []string
	for _, c := range s.Offered {
		ids = append(ids, c.ID)
		operations = append(operations, c.Operations...)
	}
	action := object(map[string]*llm.Schema{
		"capability_id": {Type: llm.String, Enum: ids},
		"operation_id":  {Type: llm.String, Enum: distinct(operations)},
	}, "capability_id", "operation_id")
	step := object(map[string]*llm.Schema{
		"id":         {Type: llm.String, Description: "a name of your own, A-Z a-z 0-9 _ -, used once"},
		"action":     action,
		"depends_on": {Type: llm.Array, Items: &llm.Schema{Type: llm.String}, Description: "ids of the steps that must be completed before"},
	}, "id", "action", "depends_on")
	if arguments := s.arguments(); len(arguments) > 0 { // models take no object without properties
		action.Properties["arguments"] = object(arguments)
	}
	if routes := s.routes(); len(routes) > 1 {
		step.Properties["execution_target"] = &llm.Schema{Type: llm.String, Enum: routes}
	}
	if sources := s.sources(); len(sources) > 0 {
		step.Properties["input_from"] = object(sources)
	}
	return &llm.Schema{Type: llm.Array, Items: step}
}

// routes are the owners that a wish may go to: the device, and the cloud if anything that is offered runs there.
func (s *Setting) routes() []string {
	routes := []string{"device"}
	if slices.ContainsFunc(s.Offered, func(c catalog.Capability) bool { return c.RunsOn(plan.TargetCloud) }) {
		routes = append(routes, plan.TargetCloud)
	}
	return routes
}

// arguments are the slots of all that is offered, each once.
func (s *Setting) arguments() map[string]*llm.Schema {
	all := make(map[string]*llm.Schema)
	for _, c := range s.Offered {
		for _, slot := range c.Slots {
			shape := s.slot(slot)
			if shape == nil {
				continue
			}
			if other, taken := all[slot.Name]; taken {
				shape = merged(other, shape)
			}
			shape.Description = joined(shape.Description, c.ID)
			all[slot.Name] = shape
		}
	}
	return all
}

// slot is the shape of one slot's value; nil for one that no value can be given for.
func (s *Setting) slot(slot catalog.Slot) *llm.Schema {
	shape := &llm.Schema{Type: llm.Type(slot.Schema.Type), Enum: slices.Clone(slot.Schema.Enum)}
	switch {
	case slot.Schema.Type == "object":
		return nil // it takes a result, by input_from
	case slot.Schema.Type == "array":
		shape.Items = &llm.Schema{Type: llm.String}
		return shape
	case slot.Personal():
		return nil // not a model's to say
	case slot.Grounding == "room":
		shape.Enum = s.roomValues(func(r catalog.Room) string { return r.Name })
	case slot.Grounding == "room_id":
		shape.Enum = s.roomValues(func(r catalog.Room) string { return r.ID })
	default:
		return shape
	}
	if len(shape.Enum) == 0 {
		return nil // no room is known: none may be named
	}
	return shape
}

func (s *Setting) roomValues(of func(catalog.Room) string) []string {
	values := make([]string, len(s.Rooms))
	for i, room := range s.Rooms {
		values[i] = of(room)
	}
	return values
}

// sources are the slots that may take a value from an earlier step's result.
func (s *Setting) sources() map[string]*llm.Schema {
	all := make(map[string]*llm.Schema)
	for _, c := range s.Offered {
		for _, slot := range c.Slots {
			if slot.Personal() {
				continue
			}
			all[slot.Name] = &llm.Schema{Type: llm.String, Description: "<step id>.result.<field>"}
		}
	}
	return all
}

// merged is the shape that takes what either takes; of two types it is the first, and the gate judges.
func merged(a, b *llm.Schema) *llm.Schema {
	both := &llm.Schema{Type: a.Type, Description: a.Description}
	if a.Type == b.Type && len(a.Enum) > 0 && len(b.Enum) > 0 {
		both.Enum = distinct(slices.Concat(a.Enum, b.Enum))
	}
	return both
}

// joined names the capabilities that have a slot.
func joined(description, id string) string {
	if description == "" {
		return "for " + id
	}
	return fmt.Sprintf("%s, %s", description, id)
}

func object(properties map[string]*llm.Schema, required ...string) *llm.Schema {
	return &llm.Schema{Type: llm.Object, Properties: properties, Required: required}
}

func distinct(values []string) []string {
	var once []string
	for _, value := range values {
		if !slices.Contains(once, value) {
			once = append(once, value)
		}
	}
	return once
}

// guidance is the catalog's word on what is offered, as JSON: what each capability does, takes and gives.
func (s *Setting) guidance() string {
	lines := make([]string, len(s.Offered))
	for i, c := range s.Offered {
		lines[i] = encode(guide(c))
	}
	return `{"capabilities":[` + "\n" + strings.Join(lines, ",\n") + "\n]}"
}

// guide is a capability as a model reads it: nothing of how the device carries it out.
func guide(c catalog.Capability) map[string]any {
	told := map[string]any{"id": c.ID, "title": c.Title, "description": c.Description, "operations": c.Operations, "impact": c.Impact, "enabled": c.Enabled}
	if len(c.Targets) > 0 {
		told["targets"] = c.Targets
	}
	if len(c.Slots) > 0 {
		slots := make([]any, 0, len(c.Slots))
		for _, slot := range c.Slots {
			if !slot.Personal() {
				slots = append(slots, slotGuide(slot))
			}
		}
		told["slots"] = slots
	}
	if len(c.ResultContract.BindableResultFields) > 0 {
		told["result_contract"] = c.ResultContract
	}
	return told
}

func slotGuide(slot catalog.Slot) map[string]any {
	told := map[string]any{"name": slot.Name, "schema": slot.Schema, "required": slot.Required}
	if slot.Unit != "" {
		told["unit"] = slot.Unit
	}
	if slot.Grounding != "" {
		told["grounding"] = slot.Grounding
	}
	return told
}
