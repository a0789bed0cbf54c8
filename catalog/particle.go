package catalog

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

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
	"(이)랑":   {"랑", "이랑", "이랑"},
	"(이)라고":  {"라고", "이라고", "이라고"},
	"이라는/라는": {"라는", "이라는", "이라는"},
	"이에요/예요": {"예요", "이에요", "이에요"},
	"아/야":    {"야", "아", "아"}, // to call somebody
}

// Particle returns the form of a particle pair that fits the last sound of a word as it is read aloud in Korean, or "" for an
// unknown pair. What stands in parentheses at the end is passed over ("안방(큰방)" is 안방), and so is what has no sound: quotes,
// other punctuation, emoji. A word without any sound counts as one that ends in a vowel.
//
//   - Hangul is read as it is spelled, also where its letters are written one by one (NFD).
//   - Numbers are read as Sino-Korean ones: 10 is 십, 10000 만, 1.0 일 점 영; a time of day ends in 시 or 분, a date in 일.
//   - Units and % after a number are read by their names: 5kg is 킬로그램, 50% 퍼센트.
//   - Latin capitals are read by their names (TV is 티브이), other Latin words by a guess at how they are said (hall is 홀).
//
// The guess is wrong where spelling and sound part ways ("Bach", "TOP" read as a word), and any other script counts as a vowel.
func Particle(word, pair string) string {
	forms := particles[pair]
	if forms == nil {
		return ""
	}
	return forms[lastSound(word)]
}

// lastSound finds how a word ends when it is read aloud in Korean.
func lastSound(word string) sound {
	word = audible(width.Fold.String(norm.NFC.String(word)))
	if s, ok := measured(word); ok {
		return s
	}
	last, _ := utf8.DecodeLastRuneInString(word)
	switch {
	case last >= '가' && last <= '힣':
		return syllableSound(last)
	case last >= 'ㄱ' && last <= 'ㅎ': // the letter by its name: 기역, 리을
		if last == 'ㄹ' {
			return rieulSound
		}
		return consonantSound
	case last >= '0' && last <= '9':
		return numberSound(word)
	case last < utf8.RuneSelf && isLatin(byte(last)):
		return latinSound(word)
	}
	return openSound
}

// audible cuts off what has no sound at the end of a word, and what stands in parentheses there after something that has one.
func audible(word string) string {
	for {
		cut := strings.TrimRightFunc(word, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(")%°℃℉", r)
		})
		head, closed := strings.CutSuffix(cut, ")")
		if !closed {
			return cut
		}
		word = head
		if open := strings.LastIndex(head, "("); open >= 0 && strings.ContainsFunc(head[:open], sounds) {
			word = head[:open]
		}
	}
}

func sounds(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

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

var (
	// clock is a time of day: 07:00 is 일곱 시, 07:30 삼십 분.
	clock = regexp.MustCompile(`(^|[^0-9:])[0-9]{1,2}:([0-9]{2})$`)
	// date is 이천이십육 년 십이 월 이 일.
	date = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	// unit is what follows a number.
	unit = regexp.MustCompile(`[0-9]\s*(%|°C|°F|°|℃|℉|[A-Za-zµμ/]+[0-9²³]?)$`)
	// wholes are the digits of a whole number, which is not the fraction of another.
	wholes = regexp.MustCompile(`(^|[^0-9.,])([1-9][0-9]*(,[0-9]{3})*)$`)
)

// units are the last sounds of the names of units: 퍼센트, 도, 미터, 그램, 리터, 와트, 데시벨 ...
var units = map[string]sound{
	"%": openSound, "°": openSound, "°C": openSound, "°F": openSound, "℃": openSound, "℉": openSound,
	"m": openSound, "cm": openSound, "mm": openSound, "km": openSound, "m2": openSound, "m3": openSound,
	"g": consonantSound, "kg": consonantSound, "mg": consonantSound, "µg/m": openSound, "μg/m": openSound, "µg/m3": openSound, "μg/m3": openSound,
	"l": openSound, "L": openSound, "ml": openSound, "mL": openSound, "W": openSound, "kW": openSound, "kWh": openSound, "V": openSound,
	"Hz": openSound, "dB": rieulSound, "ppm": consonantSound, "GB": openSound, "MB": openSound, "KB": openSound,
}

// measured reads a time of day, a date, or a number with its unit.
func measured(word string) (sound, bool) {
	if found := clock.FindStringSubmatch(word); found != nil {
		if found[2] == "00" {
			return openSound, true // 시
		}
		return consonantSound, true // 분
	}
	if date.MatchString(word) {
		return rieulSound, true // 일
	}
	if found := unit.FindStringSubmatch(word); found != nil {
		s, known := units[found[1]]
		return s, known
	}
	return openSound, false
}

// digitSounds: 영 일 이 삼 사 오 육 칠 팔 구.
var digitSounds = [10]sound{
	consonantSound, rieulSound, openSound, consonantSound, openSound,
	openSound, consonantSound, rieulSound, rieulSound, openSound,
}

// numberSound reads the end of a number. One that ends in zeros ends in 십, 백, 천, 만, 억 or 경, a consonant all of them, or in
// 조; a zero by itself is 영.
func numberSound(word string) sound {
	if found := wholes.FindStringSubmatch(word); found != nil {
		digits := strings.ReplaceAll(found[2], ",", "")
		zeros := len(digits) - len(strings.TrimRight(digits, "0"))
		if zeros >= 12 && zeros < 16 {
			return openSound // 조
		}
	}
	return digitSounds[word[len(word)-1]-'0']
}

// latinSound follows how Koreans read Latin text: capitals and single letters by their names, words by their sound.
func latinSound(word string) sound {
	start := len(word) // bytes do: all but Latin letters are cut off
	for start > 0 && isLatin(word[start-1]) {
		start--
	}
	tail := word[start:]
	if len(tail) == 1 || tail == strings.ToUpper(tail) {
		return letterSound(strings.ToUpper(tail)[len(tail)-1])
	}
	return spellingSound(strings.ToLower(tail))
}

func isLatin(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

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
	case hasAnySuffix(word, "m", "n", "ng", "me", "ne", "ck", "ook", "pp", "tt"):
		return consonantSound
	}
	// A short vowel before p, t, k, b or c closes the syllable (closet → 클로젯, web → 웹); a long one opens another (heat → 히트).
	n := len(word)
	if n >= 2 && strings.IndexByte("ptkbc", word[n-1]) >= 0 && isVowel(word[n-2]) && (n < 3 || !isVowel(word[n-3])) {
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
