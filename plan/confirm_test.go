package plan_test

import (
	"slices"
	"testing"

	"errand/catalog"
	"errand/plan"
)

func TestLaw16NoAndSilenceMoveNothing(t *testing.T) {
	for name, c := range map[string]struct {
		choice string
		code   string
	}{"no": {"no", "NOT_CONFIRMED"}, "silence": {"", "CONFIRMATION_EXPIRED"}} {
		s := acting(t, "arm", twoAtSeven(), nil)
		s.asks("confirm")
		if c.choice != "" {
			s.says(c.choice)
		}
		if o := s.settle(); o.State != plan.Failed || o.Reason.Code != c.code || len(s.submits) != 0 {
			t.Errorf("%s: %s for %+v, sent %v", name, o.State, o.Reason, s.submits)
		}
	}
}

// A step that the plan can do without is left out, and the rest goes on.
func TestLaw16AnOptionalStepIsLeftOut(t *testing.T) {
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}, home: twoAtSeven()}
	arm := spec("arm", "arm", nil, nil)
	arm.Optional = true
	doc := &plan.Document{Steps: []plan.StepSpec{arm, spec("dock", "dock", nil, nil)}}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: doc, Slice: homeSlice()})
	s.take(plan.Begin{})
	s.asks("confirm")
	s.says("no")
	if o := s.settle(); o.State != plan.Completed || s.submits["p-1/arm/1"] != 0 || s.submits["p-1/dock/1"] != 1 || o.Steps[0].Phase != plan.StepSkipped {
		t.Errorf("%s: %+v", o.State, o.Steps)
	}
}

// One who may command may not thereby confirm: the question stays open, and what was tried is on record.
func TestLaw16OnlyWhoMayConfirmConfirms(t *testing.T) {
	s := acting(t, "arm", twoAtSeven(), nil)
	q := s.asks("confirm")
	child := plan.Answer{QuestionID: q.ID, Choice: "yes", By: "child"}
	if refusal := s.state.AnswerRefusal(child, s.now); refusal == nil || refusal.Code != "may_not_confirm" {
		t.Errorf("refused as %+v", refusal)
	}
	s.take(child)
	if s.state.Question == nil || len(s.submits) != 0 {
		t.Fatalf("%s, sent %v", describe(s.state), s.submits)
	}
	s.says("no")
	late := s.state.AnswerRefusal(plan.Answer{QuestionID: q.ID, Choice: "yes", By: "child", MayConfirm: true}, s.now)
	if late == nil || late.Code != "already_answered" || late.Answered.By != "kim" || late.Answered.Choice != "no" {
		t.Errorf("the second answer is refused as %+v", late)
	}
}

// What a confirmation is bound to changes after the question, or after the answer: it is asked again, and what it was given for
// never happens (case c12).
func TestLaw16AConfirmationForAnotherStateIsNone(t *testing.T) {
	s := acting(t, "arm", twoAtSeven(), nil)
	s.asks("confirm")
	s.home = home()
	s.home["security"] = map[string]any{"state": "started"}
	s.says("yes")
	q := s.asks("confirm")
	if len(s.device.effects) != 0 || q.OperationID != "p-1/arm/2" && q.OperationID != "p-1/act/2" {
		t.Fatalf("asks about %s, effects %v", q.OperationID, s.device.effects)
	}
	s.says("yes")
	if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.device.effects, []string{"p-1/act/2"}) {
		t.Errorf("%s, effects %v", o.State, s.device.effects)
	}
}

// A yes that could not be used in its time is no yes any more.
func TestLaw16AConfirmationRunsOut(t *testing.T) {
	s := acting(t, "arm", twoAtSeven(), nil)
	s.asks("confirm")
	s.take(plan.Pause{Token: "x", By: "kim"})
	s.says("yes")
	s.tick(3 * 60_000)
	s.take(plan.Resume{Token: "x", By: "kim"})
	if s.asks("confirm"); s.submits["p-1/act/1"] != 0 {
		t.Errorf("sent %v on a consent of three minutes ago", s.submits)
	}
}

// The time to live of what is sent ends with the consent: a copy that is late moves nothing.
func TestLaw16NothingStartsAfterTheConsent(t *testing.T) {
	s := acting(t, "arm", twoAtSeven(), nil)
	s.asks("confirm")
	s.take(plan.Pause{Token: "x", By: "kim"})
	s.says("yes")
	s.tick(100_000)
	s.take(plan.Resume{Token: "x", By: "kim"})
	s.until("sent", func() bool { return s.submits["p-1/act/1"] == 1 })
	for _, c := range s.all {
		if submit, ok := c.(plan.Submit); ok && submit.TTLMs != 20_000 {
			t.Errorf("its time to live is %d ms, want what is left of the consent: 20000", submit.TTLMs)
		}
	}
}

// A new try is a new operation: the old yes was for the one before.
func TestLaw16AConfirmationServesOnce(t *testing.T) {
	s := acting(t, "arm", twoAtSeven(), nil)
	s.device.refuse = &plan.Report{Code: "TRY_AGAIN"}
	s.asks("confirm")
	s.says("yes")
	if q := s.asks("confirm"); q.OperationID != "p-1/act/2" {
		t.Fatalf("asks about %s", q.OperationID)
	}
	s.says("yes")
	if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.device.effects, []string{"p-1/act/2"}) {
		t.Errorf("%s, effects %v", o.State, s.device.effects)
	}
}

// While a person is asked about a step another may take its place: the question goes, and its answer counts for nothing.
func TestLaw16AnAmendmentTakesThePlaceOfWhatIsAskedAbout(t *testing.T) {
	s := acting(t, "delete", twoAtSeven(), map[string]any{"label": "출근"})
	old := s.asks("confirm")
	other := plan.StepSpec{ID: "other", Action: plan.Action{CapabilityID: "delete", OperationID: "start", Arguments: map[string]any{"label": "운동"}}}
	s.take(plan.Amend{Steps: []plan.StepSpec{other}, Replace: true, By: "kim"})
	q := s.asks("confirm")
	if q.ID == old.ID || q.StepID != "other" {
		t.Fatalf("asks %+v", q)
	}
	yes := plan.Answer{QuestionID: old.ID, Choice: "yes", By: "kim", MayConfirm: true}
	if refusal := s.state.AnswerRefusal(yes, s.now); refusal == nil || refusal.Code != "not_open" {
		t.Errorf("the old answer is refused as %+v", refusal)
	}
	s.take(yes)
	s.says("yes")
	if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.sent(), []string{"p-1/other/1 b at 1"}) {
		t.Errorf("%s, sent %v", o.State, s.sent())
	}
}

// Nobody can tell how things stand: that is no yes to anything (law 17).
func TestLaw17WhatNobodyCanTellIsNotSent(t *testing.T) {
	s := acting(t, "arm", twoAtSeven(), nil)
	s.untold = &plan.Report{Code: "STATE_UNKNOWN"}
	if o := s.settle(); o.State != plan.Failed || o.Reason.Code != "STATE_UNKNOWN" || len(s.submits) != 0 || len(s.asked) != 0 {
		t.Errorf("%s for %+v, sent %v", o.State, o.Reason, s.submits)
	}
}

// Only some may put a grave step in a plan: what a device saw is nobody's wish.
func TestAWatchStartsNothingGrave(t *testing.T) {
	slice := homeSlice()
	slice.Impacts = map[catalog.Impact]catalog.Policy{catalog.Persistent: {Confirm: catalog.ConfirmAlways, Start: []string{catalog.StartedByPerson}}}
	for by, want := range map[string]int{catalog.StartedByPerson: 0, catalog.StartedByModel: 1, catalog.StartedByWatch: 1} {
		doc := plan.Document{Steps: []plan.StepSpec{spec("arm", "arm", nil, nil)}}
		if faults := plan.Validate(doc, slice, plan.Grounding{By: by}); len(faults) != want {
			t.Errorf("by a %s: %v", by, faults)
		}
	}
}

// An impact that the catalog does not know is the gravest, whatever the capability says of itself.
func TestAnUnknownImpactIsIrreversible(t *testing.T) {
	slice := homeSlice()
	c := catalog.Capability{Impact: "harmless", Confirm: &catalog.Confirm{Policy: catalog.ConfirmNever}}
	if p := slice.Policy(&c); p.Confirm != catalog.ConfirmAlways || !p.Verify || p.Retries != 0 {
		t.Errorf("policy %+v", p)
	}
}

// Of two answers that are let in at one moment the second one did not count, and whoever gave it is told so; the same one, given
// twice, did.
func TestLaw16WhoWasOverruledIsTold(t *testing.T) {
	s := acting(t, "arm", twoAtSeven(), nil)
	q := s.asks("confirm")
	yes := plan.Answer{QuestionID: q.ID, Choice: "yes", By: "joon", MayConfirm: true}
	no := plan.Answer{QuestionID: q.ID, Choice: "no", By: "mina", MayConfirm: true}
	for _, in := range []plan.Answer{yes, no} {
		if refusal := s.state.AnswerRefusal(in, s.now); refusal != nil {
			t.Fatalf("%s is refused: %+v", in.Choice, refusal)
		}
	}
	s.take(yes)
	s.take(no)
	if refusal := s.state.Overruled(yes, s.now); refusal != nil {
		t.Errorf("the first is told %+v", refusal)
	}
	if refusal := s.state.Overruled(no, s.now); refusal == nil || refusal.Code != "already_answered" || refusal.Answered.By != "joon" {
		t.Errorf("the second is told %+v", refusal)
	}
	s.settle()
	late := plan.Answer{QuestionID: "p-1.2", Choice: "yes", By: "joon", MayConfirm: true}
	if refusal := s.state.Overruled(late, s.now); refusal == nil || refusal.Code != "no_question" {
		t.Errorf("one that no plan took any more is told %+v", refusal)
	}
}

// A submit that nobody heard of, a consent that ran out since, and a home that nobody can tell of now: the device is asked about the
// submit, and the look is not taken again and again.
func TestLaw18ALookThatTellsNothingIsNotTakenForEver(t *testing.T) {
	s := acting(t, "arm", twoAtSeven(), nil)
	s.asks("confirm")
	s.take(plan.Pause{Token: "x", By: "kim"})
	s.says("yes")
	s.tick(100_000)
	s.take(plan.Resume{Token: "x", By: "kim"})
	s.until("the consent has run out, and no submit was heard of", func() bool {
		if i := request[plan.Submit](s); i >= 0 {
			s.answer(i, vanish)
		}
		return request[plan.Prepare](s) >= 0
	})
	s.untold = &plan.Report{Code: "STATE_UNKNOWN"}
	o := s.settle()
	looks := 0
	for _, c := range s.all {
		if _, ok := c.(plan.Prepare); ok {
			looks++
		}
	}
	if o.State != plan.Failed || o.Reason.Code != "STATE_UNKNOWN" || len(s.device.effects) != 0 || looks > 4 {
		t.Errorf("%s for %+v after %d looks, effects %v", o.State, o.Reason, looks, s.device.effects)
	}
}
