package router

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// nths are the words for the n-th of several, from the first on.
var nths = []*regexp.Regexp{
	nth("첫번째|첫째|1번|1번째|일번|하나", "first|1st|1|one"),
	nth("두번째|둘째|2번|2번째|이번|둘", "second|2nd|2|two"),
	nth("세번째|셋째|3번|3번째|삼번|셋", "third|3rd|3|three"),
	nth("네번째|넷째|4번|4번째|사번|넷", "fourth|4th|4|four"),
	nth("다섯번째|다섯째|5번|5번째|오번", "fifth|5th|5|five"),
	nth("여섯번째|여섯째|6번|6번째|육번", "sixth|6th|6|six"),
	nth("일곱번째|일곱째|7번|7번째|칠번", "seventh|7th|7|seven"),
	nth("여덟번째|여덟째|8번|8번째|팔번", "eighth|8th|8|eight"),
}

func nth(korean, english string) *regexp.Regexp {
	return regexp.MustCompile(`^((` + korean + `)(거|것|꺼|걸)?(으로|로)?(요|이요|해줘|할게|할게요)?|(number)?(` + english + `)(one)?)$`)
}

// thing is what follows a word that names one of several: "운동 거", "운동 걸로".
var thing = regexp.MustCompile(`(거|것|꺼|걸)?(이랑|랑|하고|과|와|은|는|이|가|을|를|으로|로|도|만)?(이요|요)?$`)

// ChooseObject tells which of several things words mean: by its place ("두 번째 거", "the second"), or by words that only it
// is called by. Words that fit two of them, or name two, mean none: it is never a guess.
func ChooseObject(text string, labels []string) (n int, ok bool) {
	if n, counts := Counts(text); counts {
		return n, n < len(labels)
	}
	words, _ := read(text)
	return namedBy(words, labels)
}

// Counts tells whether words mean one of several by its place alone, and which, from 0: without several they mean nothing.
func Counts(text string) (n int, ok bool) {
	words, _ := read(text)
	said := strings.Join(drop(words, articles["en"]), "")
	for i, p := range nths {
		if p.MatchString(said) {
			return i, true
		}
	}
	return 0, false
}

// besides are words that may stand beside the one that tells things apart. Any other says something else: a wish, most likely.
var besides = []string{"알람", "알림", "조명", "으로", "해줘", "할게", "할게요", "그거", "그걸로", "alarm", "reminder", "light", "lamp", "door", "lock", "one", "please", "that", "in", "of"}

// namedBy finds the one label that has a word of its own among those said, while no other has, and nothing else is said.
func namedBy(words, labels []string) (int, bool) {
	named := -1
	for _, word := range drop(words, articles["en"]) {
		word = thing.ReplaceAllString(word, "")
		if utf8.RuneCountInString(word) < 2 {
			continue
		}
		only, fits := -1, 0
		for i, label := range labels {
			if strings.Contains(string(squeeze(label, "en")), word) {
				only, fits = i, fits+1
			}
		}
		switch {
		case fits == 0 && !slices.Contains(besides, word):
			return 0, false
		case fits != 1: // it tells nothing apart
		case named >= 0 && named != only:
			return 0, false
		default:
			named = only
		}
	}
	return named, named >= 0
}
