package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// The home of these tests: alarms that can be deleted after a person's yes, and lights that can be switched without one.

func alarm(id, time, label, revision string) map[string]any {
	return map[string]any{"id": id, "time": time, "label": label, "revision": revision}
}

func home(alarms ...any) map[string]any {
	return map[string]any{"alarms": map[string]any{"available": true, "items": alarms}, "security": map[string]any{"state": "off"}}
}

func twoAtSeven() map[string]any {
	return home(alarm("a", "07:00", "출근", "1"), alarm("b", "07:00", "운동", "1"), alarm("c", "08:00", "약", "1"))
}

func homeSlice() *catalog.Slice {
	slice := testSlice()
	object := &catalog.Object{Area: "alarms", Match: map[string]string{"time": "time", "label": "label"}, Choice: catalog.Text{Ko: "{time} {label}", En: "{time} {label}"}}
	slots := []catalog.Slot{{Name: "alarm_id", Schema: text(), Required: true, Grounding: catalog.GroundingObject, Object: object},
		{Name: "time", Schema: text()}, {Name: "label", Schema: text()}}
	capability := func(id string, impact catalog.Impact, slots []catalog.Slot, confirm *catalog.Confirm) catalog.Capability {
		return catalog.Capability{ID: id, Title: catalog.Text{Ko: id, En: id}, Operations: []string{"start"}, TaskMethod: "do_" + id, CompletionTarget: id + ".done",
			Slots: slots, Impact: impact, Confirm: confirm, Enabled: true, Cancel: catalog.CancelStop, Timeouts: catalog.Timeouts{QueueMs: 60_000, RunMs: 60_000},
			Say: map[string]catalog.Text{"done": {En: "Did {target}."}, "confirm": {En: "Really {target}?"}}}
	}
	slice.Capabilities = append(slice.Capabilities,
		capability("delete", catalog.Persistent, slots, nil),
		capability("ring", catalog.Reversible, slots, nil),
		capability("arm", catalog.Persistent, nil, &catalog.Confirm{Policy: catalog.ConfirmAlways, Binds: []string{"context.security.state"}}))
	slice.Sentences["ask_select"] = catalog.Text{En: "Which? {choices}"}
	slice.Sentences["ask_select_again"] = catalog.Text{En: "Changed. Which? {choices}"}
	slice.Sentences["ask_confirm"] = catalog.Text{En: "May I {what}?"}
	return slice
}

// acting is a plan of one step that acts on an object of the home.
func acting(t *testing.T, capability string, home map[string]any, arguments map[string]any) *sim {
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}, home: home}
	doc := &plan.Document{Steps: []plan.StepSpec{{ID: "act", Action: plan.Action{CapabilityID: capability, OperationID: "start", Arguments: arguments}}}}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: doc, Slice: homeSlice()})
	s.take(plan.Begin{})
	return s
}

func (s *sim) asks(kind string) plan.Question {
	s.t.Helper()
	s.until("asks "+kind, func() bool { return s.state.Question != nil || s.finish != nil })
	if s.state.Question == nil || s.state.Question.Kind != kind {
		s.t.Fatalf("asks %+v, want %s; %s", s.state.Question, kind, describe(s.state))
	}
	return *s.state.Question
}

func (s *sim) says(choice string) {
	s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: choice, By: "kim", MayConfirm: true})
}

// sent are the objects that were submitted, by operation.
func (s *sim) sent() (ids []string) {
	for _, c := range s.all {
		if submit, ok := c.(plan.Submit); ok {
			ids = append(ids, fmt.Sprintf("%s %v at %s", submit.OperationID, submit.Arguments["alarm_id"], submit.Expect.Target.Revision))
		}
	}
	return ids
}

// Two alarms at seven: chosen, then confirmed, then carried out on exactly that one.
func TestLaw16TheChosenObjectIsConfirmedAndActedOn(t *testing.T) {
	s := acting(t, "delete", twoAtSeven(), map[string]any{"time": "07:00"})
	q := s.asks("select")
	if !slices.Equal(q.Choices, []string{"a", "b", "none"}) || q.Text != "Which? 07:00 출근, 07:00 운동" || s.phase("act") != plan.StepConfirming {
		t.Fatalf("asks %+v while the step is %s", q, s.phase("act"))
	}
	s.says("b")
	if q := s.asks("confirm"); q.Text != "Really 07:00 운동?" || len(s.submits) != 0 {
		t.Fatalf("asks %+v, sent %v", q, s.submits)
	}
	s.says("yes")
	o := s.settle()
	if want := []string{"p-1/act/1 b at 1"}; o.State != plan.Completed || !slices.Equal(s.sent(), want) || !strings.HasPrefix(o.TTSResponse, "Did 07:00 운동.") {
		t.Errorf("%s, sent %v, says %q", o.State, s.sent(), o.TTSResponse)
	}
	receipt := o.Steps[0].Receipt
	if receipt.TargetRef != "alarms:b" || receipt.PreStateRevision != "1" || receipt.Confirmation == nil || receipt.Confirmation.By != "kim" {
		t.Errorf("receipt %+v", receipt)
	}
}

// What the plan says about an object finds it in one spelling of Hangul (case c14), and where it fits one only nobody is asked
// which.
func TestOneCandidateIsTaken(t *testing.T) {
	s := acting(t, "ring", twoAtSeven(), map[string]any{"label": "운동"})
	if o := s.settle(); o.State != plan.Completed || len(s.asked) != 0 || !slices.Equal(s.sent(), []string{"p-1/act/1 b at 1"}) {
		t.Errorf("%s, asked %v, sent %v", o.State, s.asked, s.sent())
	}
}

func TestWhatCannotBeChosen(t *testing.T) {
	var many []any
	for i := range 9 {
		many = append(many, alarm(fmt.Sprint(i), "07:00", fmt.Sprint(i), "1"))
	}
	for name, c := range map[string]struct {
		home      map[string]any
		arguments map[string]any
		code      string
	}{
		"none fits":         {twoAtSeven(), map[string]any{"time": "06:00"}, "TARGET_NOT_FOUND"},
		"too many":          {home(many...), nil, "TARGET_TOO_MANY"},
		"an id that is not": {twoAtSeven(), map[string]any{"alarm_id": "z"}, "TARGET_NOT_FOUND"},
	} {
		s := acting(t, "ring", c.home, c.arguments)
		if o := s.settle(); o.State != plan.Failed || o.Reason.Code != c.code || len(s.submits) != 0 || len(s.asked) != 0 {
			t.Errorf("%s: %s for %+v, sent %v", name, o.State, o.Reason, s.submits)
		}
	}
}

// A person's plan may name an object by its id; that is no way round a confirmation.
func TestAnObjectGivenByItsID(t *testing.T) {
	s := acting(t, "delete", twoAtSeven(), map[string]any{"alarm_id": "a"})
	s.asks("confirm")
	s.says("yes")
	if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.sent(), []string{"p-1/act/1 a at 1"}) {
		t.Errorf("%s, sent %v", o.State, s.sent())
	}
}

// A choice that is gone or has changed when it matters is asked about again, though one is left: never the next best.
func TestLaw16NeverTheNextBest(t *testing.T) {
	for name, changed := range map[string]map[string]any{
		"gone":    home(alarm("a", "07:00", "출근", "1")),
		"changed": home(alarm("a", "07:00", "출근", "1"), alarm("b", "07:00", "수영", "2")),
	} {
		s := acting(t, "ring", twoAtSeven(), map[string]any{"time": "07:00"})
		s.asks("select")
		s.home = changed
		s.says("b")
		q := s.asks("select")
		if !strings.HasPrefix(q.Text, "Changed.") || len(s.device.effects) != 0 {
			t.Fatalf("%s: asks %+v, effects %v", name, q, s.device.effects)
		}
		s.says("a")
		if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.device.effects, []string{"p-1/act/2"}) {
			t.Errorf("%s: %s, effects %v, sent %v", name, o.State, s.device.effects, s.sent())
		}
	}
}

// Looking again is bounded: an object that is never as it was ends the plan, and nothing was done.
func TestLaw13PreparingAgainIsBounded(t *testing.T) {
	s := acting(t, "ring", twoAtSeven(), map[string]any{"time": "07:00"})
	for n := 2; s.finish == nil && n < 20; n++ {
		s.until("asked, or over", func() bool { return s.state.Question != nil || s.finish != nil })
		if s.finish != nil {
			break
		}
		s.home = home(alarm("a", "07:00", "출근", fmt.Sprint(n)), alarm("b", "07:00", "운동", fmt.Sprint(n)))
		if s.state.Question.Kind != "select" {
			s.says("stop")
			continue
		}
		s.says("b")
	}
	if o := s.settle(); o.State != plan.Failed || len(s.device.effects) != 0 || len(o.Steps[0].Reason.Code) == 0 || len(s.state.Steps[0].Ops) != 4 {
		t.Errorf("%s for %+v, %d tries, effects %v", o.State, o.Reason, len(s.state.Steps[0].Ops), s.device.effects)
	}
}

// Objects that are called the same are numbered: a person can tell every two choices apart.
func TestChoicesCanBeToldApart(t *testing.T) {
	s := acting(t, "ring", home(alarm("a", "07:00", "출근", "1"), alarm("b", "07:00", "출근", "1")), nil)
	if q := s.asks("select"); q.Options[0].Label != "07:00 출근 (1)" || q.Options[1].Label != "07:00 출근 (2)" {
		t.Errorf("options %+v", q.Options)
	}
	s.says("none")
	if o := s.settle(); o.State != plan.Failed || o.Reason.Code != "NOT_CONFIRMED" || len(s.submits) != 0 || !strings.Contains(o.TTSResponse, "I did not do it.") {
		t.Errorf("%s for %+v, says %q", o.State, o.Reason, o.TTSResponse)
	}
}

// "불 켜줘": nothing is said about which, and the question outlives the run of the workflow that asked it: like every state
// of a sim, this one has crossed as JSON, in which no arguments are nil.
func TestLaw07AChoiceWithoutArgumentsInANewRun(t *testing.T) {
	s := acting(t, "ring", twoAtSeven(), nil)
	s.asks("select")
	s.says("b")
	if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.sent(), []string{"p-1/act/1 b at 1"}) {
		t.Errorf("%s, sent %v", o.State, s.sent())
	}
}

// A submit that nobody heard of may still arrive: a no of our own is no end of it. Once it is too old to start, and the device does
// not know it, it is: the step is prepared anew, and does not try for as long as the plan lives.
func TestLaw18WhatIsTooOldToStartIsNoLongerOnItsWay(t *testing.T) {
	s := acting(t, "ring", twoAtSeven(), map[string]any{"label": "운동"})
	s.until("sent", func() bool { return request[plan.Submit](s) >= 0 })
	s.answer(request[plan.Submit](s), vanish)
	s.home = home(alarm("b", "07:00", "운동", "2"))
	began := s.now
	s.until("asked again", func() bool { return s.state.Question != nil || s.finish != nil })
	if s.state.Question == nil || s.now-began > 4*60_000 || len(s.device.effects) != 0 {
		t.Fatalf("after %d s: %s", (s.now-began)/1000, describe(s.state))
	}
	s.says("b")
	if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.device.effects, []string{"p-1/act/2"}) {
		t.Errorf("%s, effects %v", o.State, s.device.effects)
	}
}
