package plan_test

import (
	"testing"

	"pgregory.net/rapid"

	"errand/catalog"
	"errand/plan"
)

// asked is a plan that is still to be made of what a person said.
func asked(t *testing.T, context map[string]any) *sim {
	t.Helper()
	s := newSim(t, threeSteps())
	s.out, s.finish, s.order = nil, nil, nil
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: s.now,
		Utterance: &plan.Utterance{Text: "안방 청정해줘", DeviceContext: context}})
	s.take(plan.Begin{})
	return s
}

func contextWithRooms(available bool) map[string]any {
	return map[string]any{"map": map[string]any{"available": available, "rooms": []any{map[string]any{"id": "1", "name": "거실"}, map[string]any{"id": "2"}, "x"}}}
}

func TestPlanningUsesTheContextThatCameWithTheWish(t *testing.T) {
	s := asked(t, map[string]any{"battery": 80.0})
	c := out[plan.MakePlan](s)
	if c.PlanID != testPlan || c.DeviceID != testDevice || c.Locale != "en" || c.Utterance.Text != "안방 청정해줘" || c.Context["battery"] != 80.0 {
		t.Errorf("planner is asked %+v", c)
	}
	s.take(plan.DeadlinePassed{})
	if len(s.out) != 0 || s.state.Phase() != plan.Planning {
		t.Errorf("%d more requests while planning, plan is %s", len(s.out), s.state.Phase())
	}
	s.take(plan.Planned{Document: threeSteps(), Slice: testSlice(), LLMCalls: 2})
	s.take(plan.Planned{Sentence: "no"}) // an answer to nothing that is out
	if o := s.settle(); o.State != plan.Completed || o.LLMCalls != 2 || o.Revision != 1 {
		t.Errorf("%s with %d calls, revision %d", o.State, o.LLMCalls, o.Revision)
	}
}

func TestPlanningReadsTheDevicesContextFirst(t *testing.T) {
	s := asked(t, nil)
	if request[plan.AwaitDevice](s) < 0 || request[plan.MakePlan](s) >= 0 {
		t.Fatal("want the device looked for first")
	}
	s.answer(request[plan.AwaitDevice](s), fine)
	if c := out[plan.FetchContext](s); c.Route.ConnectionEpoch != 1 || c.DeviceID != testDevice {
		t.Errorf("fetches %+v", c)
	}
	s.take(plan.ContextFetched{Context: contextWithRooms(true), ConnectionEpoch: 1})
	if c := out[plan.MakePlan](s); c.Context["map"] == nil {
		t.Error("the planner does not get the context")
	}
	s.take(plan.ContextFetched{Context: map[string]any{"late": true}})
	if s.state.Planner.Context["late"] != nil {
		t.Error("a context that nobody asked for was taken")
	}
}

func TestPlanningGoesOnWithoutAContextAfterThreeTries(t *testing.T) {
	s := asked(t, nil)
	for try := range 3 {
		s.answer(request[plan.AwaitDevice](s), fine)
		epoch := out[plan.FetchContext](s).Route.ConnectionEpoch
		s.take(plan.ContextFetched{Detail: "no answer", ConnectionEpoch: epoch})
		s.device.connect()
		if made := request[plan.MakePlan](s) >= 0; made != (try == 2) {
			t.Fatalf("after try %d the planner is asked: %v", try+1, made)
		}
	}
	if len(s.out) != 1 {
		t.Errorf("%d requests are out, want the planner's alone", len(s.out))
	}
}

func TestNoPlanEndsWithAnHonestSentence(t *testing.T) {
	for code, report := range map[string]*plan.Report{"NO_PLAN": nil, "ROOM_UNKNOWN": {Code: "ROOM_UNKNOWN"}} {
		s := asked(t, map[string]any{})
		s.take(plan.Planned{Sentence: "I do not know how.", Report: report})
		if s.finish == nil || s.finish.State != plan.Failed || s.finish.Reason.Code != code || s.finish.TTSResponse != "I do not know how." {
			t.Errorf("outcome %+v, want failed by %s with the planner's sentence", s.finish, code)
		}
	}
}

func TestLaw14APlannersPlanPassesTheSameGate(t *testing.T) {
	invalid := &plan.Document{Steps: []plan.StepSpec{spec("a", "nosuch", nil, nil)}}
	for name, c := range map[string]struct {
		context map[string]any
		doc     *plan.Document
		valid   bool
	}{
		"unknown capability":            {map[string]any{}, invalid, false},
		"room not in the catalog":       {contextWithRooms(true), threeSteps(), false},
		"room catalog not available":    {contextWithRooms(false), threeSteps(), true},
		"room catalog not known at all": {map[string]any{}, threeSteps(), true},
		"no steps":                      {map[string]any{}, &plan.Document{}, false},
	} {
		s := asked(t, c.context)
		s.take(plan.Planned{Document: c.doc, Slice: testSlice()})
		if valid := s.finish == nil; valid != c.valid {
			t.Errorf("%s: taken %v, want %v", name, valid, c.valid)
		} else if !valid && s.finish.Reason.Code != "PLAN_INVALID" {
			t.Errorf("%s: %s", name, s.finish.Reason.Code)
		}
	}
}

func TestAPlanThatComesAfterTheCancelIsNotTaken(t *testing.T) {
	s := asked(t, map[string]any{})
	s.take(plan.CancelRequest{By: "kim"})
	if s.finish == nil || s.finish.State != plan.Cancelled {
		t.Fatalf("%s", describe(s.state))
	}
	s.take(plan.Planned{Document: threeSteps(), Slice: testSlice()})
	if len(s.order) != 0 {
		t.Error("a step was sent after the end")
	}
}

func TestAPlanWithNothingToDoEnds(t *testing.T) {
	s := asked(t, nil)
	s.finish = nil
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: s.now, Document: threeSteps()})
	s.take(plan.Begin{})
	if s.finish == nil || s.finish.Reason.Code != "PLAN_INVALID" {
		t.Errorf("a document without its slice: %+v", s.finish)
	}
}

func TestAQuestionIsTheCatalogsSentence(t *testing.T) {
	slice := testSlice()
	slice.Reasons[2].Say = catalog.Text{En: "It is stuck."}
	slice.Sentences["ask_wait"] = catalog.Text{En: "{reason} Wait?"}
	slice.Sentences["ask_decision"] = catalog.Text{En: "{reason} Again?"}
	for kind, want := range map[plan.EventName]string{plan.EventBlocked: "It is stuck. Wait?", plan.EventFailed: "It is stuck. Again?"} {
		s := newSim(t, threeSteps())
		s.out, s.finish = nil, nil
		s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: s.now, Document: threeSteps(), Slice: slice})
		s.take(plan.Begin{})
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.happens(kind, 80, "ASK_ME", true)
		if len(s.asked) != 1 || s.asked[0].Text != want || s.asked[0].ID != "p-1.1" || s.asked[0].ExpiresAt != s.now+120_000 {
			t.Errorf("asked %+v, want %q", s.asked, want)
		}
		if v := s.state.View(); v.Plan.WaitingFor != "answer:p-1.1" {
			t.Errorf("waits for %s", v.Plan.WaitingFor)
		}
	}
}

// Law 17: whatever of a context is stale, unusable or unavailable reaches no planner and grounds no room.
func TestLaw17WhatIsNotFreshIsToldToNoPlanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		area := func(name string) map[string]any {
			return map[string]any{"available": rapid.Bool().Draw(t, name+" available"), "word": name, "rooms": []any{map[string]any{"id": "6", "name": "안방"}}}
		}
		source := func(name string) map[string]any {
			return map[string]any{"policy": rapid.SampledFrom([]string{"periodic", "on_change"}).Draw(t, name+" policy"),
				"usable": rapid.Bool().Draw(t, name+" usable"), "stale": rapid.Bool().Draw(t, name+" stale"),
				"expires_at": rapid.SampledFrom([]float64{999, 1001}).Draw(t, name+" expires")}
		}
		seen, freshness := map[string]any{"snapshot_ts": 1000.0}, map[string]any{}
		for _, name := range []string{"map", "battery", "location"} {
			seen[name], freshness[name] = area(name), source(name)
		}
		seen["freshness"] = freshness
		told := toldToThePlanner(t, seen, rapid.Bool().Draw(t, "with the wish"))
		for _, name := range []string{"map", "battery", "location"} {
			s, a := freshness[name].(map[string]any), seen[name].(map[string]any) //nolint:errcheck // made above
			good := a["available"] == true && s["usable"] == true && s["stale"] == false && (s["policy"] == "on_change" || s["expires_at"] == 1001.0)
			if _, got := told[name]; got != good {
				t.Fatalf("the planner is told of %s: %v; it is %v, its source %v", name, got, a, s)
			}
			if name == "map" && good != (plan.RoomsOf(told) != nil) {
				t.Fatalf("rooms %v from the map %v, its source %v", plan.RoomsOf(told), a, s)
			}
		}
	})
}

// toldToThePlanner is the context in the command to make a plan, whether it came with the wish or was read from the device.
func toldToThePlanner(t *rapid.T, seen map[string]any, withTheWish bool) map[string]any {
	wish := &plan.Utterance{Text: "안방으로 가줘"}
	if withTheWish {
		wish.DeviceContext = seen
	}
	s := newSim(t, threeSteps())
	s.out, s.all = nil, nil
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: s.now, Utterance: wish})
	s.take(plan.Begin{})
	if !withTheWish {
		s.answer(request[plan.AwaitDevice](s), fine)
		out[plan.FetchContext](s)
		s.take(plan.ContextFetched{Context: seen})
	}
	return out[plan.MakePlan](s).Context
}
