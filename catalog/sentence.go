package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Render fills the places of a sentence: "{room}" takes the value, and "{room:을/를}" adds the Korean particle
// that fits its last sound. The particles are 을/를, 이/가, 은/는, 와/과, (으)로 and, for quoting, 이라는/라는.
// A place without a value renders as nothing: a person must never hear a brace. Lint checks the names beforehand.
func Render(template string, values map[string]string) string {
	var out strings.Builder
	for {
		head, rest, found := strings.Cut(template, "{")
		out.WriteString(head)
		if !found {
			break
		}
		place, tail, closed := strings.Cut(rest, "}")
		if !closed {
			break
		}
		name, particle, _ := strings.Cut(place, ":")
		if value := values[name]; value != "" {
			out.WriteString(value + Particle(value, particle))
		} else if strings.HasSuffix(head, " ") {
			tail = strings.TrimPrefix(tail, " ") // no gap where there is nothing to say
		}
		template = tail
	}
	return strings.TrimSpace(out.String())
}

// Places lists the names that a sentence's places use, in order, with repeats.
// It reports false if a brace is not closed or a particle is not known.
func Places(template string) (names []string, ok bool) {
	for {
		head, rest, found := strings.Cut(template, "{")
		if strings.Contains(head, "}") {
			return names, false
		}
		if !found {
			return names, true
		}
		place, tail, closed := strings.Cut(rest, "}")
		name, particle, particled := strings.Cut(place, ":")
		if !closed || name == "" || strings.Contains(name, "{") || particled && particles[particle] == nil {
			return names, false
		}
		names = append(names, name)
		template = tail
	}
}

// sound is how a word ends, as far as Korean particles care.
type sound int

const (
	openSound      sound = iota // a vowel: "서재"
	consonantSound              // a final consonant other than ㄹ: "안방"
	rieulSound                  // a final ㄹ: "거실"; (으)로 treats it like a vowel
)

// particles gives each pair its forms after a vowel, a consonant and ㄹ.
var particles = map[string]*[3]string{
	"을/를":    {"를", "을", "을"},
	"이/가":    {"가", "이", "이"},
	"은/는":    {"는", "은", "은"},
	"와/과":    {"와", "과", "과"},
	"(으)로":   {"로", "으로", "로"},
	"이라는/라는": {"라는", "이라는", "이라는"},
}

// Particle returns the form of a particle pair that fits the last sound of a word, or "" for an unknown pair.
func Particle(word, pair string) string {
	forms := particles[pair]
	if forms == nil {
		return ""
	}
	return forms[lastSound(word)]
}

// lastSound finds how a word ends when it is read aloud in Korean; what cannot be read is skipped.
func lastSound(word string) sound {
	word = strings.TrimRightFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	last, _ := utf8.DecodeLastRuneInString(word)
	switch {
	case last >= '가' && last <= '힣':
		return syllableSound(last)
	case last >= '0' && last <= '9':
		return digitSounds[last-'0']
	case last < utf8.RuneSelf && unicode.IsLetter(last):
		return latinSound(word)
	}
	return openSound
}

// syllableSound reads the final consonant out of a Hangul syllable's code: 28 finals, the ninth is ㄹ.
func syllableSound(r rune) sound {
	switch (r - '가') % 28 {
	case 0:
		return openSound
	case 8:
		return rieulSound
	}
	return consonantSound
}

// digitSounds: 영 일 이 삼 사 오 육 칠 팔 구. A final 0 is 십, 백, 천, 만 or 영: a consonant in any case.
var digitSounds = [10]sound{
	consonantSound, rieulSound, openSound, consonantSound, openSound,
	openSound, consonantSound, rieulSound, rieulSound, openSound,
}

// latinSound follows how Koreans read Latin text: capitals letter by letter ("TV" is 티브이), words by sound.
func latinSound(word string) sound {
	start := strings.LastIndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) })
	tail := word[start+1:]
	if start >= 0 { // LastIndexFunc points at the first byte of the rune before the tail
		_, size := utf8.DecodeRuneInString(word[start:])
		tail = word[start+size:]
	}
	if tail == strings.ToUpper(tail) {
		return letterSound(tail[len(tail)-1])
	}
	return spellingSound(strings.ToLower(tail))
}

// letterSound: 엘 and 알 end in ㄹ, 엠 and 엔 in another consonant, every other letter's name in a vowel.
func letterSound(letter byte) sound {
	switch letter {
	case 'L', 'R':
		return rieulSound
	case 'M', 'N':
		return consonantSound
	}
	return openSound
}

// spellingSound guesses the last sound of a Latin word from its spelling: hall → 홀, bedroom → 베드룸, office → 오피스.
func spellingSound(word string) sound {
	switch {
	case hasAnySuffix(word, "l", "le"):
		return rieulSound
	case hasAnySuffix(word, "m", "n", "ng", "me", "ne", "ck"):
		return consonantSound
	}
	// A short vowel before p, t or k closes the syllable (closet → 클로젯); a long one opens another (heat → 히트).
	n := len(word)
	closed := n >= 2 && strings.IndexByte("ptk", word[n-1]) >= 0 && isVowel(word[n-2]) && (n < 3 || !isVowel(word[n-3]))
	if closed {
		return consonantSound
	}
	return openSound
}

func hasAnySuffix(word string, suffixes ...string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(word, s) {
			return true
		}
	}
	return false
}

func isVowel(b byte) bool { return strings.IndexByte("aeiou", b) >= 0 }
