package router_test

import (
	"testing"

	"errand/catalog"
	"errand/plan"
	"errand/plan/router"
)

// spellings lists what a template's author meant to be said: each choice, with and without what may be left out.
// English words stand apart; Korean ones need not.
func spellings(t *testing.T, text string, says map[string]string, between string) []string {
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
			forms = []string{says[part.Text]}
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
	context := homeContext()
	for _, routine := range builtin.Routines {
		for language, says := range map[string]map[string]string{
			"ko": {"room": "안방", "time": "오후 7시 30분", "label": "출근", "text": "약 먹기", "light": "스탠드", "door": "현관"},
			"en": {"room": "kitchen", "time": "7:30 pm", "label": "work", "text": "take the pills", "light": "reading lamp", "door": "front"},
		} {
			for _, template := range routine.Utterances[language] {
				for _, text := range spellings(t, template, says, map[string]string{"en": " "}[language]) {
					matched, err := router.Match(builtin, router.Utterance{Text: text, Rooms: rooms, Context: context})
					if err != nil || matched.RoutineID != routine.ID {
						t.Errorf("%s: %q as %q: got %s, %v", routine.ID, template, text, matched.RoutineID, err)
						continue
					}
					for name, value := range matched.Slots {
						if want := says[name]; value != want && (name != "time" || value != "19:30") {
							t.Errorf("%q: takes %q for %s", text, value, name)
						}
					}
					if faults := plan.Validate(matched.Document, &whole, plan.Grounding{Rooms: rooms}); len(faults) > 0 {
						t.Errorf("%q: its plan is refused: %v", text, faults)
					}
				}
			}
		}
	}
}
