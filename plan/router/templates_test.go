package router_test

import (
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
	"errand/plan/router"
)

// spellings lists what a template's author meant to be said: each choice, with and without what may be left out.
// English words stand apart; Korean ones need not.
func spellings(t *testing.T, text, room, between string) []string {
	t.Helper()
	template, err := catalog.ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	said := []string{""}
	for _, part := range template.Parts {
		var forms []string
		switch part.Kind {
		case catalog.PartLiteral:
			forms = []string{part.Text}
		case catalog.PartSlot:
			forms = []string{room}
		case catalog.PartChoice:
			forms = part.Forms
		case catalog.PartParticle:
			forms = append([]string{""}, part.Forms...)
		}
		var longer []string
		for _, head := range said {
			for _, form := range forms {
				longer = append(longer, head+between+form)
			}
		}
		said = longer
	}
	return said
}

// Every spelling of every template starts its own routine, and its plan passes the gate that a model's plan must pass (law 14).
func TestLaw14EveryRoutineMakesAValidPlan(t *testing.T) {
	t.Parallel()
	rooms := []catalog.Room{{ID: "1", Name: "거실"}, {ID: "6", Name: "안방"}, {ID: "8", Name: "kitchen"}}
	whole := builtin.Whole()
	for _, routine := range builtin.Routines {
		for language, room := range map[string]string{"ko": "안방", "en": "kitchen"} {
			for _, template := range routine.Utterances[language] {
				for _, text := range spellings(t, template, room, map[string]string{"en": " "}[language]) {
					matched, err := router.Match(builtin, router.Utterance{Text: text, Rooms: rooms})
					if err != nil || matched.RoutineID != routine.ID {
						t.Errorf("%s: %q as %q: got %s, %v", routine.ID, template, text, matched.RoutineID, err)
						continue
					}
					if strings.Contains(template, "{room}") && matched.Slots["room"] != room {
						t.Errorf("%q: goes to %q", text, matched.Slots["room"])
					}
					if faults := plan.Validate(matched.Document, &whole, plan.Grounding{Rooms: rooms}); len(faults) > 0 {
						t.Errorf("%q: its plan is refused: %v", text, faults)
					}
				}
			}
		}
	}
}
