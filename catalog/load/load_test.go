package load_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"errand/catalog"
	"errand/catalog/load"
)

// small is a sound catalog that shows each part once; the tests break it in one place each.
const small = `catalog_version: "1"
result_contract_defaults: deny_unlisted
capabilities:
  - id: move
    title: {ko: 이동, en: Move}
    description: {ko: 이동해요, en: It moves}
    operations: [start]
    task_method: setMoveTo
    completion_target: movement.arrived
    slots:
      - {name: position_name, schema: {type: string, maxLength: 9}, required: true, grounding: room}
    result_contract:
      envelope: true
      bindable_result_fields:
        - {name: area_id, schema: {type: string}}
        - {name: floor, schema: {type: integer}}
    impact: reversible
    preconditions: ["context.battery.level > 5"]
    verify: context.location.room_name == args.position_name
    read_back: status
    timeouts: {queue_ms: 1000, run_ms: 2000}
    cancel: stop
    enabled: true
    say:
      done: {ko: "{position_name}에 왔어요", en: "At {position_name}"}
      unverified: {ko: 아마 왔어요, en: Probably there}
      failed: {ko: 못 갔어요, en: Not there}
  - id: purify
    title: {ko: 청정, en: Purify}
    description: {ko: 청정해요, en: It purifies}
    operations: [start]
    task_method: setPurify
    completion_target: purify.finished
    slots:
      - {name: area_id, schema: {type: string}, required: true}
      - {name: level, schema: {type: number, minimum: 1, maximum: 3}, required: false}
      - {name: arrival, schema: {type: object}, required: false}
    result_contract: {bindable_result_fields: []}
    impact: reversible
    timeouts: {queue_ms: 1000, run_ms: 2000}
    cancel: stop
    enabled: true
    say:
      done: {ko: 청정했어요, en: Purified}
      unverified: {ko: 아마 청정했어요, en: Probably purified}
      failed: {ko: 못 했어요, en: Not purified}
  - id: status
    title: {ko: 상태, en: Status}
    description: {ko: 상태예요, en: The status}
    operations: [read]
    task_method: getStatus
    completion_target: status.reported
    result_contract: {bindable_result_fields: []}
    impact: read_only
    timeouts: {queue_ms: 1000, run_ms: 2000}
    cancel: never
    enabled: true
    say:
      done: {ko: 읽었어요, en: Read}
      unverified: {ko: 읽었어요, en: Read}
      failed: {ko: 못 읽었어요, en: Not read}
reasons:
  - {code: BATTERY_LOW, class: power, recoverability: conditional, requires_decision: true, recovery: {action: none}, default: return, say: {ko: 배터리, en: Battery}}
  - {code: QUEUE_FULL, class: device, recoverability: transient, requires_decision: false, recovery: {action: retry, max_attempts: 2, backoff_ms: 10}, default: ask, say: {ko: 바빠요, en: Busy}}
  - {code: MISSING, class: input, recoverability: permanent, requires_decision: true, recovery: {action: none}, default: cancel, say: {ko: 없어요, en: Missing}}
routines:
  - id: go
    title: {ko: 가기, en: Go}
    slots: [{name: room, grounding: room}]
    utterances:
      ko: ["{room}(으)로 가줘"]
      en: ["go to {room}"]
    steps:
      - {id: move, capability_id: move, operation_id: start, arguments: {position_name: "{room}"}, output_key: arrival}
      - {id: purify, capability_id: purify, operation_id: start, arguments: {level: 2}, depends_on: [move], input_from: {area_id: arrival.result.area_id, arrival: arrival.result}}
  - id: look
    title: {ko: 보기, en: Look}
    utterances: {ko: [상태 알려줘], en: [status]}
    steps: [{id: status, capability_id: status, operation_id: read}]
watches:
  - {kind: smoke, min_confidence: 0.8, routine: look}
sentences:
  done: {ko: "{steps}", en: "{steps}"}
  done_unsure: {ko: 아마, en: Perhaps}
  partly: {ko: 일부, en: Partly}
  failed: {ko: "실패. {reason}", en: "Failed. {reason}"}
  cancelled: {ko: 취소, en: Cancelled}
  unresolved: {ko: 모름, en: Unknown}
  no_plan: {ko: "{offers}", en: "{offers}"}
  no_model: {ko: "{offers}", en: "{offers}"}
  model_down: {ko: 나중에, en: Later}
  model_spent: {ko: 다 씀, en: Spent}
  model_refused: {ko: 안 됨, en: Refused}
  plan_unsure: {ko: 다시?, en: Again?}
  which_room: {ko: "{known}", en: "{known}"}
  cannot_ground: {ko: "{said:은/는} 없음 {known}", en: "No {said}: {known}"}
  ambiguous_room: {ko: 여럿, en: Several}
  ask_decision: {ko: 다시?, en: Again?}
  ask_wait: {ko: 기다려?, en: Wait?}
  ask_rest: {ko: 그럼?, en: What then?}
  ask_late: {ko: 늦었는데?, en: Late?}
  ask_unverified: {ko: 모르는데?, en: Unsure?}
  ask_untold: {ko: 모르는데요?, en: Untold?}
  done_otherwise: {ko: "{steps}", en: "{steps}"}
  returned: {ko: "{steps}", en: "{steps}"}
  not_as_expected: {ko: "{steps}", en: "{steps}"}
  not_confirmed: {ko: "{steps}", en: "{steps}"}
  ask_confirm: {ko: "{what}?", en: "{what}?"}
  ask_select: {ko: "{what} {choices}", en: "{what} {choices}"}
  ask_select_again: {ko: "{what} {choices}", en: "{what} {choices}"}
  steer_nothing: {ko: 없음, en: Nothing}
  steer_something: {ko: 하던 일, en: Something}
  cancelled_unbegun: {ko: 취소, en: Cancelled}
  cancelled_late: {ko: 늦음, en: Late}
  cancelled_unresolved: {ko: 모름, en: Unknown}
  step_named: {ko: "{what}[({which})]", en: "{what}[ ({which})]"}
  step_contradicted: {ko: "{what:이/가} 아님", en: "Not {what}"}
  rest_stopped: {ko: "{what} 멈춤", en: "Stopped {what}"}
  rest_unstarted: {ko: "{what} 안 함", en: "Not begun {what}"}
  rest_unknown: {ko: "{what} 모름", en: "Unknown {what}"}
  ask_decision_skip: {ko: "다시?", en: "Again?"}
  ask_continue: {ko: "계속?", en: "On?"}
  ask_rest_skip: {ko: "나머지?", en: "Rest?"}
  steer_answered_before: {ko: 먼저, en: Before}
  steer_foreign: {ko: 남의 것, en: Foreign}
  steer_unsettled: {ko: 모름, en: Unknown}
  steer_several: {ko: 여럿, en: Several}
  steer_over: {ko: 끝남, en: Over}
  steer_stopping: {ko: "{what}", en: "{what}"}
  steer_stopped: {ko: 멈춤, en: Stopped}
  steer_pausing: {ko: "{what}", en: "{what}"}
  steer_paused: {ko: 기다림, en: Waiting}
  steer_resumed: {ko: 계속, en: On}
  steer_held: {ko: 아직, en: Held}
  steer_not_paused: {ko: 하는 중, en: Going on}
  steer_answered: {ko: 네, en: Yes}
  steer_no_question: {ko: 질문 없음, en: No question}
  steer_mixed: {ko: 섞임, en: Mixed}
  steer_rest: {ko: "{said}", en: "{said}"}
  follow_up_taken: {ko: 보자, en: Seeing}
  follow_up_refused: {ko: 안 됨, en: No}
controls:
  stop: {ko: [멈춰줘], en: [stop]}
  cancel: {ko: [취소해줘], en: [cancel]}
  pause: {ko: [기다려줘], en: [wait]}
  resume: {ko: [계속해줘], en: [go on]}
  "yes": {ko: [응], en: ["yes"]}
  "no": {ko: [아니], en: ["no"]}
  retry: {ko: [다시], en: [again]}
  skip: {ko: [넘어가줘], en: [skip]}
  follow_up: {ko: [그리고], en: [and]}
safe_return: {capability_id: status, operation_id: read}
`

func parse(t *testing.T, text string) (*catalog.Catalog, load.Faults) {
	t.Helper()
	c, err := load.Parse("home.yaml", []byte(text))
	var faults load.Faults
	if err != nil && !errors.As(err, &faults) {
		t.Fatalf("got %T %v, every failure must be Faults", err, err)
	}
	if (c == nil) != (err != nil) {
		t.Fatalf("got both or neither of a catalog and faults: %v, %v", c, err)
	}
	return c, faults
}

func TestParseReadsEveryPart(t *testing.T) {
	t.Parallel()
	c, faults := parse(t, small)
	if faults != nil {
		t.Fatalf("\n%v", faults)
	}
	move := c.Capabilities[0]
	if len(c.Capabilities) != 3 || move.TaskMethod != "setMoveTo" || move.Timeouts.RunMs != 2000 || !move.ResultContract.Envelope ||
		*move.Slots[0].Schema.MaxLength != 9 || move.Say["done"].In("en") != "At {position_name}" {
		t.Errorf("move is %+v", move)
	}
	if step := c.Routines[0].Steps[1]; step.InputFrom["area_id"] != "arrival.result.area_id" || step.Arguments["level"] != 2.0 {
		t.Errorf("the step is %+v", step)
	}
	if c.Watches[0].MinConfidence != 0.8 || c.Reasons[1].Recovery.BackoffMs != 10 {
		t.Errorf("got %+v, %+v", c.Watches, c.Reasons[1])
	}
}

func TestCaseC14ParseBringsTextToNFC(t *testing.T) {
	t.Parallel()
	c, faults := parse(t, norm.NFD.String(small))
	if faults != nil || c.Capabilities[0].Title.Ko != "이동" {
		t.Errorf("got %v, %v", c, faults)
	}
}

func TestDigestNamesTheContent(t *testing.T) {
	t.Parallel()
	first, _ := parse(t, small)
	again, _ := parse(t, "# a comment changes nothing\n"+strings.ReplaceAll(small, "[start]", "[ start ]"))
	other, _ := parse(t, strings.Replace(small, "run_ms: 2000", "run_ms: 2001", 1))
	if !strings.HasPrefix(first.Digest, "sha256:") || len(first.Digest) != 7+64 {
		t.Errorf("got %q", first.Digest)
	}
	if first.Digest != again.Digest || first.Digest == other.Digest || first.Digest != load.Digest(first) {
		t.Errorf("got %q, again %q, of another %q", first.Digest, again.Digest, other.Digest)
	}
}

func TestParseRefusesWhatIsNoSingleDocument(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, says string }{
		"empty":         {"", "home.yaml:1:1: the file is empty"},
		"blank":         {" \n\n", "home.yaml:1:1: the file is empty"},
		"comments only": {"# nothing\n", "home.yaml:1:1: the file has only comments"},
		"two documents": {small + "---\nid: x\n", fmt.Sprintf("home.yaml:%d:", strings.Count(small, "\n")+2)},
		"not YAML":      {"catalog_version: \"1\n", "not YAML"},
		"broken flow":   {"a: [1, 2\nb: 3\n", "not YAML"},
		"tab":           {"a:\n\tb: 1\n", "not YAML"},
		"a list":        {"- 1\n", "must be an object, is a list"},
		"a word":        {"hello\n", "must be an object, is a string"},
		"too large":     {"#" + strings.Repeat("x", 4<<20), "may have 4194304"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, faults := parse(t, tt.text); len(faults) == 0 || !strings.Contains(faults.Error(), tt.says) {
				t.Errorf("got %v, want …%s…", faults, tt.says)
			}
		})
	}
}

// breaks are single changes to the small catalog, with where they show and what is said.
var breaks = map[string]struct{ old, new, path, says string }{
	"unknown key":             {"    cancel: stop\n", "    cancel: stop\n    cancell: stop\n", "capabilities[0].cancell", "not a known field"},
	"duplicate key":           {"    impact: reversible\n", "    impact: reversible\n    impact: read_only\n", "capabilities[0].impact", "given twice"},
	"no impact":               {"    impact: reversible\n", "", "capabilities[0].impact", "is missing"},
	"bad impact":              {"impact: reversible", "impact: harmless", "capabilities[0].impact", "must be one of"},
	"no English title":        {"{ko: 이동, en: Move}", "{ko: 이동}", "capabilities[0].title.en", "is missing"},
	"empty Korean title":      {"{ko: 이동, en: Move}", `{ko: "", en: Move}`, "capabilities[0].title.ko", "at least 1"},
	"law 5: an event name":    {"movement.arrived", "COMPLETED", "capabilities[0].completion_target", "must match"},
	"law 4: not denied":       {"deny_unlisted", "allow", "result_contract_defaults", `must be "deny_unlisted"`},
	"no timeout":              {"timeouts: {queue_ms: 1000, run_ms: 2000}", "timeouts: {queue_ms: 0, run_ms: 2000}", "capabilities[0].timeouts.queue_ms", "must be above 0"},
	"a timeout over a day":    {"run_ms: 2000", "run_ms: 86400001", "capabilities[0].timeouts.run_ms", "at most 86400000"},
	"slot type":               {"{type: string, maxLength: 9}", "{type: text}", "capabilities[0].slots[0].schema.type", "must be one of"},
	"grounding":               {"grounding: room}", "grounding: planet}", "capabilities[0].slots[0].grounding", "must be one of"},
	"grounded number":         {"{type: string, maxLength: 9}", "{type: number}", "capabilities[0].slots[0].grounding", "only text"},
	"bounds of another type":  {"{type: string, maxLength: 9}", "{type: string, minimum: 9}", "capabilities[0].slots[0].schema", "bounds of a number"},
	"length of a number":      {"{type: number, minimum: 1, maximum: 3}", "{type: number, maxLength: 3}", "capabilities[1].slots[1].schema", "bounds of a string"},
	"nothing fits":            {"{type: number, minimum: 1, maximum: 3}", "{type: number, minimum: 4, maximum: 3}", "capabilities[1].slots[1].schema", "nothing would fit"},
	"untyped result field":    {"{name: area_id, schema: {type: string}}\n        -", "{name: area_id}\n        -", "capabilities[0].result_contract.bindable_result_fields[0].schema", "is missing"},
	"result object":           {"{name: floor, schema: {type: integer}}", "{name: floor, schema: {type: object}}", "capabilities[0].result_contract.bindable_result_fields[1].schema.type", "list its fields"},
	"result field twice":      {"{name: floor,", "{name: area_id,", "capabilities[0].result_contract.bindable_result_fields[1].name", "same result field"},
	"empty envelope":          {"result_contract: {bindable_result_fields: []}", "result_contract: {bindable_result_fields: [], envelope: true}", "capabilities[1].result_contract.envelope", "nothing in it"},
	"capability id twice":     {"- id: purify", "- id: move", "capabilities[1].id", "same capability id"},
	"task method twice":       {"setPurify", "setMoveTo", "capabilities[1].task_method", "same task method"},
	"slot twice":              {"{name: level,", "{name: area_id,", "capabilities[1].slots[1].name", "same slot"},
	"verify":                  {"verify: context.location.room_name ==", "verify: context.location.room_name =", "capabilities[0].verify", "not a usable condition"},
	"verify of no slot":       {"== args.position_name", "== args.room", "capabilities[0].verify", "args.room"},
	"verify of no result":     {"== args.position_name", "== result.room", "capabilities[0].verify", "result.room"},
	"precondition":            {`["context.battery.level > 5"]`, `["battery > 5"]`, "capabilities[0].preconditions[0]", "not a usable condition"},
	"read_back unknown":       {"read_back: status", "read_back: statsu", "capabilities[0].read_back", "unknown capability"},
	"read_back that moves":    {"read_back: status", "read_back: purify", "capabilities[0].read_back", "not read_only"},
	"irreversible":            {"impact: reversible", "impact: irreversible\n    confirm: {policy: never}", "capabilities[0].confirm.policy", "always confirmed"},
	"say of nothing":          {"{position_name}에 왔어요", "{room}에 왔어요", "capabilities[0].say.done.ko", "{room}"},
	"say with a gap":          {"{position_name}에 왔어요", "{area_id}에 왔어요", "capabilities[0].say.done.ko", "in brackets"},
	"say with a bad place":    {"At {position_name}", "At {position_name", "capabilities[0].say.done.en", "{name}"},
	"say with a bad suffix":   {"{position_name}에 왔어요", "{position_name:까지} 왔어요", "capabilities[0].say.done.ko", "particle"},
	"say incomplete":          {"      unverified: {ko: 아마 왔어요, en: Probably there}\n", "", "capabilities[0].say.unverified", "is missing"},
	"no cancel policy":        {"cancel: never", "cancel: maybe", "capabilities[2].cancel", "must be one of"},
	"reason twice":            {"code: MISSING", "code: QUEUE_FULL", "reasons[2].code", "same reason code"},
	"reason class":            {"class: power", "class: mood", "reasons[0].class", "must be one of"},
	"reason default":          {"default: return", "default: hope", "reasons[0].default", "must be one of"},
	"law 13: unbounded":       {"max_attempts: 2, ", "", "reasons[1].recovery", "bounded"},
	"retry the permanent":     {"recoverability: transient", "recoverability: permanent", "reasons[1].recovery", "permanent"},
	"default retries it":      {"recovery: {action: none}, default: cancel", "recovery: {action: none}, default: retry", "reasons[2].default", "permanent"},
	"attempts of nothing":     {"{action: none}, default: return", "{action: none, max_attempts: 1}, default: return", "reasons[0].recovery", "does nothing"},
	"reason says a place":     {"{ko: 배터리, en: Battery}", "{ko: \"{level}\", en: Battery}", "reasons[0].say.ko", "{level}"},
	"routine twice":           {"- id: look", "- id: go", "routines[1].id", "same routine id"},
	"no English sentence":     {`en: ["go to {room}"]`, "en: []", "routines[0].utterances.en", "at least 1"},
	"undeclared room":         {"{room}(으)로 가줘", "{place}(으)로 가줘", "routines[0].utterances.ko[0]", "{place}"},
	"unsaid room":             {"go to {room}", "go there", "routines[0].utterances.en[0]", "does not say {room}"},
	"broken template":         {"go to {room}", "go to {room", "routines[0].utterances.en[0]", "not an utterance template"},
	"sentence twice":          {"en: [status]", `en: [status, "Sta tus"]`, "routines[1].utterances.en[1]", "same sentence"},
	"unknown capability":      {"{id: status, capability_id: status", "{id: status, capability_id: statsu", "routines[1].steps[0].capability_id", "unknown capability"},
	"unknown operation":       {"operation_id: read}", "operation_id: write}", "routines[1].steps[0].operation_id", "no operation"},
	"missing slot":            {`arguments: {position_name: "{room}"}, `, "", "routines[0].steps[0].arguments.position_name", "needs it"},
	"unknown slot":            {"arguments: {level: 2}", "arguments: {speed: 2}", "routines[0].steps[1].arguments.speed", "no slot"},
	"argument type":           {"arguments: {level: 2}", "arguments: {level: high}", "routines[0].steps[1].arguments.level", "must be a number"},
	"argument bound":          {"arguments: {level: 2}", "arguments: {level: 9}", "routines[0].steps[1].arguments.level", "above 3"},
	"place in a number":       {"arguments: {level: 2}", `arguments: {level: "{room}"}`, "routines[0].steps[1].arguments.level", "no text"},
	"place of nobody":         {`{position_name: "{room}"}`, `{position_name: "{rom}"}`, "routines[0].steps[0].arguments.position_name", "{rom}"},
	"law 1: unknown step":     {"depends_on: [move]", "depends_on: [mvoe]", "routines[0].steps[1].depends_on[0]", "no step before"},
	"law 1: later step":       {"output_key: arrival}", "output_key: arrival, depends_on: [purify]}", "routines[0].steps[0].depends_on[0]", "no step before"},
	"law 1: by output key":    {"depends_on: [move]", "depends_on: [arrival]", "routines[0].steps[1].depends_on[0]", "no step before"},
	"step twice":              {"{id: purify, capability_id", "{id: move, capability_id", "routines[0].steps[1].id", "already names"},
	"output key collides":     {"depends_on: [move], input_from", "output_key: arrival, depends_on: [move], input_from", "routines[0].steps[1].output_key", "already names"},
	"law 3: unlisted field":   {"area_id: arrival.result.area_id", "area_id: arrival.result.pose", "routines[0].steps[1].input_from.area_id", "does not list"},
	"law 3: wrong type":       {"area_id: arrival.result.area_id", "area_id: arrival.result.floor", "routines[0].steps[1].input_from.area_id", "the slot takes a string"},
	"law 3: no such slot":     {"area_id: arrival.result.area_id", "zone: arrival.result.area_id", "routines[0].steps[1].input_from.zone", "no slot"},
	"law 3: no envelope":      {"      envelope: true\n", "", "routines[0].steps[1].input_from.arrival", "whole result"},
	"law 3: envelope as text": {"area_id: arrival.result.area_id", "area_id: arrival.result", "routines[0].steps[1].input_from.area_id", "type object"},
	"path of no step":         {"area_id: arrival.result.area_id", "area_id: nobody.result.area_id", "routines[0].steps[1].input_from.area_id", "no step"},
	"path of no result":       {"area_id: arrival.result.area_id", "area_id: arrival.output.area_id", "routines[0].steps[1].input_from.area_id", "a path is"},
	"path without order":      {"depends_on: [move], ", "", "routines[0].steps[1].input_from.area_id", "depends_on"},
	"slot given twice":        {"arguments: {level: 2}", "arguments: {level: 2, area_id: x}", "routines[0].steps[1].input_from.area_id", "keep one"},
	"watch of nothing":        {"routine: look", "routine: lok", "watches[0].routine", "unknown routine"},
	"watch of a slot":         {"routine: look", "routine: go", "watches[0].routine", "only a sentence"},
	"watch confidence":        {"min_confidence: 0.8", "min_confidence: 1.8", "watches[0].min_confidence", "at most 1"},
	"sentence missing":        {"  unresolved: {ko: 모름, en: Unknown}\n", "", "sentences.unresolved", "is missing"},
	"sentence unknown":        {"  unresolved:", "  unresloved: {ko: 모름, en: Unknown}\n  unresolved:", "sentences.unresloved", "never said"},
	"sentence of a place":     {"{ko: 취소, en: Cancelled}", `{ko: "취소 {reason}", en: Cancelled}`, "sentences.cancelled.ko", "{reason}"},
	"control missing":         {"  stop: {ko: [멈춰줘], en: [stop]}\n", "", "controls.stop", "is missing"},
	"control unknown":         {"  stop: {", "  halt: {ko: [서], en: [halt]}\n  stop: {", "controls.halt", "means nothing"},
	"control of two meanings": {"en: [cancel]", "en: [Stop]", "controls.stop.en[0]", "is the same sentence as controls.cancel.en[0]"},
	"control with a slot":     {"en: [cancel]", `en: ["cancel {room}"]`, "controls.cancel.en[0]", "does not declare"},
	"control that is none":    {"en: [cancel]", "en: [(cancel)]", "controls.cancel.en[0]", "needs a word"},
	"anchor":                  {"description: {ko: 이동해요, en: It moves}", "description: &a {ko: 이동해요, en: It moves}", "capabilities[0].description", "write the value out"},
	"tag":                     {`catalog_version: "1"`, `catalog_version: !!str 1`, "catalog_version", "write the value out"},
	"null":                    {"task_method: setPurify", "task_method:", "capabilities[1].task_method", "is null"},
	"key that is no text":     {"  - {kind: smoke,", "  - {1: 2, kind: smoke,", "watches[0]", "no plain text"},
	"rounded number":          {"run_ms: 2000", "run_ms: 99999999999999999", "capabilities[0].timeouts.run_ms", "too large"},
}

func TestParseFindsEveryBreak(t *testing.T) {
	t.Parallel()
	for name, tt := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := strings.Replace(small, tt.old, tt.new, 1)
			if broken == small {
				t.Fatalf("the small catalog has no %q", tt.old)
			}
			_, faults := parse(t, broken)
			for _, f := range faults {
				if f.Path == tt.path && strings.Contains(f.Message, tt.says) {
					return
				}
			}
			t.Errorf("got\n%v\nwant %s: …%s…", faults, tt.path, tt.says)
		})
	}
}

func TestFaultsStandWhereAnEditorFindsThem(t *testing.T) {
	t.Parallel()
	broken := strings.Replace(small, "read_back: status", "read_back: statsu", 1)
	broken = strings.Replace(broken, "    impact: read_only\n", "", 1)
	broken = strings.Replace(broken, "{ko: 배터리, en: Battery}", "{ko: 배터리, en: Battery, fr: Pile}", 1)
	_, faults := parse(t, broken)
	var got []string
	for _, f := range faults {
		got = append(got, f.String())
	}
	lines := strings.Split(broken, "\n")
	line := func(of string) int {
		for i, l := range lines {
			if strings.Contains(l, of) {
				return i + 1
			}
		}
		return 0
	}
	before, _, _ := strings.Cut(lines[line("fr: Pile")-1], "fr: Pile")
	column := utf8.RuneCountInString(before) + 1 // in characters: Hangul comes before it
	want := []string{
		fmt.Sprintf(`home.yaml:%d:5: capabilities[0].read_back: names the unknown capability "statsu"`, line("statsu")),
		fmt.Sprintf("home.yaml:%d:5: capabilities[2].impact: is missing and must be given", line("- id: status")),
		fmt.Sprintf("home.yaml:%d:%d: reasons[0].say.fr: is not a known field: remove it, or check its spelling", line("fr: Pile"), column),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestParseReportsAMistakeOnce(t *testing.T) {
	t.Parallel()
	_, faults := parse(t, strings.Replace(small, "run_ms: 2000", "run_ms: 0", 1))
	if len(faults) != 1 {
		t.Errorf("one wrong timeout gave\n%v", faults)
	}
}

func TestFaultWithoutAPathIsAboutTheFile(t *testing.T) {
	t.Parallel()
	if got := (load.Fault{File: "a.yaml", Line: 1, Column: 2, Message: "is broken"}).String(); got != "a.yaml:1:2: is broken" {
		t.Errorf("got %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("a: &x [*x]\n"))
	f.Add([]byte("- - - - {a: {b: [c]}}"))
	f.Add([]byte("? [a]\n: b\n<<: {c: d}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := load.Parse("f.yaml", text)
		var faults load.Faults
		if err != nil && (!errors.As(err, &faults) || len(faults) == 0) {
			t.Fatalf("an error without faults: %v", err)
		}
		for _, fault := range faults {
			if fault.Line < 1 || fault.Column < 1 || fault.Message == "" {
				t.Fatalf("a fault that leads nowhere: %+v", fault)
			}
		}
		if err == nil && c.Digest == "" {
			t.Fatal("a catalog without a digest")
		}
	})
}

// Everything wrong is reported at once, each as a line that an editor can jump to.
func ExampleParse() {
	_, err := load.Parse("home.yaml", []byte(strings.NewReplacer("cancel: never", "cancel: maybe", "routine: look", "routine: lok").Replace(small)))
	fmt.Println(err)
	// Output:
	// home.yaml:56:5: capabilities[2].cancel: is "maybe", must be one of "stop", "queued_only", "never"
	// home.yaml:81:40: watches[0].routine: names the unknown routine "lok"
}

// A catalog of one's own starts from the built-in file.
func ExampleBuiltinFile() {
	c, err := load.Parse("mine.yaml", load.BuiltinFile())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.CatalogVersion, c.Digest == load.Builtin().Digest)
	// Output:
	// 2026.11 true
}
