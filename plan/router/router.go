package router

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"errand/catalog"
	"errand/plan"
)

// Utterance is a sentence, with the rooms of the device it was said to.
type Utterance struct {
	Text string
	// Locale chooses the language of what is offered, e.g. "ko-KR" (the default) or "en". A sentence is understood in any.
	Locale string
	// Rooms is the device's own room catalog.
	Rooms []catalog.Room
	// Context is the device's, made fresh (package fresh): its doors, its alarms and the like may be called by their names.
	Context map[string]any
}

// Matched is a routine with its places filled.
type Matched struct {
	RoutineID string
	// Document is the plan, with rooms and names as the device spells them, and times in 24 hours.
	Document plan.Document
	Slots    map[string]string
}

// Match finds the one routine that takes the whole sentence. Of several, the one with the most words of its own wins;
// two that are equal are no match, since which of them was meant would be a guess.
//
// It fails with a *NoMatch (errors.Is ErrNoMatch), an *UnknownRoom or an *AmbiguousRoom.
func Match(c *catalog.Catalog, u Utterance) (Matched, error) {
	rooms := group(u.Rooms)
	if utf8.RuneCountInString(u.Text) <= maxRunes {
		words := lexicon{rooms: rooms.names(), context: u.Context}
		found, equal := best(readings(c, u.Text, words))
		if found != nil && !equal {
			if matched, sure, err := found.fill(rooms); sure {
				return matched, err
			}
		}
		if found == nil {
			if said := unknownRoom(c, u.Text, words); said != "" {
				return Matched{}, &UnknownRoom{Said: said, Known: known(u.Rooms)}
			}
		}
	}
	return Matched{}, &NoMatch{Offers: Offers(c, u.Locale)}
}

// Offers lists what can be asked for, by the titles of the routines whose capabilities are all enabled, each once: several
// routines may be ways to say the same.
func Offers(c *catalog.Catalog, locale string) []string {
	whole := c.Whole()
	var offers []string
	for _, r := range c.Routines {
		usable := func(s catalog.RoutineStep) bool {
			capability, ok := whole.Capability(s.CapabilityID)
			return ok && capability.Enabled
		}
		title := r.Title.In(locale)
		if !slices.Contains(offers, title) && !slices.ContainsFunc(r.Steps, func(s catalog.RoutineStep) bool { return !usable(s) }) {
			offers = append(offers, title)
		}
	}
	return offers
}

// match is a routine with every reading of the sentence that it allows.
type match struct {
	routine  *catalog.Routine
	readings []reading
	literal  int // of the best reading
}

// readings tries every template of every routine.
func readings(c *catalog.Catalog, text string, words lexicon) []match {
	var matches []match
	forms := map[string][]sentence{"ko": korean(text), "en": english(text)}
	for i := range c.Routines {
		m := match{routine: &c.Routines[i]}
		takers := words.takers(m.routine.Slots)
		for _, language := range []string{"ko", "en"} {
			for _, template := range c.Routines[i].Utterances[language] {
				m.readings = append(m.readings, readTemplate(template, language, forms[language], takers)...)
			}
		}
		for _, r := range m.readings {
			m.literal = max(m.literal, r.literal)
		}
		if len(m.readings) > 0 {
			matches = append(matches, m)
		}
	}
	return matches
}

func readTemplate(text, language string, forms []sentence, takers map[string]taker) []reading {
	template, err := catalog.ParseTemplate(text)
	if err != nil {
		return nil // lint refuses such a catalog; a template that cannot be read takes nothing
	}
	compiled := pieces(template, language, takers)
	var found []reading
	for _, s := range forms {
		if s.asked && !template.Question {
			continue
		}
		q := search{sentence: s, pieces: compiled, language: language}
		found = append(found, q.run()...)
	}
	return found
}

// korean and english list the spellings under which a sentence is tried: as it is and without fillers.
func korean(text string) []sentence {
	words, asked := read(text)
	var forms []sentence
	for _, w := range [][]string{words, trimFiller(drop(words, fillers["ko"]))} {
		s := join(w, asked)
		forms = append(forms, s)
		forms = append(forms, koreanForms(s)...)
	}
	return forms
}

// trimFiller takes 좀 off a word it was written to: "청소좀".
func trimFiller(words []string) []string {
	trimmed := make([]string, len(words))
	for i, w := range words {
		trimmed[i] = w
		if head, ok := strings.CutSuffix(w, "좀"); ok && head != "" {
			trimmed[i] = head
		}
	}
	return trimmed
}

func english(text string) []sentence {
	words, asked := read(text)
	var forms []sentence
	for _, w := range [][]string{words, drop(words, articles["en"])} {
		for _, bare := range [][]string{w, drop(w, fillers["en"])} {
			command, stillAsked := englishWords(bare, asked)
			forms = append(forms, join(command, stillAsked))
		}
	}
	return forms
}

// best picks the match with the most words of its own; equal says that another has as many.
func best(matches []match) (found *match, equal bool) {
	for i := range matches {
		m := &matches[i]
		switch {
		case found == nil || m.literal > found.literal:
			found, equal = m, false
		case m.literal == found.literal:
			equal = true
		}
	}
	return found, equal
}

// fill puts what was said into the routine's plan. Every reading counts: if two of them name different rooms, none is taken,
// and if they differ otherwise, it is not sure what was said.
func (m *match) fill(rooms roomNames) (matched Matched, sure bool, err error) {
	values := map[string]string{}
	for _, slot := range m.routine.Slots {
		if slot.Grounding != catalog.SlotRoom {
			value, sure := m.one(slot.Name)
			if !sure {
				return Matched{}, false, nil
			}
			values[slot.Name] = value
			continue
		}
		var candidates []catalog.Room
		said := ""
		for _, r := range m.readings {
			p := r.slots[slot.Name]
			said = r.sentence.span(p.from, p.to)
			for _, room := range rooms[p.room] {
				if !slices.Contains(candidates, room) {
					candidates = append(candidates, room)
				}
			}
		}
		if len(candidates) != 1 {
			return Matched{}, true, &AmbiguousRoom{Said: said, Candidates: candidates}
		}
		values[slot.Name] = candidates[0].Name
	}
	return Matched{RoutineID: m.routine.ID, Document: document(m.routine, values), Slots: values}, true, nil
}

// one is what a slot stands for, if that is the same in every reading.
func (m *match) one(slot string) (value string, sure bool) {
	for _, r := range m.readings {
		if value != "" && r.slots[slot].value != value {
			return "", false
		}
		value = r.slots[slot].value
	}
	return value, value != ""
}

// unknownRoom tells which room a sentence names that fits but for it, or "". Of several readings, the one in
// which the template took most leaves the barest name.
func unknownRoom(c *catalog.Catalog, text string, words lexicon) string {
	said, most := "", -1
	for _, m := range readings(c, text, lexicon{context: words.context}) {
		for _, r := range m.readings {
			for _, slot := range m.routine.Slots {
				if slot.Grounding != catalog.SlotRoom {
					continue
				}
				p := r.slots[slot.Name]
				name := r.sentence.span(p.from, p.to)
				barer := r.literal > most || r.literal == most && len(name) < len(said)
				if barer && plausible(name, p, r.language, words.rooms) {
					said, most = name, r.literal
				}
			}
		}
	}
	return said
}

// roomNames groups the rooms by their squeezed names. Two rooms under one name are ambiguous, not one too many.
type roomNames map[string][]catalog.Room

func group(rooms []catalog.Room) roomNames {
	names := roomNames{}
	for _, room := range rooms {
		for _, language := range []string{"ko", "en"} { // with and without articles
			name := string(squeeze(room.Name, language))
			if name != "" && !slices.Contains(names[name], room) {
				names[name] = append(names[name], room)
			}
		}
	}
	return names
}

// names lists the squeezed names, longest first and then by spelling. It is never nil: no rooms is not any room.
func (n roomNames) names() []string {
	names := make([]string, 0, len(n))
	for name := range n {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return names
}

func known(rooms []catalog.Room) []string {
	names := make([]string, len(rooms))
	for i, r := range rooms {
		names[i] = r.Name
	}
	return names
}

// Routine is the plan of a routine that has no places to fill: what a watch starts. It reports whether there is one.
func Routine(c *catalog.Catalog, id string) (plan.Document, bool) {
	i := slices.IndexFunc(c.Routines, func(r catalog.Routine) bool { return r.ID == id && len(r.Slots) == 0 })
	if i < 0 {
		return plan.Document{}, false
	}
	return document(&c.Routines[i], nil), true
}

// document makes the plan of a routine.
func document(r *catalog.Routine, values map[string]string) plan.Document {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, fmt.Sprintf("{%s}", name), value)
	}
	replacer := strings.NewReplacer(pairs...)
	var d plan.Document
	for _, s := range r.Steps {
		d.Steps = append(d.Steps, plan.StepSpec{
			ID:        s.ID,
			Action:    plan.Action{CapabilityID: s.CapabilityID, OperationID: s.OperationID, Arguments: filled(s.Arguments, replacer)},
			DependsOn: slices.Clone(s.DependsOn), OutputKey: s.OutputKey, InputFrom: cloned(s.InputFrom),
			ExecutionTarget: "device", WaitPolicy: "completed",
		})
	}
	return d
}

// filled copies arguments with their places filled. Only texts have places: lint holds arguments to the slots' types.
func filled(arguments map[string]any, replacer *strings.Replacer) map[string]any {
	copied := make(map[string]any, len(arguments))
	for name, value := range arguments {
		if text, ok := value.(string); ok {
			value = replacer.Replace(text)
		}
		copied[name] = value
	}
	return copied
}

func cloned(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	copied := make(map[string]string, len(m))
	for k, v := range m {
		copied[k] = v
	}
	return copied
}
