package plan_test

import (
	"maps"
	"slices"
	"testing"

	"errand/plan"
)

// What people did to a plan is on record, each with who it was.
func TestLaw19WhatPeopleDidIsOnRecord(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	for _, in := range []plan.Input{
		plan.Pause{Token: "a", By: "kim"}, plan.Pause{Token: "a", By: "again"}, plan.Resume{Token: "b", By: "nobody"}, plan.Resume{Token: "a", By: "lee"},
		more("more", "dock"), more("move", "dock"),
		plan.CancelStep{StepID: "dock", By: "park", Why: "not today"}, plan.CancelStep{StepID: "dock", By: "park"}, plan.CancelStep{StepID: "nosuch", By: "park"},
	} {
		s.take(in)
	}
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	s.take(plan.Answer{QuestionID: "p-1.1", Choice: "wait", By: "choi"})
	s.take(plan.CancelRequest{By: "jung", Why: "too loud"})
	s.take(plan.CancelRequest{By: "later"})
	var got []string
	for _, e := range s.state.Journal {
		if e.Kind == "note" {
			got = append(got, e.Step+"|"+e.Text)
		}
	}
	want := []string{"|paused by kim", "|resumed by lee", "|amended by kim",
		`|amendment refused: steps[0].id: "move" is already taken by steps[0].id`,
		"dock|withdrawn by park: not today", "dock|cancel of a step refused: the plan goes on without it already",
		"nosuch|cancel of a step refused: the plan has no step nosuch",
		"move|question p-1.1 answered by choi: wait", "|cancel asked for by jung: too loud"}
	if !slices.Equal(got, want) {
		t.Errorf("on record:\n%q\nwant\n%q", got, want)
	}
}

// Each change of the plan's state and of a step's is one entry, numbered and timed; where the plan waits, with the end of the
// wait.
func TestLaw18TheRecordSaysHowLongAWaitMayTake(t *testing.T) {
	s := decidedSim(t)
	s.take(plan.Pause{Token: "x", By: "kim"})
	s.take(plan.Resume{Token: "x", By: "kim"})
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	s.decide(plan.Decided{Decision: plan.DecideAsk})
	s.take(plan.Answer{QuestionID: "p-1.1", Choice: "wait", By: "kim"})
	s.take(plan.DeviceChange{Gone: s.device.connection})
	s.take(plan.CancelRequest{By: "kim"})
	until := map[string]int64{}
	for i, e := range s.state.Journal {
		if e.N != i+1 || e.At < askedAt || e.At > s.now || (i > 0 && e.At < s.state.Journal[i-1].At) {
			t.Errorf("entry %d: %+v", i, e)
		}
		if e.Kind == "plan" {
			until[e.To] = e.Until
		}
	}
	want := map[string]int64{"running": 0, "paused": s.now + 130_000, "waiting_replan": s.now + 130_000, "waiting_user": s.now + 120_000,
		"waiting_device": s.state.Deadline, "cancelling": s.state.Cancel.GiveUpAt}
	if !maps.Equal(until, want) {
		t.Errorf("waits on record: %v, want %v", until, want)
	}
}

// The record is of all there was; the state keeps the last 200 entries.
func TestTheLast200EntriesAreKept(t *testing.T) {
	s := newSim(t, threeSteps())
	for n := s.state.Entries; n < 200; n = s.state.Entries {
		if len(s.state.Journal) != n {
			t.Fatalf("%d of %d entries are kept", len(s.state.Journal), n)
		}
		s.take(plan.Event{EventID: "n", DeviceID: "robot-2"})
	}
	s.take(plan.Event{EventID: "last", DeviceID: "robot-2"})
	if j := s.state.Journal; len(j) != 200 || s.state.Entries != 201 || j[0].N != 2 || j[199].N != 201 || j[199].Text != "event last ignored: it is from another device" {
		t.Errorf("%d of %d entries are kept, the first is %+v, the last %+v", len(j), s.state.Entries, j[0], j[len(j)-1])
	}
}
