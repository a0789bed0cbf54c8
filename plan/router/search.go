package router

import (
	"strings"

	"errand/catalog"
)

// piece is a part of a template, ready to compare with a sentence.
type piece struct {
	slot     string   // the slot's name, or ""
	take     taker    // what the slot may take
	forms    [][]rune // what it may be, if it is no slot
	optional bool
	// toward marks "(으)로": what stands before it is a place, whatever its name.
	toward bool
}

// pieces compiles a template, whose slots may take what takers says. Words that squeeze to nothing, such as a lone article,
// take nothing.
func pieces(t catalog.Template, language string, takers map[string]taker) []piece {
	var out []piece
	for _, part := range t.Parts {
		p := piece{optional: part.Kind == catalog.PartParticle, toward: part.Text == "(으)로"}
		switch part.Kind {
		case catalog.PartSlot:
			p.slot, p.take = part.Text, takers[part.Text]
		case catalog.PartLiteral:
			p.forms = [][]rune{squeeze(part.Text, language)}
		default:
			for _, form := range part.Forms {
				p.forms = append(p.forms, squeeze(form, language))
			}
		}
		out = append(out, p)
	}
	return out
}

// place is what a slot took: a span of the sentence, and the room it names, if it names one, or what else it stands for.
type place struct {
	from, to int
	room     string // squeezed name of a known room, or ""
	value    string
	toward   bool
}

// reading is one way in which a template takes a whole sentence.
type reading struct {
	sentence sentence
	language string // the template's
	slots    map[string]place
	literal  int // how much of the sentence is the template's own words
}

// search finds every reading of one template in one sentence.
type search struct {
	sentence sentence
	pieces   []piece
	language string
	found    []reading
}

// longest bounds what an unknown room may be called, in characters.
const longest = 20

func (q *search) run() []reading {
	q.step(0, 0, 0, nil)
	return q.found
}

// step matches the pieces from i on at position at. slots is the chain of what was taken so far.
func (q *search) step(i, at, literal int, slots *taken) {
	if i == len(q.pieces) {
		if at == len(q.sentence.runes) {
			q.found = append(q.found, reading{sentence: q.sentence, language: q.language, slots: slots.places(), literal: literal})
		}
		return
	}
	p := q.pieces[i]
	if p.slot != "" {
		q.slot(i, at, literal, slots)
		return
	}
	if p.optional {
		q.step(i+1, at, literal, slots)
	}
	for _, form := range p.forms {
		if hasPrefix(q.sentence.runes[at:], form) && (len(form) > 0 || !p.optional) {
			next := slots
			if p.toward {
				next = slots.marked()
			}
			q.step(i+1, at+len(form), literal+len(form), next)
		}
	}
}

func (q *search) slot(i, at, literal int, slots *taken) {
	if !q.boundary(at) {
		return
	}
	p := q.pieces[i]
	if p.take == nil {
		return // lint refuses a template whose slot no routine declares
	}
	for _, t := range p.take(q.sentence.runes[at:], q.language) {
		if to := at + t.length; q.boundary(to) {
			q.step(i+1, to, literal, &taken{before: slots, name: p.slot, place: place{from: at, to: to, room: t.room, value: t.value}})
		}
	}
}

// boundary reports whether a slot may begin or end here. Korean glues particles and verbs to names; English does not.
func (q *search) boundary(at int) bool { return q.language != "en" || q.sentence.starts[at] }

func hasPrefix(text, prefix []rune) bool {
	return len(prefix) <= len(text) && string(text[:len(prefix)]) == string(prefix)
}

// taken is a chain of slots, newest first; branches of the search share its tail.
type taken struct {
	before *taken
	name   string
	place  place
}

// marked says of the newest slot that "(으)로" followed it.
func (t *taken) marked() *taken {
	if t == nil {
		return nil
	}
	again := *t
	again.place.toward = true
	return &again
}

func (t *taken) places() map[string]place {
	places := map[string]place{}
	for ; t != nil; t = t.before {
		places[t.name] = t.place
	}
	return places
}

// plausible reports whether what stands in a slot may be the name of a room that the device does not have.
// A span that mentions a known room says more about it than the routine takes ("안방 말고 거실"), and is no name.
func plausible(said string, p place, language string, rooms []string) bool {
	words := strings.Fields(said)
	if len(words) == 0 || len(words) > 2 {
		return false
	}
	last := words[len(words)-1]
	if strings.HasSuffix(last, "으") {
		return false // half of the particle 으로
	}
	if language == "en" {
		return endsWithAny(last, englishRooms) && !contains([]string{"and", "or", "not", "no", "every", "any"}, words[0])
	}
	for _, word := range words {
		for _, room := range rooms {
			after, begins := strings.CutPrefix(word, room)
			if begins && (after == "" || startsWithAny(after, koreanParticles)) {
				return false
			}
		}
	}
	return p.toward || endsWithAny(last, koreanRooms)
}

func startsWithAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func endsWithAny(s string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}
