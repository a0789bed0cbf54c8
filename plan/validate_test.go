package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"errand/catalog"
	"errand/plan"
)

var rooms = plan.Grounding{DeviceID: testDevice, Rooms: []catalog.Room{{ID: "6", Name: "안방"}, {ID: "1", Name: "거실"}}}

// Every fault of contract.md §2, one document each: what is wrong, and the path that is named.
func TestEveryFaultIsNamedWithItsPath(t *testing.T) {
	move := `{"id":"a","action":{"capability_id":"move","operation_id":"start","arguments":{"room":"안방"}}}`
	for name, c := range map[string]struct{ doc, path, code string }{
		"unknown capability": {`{"steps":[{"id":"a","action":{"capability_id":"fly","operation_id":"start"}}]}`, "steps[0].action.capability_id", "unknown_capability"},
		"unknown operation":  {`{"steps":[{"id":"a","action":{"capability_id":"dock","operation_id":"x"}}]}`, "steps[0].action.operation_id", "unknown_operation"},
		"missing slot":       {`{"steps":[{"id":"a","action":{"capability_id":"move","operation_id":"start"}}]}`, "steps[0].action.arguments.room", "missing_slot"},
		"undeclared slot":    {`{"steps":[{"id":"a","action":{"capability_id":"dock","operation_id":"start","arguments":{"x":1}}}]}`, "steps[0].action.arguments.x", "undeclared_slot"},
		"undeclared slot bound": {`{"steps":[` + move + `,{"id":"b","action":{"capability_id":"dock","operation_id":"start"},"depends_on":["a"],"input_from":{"x":"a.result.area_id"}}]}`,
			"steps[1].input_from.x", "undeclared_slot"},
		"slot given twice": {`{"steps":[` + move + `,{"id":"b","action":{"capability_id":"purify","operation_id":"start","arguments":{"area_id":"6"}},"depends_on":["a"],"input_from":{"area_id":"a.result.area_id"}}]}`,
			"steps[1].input_from.area_id", "slot_given_twice"},
		"wrong type":       {`{"steps":[{"id":"a","action":{"capability_id":"move","operation_id":"start","arguments":{"room":6}}}]}`, "steps[0].action.arguments.room", "wrong_value"},
		"null value":       {`{"steps":[{"id":"a","action":{"capability_id":"move","operation_id":"start","arguments":{"room":null}}}]}`, "steps[0].action.arguments.room", "wrong_value"},
		"room not there":   {`{"steps":[{"id":"a","action":{"capability_id":"move","operation_id":"start","arguments":{"room":"다락방"}}}]}`, "steps[0].action.arguments.room", "unknown_room"},
		"cycle":            {`{"steps":[{"id":"a","action":{"capability_id":"dock","operation_id":"start"},"depends_on":["b"]},{"id":"b","action":{"capability_id":"dock","operation_id":"start"},"depends_on":["a"]}]}`, "steps[0].depends_on", "cycle"},
		"self dependency":  {`{"steps":[{"id":"a","action":{"capability_id":"dock","operation_id":"start"},"depends_on":["a"]}]}`, "steps[0].depends_on[0]", "cycle"},
		"unknown step":     {`{"steps":[{"id":"a","action":{"capability_id":"dock","operation_id":"start"},"depends_on":["z"]}]}`, "steps[0].depends_on[0]", "unknown_step"},
		"repeated edge":    {`{"steps":[` + move + `,{"id":"b","action":{"capability_id":"dock","operation_id":"start"},"depends_on":["a","a"]}]}`, "steps[1].depends_on[1]", "repeated"},
		"reused id":        {`{"steps":[` + move + `,` + move + `]}`, "steps[1].id", "reused_id"},
		"ill-formed id":    {`{"steps":[{"id":"a/b","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].id", "ill_formed_id"},
		"empty id":         {`{"steps":[{"id":"","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].id", "ill_formed_id"},
		"colliding key":    {`{"steps":[` + move + `,{"id":"b","output_key":"a","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[1].output_key", "reused_id"},
		"ill-formed key":   {`{"steps":[{"id":"b","output_key":"a.b","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].output_key", "ill_formed_id"},
		"path outside":     {`{"steps":[` + move + `,{"id":"b","action":{"capability_id":"purify","operation_id":"start"},"depends_on":["a"],"input_from":{"area_id":"a.result.raw_pose"}}]}`, "steps[1].input_from.area_id", "path_outside_contract"},
		"path too deep":    {`{"steps":[` + move + `,{"id":"b","action":{"capability_id":"purify","operation_id":"start"},"depends_on":["a"],"input_from":{"area_id":"a.result.x.y"}}]}`, "steps[1].input_from.area_id", "ill_formed_path"},
		"unknown source":   {`{"steps":[` + move + `,{"id":"b","action":{"capability_id":"purify","operation_id":"start"},"depends_on":["a"],"input_from":{"area_id":"z.result.x"}}]}`, "steps[1].input_from.area_id", "unknown_source"},
		"no envelope":      {`{"steps":[{"id":"p","action":{"capability_id":"purify","operation_id":"start","arguments":{"area_id":"6"}}},{"id":"b","action":{"capability_id":"clean","operation_id":"start"},"depends_on":["p"],"input_from":{"arrival":"p.result"}}]}`, "steps[1].input_from.arrival", "path_outside_contract"},
		"envelope to text": {`{"steps":[` + move + `,{"id":"b","action":{"capability_id":"purify","operation_id":"start"},"depends_on":["a"],"input_from":{"area_id":"a.result"}}]}`, "steps[1].input_from.area_id", "wrong_type"},
		"not a dependency": {`{"steps":[` + move + `,{"id":"b","action":{"capability_id":"purify","operation_id":"start"},"input_from":{"area_id":"a.result.area_id"}}]}`, "steps[1].input_from.area_id", "not_a_dependency"},
		"text too long":    {`{"steps":[{"id":"a","action":{"capability_id":"clean","operation_id":"start","arguments":{"note":"` + strings.Repeat("가", 501) + `"}}}]}`, "steps[0].action.arguments.note", "too_long"},
		"no steps":         {`{"steps":[]}`, "steps", "no_steps"},
		"another device":   {`{"device_id":"x","steps":[` + move + `]}`, "device_id", "other_device"},
		"group":            {`{"steps":[{"id":"a","dispatch_group":"g","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].dispatch_group", "reserved"},
		"wait policy":      {`{"steps":[{"id":"a","wait_policy":"started","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].wait_policy", "reserved"},
		"step's device":    {`{"steps":[{"id":"a","device_id":"d","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].device_id", "reserved"},
		"cloud target":     {`{"steps":[{"id":"a","execution_target":"cloud","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].execution_target", "wrong_target"},
		"unknown target":   {`{"steps":[{"id":"a","execution_target":"moon","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].execution_target", "unknown_target"},
		"mistyped field":   {`{"steps":[{"id":7,"action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].id", ""},
		"no action":        {`{"steps":[{"id":"a"}]}`, "steps[0]", ""},
		"duplicate key":    {`{"steps":[{"id":"a","id":"b","action":{"capability_id":"dock","operation_id":"start"}}]}`, "steps[0].id", "duplicate_key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := plan.Read([]byte(c.doc), testSlice(), rooms)
			for _, f := range faults {
				if strings.HasPrefix(f.Path, c.path) && (c.code == "" || f.Code == c.code) && f.Message != "" {
					return
				}
			}
			t.Errorf("faults %v; want one at %s with code %s", faults, c.path, c.code)
		})
	}
}

func TestTooManySteps(t *testing.T) {
	doc := plan.Document{}
	for i := range plan.MaxSteps + 1 {
		doc.Steps = append(doc.Steps, spec(fmt.Sprintf("s%d", i), "dock", nil, nil))
	}
	faults := plan.Validate(doc, testSlice(), plan.Grounding{})
	if len(faults) != 1 || faults[0].Code != "too_many_steps" {
		t.Errorf("faults %v", faults)
	}
}

func TestFaultsOfShapeAndOfMeaningComeTogether(t *testing.T) {
	_, faults := plan.Read([]byte(`{"selected_routes":"ODL","steps":[{"id":"a","action":{"capability_id":"fly","operation_id":"start"}}]}`), testSlice(), rooms)
	if len(faults) != 2 {
		t.Errorf("faults %v, want the mistyped routes and the unknown capability", faults)
	}
}

func TestBrokenDocuments(t *testing.T) {
	for name, raw := range map[string]string{
		"not JSON": `{"steps":`, "trailing": `{"steps":[]} x`, "a list": `[]`, "empty": ``, "null": `null`,
		"too deep": strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200),
		"too long": `{"steps":[],"x":"` + strings.Repeat("x", 2<<20) + `"}`,
	} {
		if _, faults := plan.Read([]byte(raw), testSlice(), rooms); len(faults) == 0 {
			t.Errorf("%s was taken", name)
		}
	}
}

// Case c14: a room typed as decomposed jamo is the same room.
func TestCaseC14SpellingOfHangul(t *testing.T) {
	decomposed := "안방"
	doc, faults := plan.Read([]byte(`{"steps":[{"id":"a","action":{"capability_id":"move","operation_id":"start","arguments":{"room":"`+decomposed+`"}}}]}`), testSlice(), rooms)
	if len(faults) > 0 || doc.Steps[0].Action.Arguments["room"] != "안방" {
		t.Errorf("faults %v, room %q", faults, doc.Steps[0].Action.Arguments["room"])
	}
}

// Law 3, held over random graphs: whatever Validate takes, the machine can run without a binding fault when the device
// delivers every listed field.
func TestLaw03WhatIsValidBinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := &plan.Document{}
		n := rapid.IntRange(1, 5).Draw(t, "steps")
		for i := range n {
			capability := rapid.SampledFrom([]string{"move", "purify", "clean", "dock"}).Draw(t, "capability")
			st := spec(fmt.Sprintf("s%d", i), capability, nil, nil)
			for j := range n {
				odds := 1 // backwards, as a rule: or nearly every graph has a cycle and is refused
				if j > i {
					odds = 30
				}
				if j != i && rapid.IntRange(0, odds).Draw(t, "edge") == 0 {
					st.DependsOn = append(st.DependsOn, fmt.Sprintf("s%d", j))
				}
			}
			slot := map[string]string{"purify": "area_id", "clean": "arrival", "dock": "x", "move": "room"}[capability]
			if rapid.Bool().Draw(t, "bound") {
				st.InputFrom = map[string]string{slot: fmt.Sprintf("s%d.result", rapid.IntRange(0, n).Draw(t, "source")) +
					rapid.SampledFrom([]string{"", ".area_id", ".raw_pose"}).Draw(t, "field")}
				if capability == "move" {
					st.Action.Arguments = nil
				}
			}
			doc.Steps = append(doc.Steps, st)
		}
		if len(plan.Validate(*doc, testSlice(), plan.Grounding{})) > 0 {
			t.Skip("refused at the gate")
		}
		s := newSim(t, doc)
		if o := s.settle(); o.State != plan.Completed {
			t.Fatalf("a valid plan ended %s: %v", o.State, o.Reason)
		}
	})
}

func FuzzRead(f *testing.F) {
	valid, err := json.Marshal(threeSteps())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add([]byte(`{"steps":[{"id":"a","action":null}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, faults := plan.Read(raw, testSlice(), rooms)
		if len(faults) > 0 {
			return
		}
		if again := plan.Validate(doc, testSlice(), rooms); len(again) > 0 {
			t.Fatalf("taken by Read, refused by Validate: %v", again)
		}
	})
}
