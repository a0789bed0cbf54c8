package standin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"errand/catalog"
	"errand/llm"
)

// document is a plan as contract.md §2 has it, with a sentence for the person.
type document struct {
	steps  []any
	say    catalog.Text
	locale string
}

func (d document) value() map[string]any {
	steps := d.steps
	if steps == nil {
		steps = []any{}
	}
	return map[string]any{"steps": steps, "selected_routes": []any{"device"}, "tts_response": d.say.In(d.locale)}
}

var (
	dontKnow  = catalog.Text{Ko: "어떻게 해야 할지 모르겠어요.", En: "I do not know how to do that."}
	whichRoom = catalog.Text{Ko: "어느 방을 말씀하시는 거예요?", En: "Which room do you mean?"}
	willDo    = catalog.Text{Ko: "그렇게 할게요.", En: "I will do that."}
)

// wish is one capability that the utterance names.
type wish struct {
	capability catalog.Capability
	at         int
	room       *catalog.Room
}

// planner makes one plan.
type planner struct {
	rooms  []catalog.Room
	movers []catalog.Capability // what goes to a room
	text   string
	m      material
	made   []made
}

// made is a step that the plan has.
type made struct {
	id         string
	capability catalog.Capability
	room       *catalog.Room
	fields     map[string]any
}

// planFor plans with the words of the catalog.
func planFor(m material, s *llm.Schema) map[string]any {
	p := &planner{rooms: m.rooms(), text: m.utterance(), m: m}
	offered := slices.DeleteFunc(m.capabilities(), func(c catalog.Capability) bool {
		return !c.Enabled || len(c.Operations) == 0 || !c.RunsOn("device") || !permits(s, "capability_id", c.ID)
	})
	for _, c := range offered {
		if slot := required(c, "room"); slot != nil && !hasOther(c, slot.Name) {
			p.movers = append(p.movers, c)
		}
	}
	doc := document{say: dontKnow, locale: m.locale()}
	wishes := p.wishes(offered)
	for _, w := range wishes {
		if !p.add(w) {
			return document{say: whichRoom, locale: m.locale()}.value()
		}
	}
	for _, step := range p.made {
		doc.steps = append(doc.steps, step.fields)
	}
	if len(doc.steps) > 0 {
		doc.say = willDo
	}
	return doc.value()
}

// wishes lists what the utterance names, in its order. A room alone is a wish to go there.
func (p *planner) wishes(offered []catalog.Capability) []wish {
	var list []wish
	words := keywords(offered)
	for _, c := range offered {
		if found, ok := earliest(unquoted(p.text), words[c.ID]); ok {
			list = append(list, wish{capability: c, at: found.at, room: p.roomNear(found.at)})
		}
	}
	if len(list) == 0 && len(p.movers) > 0 {
		if room := p.roomNear(len(p.text)); room != nil {
			list = append(list, wish{capability: p.movers[0], room: room})
		}
	}
	slices.SortStableFunc(list, func(a, b wish) int { return a.at - b.at })
	return list
}

// roomNear is the room named last before a place in the text, else the first one after it.
func (p *planner) roomNear(at int) *catalog.Room {
	var before, after *catalog.Room
	beforeAt, afterAt := -1, len(p.text)+1
	for i := range p.rooms {
		where := strings.Index(strings.ToLower(p.text), strings.ToLower(p.rooms[i].Name))
		switch {
		case where < 0 || p.rooms[i].Name == "":
		case where <= at && where > beforeAt:
			before, beforeAt = &p.rooms[i], where
		case where > at && where < afterAt:
			after, afterAt = &p.rooms[i], where
		}
	}
	if before != nil {
		return before
	}
	return after
}

// add makes the step of a wish, and the one before it that it needs; it reports whether it could.
func (p *planner) add(w wish) bool {
	arguments, inputs := map[string]any{}, map[string]any{}
	for _, slot := range w.capability.Slots {
		if !slot.Required {
			continue
		}
		switch value, ok := p.value(slot, w.room); {
		case slot.Grounding == "room_id" && p.bring(slot.Name, w.room):
			source := p.made[len(p.made)-1]
			inputs[slot.Name] = source.id + ".result." + slot.Name
		case ok:
			arguments[slot.Name] = value
		default:
			return false
		}
	}
	p.append(w.capability, w.room, arguments, inputs)
	return true
}

// value is what goes into a slot, as far as it can be had.
func (p *planner) value(slot catalog.Slot, room *catalog.Room) (any, bool) {
	switch {
	case slot.Grounding == "room" && room != nil:
		return room.Name, true
	case slot.Grounding == "room_id" && room != nil && room.ID != "":
		return room.ID, true
	case slot.Grounding != "":
		return nil, false
	case len(slot.Schema.Enum) > 0:
		return slot.Schema.Enum[0], true
	case slot.Schema.Type == "string":
		return quoted(p.text), quoted(p.text) != ""
	}
	return nil, false
}

// bring makes sure that the last step is one in the room whose result has the field, and reports whether it is.
func (p *planner) bring(field string, room *catalog.Room) bool {
	offers := func(c catalog.Capability) bool { _, ok := c.ResultContract.Field(field); return ok }
	if n := len(p.made); n > 0 && p.made[n-1].room == room && room != nil && offers(p.made[n-1].capability) {
		return true
	}
	for _, c := range p.movers {
		if room != nil && offers(c) {
			return p.add(wish{capability: c, room: room})
		}
	}
	return false
}

func (p *planner) append(c catalog.Capability, room *catalog.Room, arguments, inputs map[string]any) {
	id := c.ID
	for n := 2; slices.ContainsFunc(p.made, func(s made) bool { return s.id == id }); n++ {
		id = fmt.Sprintf("%s-%d", c.ID, n)
	}
	fields := map[string]any{"id": id, "action": map[string]any{"capability_id": c.ID, "operation_id": c.Operations[0], "arguments": arguments},
		"depends_on": []any{}, "input_from": inputs}
	if n := len(p.made); n > 0 {
		fields["depends_on"] = []any{p.made[n-1].id}
	}
	p.made = append(p.made, made{id: id, capability: c, room: room, fields: fields})
}

// required finds a required slot with this grounding.
func required(c catalog.Capability, grounding string) *catalog.Slot {
	for i, slot := range c.Slots {
		if slot.Required && slot.Grounding == grounding {
			return &c.Slots[i]
		}
	}
	return nil
}

// hasOther reports whether a capability has a slot besides this one: then it does more than go there.
func hasOther(c catalog.Capability, name string) bool {
	return slices.ContainsFunc(c.Slots, func(s catalog.Slot) bool { return s.Name != name })
}

var quotes = regexp.MustCompile(`"([^"]+)"|“([^”]+)”|‘([^’]+)’|「([^」]+)」`)

// quoted is the text between quotation marks; "" if there are none.
func quoted(text string) string {
	found := quotes.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return strings.Join(found[1:], "") // one of them is not empty
}

// unquoted is a text with blanks for what is quoted in it: those words are to be said, and no wish.
func unquoted(text string) string {
	return quotes.ReplaceAllStringFunc(text, func(q string) string { return strings.Repeat(" ", len(q)) })
}
