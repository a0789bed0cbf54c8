package catalog_test

import (
	"reflect"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"errand/catalog"
)

var pairs = []string{"을/를", "이/가", "은/는", "와/과", "(으)로", "(이)랑", "(이)라고", "이라는/라는", "이에요/예요", "아/야"}

// The forms of the pairs after a vowel, a consonant and ㄹ.
var (
	afterVowel     = strings.Fields("를 가 는 와 로 랑 라고 라는 예요 야")
	afterConsonant = strings.Fields("을 이 은 과 으로 이랑 이라고 이라는 이에요 아")
	afterRieul     = strings.Fields("을 이 은 과 로 이랑 이라고 이라는 이에요 아")
)

func particlesOf(word string) (forms []string) {
	for _, pair := range pairs {
		forms = append(forms, catalog.Particle(word, pair))
	}
	return forms
}

// Each of the 27 finals, and none; as one syllable, and as its letters one by one, as some systems store names.
func TestParticleAfterEveryFinal(t *testing.T) {
	t.Parallel()
	for i, final := range strings.Split("-ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ", "")[:28] {
		word := "방" + string(rune('가'+i))
		want := afterConsonant
		switch final {
		case "-":
			want = afterVowel
		case "ㄹ":
			want = afterRieul
		}
		for _, spelled := range []string{word, norm.NFD.String(word), word + "!", "\"" + word + "\"", word + " 🛋️", word + " (2)", "(" + word + ")"} {
			if got := particlesOf(spelled); !reflect.DeepEqual(got, want) {
				t.Errorf("%q, final %s: %q, want %q", spelled, final, got, want)
			}
		}
	}
}

func TestParticleFollowsTheLastSound(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		want  []string
		words []string
	}{
		"nothing to read":          {afterVowel, []string{"", " ", "?!", "🛋️", "()", "寝室", "Спальня"}},
		"digits: 이 사 오 구":          {afterVowel, []string{"2", "4", "5", "9", "12", "2.5", "PM2.5", "-5", "방 2", "２"}},
		"digits: 영 삼 육":            {afterConsonant, []string{"0", "3", "6", "방 6", "13", "1.0", "0.3"}},
		"digits: 일 칠 팔":            {afterRieul, []string{"1", "7", "8", "101", "3.7", "010-1234-5678", "2026-12-02"}},
		"십 백 천 만 십만 백만 천만 억 경":     {afterConsonant, []string{"10", "100", "1000", "10000", "10,000", "100000", "1000000", "10000000", "100000000", "20000000000", "10000000000000000"}},
		"조 십조":                     {afterVowel, []string{"1000000000000", "30000000000000"}},
		"시":                        {afterVowel, []string{"07:00", "19:00", "오전 7시", "7시 정도"}},
		"분":                        {afterConsonant, []string{"07:30", "7:05", "30분", "2026년 12월 2일 09:10"}},
		"units that end in vowels": {afterVowel, []string{"50%", "50 %", "21℃", "21°C", "3m", "3 km", "12µg/m³", "500ml", "60W", "60Hz"}},
		"그램, 피피엠":                  {afterConsonant, []string{"5kg", "300 g", "400ppm"}},
		"데시벨":                      {afterRieul, []string{"40dB"}},
		"letters by their names":   {afterVowel, []string{"A", "LG", "TV", "AI", "USB", "LED", "2F", "에어컨 B", "ＴＶ"}},
		"엠 엔":                      {afterConsonant, []string{"M", "N", "n", "FM", "방N"}},
		"엘 알":                      {afterRieul, []string{"L", "R", "r", "방R", "XL"}},
		"Latin words, vowels":      {afterVowel, []string{"office", "desk", "cloud", "heat", "park", "café", "Wi-Fi", "Lee", "balcony", "Mr. Park", "suite"}},
		"Latin words, consonants":  {afterConsonant, []string{"kitchen", "bedroom", "living", "closet", "Mr. Kim", "robot", "web", "music", "phone", "home", "book", "Bob", "app", "Jack"}},
		"Latin words, ㄹ":           {afterRieul, []string{"Hall", "apple", "Google", "Paul", "hotel", "방 hall"}},
		"parentheses passed over":  {afterVowel, []string{"서재(안방)", "서재 (2)", "서재（큰방）", "서재(안방)(주방)"}},
		"unless nothing is before": {afterConsonant, []string{"(안방)", "(서재 안방)", "'안방'", "안방...", "안방)", "안방 :)"}},
		"single letters of Hangul": {afterConsonant, []string{"ㄱ", "ㅎ"}},
		"리을":                       {afterRieul, []string{"ㄹ"}},
		"their vowels":             {afterVowel, []string{"ㅏ", "ㅋㅋㅠ"}},
	} {
		for _, word := range c.words {
			if got := particlesOf(word); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %q: got %q, want %q", what, word, got, c.want)
			}
		}
	}
	if got := catalog.Particle("안방", "까지"); got != "" {
		t.Errorf("an unknown pair gave %q", got)
	}
}
