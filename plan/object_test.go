package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"errand/plan"
)

// An object that fits and cannot be told from every other leaves it unknown which is meant. To leave it out would take what is left
// for the only one.
func TestLaw17AnObjectThatCannotBeToldIsNoReasonToTakeAnother(t *testing.T) {
	good := alarm("a", "07:00", "출근", "1")
	for name, bad := range map[string]any{
		"no id":                        map[string]any{"time": "07:00", "revision": "1"},
		"an id of another type":        map[string]any{"id": 7.0, "time": "07:00", "revision": "1"},
		"an id with what nobody sees":  alarm("b\u202e", "07:00", "운동", "1"),
		"an id without end":            alarm(strings.Repeat("b", 129), "07:00", "운동", "1"),
		"the id that is an answer":     alarm("none", "07:00", "운동", "1"),
		"the id of another":            alarm("a", "07:00", "운동", "2"),
		"no revision":                  map[string]any{"id": "b", "time": "07:00"},
		"a revision of another type":   map[string]any{"id": "b", "time": "07:00", "revision": 2.0},
		"a revision that is no number": map[string]any{"id": "b", "time": "07:00", "revision": []any{}},
	} {
		s := acting(t, "ring", home(good, bad), map[string]any{"time": "07:00"})
		if o := s.settle(); o.State != plan.Failed || o.Reason.Code != "STATE_UNKNOWN" || len(s.submits) != 0 || len(s.asked) != 0 {
			t.Errorf("%s: %s for %+v, sent %v, asked %v", name, o.State, o.Reason, s.submits, s.asked)
		}
		elsewhere := acting(t, "ring", home(alarm("c", "09:00", "약", "1"), bad), map[string]any{"time": "09:00"})
		if o := elsewhere.settle(); o.State != plan.Completed {
			t.Errorf("%s: what is not meant is in the way: %s for %+v", name, o.State, o.Reason)
		}
	}
	s := acting(t, "ring", home(good, "no object"), nil)
	if o := s.settle(); o.Reason == nil || o.Reason.Code != "STATE_UNKNOWN" {
		t.Errorf("an item that is no object: %s for %+v", o.State, o.Reason)
	}
}

// Ids that are words of other questions are ids.
func TestAnIDMayBeAWord(t *testing.T) {
	s := acting(t, "ring", home(alarm("yes", "07:00", "출근", "1"), alarm("no", "07:00", "운동", "1")), nil)
	s.asks("select")
	s.says("no")
	if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.sent(), []string{"p-1/act/1 no at 1"}) {
		t.Errorf("%s, sent %v", o.State, s.sent())
	}
}

// However many objects a device has, and however it calls them, what enters a plan's history is small, and the one that is named is
// found among them all.
func TestLaw13WhatIsKeptOfManyObjectsIsBounded(t *testing.T) {
	var many []any
	for i := range 4000 {
		many = append(many, alarm(fmt.Sprint(i), "07:00", strings.Repeat("긴", 9_000)+"\n\x1b[2J", "1"))
	}
	context := home(many...)
	object := homeSlice().Capabilities[len(homeSlice().Capabilities)-2].Slots[0].Object
	found, untold := plan.Objects(context, object, "3999", nil, "ko")
	raw, err := json.Marshal(found)
	if untold != nil || err != nil || len(found) != 10 || found[9].ID != "3999" || len(raw) > 5_000 {
		t.Fatalf("%d objects in %d bytes, %v, %v", len(found), len(raw), untold, err)
	}
	for _, target := range found {
		if strings.ContainsAny(target.Label, "\n\x1b") || len([]rune(target.Label)) > 90 {
			t.Errorf("label %q", target.Label)
		}
	}
	for arguments, state := range map[string]plan.Phase{"3999": plan.Completed, "4000": plan.Failed} {
		s := acting(t, "ring", context, map[string]any{"alarm_id": arguments})
		if o := s.settle(); o.State != state || len(s.asked) != 0 {
			t.Errorf("%s: %s for %+v", arguments, o.State, o.Reason)
		}
	}
}

// A number that tells two apart is not what a third one is called by; what has no name of its own goes by its id.
func TestNoTwoLabelsAreTheSame(t *testing.T) {
	s := acting(t, "ring", home(alarm("a", "07:00", "출근", "1"), alarm("b", "07:00", "출근", "1"), alarm("c", "07:00", "출근 (1)", "1"),
		map[string]any{"id": "d", "revision": "1"}), nil)
	var labels []string
	for _, o := range s.asks("select").Options {
		labels = append(labels, o.Label)
	}
	if want := []string{"07:00 출근 (2)", "07:00 출근 (3)", "07:00 출근 (1)", "d"}; !slices.Equal(labels, want) {
		t.Errorf("labels %q, want %q", labels, want)
	}
}
