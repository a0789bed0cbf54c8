package router

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"errand/catalog"
)

// taking is one thing that a slot may take at a place of a sentence.
type taking struct {
	length int    // of the sentence, in characters
	room   string // squeezed name of a known room, or ""
	value  string // what it stands for, where it is no room
}

// taker tells what a slot may take of the text that begins where it stands.
type taker func(text []rune, language string) []taking

// lexicon is what the slots of a routine may stand for.
type lexicon struct {
	// rooms are the squeezed names there are. nil lets a room be any word or two: to tell which room was meant that the device
	// does not have.
	rooms []string
	// context is the device's, for the names that people gave to what is in it.
	context map[string]any
}

// takers are those of a routine's slots, by name.
func (x lexicon) takers(slots []catalog.RoutineSlot) map[string]taker {
	all := map[string]taker{}
	for _, slot := range slots {
		switch slot.Grounding {
		case catalog.SlotTime:
			all[slot.Name] = takeTime
		case catalog.SlotField:
			all[slot.Name] = takeNames(namesIn(x.context, slot.Area, slot.Field))
		default:
			all[slot.Name] = takeRooms(x.rooms)
		}
	}
	return all
}

func takeRooms(rooms []string) taker {
	return func(text []rune, _ string) []taking {
		var found []taking
		if rooms == nil {
			for n := 1; n <= min(longest, len(text)); n++ {
				found = append(found, taking{length: n})
			}
			return found
		}
		for _, room := range rooms {
			if name := []rune(room); hasPrefix(text, name) {
				found = append(found, taking{length: len(name), room: room})
			}
		}
		return found
	}
}

func takeTime(text []rune, language string) []taking {
	var found []taking
	for n := 1; n <= min(longestTime, len(text)); n++ {
		if value, ok := timeOfDay(string(text[:n]), language); ok {
			found = append(found, taking{length: n, value: value})
		}
	}
	return found
}

// takeNames takes the names of things as people said them, and gives each as the device spells it.
func takeNames(names []string) taker {
	return func(text []rune, language string) []taking {
		var found []taking
		for _, name := range names {
			if said := squeeze(name, language); len(said) > 0 && hasPrefix(text, said) {
				found = append(found, taking{length: len(said), value: name})
			}
		}
		return found
	}
}

// namesIn lists the texts that a field of an area's items has, in the device's order. Two things may share one: which of them
// is meant is asked later.
func namesIn(context map[string]any, area, field string) []string {
	tree, _ := context[area].(map[string]any)
	if tree["available"] == false {
		return nil
	}
	items, _ := tree["items"].([]any)
	var names []string
	for _, item := range items {
		fields, _ := item.(map[string]any)
		name, _ := fields[field].(string)
		if name = norm.NFC.String(strings.TrimSpace(name)); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
