package router

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxRunes bounds a sentence; nobody speaks a longer command, and the search is not linear.
const maxRunes = 200

// sentence is an utterance brought to one spelling: NFC, lower case, no punctuation, no spaces.
type sentence struct {
	runes []rune
	// starts marks where words began, so that a room can be told as it was said.
	starts map[int]bool
	// asked says that the sentence had a question mark.
	asked bool
}

// read brings text to words in one spelling.
func read(text string) (words []string, asked bool) {
	text = strings.ToLower(norm.NFC.String(text))
	asked = strings.ContainsAny(text, "?？¿")
	runes := []rune(text)
	var kept strings.Builder
	for i, r := range runes {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			kept.WriteRune(r)
		case unicode.IsSpace(r):
			kept.WriteRune(' ')
		case i+1 < len(runes) && unicode.IsDigit(runes[i+1]):
			kept.WriteRune(r) // "1.5층" is not 15층, and "-1층" is not 1층
		case r == ',' || r == ';' || r == '·' || r == '/':
			kept.WriteRune(' ') // it parts words; the rest ends them or stands inside: "what's"
		}
	}
	return strings.Fields(kept.String()), asked
}

func join(words []string, asked bool) sentence {
	s := sentence{starts: map[int]bool{}, asked: asked}
	for _, w := range words {
		s.starts[len(s.runes)] = true
		s.runes = append(s.runes, []rune(w)...)
	}
	s.starts[len(s.runes)] = true
	return s
}

// squeeze is the one spelling of a template's text or a room's name: words joined.
func squeeze(text, language string) []rune {
	words, _ := read(text)
	return []rune(strings.Join(drop(words, articles[language]), ""))
}

// span tells a part of the sentence with its spaces.
func (s sentence) span(from, to int) string {
	var out strings.Builder
	for i := from; i < to; i++ {
		if i > from && s.starts[i] {
			out.WriteRune(' ')
		}
		out.WriteRune(s.runes[i])
	}
	return out.String()
}

// articles carry no meaning anywhere; fillers carry none in a command. Both are left out as whole words only.
var (
	articles = map[string][]string{"en": {"the", "a", "an"}}
	fillers  = map[string][]string{
		"ko": {"좀", "제발", "빨리", "얼른", "어서", "지금", "음", "어", "저기", "자", "그럼", "이제"},
		"en": {"please", "just", "now", "ok", "okay", "hey", "um"},
	}
)

func drop(words, unwanted []string) []string {
	kept := make([]string, 0, len(words))
	for _, w := range words {
		if !contains(unwanted, w) {
			kept = append(kept, w)
		}
	}
	return kept
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
