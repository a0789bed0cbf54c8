package uitext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"go.temporal.io/sdk/converter"

	"errand/internal/uitext"
)

// A summary that is too long would be refused by the server, and the plan with it.
func FuzzLineIsOneLineOfLimitedSize(f *testing.F) {
	for _, text := range []string{"", "안방으로 가줘", "a\nb\tc", strings.Repeat("가", 200), strings.Repeat("😀", 200), strings.Repeat("<", 200), "\xff\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line := uitext.Line(text)
		payload, err := converter.GetDefaultDataConverter().ToPayload(line)
		if err != nil {
			t.Fatal(err)
		}
		if payload.Size() > 400 || utf8.RuneCountInString(line) > 120 || strings.ContainsAny(line, "\n\r") {
			t.Errorf("%q became %q: a payload of %d bytes", text, line, payload.Size())
		}
	})
}

func TestALineThatFitsStaysAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		"안방으로 가서 청정하고 복귀해줘": "안방으로 가서 청정하고 복귀해줘",
		" two\nlines ":           "two lines",
		strings.Repeat("가", 121): strings.Repeat("가", 119) + "…",
		strings.Repeat("<", 120): strings.Repeat("<", 60) + "…", // six bytes each in JSON
		strings.Repeat("a", 121): strings.Repeat("a", 119) + "…",
	} {
		if got := uitext.Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestNothingInTextIsMarkup(t *testing.T) {
	for text, want := range map[string]string{
		"MOVE_POLICY_NOT_ALLOWED":       "MOVE_POLICY_NOT_ALLOWED",
		"a | b\nc":                      `a \| b c`,
		"![x](http://h/) <img> `c` **b": "!\\[x\\](http://h/) \\<img\\> \\`c\\` \\*\\*b",
	} {
		if got := uitext.Plain(text); got != want {
			t.Errorf("Plain(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"안방": "`안방`", "a`b": "``a`b``", "`": "`` ` ``", "a\nb": "`a b`"} {
		if got := uitext.Code(text); got != want {
			t.Errorf("Code(%q) = %q, want %q", text, got, want)
		}
	}
}
