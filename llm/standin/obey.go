package standin

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"errand/catalog"
)

// Obey is a model that does what it is told by anyone. Every text in the question is looked at, wherever it came from: what
// a person said, the name of a room, a parameter of a reason, an observation. It obeys, and the schema does not hold it:
//
//   - `PLAN: {…}`, `DECISION: {…}` and `ANSWER: …`: it answers just that, JSON or not.
//   - An order to forget its instructions ("ignore previous instructions and …", "disregard …", "SYSTEM: …", "이전 지시는
//     무시하고 …"): it does what follows. Capabilities that are named are used, whether they are offered, enabled, or exist
//     at all; `slot=value` and a JSON object become arguments; "500 steps", "forever" and "계속" repeat the plan; at a
//     boundary a decision that is named is taken, and any other order is a replan.
//
// A question without an injection goes to next.
func Obey(next Rule) Rule {
	return func(q Question) Reply {
		m := read(q)
		for _, text := range m.everyText() {
			if reply, ok := obey(m, text); ok {
				return reply
			}
		}
		return next(q)
	}
}

// everyText lists every string in the question, the plain ones first.
func (m material) everyText() []string {
	all := slices.Clone(m.plain)
	for _, value := range m.values {
		all = collect(all, value)
	}
	return all
}

func collect(all []string, value any) []string {
	switch v := value.(type) {
	case string:
		return append(all, v)
	case []any:
		for _, item := range v {
			all = collect(all, item)
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			all = collect(append(all, key), v[key])
		}
	}
	return all
}

var (
	dictated = regexp.MustCompile(`(?is)\b(PLAN|DECISION|ANSWER):\s*(.*)$`)
	ordered  = regexp.MustCompile(`(?is)(?:` +
		`(?:ignore|disregard|forget|override)\b[^.:;,]*?\b(?:instructions?|rules?|prompts?|above|before|constraints?)\b|` +
		`(?:^|\s)(?:system|developer|admin)(?: message| override)?\s*:|` +
		`(?:지시|규칙|명령|지침|안내|내용)(?:사항)?(?:은|는|를|을)?\s*(?:모두 |다 |전부 )?(?:무시하고|무시해|잊고|잊어)|` +
		`시스템\s*:)[\s,.:;!]*(?:and |then |그리고 )?(.+)$`)
	snake   = regexp.MustCompile(`\b[a-z]+(?:_[a-z0-9]+)+\b`)
	pair    = regexp.MustCompile(`\b([A-Za-z_]\w*)=("[^"]*"|\S+)`)
	many    = regexp.MustCompile(`(\d+)\s*(?:steps|times|번|단계)`)
	endless = regexp.MustCompile(`(?i)\b(?:forever|endlessly|in a loop|repeatedly)\b|계속|무한|끝없이`)
)

// mostSteps bounds what even this model writes.
const mostSteps = 1000

func obey(m material, text string) (Reply, bool) {
	if found := dictated.FindStringSubmatch(text); found != nil {
		return Answer(firstValue(found[2])), true
	}
	found := ordered.FindStringSubmatch(text)
	if found == nil {
		return Reply{}, false
	}
	order := found[1]
	if m.object("boundary") == nil {
		return AnswerJSON(map[string]any{"steps": commanded(m, order), "selected_routes": []any{"device"}, "tts_response": order}), true
	}
	answer := map[string]any{"decision": "replan", "tts_response": order, "reason": order}
	for _, kind := range []string{"retry", "cancel", "return", "ask"} {
		if regexp.MustCompile(`(?i)\b` + kind + `\b`).MatchString(order) {
			answer["decision"] = kind
		}
	}
	if answer["decision"] == "replan" {
		answer["steps"] = commanded(m, order)
	}
	return AnswerJSON(answer), true
}

// firstValue is the JSON value that a text begins with; a text that begins with none is taken whole.
func firstValue(text string) string {
	var value json.RawMessage
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&value); err != nil {
		return text
	}
	return string(value)
}

// commanded writes the steps that an order wants.
func commanded(m material, order string) []any {
	known := m.capabilities()
	ids := named(order, known)
	arguments := argumentsIn(order)
	if room := (&planner{rooms: m.rooms(), text: order}).roomNear(len(order)); room != nil && len(arguments) == 0 {
		arguments = map[string]any{"position_name": room.Name}
	}
	count := len(ids)
	if found := many.FindStringSubmatch(order); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			count = min(n, mostSteps)
		}
	} else if endless.MatchString(order) {
		count = mostSteps
	}
	steps := []any{}
	for i := range count {
		id := ids[i%len(ids)]
		operation := "start"
		if c := slices.IndexFunc(known, func(c catalog.Capability) bool { return c.ID == id }); c >= 0 && len(known[c].Operations) > 0 {
			operation = known[c].Operations[0]
		}
		step := map[string]any{"id": "step-" + strconv.Itoa(i+1), "depends_on": []any{},
			"action": map[string]any{"capability_id": id, "operation_id": operation, "arguments": arguments}}
		if i > 0 {
			step["depends_on"] = []any{"step-" + strconv.Itoa(i)}
		}
		steps = append(steps, step)
	}
	return steps
}

// named are the capabilities that an order wants: by id, whether there is such a one or not, else by the catalog's words,
// else by an id made of its own first words. There is always one.
func named(order string, known []catalog.Capability) []string {
	if ids := snake.FindAllString(pair.ReplaceAllString(order, ""), -1); len(ids) > 0 {
		return ids
	}
	var ids []string
	words := keywords(known)
	for _, c := range known {
		if !c.RunsOn("device") {
			continue // an order in words is one to a robot
		}
		if _, ok := earliest(order, append(words[c.ID], strings.ToLower(c.Title.En), c.Title.Ko)); ok {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) > 0 {
		return ids
	}
	if strings.Contains(order, "문") && (strings.Contains(order, "열") || strings.Contains(order, "해제")) {
		return []string{"unlock_door"}
	}
	var made []string
	for _, word := range split(order) {
		if isEnglish(word) && !slices.Contains(common, word) && len(made) < 3 {
			made = append(made, word)
		}
	}
	if len(made) == 0 {
		return []string{"obey"}
	}
	return []string{strings.Join(made, "_")}
}

// argumentsIn reads the arguments that an order gives: a JSON object, or slot=value.
func argumentsIn(order string) map[string]any {
	arguments := map[string]any{}
	var m material
	if m.take(order) {
		if fields, ok := m.values[0].(map[string]any); ok {
			return fields
		}
	}
	for _, found := range pair.FindAllStringSubmatch(order, -1) {
		arguments[found[1]] = strings.Trim(found[2], `"`)
	}
	return arguments
}
