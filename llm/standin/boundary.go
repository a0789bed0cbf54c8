package standin

import (
	"fmt"
	"regexp"
	"slices"

	"errand/catalog"
	"errand/llm"
)

// decisions is what the rules decide for a reason code. Every other code is decided by its recoverability.
var decisions = map[string]string{
	"PATH_BLOCKED": "retry", "STUCK": "retry", "EXECUTOR_FAILED": "retry", "QUEUE_FULL": "retry", "DEVICE_BUSY": "retry",
	"TASK_TIMED_OUT": "retry", "LOCALIZATION_LOST": "retry",
	"ROOM_UNKNOWN": "ask", "ROOM_AMBIGUOUS": "ask", "CANNOT_GROUND": "ask", "FILTER_MISSING": "ask", "SPEAKER_NOT_VERIFIED": "ask",
	"VERIFY_CONTRADICTED": "ask", "OPERATION_UNRESOLVED": "ask",
	"BATTERY_LOW": "return", "MAP_UNAVAILABLE": "return",
	"STEP_RESULT_BINDING_FAILED": "replan", "STATE_CHANGED": "replan", "PRECONDITION_FAILED": "replan",
	"CAPABILITY_DISABLED": "cancel", "MOVE_POLICY_NOT_ALLOWED": "cancel", "ROLLOUT_STAGE_NOT_ALLOWED": "cancel", "UNSUPPORTED_METHOD": "cancel",
}

var byRecoverability = map[string]string{"transient": "retry", "conditional": "ask", "permanent": "cancel"}

// gentlest is the order in which another decision is taken when the rules' own is not allowed.
var gentlest = []string{"ask", "return", "cancel", "retry", "replan"}

var sentences = map[string]catalog.Text{
	"retry":  {Ko: "다시 해볼게요.", En: "I will try again."},
	"ask":    {Ko: "잘 안됐어요. 어떻게 할까요?", En: "That did not work. What shall I do?"},
	"return": {Ko: "충전대로 돌아갈게요.", En: "I am going back to my station."},
	"replan": {Ko: "다른 방법으로 해볼게요.", En: "I will try another way."},
	"cancel": {Ko: "할 수 없어서 그만할게요.", En: "I cannot do that, so I stop."},
}

var goOn, giveUp = catalog.Text{Ko: "다시 해봐", En: "Try again"}, catalog.Text{Ko: "그만해", En: "Stop"}

// decide answers a boundary by its reason code, within the decisions that are allowed.
func decide(m material, s *llm.Schema, boundary map[string]any) map[string]any {
	code, _ := findIn(boundary, "reason_code", isText).(string)
	recoverability, _ := findIn(boundary, "recoverability", isText).(string)
	kind := decisions[code]
	if kind == "" {
		kind = byRecoverability[recoverability]
	}
	if kind == "" {
		kind = "ask"
	}
	steps := remaining(m, boundary)
	if kind == "replan" && len(steps) == 0 {
		kind = "ask" // nothing is left that could be planned anew
	}
	if !mayDecide(m, s, kind) {
		if i := slices.IndexFunc(gentlest, func(other string) bool { return mayDecide(m, s, other) }); i >= 0 {
			kind = gentlest[i]
		}
	}
	locale := m.locale()
	answer := map[string]any{"decision": kind, "tts_response": sentences[kind].In(locale), "reason": "by the rule for " + code}
	switch kind {
	case "replan":
		answer["steps"] = steps
	case "ask":
		answer["question"], answer["choices"] = sentences[kind].In(locale), []any{goOn.In(locale), giveUp.In(locale)}
	}
	return answer
}

func mayDecide(m material, s *llm.Schema, kind string) bool {
	options := texts(m.find("options", func(v any) bool { return len(texts(v)) > 0 }))
	return permits(s, "decision", kind) && (options == nil || slices.Contains(options, kind))
}

// remaining plans anew what is not done: the step at the boundary and those after it, one after the other. No id is used
// again, so each tells the revision. A value that was to come from a result is taken from the device's rooms, where it is a room's.
func remaining(m material, boundary map[string]any) []any {
	at, _ := findIn(boundary, "step_id", isText).(string)
	list, _ := m.find("steps", listOf("id")).([]any)
	rooms, capabilities := m.rooms(), m.capabilities()
	var steps []any
	var room *catalog.Room
	begun, revision := false, 2
	if n, ok := m.find("plan_revision", func(v any) bool { _, ok := v.(float64); return ok }).(float64); ok {
		revision = int(n) + 1
	}
	for _, item := range list {
		var step viewed
		if !reread(item, &step) {
			continue
		}
		if named := step.room(rooms); named != nil {
			room = named
		}
		if begun = begun || step.ID == at; !begun || step.over() {
			continue
		}
		i := slices.IndexFunc(capabilities, func(c catalog.Capability) bool { return c.ID == step.capability() })
		if i < 0 {
			continue
		}
		steps = append(steps, anew(step, capabilities[i], room, revision, steps))
	}
	return steps
}

// viewed is a step as a plan's view, or its document, shows it.
type viewed struct {
	ID           string         `json:"id"`
	CapabilityID string         `json:"capability_id"`
	State        string         `json:"state"`
	Arguments    map[string]any `json:"arguments"`
	Action       struct {
		CapabilityID string         `json:"capability_id"`
		Arguments    map[string]any `json:"arguments"`
	} `json:"action"`
}

func (v viewed) capability() string { return v.CapabilityID + v.Action.CapabilityID } // it is in one of the two

func (v viewed) over() bool {
	return slices.Contains([]string{"completed", "cancelled", "skipped"}, v.State)
}

func (v viewed) arguments() map[string]any {
	if v.Arguments != nil {
		return v.Arguments
	}
	return v.Action.Arguments
}

// room is the room that a step's arguments name.
func (v viewed) room(rooms []catalog.Room) *catalog.Room {
	for _, value := range v.arguments() {
		if i := slices.IndexFunc(rooms, func(r catalog.Room) bool { return value == r.Name || value == r.ID }); i >= 0 {
			return &rooms[i]
		}
	}
	return nil
}

// revised is what an id of an earlier revision ends with.
var revised = regexp.MustCompile(`-r\d+$`)

func anew(step viewed, c catalog.Capability, room *catalog.Room, revision int, before []any) any {
	arguments := map[string]any{}
	for _, slot := range c.Slots {
		switch value, given := step.arguments()[slot.Name]; {
		case given:
			arguments[slot.Name] = value
		case slot.Required && slot.Grounding == "room_id" && room != nil:
			arguments[slot.Name] = room.ID
		case slot.Required && slot.Grounding == "room" && room != nil:
			arguments[slot.Name] = room.Name
		}
	}
	fields := map[string]any{"id": fmt.Sprintf("%s-r%d", revised.ReplaceAllString(step.ID, ""), revision), "depends_on": []any{}, "input_from": map[string]any{},
		"action": map[string]any{"capability_id": c.ID, "operation_id": c.Operations[0], "arguments": arguments}}
	if n := len(before); n > 0 {
		last, _ := before[n-1].(map[string]any)
		fields["depends_on"] = []any{last["id"]}
	}
	return fields
}
