package catalog_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"errand/catalog"
)

func TestRender(t *testing.T) {
	t.Parallel()
	values := map[string]string{"room": "거실", "pm": "12"}
	for template, want := range map[string]string{
		"{room:(으)로} 가고 있어요.":        "거실로 가고 있어요.",
		"{room:을/를} 청소했어요.":          "거실을 청소했어요.",
		"지금 {room}이고 먼지는 {pm}예요.":    "지금 거실이고 먼지는 12예요.",
		"{other:을/를} 청소했어요.":         "청소했어요.", // a person never hears a brace
		"no place":                   "no place",
		"{room":                      "",
		"{room:이라는/라는} 방은 없어요.":      "거실이라는 방은 없어요.",
		"I am in the {room}.":        "I am in the 거실.",
		"":                           "",
		"{room} {room}":              "거실 거실",
		"07:00 {label} 알람":           "07:00 알람", // no gap either
		"{pm} {label}":               "12",
		"The value is {pm:unknown}.": "The value is 12.",
		"[{label:을/를}|알람을] 지웠어요.":    "알람을 지웠어요.", // the first alternative that can be filled
		"[{room:을/를}|방을] 치웠어요.":      "거실을 치웠어요.",
		"[{label}에 ]있어요.":            "있어요.",
		"가요[ ({label})].":            "가요.",
		"가요[ ({room})].":             "가요 (거실).",
		"[{room} {label}|{room}|집]":  "거실", // all of an alternative, or none
		"가  나":                       "가 나",
		"[{room}":                    "거실",
	} {
		if got := catalog.Render(template, values); got != want {
			t.Errorf("%q: got %q, want %q", template, got, want)
		}
	}
}

func TestPlacesFindsWhatLintNeeds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		template string
		names    []string
		ok       bool
	}{
		{"{room:을/를} {room} {pm}", []string{"room", "room", "pm"}, true},
		{"plain", nil, true}, {"{room", nil, false}, {"room}", nil, false}, {"{}", nil, false},
		{"{room:까지}", nil, false}, {"{a{b}}", nil, false}, {"{:을/를}", nil, false},
		{"[{a}|{b:을/를}] {c}", []string{"a", "b", "c"}, true}, {"[{a}", nil, false}, {"{a}]", nil, false}, {"[[{a}]]", nil, false},
	}
	for _, tt := range tests {
		if names, ok := catalog.Places(tt.template); !reflect.DeepEqual(names, tt.names) || ok != tt.ok {
			t.Errorf("%q: got %q %v, want %q %v", tt.template, names, ok, tt.names, tt.ok)
		}
	}
}

func TestBarePlacesAreThoseThatMustHaveAValue(t *testing.T) {
	t.Parallel()
	if got := catalog.BarePlaces("[{a}|{b}] {c} {d:을/를}[, {e}]"); !reflect.DeepEqual(got, []string{"c", "d"}) {
		t.Errorf("got %q", got)
	}
}

func TestRenderNeverLeavesABraceOfAPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		template := rapid.StringMatching(`[가-힣a-z {}:/()]{0,40}`).Draw(t, "template")
		value := rapid.StringMatching(`[가-힣A-Za-z0-9]{0,5}`).Draw(t, "value")
		_, ok := catalog.Places(template)
		if got := catalog.Render(template, map[string]string{"a": value}); ok && strings.ContainsAny(got, "{}") {
			t.Fatalf("%q renders as %q", template, got)
		}
	})
}

func TestParseTemplate(t *testing.T) {
	t.Parallel()
	got, err := catalog.ParseTemplate("{room}(으)로 가서 공기(를) [청정|정화](좀)해줘?")
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Template{Question: true, Parts: []catalog.Part{
		{Kind: catalog.PartSlot, Text: "room"},
		{Kind: catalog.PartParticle, Text: "(으)로", Forms: []string{"으로", "로", "에"}},
		{Kind: catalog.PartLiteral, Text: " 가서 공기"},
		{Kind: catalog.PartParticle, Text: "(를)", Forms: []string{"을", "를"}},
		{Kind: catalog.PartChoice, Text: "[청정|정화]", Forms: []string{"청정", "정화"}},
		{Kind: catalog.PartParticle, Text: "(좀)", Forms: []string{"좀"}},
		{Kind: catalog.PartLiteral, Text: "해줘"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if slots := got.Slots(); !reflect.DeepEqual(slots, []string{"room"}) {
		t.Errorf("slots %q", slots)
	}
}

func TestParseTemplateRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "?", "{room}", "{room}(으)로", "{room", "{}로 가", "가}", "(를", "가)", "{a}{b} 가", "{a} {b} 가", "{a(b)} 가", "{a}(를){b} 가", "[] 가", "[가|] 나", "[가", "가]", "( )가"} {
		if got, err := catalog.ParseTemplate(text); err == nil {
			t.Errorf("%q: took as %+v", text, got)
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("{room:(으)로} 가요", "안방")
	f.Add("{room", "\xff")
	f.Add("{a}{b:을/를}", "가A9")
	f.Fuzz(func(t *testing.T, template, value string) {
		catalog.Render(template, map[string]string{"room": value})
		if _, err := catalog.ParseTemplate(template); err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
	})
}

// The particle follows the room's own last sound.
func ExampleRender() {
	for _, room := range []string{"안방", "거실", "서재"} {
		fmt.Println(catalog.Render("{room:(으)로} 가서 {room:을/를} 청소할게요.", map[string]string{"room": room}))
	}
	// Output:
	// 안방으로 가서 안방을 청소할게요.
	// 거실로 가서 거실을 청소할게요.
	// 서재로 가서 서재를 청소할게요.
}
