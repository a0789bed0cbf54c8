package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"errand/catalog"
	"errand/plan"
)

// The tests here are about values on their way from a result into a slot. scan gives away three fields, use takes three
// slots of the same types and narrower ones: each side has its own border.

var scanned = []struct {
	field   string
	type_   string
	good    any // listed by the source, and fit for the slot
	misfits []any
	refused []any // of the wrong type for the source already
}{
	{"pose", "object", map[string]any{"x": 1.0}, nil, []any{"6", nil, []any{1.0}}},
	{"level", "number", 7.0, []any{11.0, -1.0}, []any{"7", nil, map[string]any{"level": 7.0}}},
	{"tag", "string", "red", []any{"green", ""}, []any{7.0, nil, true}},
}

func scanSlice() *catalog.Slice {
	slice := testSlice()
	zero, ten := 0.0, 10.0
	scan := catalog.Capability{ID: "scan", Operations: []string{"start"}, TaskMethod: "do_scan", CompletionTarget: "scan.done", Enabled: true, Impact: catalog.Reversible}
	use := scan
	use.ID, use.TaskMethod, use.CompletionTarget = "use", "do_use", "use.done"
	for _, f := range scanned {
		scan.ResultContract.BindableResultFields = append(scan.ResultContract.BindableResultFields, catalog.ResultField{Name: f.field, Schema: catalog.SlotSchema{Type: f.type_}})
		slot := catalog.Slot{Name: f.field, Schema: catalog.SlotSchema{Type: f.type_}}
		switch f.type_ {
		case "number":
			slot.Schema.Minimum, slot.Schema.Maximum = &zero, &ten
		case "string":
			slot.Schema.Enum = []string{"red", "blue"}
		}
		use.Slots = append(use.Slots, slot)
	}
	slice.Capabilities = append(slice.Capabilities, scan, use)
	return slice
}

// newScan is a plan that scans and uses one field of what came of it.
func newScan(t tb, field string) *sim {
	s := newSim(t, threeSteps())
	s.out, s.order, s.submits = nil, nil, map[string]int{}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: s.now, Slice: scanSlice(),
		Document: &plan.Document{Steps: []plan.StepSpec{spec("scan", "scan", nil, nil),
			spec("use", "use", []string{"scan"}, map[string]string{field: "scan.result." + field})}}})
	s.take(plan.Begin{})
	return s
}

// A field reaches its slot exactly as the result has it, if both sides' types allow it. Otherwise nothing is submitted,
// and a decision is due: no other field, and never the whole result, takes its place.
func TestLaw03AFieldFitsBothBordersOrNothingIsSubmitted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted := rapid.SampledFrom(scanned).Draw(t, "wanted")
		result, fits := map[string]any{"unlisted": "x"}, false
		for _, f := range scanned {
			choices := append(append([]any{f.good}, f.misfits...), f.refused...)
			i := rapid.IntRange(-1, len(choices)-1).Draw(t, f.field) // -1: the result lacks it
			if i >= 0 {
				result[f.field] = choices[i]
			}
			fits = fits || (f.field == wanted.field && i == 0)
		}
		s := newScan(t, wanted.field)
		s.device.result = result
		o := s.settle()
		switch {
		case fits:
			if got := s.state.Steps[1].Arguments; o.State != plan.Completed || len(got) != 1 || !reflect.DeepEqual(got[wanted.field], wanted.good) {
				t.Fatalf("%v: %s, used %v", result, o.State, got)
			}
		case o.State != plan.Failed || o.Reason.Code != "STEP_RESULT_BINDING_FAILED" || s.submits["p-1/use/1"] != 0 || !journalHas(s, "boundary", "STEP_RESULT_BINDING_FAILED"):
			t.Fatalf("%v: %s for %+v, sent %v; want no submit and a decision", result, o.State, o.Reason, s.submits)
		}
	})
}

// wayOfResult is one way in which a result comes to a plan.
type wayOfResult string

// byEvent and the others: as an event, or stored in an answer to a repeated submit, a question or a cancel.
const (
	byEvent  wayOfResult = "event"
	bySubmit wayOfResult = "submit"
	byStatus wayOfResult = "status"
	byCancel wayOfResult = "cancel"
)

// Whatever else a result holds, at any depth, and whichever way it comes: only listed fields of their types are kept.
// Nothing of the rest is in the state (checkNoRawResults), a command or the outcome.
func TestLaw04NothingUnlistedIsKeptWhicheverWayItCame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := map[string]any{}
		for i := range rapid.IntRange(1, 5).Draw(t, "fields") {
			raw[rapid.SampledFrom([]string{"raw_pose", "map_token", "Area_ID", "area_id ", "result", "room_name"}).Draw(t, "name")+fmt.Sprint(i)] = deep(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		}
		area := rapid.SampledFrom([]any{"6", nil, map[string]any{"id": "secret"}, []any{"secret"}}).Draw(t, "area_id")
		raw["area_id"] = area
		s := newSim(t, &plan.Document{Steps: []plan.StepSpec{spec("move", "move", nil, nil)}})
		s.device.result = raw
		s.report(rapid.SampledFrom([]wayOfResult{byEvent, bySubmit, byStatus, byCancel}).Draw(t, "way"))
		want := map[string]any{}
		if area == "6" {
			want["area_id"] = "6"
		}
		if got := s.state.Steps[0].Result; s.phase("move") != plan.StepCompleted || len(got) != len(want) || got["area_id"] != want["area_id"] {
			t.Fatalf("move is %s with %v, want completed with %v", s.phase("move"), got, want)
		}
		s.settle()
		text, err := json.Marshal([]any{s.all, s.finish, s.state.View()})
		if err != nil || bytes.Contains(text, []byte("secret")) {
			t.Fatalf("an unlisted field is in %s (%v)", text, err)
		}
	})
}

// deep is a value with a secret somewhere inside.
func deep(t *rapid.T, depth int) any {
	if depth == 0 {
		return "secret"
	}
	if rapid.Bool().Draw(t, "list") {
		return []any{1.0, deep(t, depth-1)}
	}
	return map[string]any{"area_id": deep(t, depth-1)}
}

// report lets the move be done, and the plan learn of it in one way.
func (s *sim) report(way wayOfResult) {
	s.t.Helper()
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	submit := out[plan.Submit](s)
	taken := s.device.submit(submit)
	s.device.work()
	s.device.work()
	done := *s.device.tasks[submit.OperationID].terminal
	s.device.outbox = nil
	switch way {
	case byEvent:
		s.take(taken)
		s.take(done)
	case bySubmit:
		s.take(s.device.submit(submit))
	case byStatus:
		s.take(plan.Submitted{OperationID: submit.OperationID, Delivery: plan.DeliveryUnknown})
		s.answer(request[plan.QueryStatus](s), fine)
	case byCancel:
		s.take(taken)
		s.take(plan.CancelRequest{By: "kim"})
		s.answer(request[plan.CancelTask](s), fine)
	}
}
