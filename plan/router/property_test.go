package router_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"errand/catalog"
	"errand/plan/router"
)

var roomNames = []string{"안방", "거실", "서재", "주방", "아이 방", "작은방", "2층 거실", "현관", "드레스룸", "베란다"}

// commands are sentences with a hole for the room, and the routine each starts.
var commands = map[string]string{
	"%으로 가줘": "go_to_room", "%으로 가서 청정하고 복귀해줘": "purify_room_and_return", "% 청소해줘": "clean_room", "% 청소하고 돌아와": "clean_room_and_return",
	"% 공기 청정해 주세요": "purify_room", "go to %": "go_to_room", "clean % and come back": "clean_room_and_return",
}

func drawHome(t *rapid.T) []catalog.Room {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(roomNames), 1, 6, rapid.ID).Draw(t, "rooms")
	rooms := make([]catalog.Room, len(names))
	for i, name := range names {
		rooms[i] = catalog.Room{ID: string(rune('a' + i)), Name: name}
	}
	return rooms
}

// mangle changes what people and recognisers change without meaning anything by it.
func mangle(t *rapid.T, text string) string {
	if rapid.Bool().Draw(t, "decomposed") {
		text = norm.NFD.String(text)
	}
	if rapid.Bool().Draw(t, "upper case") {
		text = strings.ToUpper(text)
	}
	if rapid.Bool().Draw(t, "stops") {
		text += rapid.SampledFrom([]string{".", "!", "…", " ~", "。"}).Draw(t, "stop")
	}
	return rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "before") + text + rapid.SampledFrom([]string{"", "  ", "\n"}).Draw(t, "after")
}

func TestSpellingNeverChangesTheRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rooms := drawHome(t)
		room := rapid.SampledFrom(rooms).Draw(t, "room")
		command := rapid.SampledFrom(keys(commands)).Draw(t, "command")
		text := mangle(t, strings.ReplaceAll(command, "%", room.Name))
		got, err := router.Match(builtin, router.Utterance{Text: text, Rooms: rooms})
		if err != nil || got.RoutineID != commands[command] || got.Slots["room"] != room.Name {
			t.Fatalf("%q: got %s %v, %v", text, got.RoutineID, got.Slots, err)
		}
	})
}

func TestSpacesMeanNothingInKorean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rooms := drawHome(t)
		room := rapid.SampledFrom(rooms).Draw(t, "room")
		joined := strings.ReplaceAll(room.Name+"으로 가서 청정하고 복귀해줘", " ", "")
		var spaced strings.Builder
		for _, r := range joined {
			spaced.WriteRune(r)
			if rapid.Bool().Draw(t, "space") {
				spaced.WriteRune(' ')
			}
		}
		got, err := router.Match(builtin, router.Utterance{Text: spaced.String(), Rooms: rooms})
		if err != nil || got.RoutineID != "purify_room_and_return" || got.Slots["room"] != room.Name {
			t.Fatalf("%q: got %s %v, %v", spaced.String(), got.RoutineID, got.Slots, err)
		}
	})
}

// extras change what a sentence asks for; wherever one stands, the sentence is not obeyed.
var extras = []string{"말고", "안", "못", "내일", "창문", "그리고", "않고", "절대", "나중에", "don't", "not", "never", "tomorrow", "unless"}

func TestAWordMoreIsNeverIgnored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rooms := drawHome(t)
		room := rapid.SampledFrom(rooms).Draw(t, "room")
		words := strings.Fields(strings.ReplaceAll(rapid.SampledFrom(keys(commands)).Draw(t, "command"), "%", room.Name))
		at := rapid.IntRange(0, len(words)).Draw(t, "at")
		extra := rapid.SampledFrom(extras).Draw(t, "extra")
		text := strings.Join(append(append(append([]string{}, words[:at]...), extra), words[at:]...), " ")
		if got, err := router.Match(builtin, router.Utterance{Text: text, Rooms: rooms}); err == nil {
			t.Fatalf("%q: took it as %s %v", text, got.RoutineID, got.Slots)
		}
	})
}

func TestARoomComesOnlyFromTheCatalog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rooms := drawHome(t)
		said := rapid.StringMatching(`[가-힣]{1,4}( [가-힣]{1,3})?`).Draw(t, "said")
		command := rapid.SampledFrom(keys(commands)).Draw(t, "command")
		got, err := router.Match(builtin, router.Utterance{Text: strings.ReplaceAll(command, "%", said), Rooms: rooms})
		if err != nil || got.Slots["room"] == "" {
			return
		}
		// Only a spelling of that very room may have been taken, with or without the particle the command adds.
		squeezed := strings.ReplaceAll(got.Slots["room"], " ", "")
		if rest, ok := strings.CutPrefix(strings.ReplaceAll(said, " ", ""), squeezed); !ok || rest != "" && !isFiller(rest) {
			t.Fatalf("%q became %q", said, got.Slots["room"])
		}
	})
}

// isFiller reports what may stand after a room without changing the sentence.
func isFiller(s string) bool {
	for _, filler := range []string{"으로", "로", "에", "을", "를", "의", "좀", "공기", "공기를"} {
		if s == filler {
			return true
		}
	}
	return false
}

func keys(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	// rapid replays by index: the order must be the same in each run.
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			if names[j] < names[i] {
				names[i], names[j] = names[j], names[i]
			}
		}
	}
	return names
}

func FuzzMatch(f *testing.F) {
	for _, seed := range append([]string{"안방으로 가서 청정하고 복귀해줘", "go to the kitchen", norm.NFD.String("안방 청소해줘")}, nearMisses[:40]...) {
		f.Add(seed, "안방")
	}
	f.Add("{room}으로 가줘", "{room}")
	f.Fuzz(func(t *testing.T, text, room string) {
		rooms := []catalog.Room{{ID: "1", Name: room}, {ID: "2", Name: "거실"}}
		got, err := router.Match(builtin, router.Utterance{Text: text, Rooms: rooms})
		var none *router.NoMatch
		var unknown *router.UnknownRoom
		var ambiguous *router.AmbiguousRoom
		switch {
		case err != nil && !errors.As(err, &none) && !errors.As(err, &unknown) && !errors.As(err, &ambiguous):
			t.Fatalf("%q: an untyped error: %v", text, err)
		case err != nil && router.Explain(builtin, err, "ko") == "":
			t.Fatalf("%q: nothing to tell the person about %v", text, err)
		case err != nil:
			return
		}
		if said := got.Slots["room"]; said != "" && said != room && said != "거실" {
			t.Fatalf("%q: goes to %q", text, said)
		}
		if strings.IndexFunc(text, unicode.IsLetter) < 0 && strings.IndexFunc(text, unicode.IsDigit) < 0 {
			t.Fatalf("%q holds no word and starts %s", text, got.RoutineID)
		}
	})
}

// BenchmarkMatch tries the dearest sentence: one that nothing takes, so that every template is searched twice.
func BenchmarkMatch(b *testing.B) {
	text := strings.Repeat("안방으로 가서 ", 20)
	for b.Loop() {
		if _, err := router.Match(builtin, router.Utterance{Text: text, Rooms: home}); err == nil {
			b.Fatal("took it")
		}
	}
}
