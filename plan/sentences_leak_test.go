package plan_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
)

// named are the Latin words that may stand in a Korean sentence: what people called something, and what they wrote. No word of
// ours is among them.
var named = []string{"kim@example.com", "ls", "-l"}

var (
	code   = regexp.MustCompile(`[A-Z]+_[A-Z_]+|[A-Z]{4,}`)
	latin  = regexp.MustCompile(`[A-Za-z@.-]*[A-Za-z][A-Za-z@.-]*`)
	hangul = regexp.MustCompile(`[ㄱ-ㆎ가-힣]`)
	ids    = regexp.MustCompile(`p-1|/[0-9]|\b(alarm|reminder|light|door)-[0-9]|_id\b|com\.example|20[0-9]{2}-[0-9]{2}-|T[0-9]{2}:`)
	gap    = regexp.MustCompile(`  |^ | $|[{}\[\]|]| [.,?!:)]|\( |\(\)|\.\.`)
	loose  = regexp.MustCompile(`(^|[ (])(을|를|은|는|으로|이라는|라는)( |$)`)
)

// leaks says what is in a sentence that a person must not hear; "" if nothing is.
func leaks(locale, text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "says nothing"
	case code.MatchString(text):
		return "holds the code " + code.FindString(text)
	case ids.MatchString(text):
		return "holds the id " + ids.FindString(text)
	case gap.MatchString(text):
		return "has a gap, a brace or a bracket"
	case locale == "en":
		if hangul.MatchString(text) {
			return "is Korean in part"
		}
		return ""
	case loose.MatchString(text):
		return "has a particle without its word"
	}
	for _, word := range latin.FindAllString(text, -1) {
		if !slices.Contains(named, word) {
			return "holds the word " + word
		}
	}
	return ""
}

// However a plan comes to its end, what the person hears holds no code, no id and no word of the other language.
func TestLaw20NothingLeaksIntoASentence(t *testing.T) {
	g := &sayings{t: t, locale: "ko"}
	var codes []string
	for _, r := range everything().Reasons {
		codes = append(codes, r.Code)
	}
	codes = append(codes, "NEVER_HEARD_OF")
	verdicts := []plan.Verdict{plan.Verified, plan.Unverified, plan.Contradicted}
	rapid.Check(t, func(rt *rapid.T) {
		g.locale = rapid.SampledFrom([]string{"ko", "en"}).Draw(rt, "locale")
		doc := g.rounds()
		doc.Steps[1].Optional = rapid.Bool().Draw(rt, "optional")
		s := g.speaking(doc, nil)
		s.device.verdict = rapid.SampledFrom(verdicts).Draw(rt, "verdict")
		for _, failing := range doc.Steps {
			if rapid.IntRange(0, 3).Draw(rt, "fails") == 0 {
				s.device.fail[failing.ID] = &plan.Report{Code: rapid.SampledFrom(codes).Draw(rt, "code"), RequiresDecision: rapid.Bool().Draw(rt, "asks")}
			}
		}
		cancelAt := rapid.IntRange(0, 60).Draw(rt, "cancel at")
		s.take(plan.Begin{})
		for n := 0; s.finish == nil && n < 2000; n++ {
			if n == cancelAt {
				s.take(plan.CancelRequest{By: "kim", Source: "api"})
				continue
			}
			if n == cancelAt/2 && rapid.IntRange(0, 4).Draw(rt, "leaves") == 0 {
				s.device.online = false
			}
			if q := s.state.Question; q != nil && rapid.Bool().Draw(rt, "answers") {
				s.says(rapid.SampledFrom(q.Choices).Draw(rt, "choice"))
				continue
			}
			s.onward()
		}
		if s.finish == nil {
			rt.Fatalf("no end: %s", describe(s.state))
		}
		for _, q := range s.asked {
			s.told = append(s.told, q.Text)
		}
		for _, text := range append(s.told, s.finish.TTSResponse) {
			if leak := leaks(g.locale, text); leak != "" {
				rt.Fatalf("%s: %q %s", g.locale, text, leak)
			}
		}
	})
}
