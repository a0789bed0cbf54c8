package border_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"errand/internal/border"
)

// faultsOf returns the faults of an error, and fails the test on any other kind of error.
func faultsOf(t *testing.T, err error) border.Faults {
	t.Helper()
	var faults border.Faults
	if err != nil && !errors.As(err, &faults) {
		t.Fatalf("got %T %v, every failure must be Faults", err, err)
	}
	return faults
}

func TestParseBuildsTheTree(t *testing.T) {
	t.Parallel()
	got, err := border.Parse([]byte(` {"a":[1,-2.5e3,"x",true,false,null,{}],"b":{"c":[]}} `), border.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": []any{1.0, -2500.0, "x", true, false, nil, map[string]any{}},
		"b": map[string]any{"c": []any{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

func TestParseTakesScalars(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]any{`"가"`: "가", `3`: 3.0, `-0`: 0.0, `true`: true, `null`: nil, "9007199254740992": 9007199254740992.0} {
		got, err := border.Parse([]byte(in), border.DefaultLimits)
		if err != nil || !reflect.DeepEqual(got, want) && got != want {
			t.Errorf("%s: got %v, %v", in, got, err)
		}
	}
}

func TestCaseC14ParseBringsTextToNFC(t *testing.T) {
	t.Parallel()
	decomposed := norm.NFD.String("안방")
	if decomposed == "안방" {
		t.Fatal("the test's own text is not decomposed")
	}
	got, err := border.Parse([]byte(`{"`+decomposed+`":"`+decomposed+`"}`), border.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"안방": "안방"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	small := border.Limits{Bytes: 200, Depth: 3, StringRunes: 5, List: 3, Keys: 3}
	tests := map[string]struct{ in, code, path, says string }{
		"empty":                    {"  ", "bad_json", "", "empty"},
		"cut short":                {`{"a":`, "bad_json", "", "line 1, column"},
		"trailing comma":           {"{\"a\":1,\n  \"b\":2,}", "bad_json", "", "line 2, column 9"},
		"column counts characters": {`{"가나":x}`, "bad_json", "", "line 1, column 7"},
		"trailing document":        {`{} {}`, "bad_json", "", "line 1, column 4"},
		"trailing word":            {`1 x`, "bad_json", "", "line 1, column 3"},
		"not json":                 {`hello`, "bad_json", "", "line 1, column 1"},
		"single quotes":            {`{'a':1}`, "bad_json", "", "line 1, column 2"},
		"bare word key":            {`{a:1}`, "bad_json", "", "line 1, column 2"},
		"number as key":            {`{1:1}`, "bad_json", "", "line 1, column 2"},
		"control character":        {"\"a\nb\"", "bad_json", "", "line 1, column 3"},
		"NaN":                      {`[NaN]`, "bad_json", "", "line 1, column 2"},
		"leading zero":             {`[01]`, "bad_json", "", "line 1, column 3"},
		"invalid UTF-8":            {"{\"a\":\n\"\xff\"}", "bad_utf8", "", "line 2, column 2"},
		"high surrogate alone":     {`{"a":"\ud83d"}`, "bad_text", "a", "surrogate"},
		"low surrogate alone":      {`["\udc00"]`, "bad_text", "[0]", "surrogate"},
		"surrogate then escape":    {`["\ud83d\n"]`, "bad_text", "[0]", "surrogate"},
		"surrogate in a key":       {`{"\ud83d":1}`, "bad_text", `["` + "\uFFFD" + `"]`, "surrogate"},
		"too deep":                 {`{"a":[[[1]]]}`, "too_deep", "a[0][0]", "more than 3 deep"},
		"too deep and broken":      {strings.Repeat("[", 100), "too_deep", "[0][0][0]", "more than 3 deep"},
		"too many items":           {`{"a":[1,2,3,4]}`, "too_many", "a", "more than 3 items"},
		"too many fields":          {`{"a":1,"b":1,"c":1,"d":1}`, "too_many", "", "more than 3 fields"},
		"too long":                 {`{"a":["가나다라마바"]}`, "too_long", "a[0]", "has 6 characters, may have 5"},
		"too large":                {`"` + strings.Repeat("a", 200) + `"`, "too_large", "", "202 bytes"},
		"duplicate key":            {`{"a":{"b":1,"b":2}}`, "duplicate_key", "a.b", "twice"},
		"number too large":         {`{"n":1e400}`, "bad_number", "n", "too large"},
		"rounded whole number":     {`{"seq":9007199254740993}`, "bad_number", "seq", "9007199254740992"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := border.Parse([]byte(tt.in), small)
			faults := faultsOf(t, err)
			if len(faults) == 0 {
				t.Fatalf("took %s as %v", tt.in, tree)
			}
			f := faults[0]
			if f.Code != tt.code || f.Path != tt.path || !strings.Contains(f.Message, tt.says) {
				t.Errorf("got %q %q %q, want %q %q …%q…", f.Code, f.Path, f.Message, tt.code, tt.path, tt.says)
			}
			if tree != nil {
				t.Errorf("returned the tree %v beside the faults", tree)
			}
		})
	}
}

func TestParseTellsKeysThatBecomeEqualAfterNFC(t *testing.T) {
	t.Parallel()
	faults := faultsOf(t, second(border.Parse([]byte(`{"안방":1,"`+norm.NFD.String("안방")+`":2}`), border.DefaultLimits)))
	if len(faults) != 1 || faults[0].Code != "duplicate_key" || !strings.Contains(faults[0].Message, "spellings") {
		t.Errorf("got %v", faults)
	}
}

func second(_ any, err error) error { return err }

func TestParseReportsEveryFaultOfAKindThatDoesNotStopIt(t *testing.T) {
	t.Parallel()
	lim := border.DefaultLimits
	lim.StringRunes = 3
	in := `{"a":1,"a":2,"steps":[{"id":"long one"},{"id":"ok","id":"ok"}],"n":1e999}`
	faults := faultsOf(t, second(border.Parse([]byte(in), lim)))
	var paths []string
	for _, f := range faults {
		paths = append(paths, f.Path)
	}
	want := []string{"a", "steps", "steps[0].id", "steps[1].id", "n"}
	if !reflect.DeepEqual(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
}

func TestParseBoundsTheReport(t *testing.T) {
	t.Parallel()
	in := "[" + strings.Repeat("1e999,", 900) + "1]"
	if faults := faultsOf(t, second(border.Parse([]byte(in), border.DefaultLimits))); len(faults) != 100 {
		t.Errorf("got %d faults, want 100", len(faults))
	}
}

func TestParseKeepsEscapedPairsAndBackslashes(t *testing.T) {
	t.Parallel()
	got, err := border.Parse([]byte(`["\ud83d\ude00","\\ud83d","\u0041\u0000"]`), border.DefaultLimits)
	if want := []any{"😀", `\ud83d`, "A\x00"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"steps":[{"id":"move","input_from":{"arrival":"arrival.result"}}]}`, `[[[[`, `{"a":1,"a":2}`, `"\ud83d\ude00"`,
		`{"가":"가","가":1e999}`, `[1,2`, `{"a":}`, "\xff", `-0`, `1 2`, `[1,]`, `{"a" 1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		tree, err := border.Parse(in, border.DefaultLimits)
		if err != nil {
			if len(faultsOf(t, err)) == 0 {
				t.Fatal("an error without a fault")
			}
			return
		}
		if !json.Valid(in) {
			t.Fatalf("took what is not JSON: %q", in)
		}
		again, err := json.Marshal(tree)
		if err != nil {
			t.Fatalf("the tree cannot be written: %v", err)
		}
		if !norm.NFC.IsNormal(again) {
			t.Fatalf("not NFC: %q", again)
		}
		// What was read once is read again the same. Two things Go writes differently from what it read: longer escapes, and
		// floats above 2^53 as whole numbers of their shortest digits, which are refused as rounded.
		back, err := border.Parse(again, border.Limits{Bytes: len(again), Depth: 32, StringRunes: 10_000, List: 1_000, Keys: 1_000})
		if faults := faultsOf(t, err); len(faults) > 0 && faults[0].Code == "bad_number" {
			return
		}
		if err != nil || !reflect.DeepEqual(tree, back) {
			t.Fatalf("%q read again is %v, %v; was %v", again, back, err, tree)
		}
	})
}
