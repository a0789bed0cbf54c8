package load

import (
	"encoding/json"
	"regexp"
	"slices"

	"errand/catalog"
	"errand/catalog/condition"
	"errand/internal/border"
)

// maxRunMs bounds any task: what takes longer than a day is a plan, not a step.
const maxRunMs = 24 * 60 * 60 * 1000

func (l *linter) capabilities() {
	all := l.catalog.Capabilities
	l.unique("capability id", each(all, func(c catalog.Capability) string { return c.ID }), at("capabilities", "id"))
	l.unique("task method", each(all, taskOf), at("capabilities", "task_method"))
	for i := range all {
		l.capability(&all[i], border.Index("capabilities", i))
	}
}

// taskOf is what a device is told to do: two capabilities may share a task method if their params tell them apart.
func taskOf(c catalog.Capability) string {
	if len(c.Params) == 0 {
		return c.TaskMethod
	}
	params, err := json.Marshal(c.Params)
	if err != nil {
		return c.TaskMethod // no file can hold what is no JSON
	}
	return c.TaskMethod + " with " + string(params)
}

// params checks that no slot may be taken for one.
func (l *linter) params(c *catalog.Capability, path string) {
	for _, name := range sortedKeys(c.Params) {
		if _, slot := c.Slot(name); slot {
			l.fault(border.Field(border.Field(path, "params"), name), "contradiction", "is a slot too: what is fixed is no argument")
		}
	}
}

func (l *linter) capability(c *catalog.Capability, path string) {
	l.declarations(c, path)
	l.params(c, path)
	l.timeouts(c.Timeouts, border.Field(path, "timeouts"))
	for i, expr := range c.Preconditions {
		l.condition(c, expr, border.Index(border.Field(path, "preconditions"), i))
	}
	if c.Verify != "" {
		l.condition(c, c.Verify, border.Field(path, "verify"))
	}
	if c.RunsOn("cloud") && (len(c.Preconditions) > 0 || c.Verify != "") {
		l.fault(border.Field(path, "targets"), "contradiction", "runs in the cloud: preconditions and verify look at a device")
	}
	l.nodeCommand(c, path)
	l.readBack(c, border.Field(path, "read_back"))
	l.shows(c, path)
	l.confirm(c, border.Field(path, "confirm"))
	for _, name := range sortedKeys(c.Say) {
		at := border.Field(border.Field(path, "say"), name)
		l.text(at, c.Say[name], fillers(c))
		l.gaps(at, c, name)
	}
}

// impacts refuses a policy that would let what cannot be taken back happen without a person.
func (l *linter) impacts() {
	p, told := l.catalog.Impacts[catalog.Irreversible]
	path := border.Field("impacts", string(catalog.Irreversible))
	if told && p.Confirm != catalog.ConfirmAlways {
		l.fault(border.Field(path, "confirm"), "unconfirmed", "is %q, and what cannot be taken back is always confirmed", p.Confirm)
	}
	if slices.Contains(p.Start, catalog.StartedByWatch) {
		l.fault(border.Field(path, "start"), "contradiction", "lets a watch start what cannot be taken back: nobody asked for it")
	}
}

// bindPath is what a confirmation may be bound to: a path into the context, without calls.
var bindPath = regexp.MustCompile(`^context(\.[A-Za-z_][A-Za-z0-9_]*)+$`)

func (l *linter) confirm(c *catalog.Capability, path string) {
	if c.Confirm == nil {
		return
	}
	if c.Impact == catalog.Irreversible && c.Confirm.Policy != catalog.ConfirmAlways {
		l.fault(border.Field(path, "policy"), "unconfirmed", "is %q, and what cannot be taken back is always confirmed", c.Confirm.Policy)
	}
	for i, bind := range c.Confirm.Binds {
		if !bindPath.MatchString(bind) {
			l.fault(border.Index(border.Field(path, "binds"), i), "bad_path", "%q is no path into the context, such as context.security.state", bind)
		}
	}
}

// objects checks where the objects of a slot are found, and that there is one such slot at most.
func (l *linter) objects(c *catalog.Capability, slots string) {
	first := c.ObjectSlot()
	for i, s := range c.Slots {
		path := border.Index(slots, i)
		switch {
		case (s.Grounding == catalog.GroundingObject) != (s.Object != nil):
			l.fault(path, "contradiction", "needs both `grounding: object` and `object`, or neither")
			continue
		case s.Object == nil:
			continue
		case first.Name != s.Name:
			l.fault(path, "contradiction", "is a second slot with an object: a capability acts on one")
		case c.NodeCommand != "" || c.RunsOn("cloud"):
			l.fault(path, "contradiction", "names an object, which only a device with a context has")
		}
		l.sentence(border.Field(border.Field(path, "object"), "choice"), s.Object.Choice, func(string) bool { return true }) // the device's own fields
		for _, name := range sortedKeys(s.Object.Match) {
			if _, ok := c.Slot(name); !ok || name == s.Name {
				l.fault(border.Field(border.Field(border.Field(path, "object"), "match"), name), "unknown_name", "matches %s, which is no other slot of %s", name, c.ID)
			}
		}
	}
}

// declarations checks the slots and the result fields by themselves.
func (l *linter) declarations(c *catalog.Capability, path string) {
	slots := border.Field(path, "slots")
	l.unique("slot", each(c.Slots, func(s catalog.Slot) string { return s.Name }), at(slots, "name"))
	for i, s := range c.Slots {
		l.slotSchema(s.Schema, border.Field(border.Index(slots, i), "schema"))
		if s.Grounding != "" && s.Schema.Type != "string" {
			l.fault(border.Field(border.Index(slots, i), "grounding"), "contradiction", "grounds a %s: only text names a %s", s.Schema.Type, s.Grounding)
		}
	}
	l.objects(c, slots)
	fields := border.Field(border.Field(path, "result_contract"), "bindable_result_fields")
	contract := &c.ResultContract
	l.unique("result field", each(contract.BindableResultFields, func(f catalog.ResultField) string { return f.Name }), at(fields, "name"))
	for i, f := range contract.BindableResultFields {
		l.slotSchema(f.Schema, border.Field(border.Index(fields, i), "schema"))
		if f.Schema.Type == "array" {
			l.fault(border.Field(border.Field(border.Index(fields, i), "schema"), "type"), "contradiction", "lists a whole list: list its first, name_0, or name_count (law 4)")
		}
		if f.Schema.Type == "object" {
			l.fault(border.Field(border.Field(border.Index(fields, i), "schema"), "type"), "contradiction", "lists a whole object: list its fields instead (law 4)")
		}
	}
	if contract.Envelope && len(contract.BindableResultFields) == 0 {
		l.fault(border.Field(border.Field(path, "result_contract"), "envelope"), "contradiction", "allows an envelope with nothing in it: list a field")
	}
}

// slotSchema refuses keywords that the type ignores, and bounds that nothing meets.
func (l *linter) slotSchema(s catalog.SlotSchema, path string) {
	text := s.Type == "string"
	number := s.Type == "number" || s.Type == "integer"
	switch {
	case !text && (len(s.Enum) > 0 || s.MinLength != nil || s.MaxLength != nil):
		l.fault(path, "contradiction", "gives a %s the bounds of a string", s.Type)
	case !number && (s.Minimum != nil || s.Maximum != nil):
		l.fault(path, "contradiction", "gives a %s the bounds of a number", s.Type)
	case s.MinLength != nil && s.MaxLength != nil && *s.MinLength > *s.MaxLength,
		s.Minimum != nil && s.Maximum != nil && *s.Minimum > *s.Maximum:
		l.fault(path, "contradiction", "has a least value above its greatest: nothing would fit")
	}
}

func (l *linter) timeouts(t catalog.Timeouts, path string) {
	for _, bound := range []struct {
		name string
		ms   int64
	}{{"queue_ms", t.QueueMs}, {"run_ms", t.RunMs}} {
		if bound.ms <= 0 || bound.ms > maxRunMs {
			l.fault(border.Field(path, bound.name), "bad_timeout", "is %d ms, must be above 0 and at most 24 hours (law 18)", bound.ms)
		}
	}
}

// references finds args.x and result.x in an expression.
var references = regexp.MustCompile(`\b(args|result)\.([A-Za-z_][A-Za-z0-9_]*)`)

// condition checks that an expression compiles and names only slots and listed result fields.
func (l *linter) condition(c *catalog.Capability, expr, path string) {
	if _, err := condition.Compile(expr); err != nil {
		l.fault(path, "bad_condition", "%v", err)
		return
	}
	for _, ref := range references.FindAllStringSubmatch(expr, -1) {
		_, slot := c.Slot(ref[2])
		_, field := c.ResultContract.Field(ref[2])
		if ref[1] == "args" && !slot || ref[1] == "result" && !field {
			l.fault(path, "unknown_name", "uses %s, which %s does not declare", ref[0], c.ID)
		}
	}
}

func (l *linter) readBack(c *catalog.Capability, path string) {
	if c.ReadBack == "" {
		return
	}
	reader, ok := l.whole.Capability(c.ReadBack)
	switch {
	case !ok:
		l.fault(path, "unknown_capability", "names the unknown capability %q", c.ReadBack)
	case reader.Impact != catalog.ReadOnly:
		l.fault(path, "contradiction", "reads back with %q, which is not read_only", c.ReadBack)
	}
}

// fillers lists what may fill a capability's sentences: its slots and its listed result fields.
func fillers(c *catalog.Capability) []string {
	names := each(c.Slots, func(s catalog.Slot) string { return s.Name })
	if c.ObjectSlot() != nil {
		names = append(names, "target")
	}
	if c.RunsOn("cloud") && len(c.ResultContract.BindableResultFields) == 0 {
		return append(names, "tts_response") // all that such a step gives away
	}
	return slices.Concat(names, each(c.ResultContract.BindableResultFields, func(f catalog.ResultField) string { return f.Name }))
}

// gaps faults what may have nothing to say and yet stands outside of brackets: the sentence would be said with a hole in it.
func (l *linter) gaps(path string, c *catalog.Capability, sentence string) {
	for _, s := range []struct{ language, text string }{{"ko", c.Say[sentence].Ko}, {"en", c.Say[sentence].En}} {
		for _, name := range catalog.BarePlaces(s.text) {
			slot, isSlot := c.Slot(name)
			sure := isSlot && slot.Required || name == "tts_response" || name == "target" && sentence != "failed" // nothing may have been chosen
			if !sure {
				l.fault(border.Field(path, s.language), "gap", "uses {%s}, which may have no value: put what is said with it in brackets", name)
			}
		}
	}
}
