package catalog

import "strings"

// Render fills the places of a sentence: "{room}" takes the value, and "{room:을/를}" adds the Korean particle that fits its
// last sound (see Particle). Brackets hold what is said only where all its places have a value, and bars part such alternatives,
// of which the first that can be filled is taken: "[{target:을/를}|조명을] 켜지 못했어요." What cannot be filled renders as
// nothing: a person must never hear a brace, or a particle without its word. Lint checks names and brackets beforehand.
func Render(template string, values map[string]string) string {
	parts, _ := partsOf(template)
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.fill(values))
	}
	return strings.Join(strings.Fields(out.String()), " ") // no gap where there was nothing to say
}

// Places lists the names that a sentence's places use, in order, with repeats.
// It reports false if a brace or a bracket is not closed, or a particle is not known.
func Places(template string) (names []string, ok bool) {
	parts, ok := partsOf(template)
	if !ok {
		return nil, false
	}
	for _, p := range parts {
		names = append(names, p.names()...)
	}
	return names, true
}

// BarePlaces lists the names of the places outside of brackets: what must have a value whenever the sentence is said.
func BarePlaces(template string) (names []string) {
	parts, _ := partsOf(template)
	for _, p := range parts {
		if !p.bracketed {
			names = append(names, p.names()...)
		}
	}
	return names
}

// sentencePart is one piece of a sentence: what stands in brackets, or what stands outside of them.
type sentencePart struct {
	bracketed    bool
	alternatives [][]piece
}

// piece is some text, or a place.
type piece struct {
	text           string
	name, particle string
}

// fill renders the part.
func (p sentencePart) fill(values map[string]string) string {
	for _, pieces := range p.alternatives {
		var out strings.Builder
		full := true
		for _, at := range pieces {
			value := strings.TrimSpace(values[at.name])
			full = full && (at.name == "" || value != "")
			out.WriteString(at.text)
			if value != "" {
				out.WriteString(value + Particle(value, at.particle))
			}
		}
		if full || !p.bracketed {
			return out.String()
		}
	}
	return ""
}

func (p sentencePart) names() (names []string) {
	for _, pieces := range p.alternatives {
		for _, at := range pieces {
			if at.name != "" {
				names = append(names, at.name)
			}
		}
	}
	return names
}

// partsOf reads a sentence, as far as it can be read; ok is false if it is malformed somewhere.
func partsOf(template string) (parts []sentencePart, ok bool) {
	ok = true
	for template != "" {
		var inside string
		outside, rest, bracket := strings.Cut(template, "[")
		pieces, fine := piecesOf(outside)
		ok = ok && fine && !strings.Contains(outside, "]")
		parts = append(parts, sentencePart{alternatives: [][]piece{pieces}})
		if !bracket {
			break
		}
		inside, template, bracket = strings.Cut(rest, "]")
		ok = ok && bracket && !strings.Contains(inside, "[")
		group := sentencePart{bracketed: true}
		for alternative := range strings.SplitSeq(inside, "|") {
			pieces, fine := piecesOf(alternative)
			ok = ok && fine
			group.alternatives = append(group.alternatives, pieces)
		}
		parts = append(parts, group)
	}
	return parts, ok
}

// piecesOf reads what holds no brackets.
func piecesOf(text string) (pieces []piece, ok bool) {
	ok = true
	for {
		head, rest, found := strings.Cut(text, "{")
		pieces = append(pieces, piece{text: head})
		ok = ok && !strings.Contains(head, "}")
		if !found {
			return pieces, ok
		}
		place, tail, closed := strings.Cut(rest, "}")
		name, particle, particled := strings.Cut(place, ":")
		if !closed {
			return pieces, false
		}
		ok = ok && name != "" && !strings.Contains(name, "{") && (!particled || particles[particle] != nil)
		pieces = append(pieces, piece{name: name, particle: particle})
		text = tail
	}
}
