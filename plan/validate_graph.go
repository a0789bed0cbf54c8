package plan

import (
	"slices"
	"strings"

	"errand/catalog"
)

// dependencies checks the order edges of a step.
func (v *validation) dependencies(i int, st *StepSpec) {
	for k, id := range st.DependsOn {
		path := stepPath(i, "depends_on") + "[" + itoa(k) + "]"
		switch {
		case id == st.ID:
			v.fault(path, "cycle", "%q depends on itself", id)
		case v.stepIndex(id) < 0:
			v.fault(path, "unknown_step", "there is no step %q", id)
		case slices.Index(st.DependsOn, id) < k:
			v.fault(path, "repeated", "%q is listed twice", id)
		}
	}
}

// sources checks the data edges of a step: both borders of law 3, as far as they can be known before a result.
func (v *validation) sources(i int, st *StepSpec, c *catalog.Capability) {
	for _, name := range sortedKeys(st.InputFrom) {
		path := stepPath(i, "input_from."+name)
		var slot *catalog.Slot
		if c != nil {
			var ok bool
			if slot, ok = c.Slot(name); !ok {
				v.fault(path, "undeclared_slot", "%s has no slot %q", c.ID, name)
			}
		}
		v.source(path, i, st.InputFrom[name], slot)
	}
}

func (v *validation) source(path string, i int, text string, slot *catalog.Slot) {
	p, err := ParsePath(text)
	if err != nil {
		v.fault(path, "ill_formed_path", "%q is %s", text, err)
		return
	}
	j := v.doc.source(p.Source)
	if j < 0 {
		v.fault(path, "unknown_source", "there is no step or output_key %q", p.Source)
		return
	}
	if !v.precedes(j, i) {
		v.fault(path, "not_a_dependency", "%q must come before: name it in depends_on", v.doc.Steps[j].ID)
	}
	source, ok := v.slice.Capability(v.doc.Steps[j].Action.CapabilityID)
	if !ok {
		return // its own fault
	}
	contract := contractOf(&v.doc.Steps[j], source)
	if p = p.from(contract); p.Field == "" {
		v.envelope(path, source, slot)
		return
	}
	field, ok := contract.Field(p.Field)
	if !ok {
		v.fault(path, "path_outside_contract", "%s does not give %q away; it gives %s", source.ID, p.Field, fieldNames(contract))
		return
	}
	if slot != nil && !assignable(field.Schema.Type, slot.Schema.Type) {
		v.fault(path, "wrong_type", "%s is a %s, the slot takes a %s", text, field.Schema.Type, slot.Schema.Type)
	}
}

func (v *validation) envelope(path string, source *catalog.Capability, slot *catalog.Slot) {
	if !source.ResultContract.Envelope {
		v.fault(path, "path_outside_contract", "%s does not give its whole result away: name a field (%s)", source.ID, fieldNames(&source.ResultContract))
		return
	}
	if slot != nil && slot.Schema.Type != "object" {
		v.fault(path, "wrong_type", "a whole result is an object, the slot takes a %s: name a field", slot.Schema.Type)
	}
}

func assignable(from, to string) bool { return from == to || (from == "integer" && to == "number") }

func fieldNames(r *catalog.ResultContract) string {
	names := make([]string, len(r.BindableResultFields))
	for i, f := range r.BindableResultFields {
		names[i] = f.Name
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

func (v *validation) stepIndex(id string) int {
	return slices.IndexFunc(v.doc.Steps, func(s StepSpec) bool { return s.ID == id })
}

// precedes reports whether step j is a dependency of step i, direct or through others.
func (v *validation) precedes(j, i int) bool {
	visited := make([]bool, len(v.doc.Steps))
	stack := []int{i}
	for len(stack) > 0 {
		k := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, id := range v.doc.Steps[k].DependsOn {
			d := v.stepIndex(id)
			if d == j {
				return true
			}
			if d >= 0 && !visited[d] {
				visited[d] = true
				stack = append(stack, d)
			}
		}
	}
	return false
}

// cycles reports every step that waits for itself through others. A direct self-reference has its own fault.
func (v *validation) cycles() {
	for i, st := range v.doc.Steps {
		if !slices.Contains(st.DependsOn, st.ID) && v.precedes(i, i) {
			v.fault(stepPath(i, "depends_on"), "cycle", "%q waits for itself through its dependencies", st.ID)
		}
	}
}
