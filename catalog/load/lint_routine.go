package load

import (
	"slices"
	"strings"

	"errand/catalog"
	"errand/internal/border"
)

func (l *linter) routines() {
	all := l.catalog.Routines
	l.unique("routine id", each(all, func(r catalog.Routine) string { return r.ID }), at("routines", "id"))
	taken := map[string]string{}
	for i := range all {
		path := border.Index("routines", i)
		slots := each(all[i].Slots, func(s catalog.RoutineSlot) string { return s.Name })
		l.unique("slot", slots, at(border.Field(path, "slots"), "name"))
		l.utterances(all[i].Utterances, slots, border.Field(path, "utterances"), taken)
		l.steps(all[i].Steps, slots, border.Field(path, "steps"))
	}
}

// utterances checks the templates; taken maps each to the place that had it first, across routines.
func (l *linter) utterances(templates map[string][]string, slots []string, path string, taken map[string]string) {
	for _, language := range []string{"ko", "en"} {
		if len(templates[language]) == 0 {
			l.fault(border.Field(path, language), "required", "needs at least one sentence")
		}
		for i, text := range templates[language] {
			l.utterance(text, slots, border.Index(border.Field(path, language), i), taken)
		}
	}
}

func (l *linter) utterance(text string, slots []string, path string, taken map[string]string) {
	template, err := catalog.ParseTemplate(text)
	if err != nil {
		l.fault(path, "bad_template", "%v", err)
		return
	}
	named := template.Slots()
	for _, name := range named {
		if !slices.Contains(slots, name) {
			l.fault(path, "unknown_slot", "uses {%s}, which the routine does not declare", name)
		}
	}
	for _, name := range slots {
		if !slices.Contains(named, name) {
			l.fault(path, "unfilled_slot", "does not say {%s}, which the steps need", name)
		}
	}
	key := strings.ToLower(strings.Join(strings.Fields(text), ""))
	if first, again := taken[key]; again {
		l.fault(path, "duplicate", "is the same sentence as %s", first)
		return
	}
	taken[key] = path
}

// steps checks a routine's plan as plan validation would: known names, declared slots, order and paths.
func (l *linter) steps(steps []catalog.RoutineStep, slots []string, path string) {
	names := map[string]int{} // step ids and output keys, to the step's place
	for i, s := range steps {
		at := border.Index(path, i)
		if j, again := names[s.ID]; again {
			l.fault(border.Field(at, "id"), "duplicate", "%q already names %s", s.ID, border.Index(path, j))
		}
		if j, again := names[s.OutputKey]; again && s.OutputKey != "" {
			l.fault(border.Field(at, "output_key"), "duplicate", "%q already names %s", s.OutputKey, border.Index(path, j))
		}
		names[s.ID] = i
		if s.OutputKey != "" {
			names[s.OutputKey] = i
		}
	}
	for i := range steps {
		l.step(steps, i, slots, names, border.Index(path, i))
	}
}

func (l *linter) step(steps []catalog.RoutineStep, i int, slots []string, names map[string]int, path string) {
	s := &steps[i]
	for j, id := range s.DependsOn {
		if at, ok := names[id]; !ok || steps[at].ID != id || at >= i {
			l.fault(border.Index(border.Field(path, "depends_on"), j), "bad_dependency", "%q is no step before this one (law 1)", id)
		}
	}
	c, ok := l.whole.Capability(s.CapabilityID)
	if !ok {
		l.fault(border.Field(path, "capability_id"), "unknown_capability", "names the unknown capability %q", s.CapabilityID)
		return
	}
	if !c.HasOperation(s.OperationID) {
		l.fault(border.Field(path, "operation_id"), "unknown_operation", "%s has no operation %q", c.ID, s.OperationID)
	}
	l.arguments(c, s, slots, path)
	before := ancestors(steps, i)
	for _, slot := range sortedKeys(s.InputFrom) {
		l.input(c, s, slot, steps, names, before, border.Field(border.Field(path, "input_from"), slot))
	}
}

func (l *linter) arguments(c *catalog.Capability, s *catalog.RoutineStep, slots []string, path string) {
	for _, name := range sortedKeys(s.Arguments) {
		at := border.Field(border.Field(path, "arguments"), name)
		slot, ok := c.Slot(name)
		if !ok {
			l.fault(at, "unknown_slot", "is no slot of %s", c.ID)
			continue
		}
		l.argument(slot, s.Arguments[name], slots, at)
	}
	for _, slot := range c.Slots {
		_, given := s.Arguments[slot.Name]
		_, bound := s.InputFrom[slot.Name]
		if slot.Required && slot.Object == nil && !given && !bound { // an object is chosen just before the step
			l.fault(border.Field(border.Field(path, "arguments"), slot.Name), "required", "is missing: %s needs it", c.ID)
		}
	}
}

// argument checks a fixed value, or the places of one that a sentence fills.
func (l *linter) argument(slot *catalog.Slot, value any, slots []string, path string) {
	text, isText := value.(string)
	if !isText || !strings.ContainsAny(text, "{}") {
		if wrong := slot.Schema.Check(value); wrong != "" {
			l.fault(path, "bad_value", "%s", wrong)
		}
		return
	}
	names, ok := catalog.Places(text)
	if !ok || slot.Schema.Type != "string" {
		l.fault(path, "bad_value", "has a place that is not {slot}, or is no text")
	}
	for _, name := range names {
		if !slices.Contains(slots, name) {
			l.fault(path, "unknown_slot", "uses {%s}, which the routine does not declare", name)
		}
	}
}

// ancestors returns the steps that surely precede the i-th: its dependencies, direct or through others.
func ancestors(steps []catalog.RoutineStep, i int) map[string]bool {
	found := map[string]bool{}
	wanted := slices.Clone(steps[i].DependsOn)
	for len(wanted) > 0 {
		id := wanted[0]
		wanted = wanted[1:]
		if found[id] {
			continue
		}
		found[id] = true
		for _, s := range steps {
			if s.ID == id {
				wanted = append(wanted, s.DependsOn...)
			}
		}
	}
	return found
}

// input holds law 3: the source's contract allows the path, and the destination declares the slot.
func (l *linter) input(c *catalog.Capability, s *catalog.RoutineStep, slot string, steps []catalog.RoutineStep,
	names map[string]int, before map[string]bool, path string) {
	target, ok := c.Slot(slot)
	if !ok {
		l.fault(path, "unknown_slot", "is no slot of %s (law 3)", c.ID)
		return
	}
	if _, twice := s.Arguments[slot]; twice {
		l.fault(path, "slot_twice", "is given in arguments too: keep one")
	}
	key, tail, _ := strings.Cut(s.InputFrom[slot], ".")
	at, known := names[key]
	switch {
	case !known:
		l.fault(path, "bad_path", "%q is no step and no output_key", key)
		return
	case !before[steps[at].ID]:
		l.fault(path, "bad_path", "takes from %q, which depends_on does not put before this step", key)
		return
	}
	source, ok := l.whole.Capability(steps[at].CapabilityID)
	if !ok {
		return // the source's own step is faulted
	}
	if wrong := allowed(source, tail, target); wrong != "" {
		l.fault(path, "bad_path", "%s (law 3)", wrong)
	}
}

// allowed says why a path's tail, "result" or "result.<field>", may not fill the target, or "".
func allowed(source *catalog.Capability, tail string, target *catalog.Slot) string {
	result, name, hasField := strings.Cut(tail, ".")
	switch {
	case result != "result":
		return "a path is <step>.result or <step>.result.<field>"
	case !hasField && !source.ResultContract.Envelope:
		return source.ID + " does not allow its whole result: name a field"
	case !hasField && target.Schema.Type != "object":
		return "a whole result needs a slot of type object"
	case !hasField:
		return ""
	}
	field, listed := source.ResultContract.Field(name)
	switch {
	case !listed:
		return source.ID + " does not list the result field " + name
	case field.Schema.Type != target.Schema.Type && (field.Schema.Type != "integer" || target.Schema.Type != "number"):
		return "the field is a " + field.Schema.Type + ", the slot takes a " + target.Schema.Type
	}
	return ""
}
