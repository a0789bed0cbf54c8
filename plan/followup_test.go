package plan_test

import (
	"slices"
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// followed is a plan of three steps whose first one runs, and to which a follow-up was said.
func followed(t *testing.T) *sim {
	t.Helper()
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.FollowUp{Text: "거실 청소해줘", By: "kim"})
	return s
}

// planned lets the device tell its context, and answers the planner's question.
func planned(t *testing.T, s *sim, in plan.Planned) {
	t.Helper()
	s.answer(request[plan.FetchContext](s), fine)
	out[plan.MakePlan](s)
	s.take(in)
}

func TestAFollowUpIsPlannedAndCarriedOutAfterwards(t *testing.T) {
	s := followed(t)
	s.answer(request[plan.FetchContext](s), fine)
	c := out[plan.MakePlan](s)
	s.out = append(s.out, c)
	if c.Utterance.Text != "거실 청소해줘" || c.Extends == nil || len(c.Extends.View.Steps) != 3 || c.Extends.View.Plan.PlanRevision != 1 || c.Extends.View.Plan.WaitingFor != "step:move" {
		t.Errorf("the planner is asked %+v", c)
	}
	o := s.settle() // the planner answers with the same three steps, names and all
	want := []string{"move", "purify", "dock", "move_2", "purify_2", "dock_2"}
	if o.State != plan.Completed || o.Revision != 2 || !slices.Equal(s.order, want) || len(s.device.effects) != 6 {
		t.Errorf("%s, revision %d, order %v, effects %v", o.State, o.Revision, s.order, s.device.effects)
	}
	if bound := s.state.Steps[4].Bound["area_id"]; bound != "arrival_2.result.area_id" {
		t.Errorf("purify_2 took its area from %q", bound)
	}
}

// A plan does not end while what comes next is still being planned, and it is told so.
func TestLaw18APlanWaitsForItsFollowUp(t *testing.T) {
	s := newSim(t, &plan.Document{Steps: []plan.StepSpec{spec("dock", "dock", nil, nil)}})
	s.until("running", func() bool { return s.phase("dock") == plan.StepRunning })
	s.take(plan.FollowUp{Text: "복귀해줘", By: "kim"})
	s.answer(request[plan.FetchContext](s), fine)
	held := out[plan.MakePlan](s)
	s.until("done", func() bool { return s.phase("dock") == plan.StepCompleted })
	v := s.state.View()
	if v.State != plan.Running || v.Plan.WaitingFor != "planner" || v.Why == "" || v.Next == nil || v.Next.Move != plan.MoveFail {
		t.Fatalf("%s waits for %q (%s), next %+v", v.State, v.Plan.WaitingFor, v.Why, v.Next)
	}
	s.out = append(s.out, held)
	if o := s.settle(); o.State != plan.Completed || len(o.Steps) != 4 {
		t.Errorf("%s with %d steps", o.State, len(o.Steps))
	}
}

func TestAFollowUpThatNobodyCanPlanLeavesThePlanUntouched(t *testing.T) {
	refused := testSlice().Sentences
	refused["follow_up_refused"] = catalog.Text{Ko: "안 돼요.", En: "Not that."}
	bad := &plan.Document{Steps: []plan.StepSpec{spec("x", "nosuch", nil, nil)}}
	for name, tt := range map[string]struct {
		in   plan.Planned
		said string
	}{
		"no plan": {plan.Planned{Sentence: "I do not know that."}, "I do not know that."}, "nothing at all": {plan.Planned{}, "Not that."},
		"a plan that does not pass the gate": {plan.Planned{Document: bad, Slice: testSlice(), FromModel: true, LLMCalls: 2}, "Not that."},
	} {
		s := followed(t)
		s.state.Slice.Sentences = refused
		planned(t, s, tt.in)
		if !slices.Equal(s.told, []string{tt.said}) || s.state.Revision != 1 || len(s.state.FollowUps) != 0 || s.state.LLMCalls != tt.in.LLMCalls {
			t.Errorf("%s: said %q, revision %d, %d calls", name, s.told, s.state.Revision, s.state.LLMCalls)
		}
		if o := s.settle(); o.State != plan.Completed || len(o.Steps) != 3 {
			t.Errorf("%s: %s with %d steps", name, o.State, len(o.Steps))
		}
	}
}

// What a model makes of a follow-up is confirmed like all that it puts in a plan.
func TestLaw14AModelsFollowUpIsConfirmed(t *testing.T) {
	s := followed(t)
	planned(t, s, plan.Planned{Document: &plan.Document{Steps: []plan.StepSpec{spec("open", "unlock", nil, nil)}}, Slice: testSlice(), FromModel: true, LLMCalls: 1})
	s.until("asks", func() bool { return s.state.Question != nil })
	if s.state.Question.StepID != "open" || s.phase("dock") != plan.StepCompleted {
		t.Fatalf("asks about %s while dock is %s", s.state.Question.StepID, s.phase("dock"))
	}
	s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: "no", By: "kim", MayConfirm: true})
	if o := s.settle(); slices.Contains(s.order, "open") || o.LLMCalls != 1 {
		t.Errorf("order %v, %d calls", s.order, o.LLMCalls)
	}
}

func TestWhoIsStoppedTakesNoFollowUp(t *testing.T) {
	in := plan.FollowUp{Text: "복귀해줘", By: "kim"}
	s := followed(t)
	s.take(plan.CancelRequest{By: "kim"})
	if s.state.FollowUpRefusal(in) == "" {
		t.Error("takes follow-ups while cancelling")
	}
	s.take(in)
	if o := s.settle(); o.State != plan.Cancelled || len(o.Steps) != 3 || !journalHas(s, "note", "not planned any more") {
		t.Errorf("%s with %d steps; the journal does not tell of the follow-up", o.State, len(o.Steps))
	}
	s = newSim(t, threeSteps())
	for range 4 {
		s.take(in)
	}
	if s.state.FollowUpRefusal(in) == "" || s.state.FollowUpRefusal(plan.FollowUp{Text: " ", By: "kim"}) == "" {
		t.Error("takes a fifth follow-up, or one that says nothing")
	}
	s.take(in)
	if o := s.settle(); len(o.Steps) != 15 || o.State != plan.Completed {
		t.Errorf("%s with %d steps, want the plan's three and four times three more", o.State, len(o.Steps))
	}
}

// Without a way to the device a follow-up is planned with what was known.
func TestAFollowUpIsPlannedThoughTheDeviceIsAway(t *testing.T) {
	s := newSim(t, threeSteps())
	s.take(plan.FollowUp{Text: "복귀해줘", By: "kim"})
	if request[plan.MakePlan](s) < 0 {
		t.Error("waits for the device before it plans")
	}
	if o := s.settle(); o.State != plan.Completed || len(o.Steps) != 6 {
		t.Errorf("%s with %d steps", o.State, len(o.Steps))
	}
}

// What became of a follow-up is on record, with who said it.
func TestLaw19AFollowUpIsOnRecord(t *testing.T) {
	bad := &plan.Document{Steps: []plan.StepSpec{spec("x", "nosuch", nil, nil)}}
	good := &plan.Document{Steps: []plan.StepSpec{spec("x", "dock", nil, nil)}}
	for want, in := range map[string]plan.Planned{
		"nothing came of a follow-up": {}, "extended by kim": {Document: good, Slice: testSlice()},
		"follow-up refused: steps[0].action.capability_id: the catalog has no capability": {Document: bad, Slice: testSlice()},
	} {
		s := followed(t)
		planned(t, s, in)
		if !journalHas(s, "note", "to be extended by kim") || !journalHas(s, "note", want) {
			t.Errorf("%q is not on record: %+v", want, s.state.Journal)
		}
	}
	s := followed(t)
	s.take(plan.FollowUp{By: "kim"})
	if !journalHas(s, "note", "follow-up refused: text is missing") || len(s.state.FollowUps) != 1 {
		t.Errorf("%d wait, on record: %+v", len(s.state.FollowUps), s.state.Journal)
	}
}

// A follow-up's steps get names that the plan has never used, and what refers to them follows; the plan's own steps keep theirs.
func TestAFollowUpsNamesAreItsOwn(t *testing.T) {
	s := followed(t)
	move := spec("move", "move", nil, nil)
	move.OutputKey = "arrival"
	planned(t, s, plan.Planned{Slice: testSlice(), Document: &plan.Document{Steps: []plan.StepSpec{move,
		spec("clean", "clean", []string{"move"}, map[string]string{"arrival": "arrival.result"}),
		spec("purify", "purify", []string{"move", "dock"}, map[string]string{"area_id": "move.result.area_id"})}}})
	got := s.state.Document.Steps[3:]
	if len(got) != 3 || got[0].ID != "move_2" || got[0].OutputKey != "arrival_2" || got[1].ID != "clean" || got[2].ID != "purify_2" {
		t.Fatalf("%+v", got)
	}
	if !slices.Equal(got[1].DependsOn, []string{"move_2"}) || got[1].InputFrom["arrival"] != "arrival_2.result" {
		t.Errorf("clean: %+v", got[1])
	}
	if !slices.Equal(got[2].DependsOn, []string{"move_2", "dock"}) || got[2].InputFrom["area_id"] != "move_2.result.area_id" {
		t.Errorf("purify_2: %+v", got[2])
	}
	if o := s.settle(); o.State != plan.Completed || len(o.Steps) != 6 {
		t.Errorf("%s with %d steps", o.State, len(o.Steps))
	}
}

// A follow-up that is being planned when a decision falls due is planned again once it is decided: it is not lost, and no
// planner is asked meanwhile.
func TestLaw19AFollowUpOutlivesABoundary(t *testing.T) {
	good := plan.Planned{Document: &plan.Document{Steps: []plan.StepSpec{spec("x", "dock", nil, nil)}}, Slice: testSlice()}
	for name, asked := range map[string]bool{"before the planner was asked": false, "while the planner was asked": true} {
		s := decidedSim(t)
		s.take(plan.FollowUp{Text: "복귀해줘", By: "kim"})
		look := request[plan.FetchContext](s)
		if asked {
			s.answer(look, fine)
			out[plan.MakePlan](s)
		}
		s.take(seen(90))
		if !asked {
			s.answer(request[plan.FetchContext](s), fine)
		}
		deciding(t, s)
		if asked {
			s.take(good)
		}
		if request[plan.MakePlan](s) >= 0 || len(s.told) != 0 {
			t.Errorf("%s: a planner is asked, or %q is said, while a decision is due", name, s.told)
		}
		s.take(plan.Decided{Decision: plan.DecideRetry})
		if i := request[plan.FetchContext](s); i >= 0 {
			s.answer(i, fine)
		}
		out[plan.MakePlan](s)
		s.take(good)
		if o := s.settle(); o.State != plan.Completed || len(o.Steps) != 4 {
			t.Errorf("%s: %s with %d steps", name, o.State, len(o.Steps))
		}
	}
}

// A wish is bounded like any other: it lies in the state of its plan until it is planned.
func TestAFollowUpIsBounded(t *testing.T) {
	s := newSim(t, threeSteps())
	long := strings.Repeat("가", 1000)
	if r := s.state.FollowUpRefusal(plan.FollowUp{Text: long, By: "kim"}); r != "" {
		t.Errorf("1000 characters are refused: %s", r)
	}
	if r := s.state.FollowUpRefusal(plan.FollowUp{Text: long + "가", By: "kim"}); !strings.Contains(r, "1000 characters") {
		t.Errorf("1001 characters: %q", r)
	}
}

// Law 17: a context that was read for another moment is not told to who plans a follow-up; its rooms are those that the device had.
func TestLaw17AFollowUpWithoutAFreshContextIsToldTheRoomsAlone(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.state.Planner.Context = map[string]any{"battery": map[string]any{"level": 90.0}, "schema_version": "device_context.v1",
		"map": map[string]any{"rooms": []any{map[string]any{"id": "1", "name": "안방"}}}}
	s.take(plan.FollowUp{Text: "거실 청소해줘", By: "kim"})
	out[plan.FetchContext](s)
	s.take(plan.ContextFetched{Detail: "no answer in time", ConnectionEpoch: 1})
	c := out[plan.MakePlan](s)
	if c.Context["battery"] != nil || len(plan.RoomsOf(c.Context)) != 1 {
		t.Errorf("told %+v", c.Context)
	}
}

// A context that is being read for a decision is not taken for the one that a follow-up needs.
func TestAFollowUpWaitsForTheLookThatIsOut(t *testing.T) {
	s := decidedSim(t)
	s.looks = true
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	s.happens(plan.EventRunning, 81, "", false) // it went on by itself: nothing is to be decided any more
	looks := func() (n int) {
		for _, c := range s.out {
			if _, ok := c.(plan.FetchContext); ok {
				n++
			}
		}
		return n
	}
	if s.take(plan.FollowUp{Text: "거실 청소해줘", By: "kim"}); looks() != 1 {
		t.Fatalf("%d looks are out at once", looks())
	}
	s.answer(request[plan.FetchContext](s), fine)
	if looks() != 1 || request[plan.MakePlan](s) >= 0 {
		t.Errorf("%d looks, planner asked %v: it reads the device's context for itself", looks(), request[plan.MakePlan](s) >= 0)
	}
}
