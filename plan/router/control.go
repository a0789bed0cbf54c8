package router

import (
	"slices"
	"strings"
	"unicode/utf8"

	"errand/catalog"
)

// Control is what a person wants of what is under way, said in words that need no plan and no model.
type Control string

// The controls. Their words are the catalog's.
const (
	// Stop is for the device: everything that it does is cancelled, since only a cancel reaches what moves.
	Stop Control = "stop"
	// Cancel ends one plan.
	Cancel Control = "cancel"
	// Pause holds a plan's next step; what moves goes on until it is done.
	Pause Control = "pause"
	// Resume takes that back.
	Resume Control = "resume"
	// Yes, No, Retry and Skip answer a question.
	Yes   Control = "yes"
	No    Control = "no"
	Retry Control = "retry"
	Skip  Control = "skip"
	// Mixed is a sentence with a word for stopping in it that asks for more or for something else: to obey half of it, either
	// half, would be a guess.
	Mixed Control = "mixed"
)

// Heard is a sentence that steers.
type Heard struct {
	Control Control
	// Rest says that the sentence had more in it, which was not taken: "멈춰, 위험해".
	Rest bool
}

// Listen tells whether a sentence steers what is under way: "멈춰", "잠깐만 기다려 줘", "never mind". Spelling, fillers and
// politeness are forgiven as in Match, and words may be doubled ("stop stop", "아니, 멈춰").
//
// Of several controls in one sentence, stop wins over cancel, and both over the rest. A sentence that begins with a word for
// stopping stops the device, whatever follows, unless it is negated: a stop too many costs a plan, one too few may cost more.
// Any other sentence with a word for stopping or cancelling in it is Mixed. A question ("stop?") steers nothing.
func Listen(c *catalog.Catalog, text string) (Heard, bool) {
	words, asked := read(text)
	words = drop(words, calls)
	if len(words) == 0 || utf8.RuneCountInString(text) > maxRunes {
		return Heard{}, false
	}
	l := listener{phrases: phrases(c), words: words, asked: asked}
	if said := l.all(0); said != nil {
		return l.strongest(said)
	}
	if asked {
		return Heard{}, false
	}
	if n := l.opens(); n > 0 && !negated(words[n:]) {
		return Heard{Control: Stop, Rest: true}, true
	}
	if slices.ContainsFunc(words, func(w string) bool { kind := l.one([]string{w}, false); return kind == Stop || kind == Cancel }) {
		return Heard{Control: Mixed}, true
	}
	return Heard{}, false
}

// Choose tells which choice of an open question words are. A control answers only where it can mean but one thing: "응" is
// no answer to "다시 해볼까요, 그만둘까요?". A choice may also be said as it is spelled.
func Choose(c *catalog.Catalog, text string, choices []string) (choice string, ok bool) {
	said := squeeze(text, "en")
	for _, choice := range choices {
		if len(said) > 0 && string(squeeze(choice, "en")) == string(said) {
			return choice, true
		}
	}
	heard, steers := Listen(c, text)
	if !steers || heard.Rest {
		return "", false
	}
	for _, choice := range answers[heard.Control] {
		if slices.Contains(choices, choice) {
			return choice, true
		}
	}
	if heard.Control == No && slices.Contains(choices, "continue") && slices.Contains(choices, "stop") {
		return "stop", true
	}
	return "", false
}

// answers are the choices that a control may stand for. Stop and Cancel are none: they end the plan, question and all.
var answers = map[Control][]string{
	Yes: {"yes", "continue"}, Resume: {"continue"}, No: {"no", "none"}, Retry: {"retry"}, Skip: {"skip"}, Pause: {"wait"},
}

// calls are words to get attention with: beside a control they mean nothing more.
var calls = []string{"야", "얘", "로봇", "로봇아", "이봐", "저기요", "일단", "그냥", "당장", "아", "악", "헉", "앗", "robot", "hey", "oh", "whoa"}

// longestControl bounds the words of one control, mostControls those of a sentence made of several.
const (
	longestControl = 5
	mostControls   = 8
)

// phrase is one template of a control, ready to compare.
type phrase struct {
	control  Control
	language string
	pieces   []piece
}

func phrases(c *catalog.Catalog) []phrase {
	var all []phrase
	for _, kind := range []Control{Stop, Cancel, Pause, Resume, Yes, No, Retry, Skip} {
		for _, language := range []string{"ko", "en"} {
			for _, text := range c.Controls[string(kind)][language] {
				if template, err := catalog.ParseTemplate(text); err == nil { // else lint refuses such a catalog
					all = append(all, phrase{control: kind, language: language, pieces: pieces(template, language, nil)})
				}
			}
		}
	}
	return all
}

// listener holds a sentence against the catalog's controls.
type listener struct {
	phrases []phrase
	words   []string
	asked   bool
}

// all reads the words from one on as controls, one after the other; nil if they are not.
func (l *listener) all(from int) []Control {
	if len(l.words) > mostControls {
		return nil
	}
	for n := min(len(l.words)-from, longestControl); n > 0; n-- {
		kind := l.one(l.words[from:from+n], l.asked)
		if kind == "" {
			continue
		}
		if from+n == len(l.words) {
			return []Control{kind}
		}
		if rest := l.all(from + n); rest != nil {
			return append([]Control{kind}, rest...)
		}
	}
	return nil
}

// strongest is what several controls mean together. Those that contradict each other mean nothing.
func (l *listener) strongest(said []Control) (Heard, bool) {
	for _, kind := range []Control{Stop, Cancel} {
		if slices.Contains(said, kind) {
			return Heard{Control: kind}, true
		}
	}
	said = slices.Compact(said)
	if len(said) == 2 && said[0] == Yes { // "응, 계속해"
		said = said[1:]
	}
	if len(said) != 1 {
		return Heard{}, false
	}
	return Heard{Control: said[0]}, true
}

// opens tells how many words at the beginning are a stop; 0 if none are.
func (l *listener) opens() int {
	for n := min(len(l.words), longestControl); n > 0; n-- {
		if l.one(l.words[:n], false) == Stop {
			return n
		}
	}
	return 0
}

// one reads words as one control, or returns "".
func (l *listener) one(words []string, asked bool) Control {
	text := strings.Join(words, " ")
	if asked {
		text += "?"
	}
	forms := map[string][]sentence{"ko": korean(text), "en": english(text)}
	for _, p := range l.phrases {
		for _, form := range forms[p.language] {
			q := search{sentence: form, pieces: p.pieces, language: p.language}
			if !form.asked && len(q.run()) > 0 {
				return p.control
			}
		}
	}
	return ""
}

// negated reports whether what follows a word for stopping takes it back: "멈춰 있지 마".
func negated(words []string) bool {
	return len(words) > 0 && endsWithAny(words[len(words)-1], []string{"마", "마요", "마라", "마세요", "말고", "말아줘"})
}
