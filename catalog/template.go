package catalog

import (
	"errors"
	"fmt"
	"strings"
)

// ErrTemplate is returned for an utterance template that cannot be read.
var ErrTemplate = errors.New("not an utterance template")

// PartKind says what a part of an utterance template takes.
type PartKind string

// The kinds of parts.
const (
	PartLiteral  PartKind = "literal"  // Text, as it is
	PartSlot     PartKind = "slot"     // a grounded value for the slot named Text
	PartParticle PartKind = "particle" // one of Forms, or nothing
	PartChoice   PartKind = "choice"   // one of Forms
)

// Part is one piece of an utterance template.
type Part struct {
	Kind PartKind
	Text string
	// Forms are the spellings of a particle or a choice.
	Forms []string
}

// Template is a sentence that a person may say: "{room}(으)로 가서 청정하고 복귀해줘".
// In braces stands a slot. In parentheses stands what may be left out: (을) and (를) take either of the two, and so do
// (이) (가), (은) (는), (와) (과); "(으)로" takes 으로, 로 or 에; anything else takes itself. In brackets stands a choice:
// "[청정|정화]해줘". How far spacing, case, endings and politeness are forgiven is the router's.
type Template struct {
	Parts []Part
	// Question says that the template ends in "?": only then may an utterance that is no polite request end in one.
	Question bool
}

// optionals lists what stands for more than itself in parentheses.
var optionals = map[string][]string{
	"을": {"을", "를"}, "를": {"을", "를"}, "이": {"이", "가"}, "가": {"이", "가"},
	"은": {"은", "는"}, "는": {"은", "는"}, "와": {"와", "과"}, "과": {"와", "과"},
}

const brackets = "{}()[]"

// ParseTemplate reads an utterance template.
func ParseTemplate(text string) (Template, error) {
	var t Template
	rest, question := strings.CutSuffix(strings.TrimSpace(text), "?")
	t.Question = question
	for rest != "" {
		at := strings.IndexAny(rest, brackets)
		if at < 0 {
			at = len(rest)
		}
		if literal := rest[:at]; strings.TrimSpace(literal) != "" {
			t.Parts = append(t.Parts, Part{Kind: PartLiteral, Text: literal})
		}
		if at == len(rest) {
			break
		}
		part, tail, err := parsePlace(rest[at:])
		if err != nil {
			return Template{}, fmt.Errorf("%w: %q: %w", ErrTemplate, text, err)
		}
		t.Parts, rest = append(t.Parts, part), tail
	}
	if err := t.check(); err != nil {
		return Template{}, fmt.Errorf("%w: %q: %w", ErrTemplate, text, err)
	}
	return t, nil
}

// parsePlace reads the slot or particle that text starts with.
func parsePlace(text string) (Part, string, error) {
	closing, opens := map[byte]string{'{': "}", '(': ")", '[': "]"}[text[0]]
	if !opens {
		return Part{}, "", fmt.Errorf("%q closes nothing", text[:1])
	}
	inner, tail, closed := strings.Cut(text[1:], closing)
	if !closed || strings.TrimSpace(inner) == "" || strings.ContainsAny(inner, brackets) {
		return Part{}, "", fmt.Errorf("%q needs a word and a closing %q", text[:1], closing)
	}
	switch text[0] {
	case '{':
		return Part{Kind: PartSlot, Text: inner}, tail, nil
	case '[':
		return parseChoice(inner, tail)
	}
	part, tail := parseParticle(inner, tail)
	return part, tail, nil
}

func parseChoice(inner, tail string) (Part, string, error) {
	forms := strings.Split(inner, "|")
	for _, form := range forms {
		if strings.TrimSpace(form) == "" {
			return Part{}, "", errors.New("a choice has an empty form: write (…) for what may be left out")
		}
	}
	return Part{Kind: PartChoice, Text: "[" + inner + "]", Forms: forms}, tail, nil
}

func parseParticle(inner, tail string) (Part, string) {
	if after, ok := strings.CutPrefix(tail, "로"); ok && inner == "으" {
		return Part{Kind: PartParticle, Text: "(으)로", Forms: []string{"으로", "로", "에"}}, after
	}
	forms := optionals[inner]
	if forms == nil {
		forms = []string{inner}
	}
	return Part{Kind: PartParticle, Text: "(" + inner + ")", Forms: forms}, tail
}

// check refuses templates that would take almost anything.
func (t Template) check() error {
	literal, slot := false, false
	for _, p := range t.Parts {
		switch {
		case p.Kind == PartLiteral || p.Kind == PartChoice:
			literal, slot = true, false
		case p.Kind == PartSlot && slot:
			return errors.New("two slots need a word between them")
		case p.Kind == PartSlot:
			slot = true
		}
	}
	if !literal {
		return errors.New("it needs a word that is no slot")
	}
	return nil
}

// Slots lists the slots of the template in order, with repeats.
func (t Template) Slots() []string {
	var names []string
	for _, p := range t.Parts {
		if p.Kind == PartSlot {
			names = append(names, p.Text)
		}
	}
	return names
}
