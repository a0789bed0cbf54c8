package plan_test

import (
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// The gate refuses all of these. The machine holds both borders by itself as well: of a document that never passed the gate
// it binds nothing either, and says what is wrong.
func TestLaw03TheMachineHoldsBothBordersByItself(t *testing.T) {
	const slot = "area_id"
	for name, c := range map[string]struct {
		change func(*plan.State)
		why    string
	}{
		"no path":            {bound("arrival"), "not a path"},
		"no such step":       {bound("nowhere.result.area_id"), "there is no such step"},
		"a step to come":     {bound("dock.result.area_id"), "its step is not completed"},
		"an unlisted field":  {bound("arrival.result.raw_pose"), "the capability does not list the field"},
		"a field that lacks": {func(s *plan.State) { s.Slice.Capabilities[0].ResultContract = lists("area_id", "number") }, "the result does not have the field"},
		"a whole result": {func(s *plan.State) {
			bound("arrival.result")(s)
			s.Slice.Capabilities[0].ResultContract.Envelope = false
		}, "does not give its whole result away"},
		"an empty result": {func(s *plan.State) {
			bound("arrival.result")(s)
			s.Slice.Capabilities[0].ResultContract.BindableResultFields = nil
		}, "the result has none of the listed fields"},
		"an envelope as text": {bound("arrival.result"), "the value must be a string, is an object"},
		"an undeclared slot":  {func(s *plan.State) { s.Slice.Capabilities[1].Slots = nil }, "the capability purify has no slot area_id"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, threeSteps())
			c.change(&s.state)
			o := s.settle()
			if o.State != plan.Failed || o.Reason == nil || o.Reason.Code != "STEP_RESULT_BINDING_FAILED" || s.submits["p-1/purify/1"] != 0 {
				t.Fatalf("%s for %+v, sent %v", o.State, o.Reason, s.submits)
			}
			path := s.state.Document.Steps[1].InputFrom[slot]
			if !strings.HasPrefix(o.Reason.Detail, "steps.purify.input_from."+slot+": "+path+": ") || !strings.Contains(o.Reason.Detail, c.why) {
				t.Errorf("says %q, want %q", o.Reason.Detail, c.why)
			}
			if o.Reason.Params["slot"] != slot || o.Reason.Params["path"] != path || o.Steps[1].OperationID != "" || o.Steps[1].Reason == nil {
				t.Errorf("the reason is %+v, purify ends as %+v", o.Reason, o.Steps[1])
			}
		})
	}
}

// bound lets purify's slot be bound from another path.
func bound(path string) func(*plan.State) {
	return func(s *plan.State) { s.Document.Steps[1].InputFrom = map[string]string{"area_id": path} }
}

func lists(field, kind string) catalog.ResultContract {
	return catalog.ResultContract{BindableResultFields: []catalog.ResultField{{Name: field, Schema: catalog.SlotSchema{Type: kind}}}}
}

// A plan's own arguments are sent as they are, beside what was bound; and what was bound is on record with its path.
func TestLaw03WhatWasBoundIsOnRecord(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{spec("move", "move", nil, nil),
		spec("clean", "clean", []string{"move"}, map[string]string{"arrival": "move.result"})}}
	doc.Steps[1].Action.Arguments = map[string]any{"note": "under the bed"}
	s := newSim(t, doc)
	if got := s.state.View().Steps[1].Arguments; len(got) != 1 || got["note"] != "under the bed" {
		t.Errorf("before it is bound, clean's arguments are told as %v", got)
	}
	s.until("clean out", func() bool { return s.submits["p-1/clean/1"] == 1 })
	v := s.state.View().Steps[1]
	if len(v.Arguments) != 2 || v.Arguments["note"] != "under the bed" || v.Bound["arrival"] != "move.result" {
		t.Errorf("clean has %v, bound %v", v.Arguments, v.Bound)
	}
	e := entryOf(t, s, "bind")
	if e.Step != "clean" || e.From != "move.result" || e.To != "arrival" || !strings.Contains(e.Text, `"area_id":"6"`) {
		t.Errorf("on record: %+v", e)
	}
	if o := s.settle(); o.State != plan.Completed || len(doc.Steps[1].Action.Arguments) != 1 {
		t.Errorf("%s; the document's own arguments are %v now", o.State, doc.Steps[1].Action.Arguments)
	}
}

// A value is shown to people in full up to 120 bytes, and cut beyond.
func TestALongValueIsCutOnTheRecord(t *testing.T) {
	for n, want := range map[int]string{118: `"` + strings.Repeat("x", 118) + `"`, 119: `"` + strings.Repeat("x", 116) + "..."} { // and two quotes
		s := newSim(t, threeSteps())
		s.device.result = map[string]any{"area_id": strings.Repeat("x", n)}
		s.until("bound", func() bool { return s.submits["p-1/purify/1"] == 1 })
		if e := entryOf(t, s, "bind"); e.Text != want {
			t.Errorf("%d characters: %q", n, e.Text)
		}
	}
}

// entryOf is the one entry of a kind on the record.
func entryOf(t *testing.T, s *sim, kind string) (found plan.Entry) {
	t.Helper()
	n := 0
	for _, e := range s.state.Journal {
		if e.Kind == kind {
			found = e
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d entries of %s on record, want one: %+v", n, kind, s.state.Journal)
	}
	return found
}
