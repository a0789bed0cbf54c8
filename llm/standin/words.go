package standin

import (
	"slices"
	"strings"
	"unicode"

	"errand/catalog"
)

// keywords are the words of each capability that no other one has, since a word of several tells nothing.
func keywords(capabilities []catalog.Capability) map[string][]string {
	count := make(map[string]int)
	all := make(map[string][]string, len(capabilities))
	for _, c := range capabilities {
		var stems []string
		for _, text := range []string{c.Title.Ko, c.Title.En, c.Description.Ko, c.Description.En} {
			for _, word := range split(text) {
				if stem := stem(word); len([]rune(stem)) > 1 && !slices.Contains(common, stem) && !slices.Contains(stems, stem) {
					stems = append(stems, stem)
				}
			}
		}
		for _, stem := range stems {
			count[stem]++
		}
		all[c.ID] = stems
	}
	for id, stems := range all {
		all[id] = slices.DeleteFunc(stems, func(stem string) bool { return count[stem] > 1 })
	}
	return all
}

// common are stems that say nothing of what is wanted.
var common = []string{"the", "it", "its", "an", "of", "to", "on", "in", "at", "and", "or", "so", "one", "is", "go", "for", "from", "who",
	"that", "how", "me", "you", "may", "only", "far", "until", "again", "such", "robot", "room", "home", "turn", "stay", "move",
	"place", "person", "call", "로봇", "있는", "있어", "켜져", "때까지", "하나", "같은", "소리", "사람에게", "가요", "켜요", "모드"}

func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

var (
	koreanEndings  = []string{"해요", "하며", "으로", "에서", "까지", "를", "을", "은", "는", "이", "가", "에", "의", "로", "와", "과", "도", "요"}
	englishEndings = []string{"ing", "ies", "es", "ed", "s", "e", "y"}
)

// stem takes a word's endings off, roughly.
func stem(word string) string {
	endings := koreanEndings
	if isEnglish(word) {
		endings = englishEndings
	}
	for _, ending := range endings {
		if rest, ok := strings.CutSuffix(word, ending); ok && len([]rune(rest)) >= 2 && (!isEnglish(word) || len(rest) >= 3) {
			return rest
		}
	}
	return word
}

func isEnglish(word string) bool { return word != "" && word[0] < unicode.MaxASCII }

// mention is where something is named in a text, in bytes.
type mention struct {
	at   int
	word string
}

// earliest finds the first of the stems in a text: an English one as the beginning of a word, a Korean one anywhere.
func earliest(text string, stems []string) (mention, bool) {
	text = strings.ToLower(text)
	best := mention{at: -1}
	for _, stem := range stems {
		for from := 0; ; {
			i := strings.Index(text[from:], stem)
			if i < 0 {
				break
			}
			if at := from + i; !isEnglish(stem) || beginsWord(text, at) {
				if best.at < 0 || at < best.at {
					best = mention{at: at, word: stem}
				}
				break
			}
			from += i + len(stem)
		}
	}
	return best, best.at >= 0
}

func beginsWord(text string, at int) bool {
	before := []rune(text[:at])
	return len(before) == 0 || !unicode.IsLetter(before[len(before)-1])
}
