package standin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"errand/catalog"
	"errand/catalog/load"
	"errand/llm"
	"errand/llm/standin"
	"errand/plan"
	"errand/plan/router"
)

// builtin is the catalog as a robot's planner offers it: without the commands of plain nodes, which a robot does not have.
var builtin = func() *catalog.Catalog {
	c := load.Builtin()
	c.Capabilities = slices.DeleteFunc(c.Capabilities, func(c catalog.Capability) bool { return c.NodeCommand != "" })
	return c
}()

var rooms = []catalog.Room{{ID: "area-1", Name: "거실"}, {ID: "area-2", Name: "주방"}, {ID: "area-3", Name: "침실"}, {ID: "area-4", Name: "study"}}

// planning is a question for a plan as a planner would put it: the catalog, the rooms and the utterance, as JSON.
func planning(t *testing.T, utterance string) standin.Question {
	t.Helper()
	return standin.Question{Instructions: "Plan with these:\n" + encode(t, map[string]any{"capabilities": builtin.Capabilities}),
		Contents: []string{encode(t, map[string]any{"utterance": plan.Utterance{Text: utterance}, "rooms": rooms})}}
}

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answered asks through the whole API and decodes what the model said.
func answered(t *testing.T, rule standin.Rule, q standin.Question, into any) string {
	t.Helper()
	s := standin.New(standin.Options{Rule: func(standin.Question) standin.Reply { return rule(q) }})
	_, answer := call(t, s, "POST", generate+"?key=k", hello)
	text, _ := at(t, answer, "candidates", 0, "content", "parts", 0, "text").(string)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return text
}

// Sentences that no routine knows become plans that pass the gate of law 14.
func TestRulesPlanWithTheWordsOfTheCatalog(t *testing.T) {
	t.Parallel()
	whole := builtin.Whole()
	for utterance, want := range map[string]string{
		"침실 공기가 너무 탁하네":                    "move_to_room(position_name=침실) stationary_purify(area_id<-move_to_room.result.area_id)",
		"주방 바닥에 과자 흘렸어":                    "room_cleaning(position_name=주방)",
		"거실 바닥 치우고 침실 공기도 좀 부탁해":           "room_cleaning(position_name=거실) move_to_room(position_name=침실) stationary_purify(area_id<-move_to_room.result.area_id)",
		"주방에 뭐 있는지 보고 올래":                  "move_to_room(position_name=주방)",
		"The floor of the study is awful":  "room_cleaning(position_name=study)",
		`Tell us aloud: "dinner is ready"`: "speak(text=dinner is ready)",
		"How is your battery doing today":  "device_status()",
		"주방 바닥 치우고 충전 좀 하고 있어":             "room_cleaning(position_name=주방) return_to_station()",
	} {
		t.Run(utterance, func(t *testing.T) {
			t.Parallel()
			if _, err := router.Match(builtin, router.Utterance{Text: utterance, Rooms: rooms}); err == nil {
				t.Error("a routine knows this sentence: it proves nothing here")
			}
			var doc plan.Document
			text := answered(t, standin.Rules, planning(t, utterance), &doc)
			if got := describe(doc); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if faults := plan.Validate(doc, &whole, plan.Grounding{Rooms: rooms}); len(faults) > 0 {
				t.Errorf("the gate refuses %s: %v", text, faults)
			}
		})
	}
}

// describe tells a plan in a line.
func describe(doc plan.Document) string {
	var steps []string
	for _, step := range doc.Steps {
		var args []string
		for slot, value := range step.Action.Arguments {
			text, _ := value.(string)
			args = append(args, slot+"="+text)
		}
		for slot, path := range step.InputFrom {
			args = append(args, slot+"<-"+strings.Replace(path, "-2.", ".", 1))
		}
		steps = append(steps, step.Action.CapabilityID+"("+strings.Join(args, " ")+")")
	}
	return strings.Join(steps, " ")
}

func TestRulesSayHonestlyWhatTheyDoNotKnow(t *testing.T) {
	t.Parallel()
	for utterance, say := range map[string]string{
		"오늘 날씨 어때":                  "어떻게 해야 할지 모르겠어요.",
		"What is the meaning of it": "I do not know how to do that.",
		"바닥이 더러워":                   "어느 방을 말씀하시는 거예요?",
		"The floor is dirty":        "Which room do you mean?",
	} {
		var answer struct {
			Steps []any  `json:"steps"`
			Say   string `json:"tts_response"`
		}
		if answered(t, standin.Rules, planning(t, utterance), &answer); len(answer.Steps) > 0 || answer.Say != say {
			t.Errorf("%s: got %+v", utterance, answer)
		}
	}
}

// A capability that is not enabled, or that the schema does not list, is not used.
func TestRulesUseOnlyWhatTheyWereOffered(t *testing.T) {
	t.Parallel()
	q := planning(t, "주방 바닥 치우고 충전 좀 하고 있어")
	q.Schema = planSchema("move_to_room", "return_to_station")
	var doc plan.Document
	if answered(t, standin.Rules, q, &doc); describe(doc) != "return_to_station()" {
		t.Errorf("got %s", describe(doc))
	}
	off := slices.Clone(builtin.Capabilities)
	for i := range off {
		off[i].Enabled = off[i].ID != "return_to_station"
	}
	q = planning(t, "충전 좀 하고 있어")
	q.Instructions = encode(t, map[string]any{"capabilities": off})
	if answered(t, standin.Rules, q, &doc); len(doc.Steps) != 0 {
		t.Errorf("got %s", describe(doc))
	}
}

func planSchema(capabilities ...string) *llm.Schema {
	text := &llm.Schema{Type: llm.String}
	return &llm.Schema{Type: llm.Object, Required: []string{"steps"}, Properties: map[string]*llm.Schema{
		"tts_response": text,
		"steps": {Type: llm.Array, Items: &llm.Schema{Type: llm.Object, Required: []string{"id", "action"}, Properties: map[string]*llm.Schema{
			"id": text, "depends_on": {Type: llm.Array, Items: text},
			"action": {Type: llm.Object, Required: []string{"capability_id", "operation_id"}, Properties: map[string]*llm.Schema{
				"capability_id": {Type: llm.String, Enum: capabilities}, "operation_id": text}}}}}}}
}

// Structured output says what the schema has, in the schema's shape: flat where it is flat, lists where it has lists.
func TestRulesAnswerInTheShapeOfTheSchema(t *testing.T) {
	t.Parallel()
	text := &llm.Schema{Type: llm.String}
	flat := &llm.Schema{Type: llm.Object, Required: []string{"plan"}, Properties: map[string]*llm.Schema{
		"plan": {Type: llm.Object, Properties: map[string]*llm.Schema{"steps": {Type: llm.Array, Items: &llm.Schema{Type: llm.Object,
			Required: []string{"id", "capability_id", "note", "count", "share", "sure", "maybe"}, Properties: map[string]*llm.Schema{
				"id": text, "capability_id": text, "note": text, "count": {Type: llm.Integer}, "share": {Type: llm.Number}, "sure": {Type: llm.Boolean},
				"maybe":     {Type: llm.String, Nullable: true},
				"arguments": {Type: llm.Array, Items: &llm.Schema{Type: llm.Object, Properties: map[string]*llm.Schema{"slot": text, "value": text}}}}}}}}}}
	q := planning(t, "주방 바닥에 과자 흘렸어")
	q.Schema = flat
	var answer any
	got := answered(t, standin.Rules, q, &answer)
	const want = `{"plan":{"steps":[{"arguments":[{"slot":"position_name","value":"주방"}],"capability_id":"room_cleaning","count":0,"id":"room_cleaning","maybe":null,"note":"","share":0,"sure":false}]}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
