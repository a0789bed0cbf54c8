package cassette_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"errand/llm"
	"errand/llm/cassette"
)

// Whatever is personal and whatever is said: it is played to the byte, or it is not kept.
func TestAnyAnswerIsPlayedAsItWasOrNotKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept := 0
	rapid.Check(t, func(rt *rapid.T) {
		// Few letters, so that names are parts of each other and of the text, and what JSON and the references are made of.
		some := rapid.StringOfN(rapid.SampledFrom([]rune(`xX방ß"\{}:0`)), 1, 4, -1)
		r := llm.Request{Contents: []string{rapid.StringN(8, 8, -1).Draw(rt, "question")}, Personal: rapid.SliceOfN(some, 0, 3).Draw(rt, "personal")}
		said := strings.Join(rapid.SliceOfN(rapid.OneOf(some, rapid.SampledFrom(append(slices.Clone(r.Personal), "{{personal:0}}", `\ubc29`))), 1, 6).Draw(rt, "said"), "")
		answer, err := cassette.Record(&model{answer: llm.Response{Text: said}}, dir).Generate(t.Context(), r)
		if llm.KindOf(err) == llm.Unrecorded {
			return
		}
		if err != nil || answer.Text != said {
			rt.Fatalf("recorded %+v, %v", answer, err)
		}
		kept++
		played, err := open(t, dir).Generate(t.Context(), r)
		if err != nil || played.Text != said {
			rt.Fatalf("said %q, played %q, %v", said, played.Text, err)
		}
	})
	if kept == 0 {
		t.Error("nothing was kept: it proves nothing")
	}
}
