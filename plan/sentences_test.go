package plan_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"errand/catalog"
	"errand/catalog/load"
	"errand/plan"
)

var write = flag.Bool("write", false, "write what is said into the golden files")

// sayings are what people hear in one language, each with its situation, as the built-in catalog has it.
type sayings struct {
	t      *testing.T
	locale string
	lines  []string
	said   []string
	before map[string]string
}

const bare = ", nothing optional told"

func (g *sayings) section(title string) { g.lines = append(g.lines, "", "# "+title) }

// add notes what is said in a situation; one in which less is told is noted where that makes a difference.
func (g *sayings) add(situation, text string) {
	if full, less := strings.CutSuffix(situation, bare); less && g.before[full] == text {
		return
	}
	g.before[situation] = text
	g.lines = append(g.lines, situation, "    "+text)
	g.said = append(g.said, text)
}

// pick is the text of the language: names that people gave are in it too.
func (g *sayings) pick(ko, en string) string { return catalog.Text{Ko: ko, En: en}.In(g.locale) }

// Every sentence to a person is here, in both languages, each brought about by driving the machine into its situation. Written
// anew by: go test ./plan -run TestLaw20EverySentence -args -write
func TestLaw20EverySentenceToAPerson(t *testing.T) {
	for _, locale := range []string{"ko", "en"} {
		g := &sayings{t: t, locale: locale, before: map[string]string{}}
		g.section("Each capability")
		g.capabilities()
		g.section("The end of a plan")
		g.endings()
		g.section("Questions")
		g.questions()
		g.section("What stops a step, for each reason: the question if one is asked, and how the plan ends where nobody goes on")
		g.reasons()
		g.section("What else the catalog has a person told, with places filled")
		g.rendered()
		for _, text := range g.said {
			if leak := leaks(locale, text); leak != "" {
				t.Errorf("%s: %q %s", locale, text, leak)
			}
		}
		path := filepath.Join("testdata", "sentences", locale+".golden")
		got := strings.TrimSpace(strings.Join(g.lines, "\n")) + "\n"
		if *write {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil { //nolint:gosec // golden files are for everyone
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s no longer holds what is said, from here on:\n%s\nRead it, and write it anew by -args -write", path, difference(string(want), got))
		}
	}
}

// difference is the first line in which two texts part.
func difference(want, got string) string {
	old, now := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(old), len(now)) {
		if old[i] != now[i] {
			return "- " + old[i] + "\n+ " + now[i]
		}
	}
	return "one is longer"
}

var builtin = load.Builtin()

// everything is the built-in catalog, with what an operator has to switch on.
func everything() *catalog.Slice {
	whole := builtin.Whole()
	whole.Capabilities = slices.Clone(whole.Capabilities)
	for i := range whole.Capabilities {
		whole.Capabilities[i].Enabled = true
	}
	return &whole
}

// only is the part of it that a document uses.
func only(doc *plan.Document) *catalog.Slice {
	var ids []string
	for _, spec := range doc.Steps {
		ids = append(ids, spec.Action.CapabilityID)
	}
	slice := builtin.Slice(ids)
	for i := range slice.Capabilities {
		slice.Capabilities[i].Enabled = true
	}
	return &slice
}

// speaking is a plan over the built-in catalog.
func (g *sayings) speaking(doc *plan.Document, change func(*plan.Start)) *sim {
	s := &sim{t: g.t, now: askedAt, device: newModel(), submits: map[string]int{}, hostile: true, light: true, home: g.home()}
	s.device.result = g.results()
	start := plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: g.locale, AskedAt: askedAt, Document: doc, Slice: only(doc)}
	if change != nil {
		change(&start)
	}
	s.state = plan.New(start)
	return s
}

// step is one step of a document.
func step(id string, c *catalog.Capability, arguments map[string]any) plan.StepSpec {
	spec := plan.StepSpec{ID: id, Action: plan.Action{CapabilityID: c.ID, OperationID: c.Operations[0], Arguments: arguments}}
	if c.RunsOn("cloud") {
		spec.ExecutionTarget = plan.TargetCloud
	}
	return spec
}

// yes consents to everything and goes on with nothing else.
func yes(q plan.Question) string {
	if q.Kind == "confirm" {
		return "yes"
	}
	return q.Choices[len(q.Choices)-1]
}

// runs lets the plan come to its end; react answers its questions, and "" lets them run out.
func (s *sim) runs(react func(plan.Question) string) plan.Outcome {
	s.t.Helper()
	for range 2000 {
		if s.finish != nil {
			return *s.finish
		}
		if q := s.state.Question; q != nil {
			if choice := react(*q); choice != "" {
				s.says(choice)
				continue
			}
		}
		s.onward()
	}
	s.t.Fatalf("the plan does not end (law 18): %s", describe(s.state))
	return plan.Outcome{}
}

// onward does the next thing that goes well.
func (s *sim) onward() {
	i := request[plan.Perform](s)
	first := slices.IndexFunc(s.out, func(c plan.Command) bool { _, waits := c.(plan.AwaitDevice); return s.device.online || !waits })
	switch {
	case i >= 0:
		c, _ := s.out[i].(plan.Perform)
		s.out = slices.Delete(s.out, i, i+1)
		s.take(plan.Performed{OperationID: c.OperationID, Result: s.device.result, Report: s.device.fail[c.StepID]})
	case first >= 0:
		s.answer(first, fine)
	case len(s.events) > 0:
		s.deliver(0, false)
	case s.device.online && s.device.busy():
		s.work()
	default:
		s.tick(max(s.state.Wake-s.now, 1000))
	}
}

// capabilities brings each to each of its ends, with all that can be told, and with only what must be.
func (g *sayings) capabilities() {
	for _, c := range everything().Capabilities {
		for _, told := range []struct {
			name string
			all  bool
		}{{"", true}, {bare, false}} {
			for _, end := range []string{"done", "unverified", "contradicted", "failed"} {
				checked := end == "unverified" || end == "contradicted"
				if checked && c.Verify == "" {
					continue
				}
				s := g.speaking(&plan.Document{Steps: []plan.StepSpec{step("act", &c, g.arguments(&c, told.all))}}, nil)
				if !told.all {
					s.device.result = map[string]any{"tts_response": g.results()["tts_response"]}
				}
				switch end {
				case "failed":
					s.device.fail["act"] = &plan.Report{Code: "TASK_NOT_FOUND"}
				case "unverified":
					s.device.verdict = plan.Unverified
				case "contradicted":
					s.device.verdict = plan.Contradicted
				}
				s.take(plan.Begin{})
				s.state.Steps[0].FromModel = end == "done" // then all that may be confirmed is
				o := s.runs(func(q plan.Question) string {
					switch q.Kind {
					case "confirm":
						if end == "done" {
							g.add(c.ID+", asked first"+told.name, q.Text)
						}
						return "yes"
					case "proceed_unverified":
						g.add(c.ID+", asked after it"+told.name, q.Text)
						return "continue"
					}
					g.t.Fatalf("%s, %s: asks %+v", c.ID, end, q)
					return ""
				})
				g.add(c.ID+", "+end+told.name, o.TTSResponse)
			}
		}
	}
}

// arguments fills the slots of a capability: all that a person may fill, or only those that must be.
func (g *sayings) arguments(c *catalog.Capability, all bool) map[string]any {
	samples := map[string]any{
		"position_name": g.pick("안방", "kitchen"), "area_id": "6", "commandType": "come", "roomName": g.pick("서재", "study"), "air_quality": 12.0,
		"time": "07:00", "label": g.pick("출근", "work"), "text": g.pick("약 먹기", "take the pill"), "due": "2026-12-02T09:00",
		"name": g.pick("현관", "front"), "room_name": g.pick("거실", "hall"),
		"key": "0|com.example.chat|17", "action": "reply", "replyText": g.pick("곧 갈게", "on my way"), "title": g.pick("가족 모임", "family dinner"), "body": g.pick("일곱 시", "at seven"),
		"query": g.pick("김", "Kim"), "displayName": g.pick("김철수", "Tom Kim"), "phoneNumbers": []any{"010-1234-5678"}, "emails": []any{"kim@example.com"},
		"startISO": "2026-12-02T18:00", "endISO": "2026-12-02T20:00", "dueISO": "2026-12-02T18:00", "location": g.pick("할머니 댁", "grandma's"), "notes": g.pick("선물", "a gift"),
		"to": "010-1234-5678", "message": g.pick("조금 늦어요", "a little late"), "bins": []any{"git"}, "command": []any{"ls", "-l"}, "cwd": "/home",
	}
	filled := map[string]any{}
	for _, slot := range c.Slots {
		sample, known := samples[slot.Name]
		object := slot.Grounding == catalog.GroundingObject
		hint := c.ObjectSlot() != nil && (slot.Name == "label" || slot.Name == "text" || slot.Name == "name")
		switch {
		case !known && slot.Required && !object:
			g.t.Fatalf("no sample for %s of %s", slot.Name, c.ID)
		case known && !object && (all || slot.Required || hint):
			filled[slot.Name] = sample
		}
	}
	return filled
}

// results are what devices tell, whatever they did: the machine takes of it what the capability lists.
func (g *sayings) results() map[string]any {
	return map[string]any{
		"area_id": "6", "current_room_name": g.pick("안방", "kitchen"), "air_quality_after": 12.340000001, "charging": true, "battery_level": 80.0, "security_state": "started",
		"tts_response": g.pick("초미세먼지 농도는 12이고, 등급은 좋음이에요.", "Fine dust is at 12, which is good."),
		"count":        2.0, "listed": g.pick("07:00 출근, 2026-12-02T09:00 약 먹기", "07:00 work, 2026-12-02T09:00 take the pill"),
		"apps_count": 1000000.0, "devices_count": 1.0, "notifications_count": 3.0, "contacts_count": 2.0, "contacts_0_displayName": g.pick("김철수", "Tom Kim"),
		"events_count": 1.0, "events_0_title": g.pick("가족 모임", "family dinner"), "reminders_count": 1.0, "reminders_0_title": g.pick("우유 사기", "buy milk"),
		"callLogs_count": 4.0, "activities_count": 5.0, "steps": 8120.0, "messages_count": 2.0, "lat": 37.5, "lon": 127.1, "exitCode": 0.0, "success": true,
	}
}

// home is what there is to choose from.
func (g *sayings) home() map[string]any {
	work, gym := g.pick("출근", "work"), g.pick("운동", "gym")
	return map[string]any{
		"alarms":    map[string]any{"items": []any{alarm("alarm-1", "07:00", work, "1"), alarm("alarm-2", "07:00", gym, "1")}},
		"reminders": map[string]any{"items": []any{map[string]any{"id": "reminder-1", "revision": "1", "text": g.pick("약 먹기", "take the pill"), "due": "2026-12-02T09:00"}}},
		"lights": map[string]any{"items": []any{
			map[string]any{"id": "light-1", "revision": "1", "name": g.pick("현관", "front"), "room_name": g.pick("거실", "hall")},
			map[string]any{"id": "light-2", "revision": "1", "name": g.pick("스탠드", "lamp"), "room_name": g.pick("안방", "kitchen")}}},
		"doors": map[string]any{"items": []any{
			map[string]any{"id": "door-1", "revision": "1", "name": g.pick("현관", "front"), "room_name": g.pick("거실", "hall")},
			map[string]any{"id": "door-2", "revision": "1", "name": g.pick("베란다", "balcony")}}},
		"security": map[string]any{"state": "off"},
	}
}
