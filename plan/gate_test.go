package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// validate returns the faults of a document as "path code", in order.
func validate(doc plan.Document, slice *catalog.Slice, g plan.Grounding) (found []string) {
	for _, f := range plan.Validate(doc, slice, g) {
		found = append(found, f.Path+" "+f.Code)
	}
	return found
}

func gateWants(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("%s: faults %q, want %q", name, got, want)
	}
}

// Law 14: what is right at the very edge passes, and one more does not.
func TestLaw14TheGateIsWhereItSays(t *testing.T) {
	one := func(st plan.StepSpec) plan.Document { return plan.Document{Steps: []plan.StepSpec{st}} }
	note := func(n int) plan.StepSpec {
		st := spec("a", "clean", nil, nil)
		st.Action.Arguments = map[string]any{"note": strings.Repeat("가", n)}
		return st
	}
	gateWants(t, "500 characters", validate(one(note(500)), testSlice(), plan.Grounding{}))
	gateWants(t, "501 characters", validate(one(note(501)), testSlice(), plan.Grounding{}), "steps[0].action.arguments.note too_long")
	own := testSlice()
	most := 600
	own.Capabilities[2].Slots[1].Schema.MaxLength = &most
	gateWants(t, "a bound of the slot's own", validate(one(note(600)), own, plan.Grounding{}))

	full := plan.Document{}
	for i := range plan.MaxSteps {
		full.Steps = append(full.Steps, spec(fmt.Sprint("s", i), "dock", nil, nil))
	}
	gateWants(t, "200 steps", validate(full, testSlice(), plan.Grounding{}))

	st := spec("a", "dock", nil, nil)
	st.WaitPolicy, st.ExecutionTarget, st.OutputKey = "completed", "device", "a"
	gateWants(t, "what is said though it is so anyway", validate(plan.Document{DeviceID: testDevice, Steps: []plan.StepSpec{st}}, testSlice(), plan.Grounding{DeviceID: testDevice}))
	gateWants(t, "a device that nobody knows yet", validate(plan.Document{DeviceID: "robot-9", Steps: []plan.StepSpec{st}}, testSlice(), plan.Grounding{}))
	off := testSlice()
	off.Capabilities[4].Enabled = false
	gateWants(t, "a capability that is off", validate(one(st), off, plan.Grounding{}), "steps[0].action.capability_id disabled_capability")
}

// A room is known by its name or by its id, as its slot wants it; text in any other slot is free.
func TestLaw14ARoomIsOneOfTheDevices(t *testing.T) {
	for grounding, known := range map[string]string{"room": "안방", "room_id": "6", "person": "anyone"} {
		slice := testSlice()
		slice.Capabilities[0].Slots[0].Grounding = grounding
		for _, text := range []string{"안방", "6", "다락방", "anyone"} {
			st := spec("a", "move", nil, nil)
			st.Action.Arguments = map[string]any{"room": text}
			got := validate(plan.Document{Steps: []plan.StepSpec{st}}, slice, rooms)
			if text == known || grounding == "person" {
				gateWants(t, grounding+" "+text, got)
			} else {
				gateWants(t, grounding+" "+text, got, "steps[0].action.arguments.room unknown_room")
			}
		}
	}
}

// Law 3: a field's type must be the slot's; an integer is a number.
func TestLaw03TheGateComparesTypes(t *testing.T) {
	for _, c := range []struct {
		from, to string
		fits     bool
	}{{"string", "string", true}, {"integer", "number", true}, {"number", "integer", false}, {"number", "string", false}, {"string", "object", false}} {
		slice := scanSlice()
		n := len(slice.Capabilities)
		slice.Capabilities[n-2].ResultContract = lists("x", c.from)
		slice.Capabilities[n-1].Slots = []catalog.Slot{{Name: "slot", Schema: catalog.SlotSchema{Type: c.to}}}
		doc := plan.Document{Steps: []plan.StepSpec{spec("scan", "scan", nil, nil), spec("use", "use", []string{"scan"}, map[string]string{"slot": "scan.result.x"})}}
		if c.fits {
			gateWants(t, c.from+" to "+c.to, validate(doc, slice, plan.Grounding{}))
		} else {
			gateWants(t, c.from+" to "+c.to, validate(doc, slice, plan.Grounding{}), "steps[1].input_from.slot wrong_type")
		}
	}
	s := threeSteps()
	s.Steps[1].Action.CapabilityID, s.Steps[1].InputFrom = "clean", map[string]string{"arrival": "arrival.result"}
	gateWants(t, "a whole result to an object", validate(*s, testSlice(), plan.Grounding{}))
}

// A source must come before, directly or through others; a fault says what the source gives away instead.
func TestLaw03ASourceComesBefore(t *testing.T) {
	use := func(depends ...string) plan.StepSpec {
		return spec("use", "purify", depends, map[string]string{"area_id": "move.result.area_id"})
	}
	move, b, c := spec("move", "move", nil, nil), spec("b", "dock", []string{"move"}, nil), spec("c", "dock", []string{"b"}, nil)
	for name, d := range map[string]struct {
		steps []plan.StepSpec
		want  []string
	}{
		"through two others":        {[]plan.StepSpec{use("c"), c, b, move}, nil},
		"beside it":                 {[]plan.StepSpec{move, spec("d", "dock", nil, nil), use("d")}, []string{"steps[2].input_from.area_id not_a_dependency"}},
		"of a capability not there": {[]plan.StepSpec{spec("move", "fly", nil, nil), use("move")}, []string{"steps[0].action.capability_id unknown_capability"}},
		"into a capability not there": {[]plan.StepSpec{move, spec("use", "fly", []string{"move"}, map[string]string{"area_id": "move.result.raw"})},
			[]string{"steps[1].action.capability_id unknown_capability", "steps[1].input_from.area_id path_outside_contract"}},
	} {
		gateWants(t, name, validate(plan.Document{Steps: d.steps}, testSlice(), plan.Grounding{}), d.want...)
	}
	for from, gives := range map[string]string{"move": "area_id, room_name", "dock": "nothing"} {
		doc := plan.Document{Steps: []plan.StepSpec{spec("a", from, nil, nil), spec("use", "purify", []string{"a"}, map[string]string{"area_id": "a.result.raw"})}}
		if faults := plan.Validate(doc, testSlice(), plan.Grounding{}); len(faults) != 1 || !strings.HasSuffix(faults[0].Message, "it gives "+gives) {
			t.Errorf("%s: %v", from, faults)
		}
	}
}

// Each step of a loop is named, once; one that only leads into it is not.
func TestLaw01EveryStepOfALoopIsNamed(t *testing.T) {
	doc := plan.Document{Steps: []plan.StepSpec{spec("a", "dock", []string{"c"}, nil), spec("b", "dock", []string{"a"}, nil), spec("c", "dock", []string{"b"}, nil),
		spec("d", "dock", []string{"a"}, nil), spec("e", "dock", []string{"e"}, nil)}}
	gateWants(t, "a loop of three", validate(doc, testSlice(), plan.Grounding{}), "steps[4].depends_on[0] cycle",
		"steps[0].depends_on cycle", "steps[1].depends_on cycle", "steps[2].depends_on cycle")
}

// Of a fault of shape and one of meaning at the same place, the first is told; one elsewhere is told beside it.
func TestAFaultIsToldOnce(t *testing.T) {
	_, faults := plan.Read([]byte(`{"steps":[{"id":7,"action":{"capability_id":"fly","operation_id":"start"}}]}`), testSlice(), rooms)
	if len(faults) != 2 || faults[0].Path != "steps[0].id" || faults[1].Path != "steps[0].action.capability_id" {
		t.Errorf("faults %v", faults)
	}
	doc, faults := plan.Read([]byte(`{"steps":[{"id":"a","action":{"capability_id":"dock","operation_id":"start"}}]}`), testSlice(), rooms)
	if len(faults) != 0 || len(doc.Steps) != 1 || doc.Steps[0].ID != "a" {
		t.Errorf("%+v: faults %v", doc, faults)
	}
	if doc, faults := plan.Read([]byte(`{"steps":`), testSlice(), rooms); len(faults) != 1 || faults[0].Code == "" || len(doc.Steps) != 0 {
		t.Errorf("%+v: faults %v", doc, faults)
	}
}
