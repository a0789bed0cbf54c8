package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"errand/catalog"
	"errand/catalog/load"
	"errand/deviceio/robot"
	"errand/plan/router"
)

// What docs/home-objects.md shows is so: its home file is one, and each sentence it lists is understood in the default home.
func TestHomeObjectsPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/home-objects.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```yaml\n")
	file, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("the page has no home file")
	}
	path := filepath.Join(t.TempDir(), "home.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := robot.LoadHome(path); err != nil || len(h.Alarms) != 1 || len(h.Doors) != 1 {
		t.Errorf("its home file: %+v, %v", h, err)
	}
	_, rest, found = strings.Cut(string(text), "## What is understood without a model")
	list, _, closed := strings.Cut(rest, "and the same in English")
	sentences := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(list, -1)
	if !found || !closed || len(sentences) < 10 {
		t.Fatalf("the page lists %d sentences", len(sentences))
	}
	home := robot.DefaultHome()
	context := map[string]any{}
	for area, items := range map[string]any{"alarms": home.Alarms, "reminders": home.Reminders, "lights": home.Lights, "doors": home.Doors} {
		raw, err := json.Marshal(map[string]any{"available": true, "items": items})
		if err != nil {
			t.Fatal(err)
		}
		var told map[string]any
		if err := json.Unmarshal(raw, &told); err != nil {
			t.Fatal(err)
		}
		context[area] = told
	}
	var known []catalog.Room
	for _, room := range home.Rooms {
		known = append(known, catalog.Room{ID: room.ID, Name: room.Name})
	}
	for _, s := range sentences {
		if _, err := router.Match(load.Builtin(), router.Utterance{Text: s[1], Rooms: known, Context: context}); err != nil {
			t.Errorf("%s: %v", s[1], err)
		}
	}
}
