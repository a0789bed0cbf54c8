package plan_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
)

// TestLaw16AnyLookAndAnyAnswer feeds a plan that is to delete an alarm looks and answers of every kind, in whatever state good and bad
// luck brought it. It must not panic or spin, and what is sent was agreed to by somebody who may: that very object, as it was.
func TestLaw16AnyLookAndAnyAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}, home: twoAtSeven(), hostile: true}
		doc := &plan.Document{Steps: []plan.StepSpec{{ID: "act", Action: plan.Action{CapabilityID: "delete", OperationID: "start", Arguments: map[string]any{"time": "07:00"}}}}}
		s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: doc, Slice: homeSlice()})
		s.take(plan.Begin{})
		agreed := map[string]plan.Target{} // by operation
		for range rapid.IntRange(1, 40).Draw(t, "inputs") {
			if s.finish != nil {
				return
			}
			q := s.state.Question
			switch {
			case rapid.IntRange(0, 2).Draw(t, "hostile") == 0:
				in := lookOrAnswer(t, q)
				if yes, ok := in.(plan.Answer); ok && q != nil && q.Kind == "confirm" && yes.QuestionID == q.ID && yes.Choice == "yes" && yes.MayConfirm {
					agreed[q.OperationID] = *s.state.Steps[0].Target
				}
				s.take(in)
			case len(s.out) > 0:
				s.answer(rapid.IntRange(0, len(s.out)-1).Draw(t, "which"), how(rapid.IntRange(int(fine), int(late)).Draw(t, "how")))
			case len(s.events) > 0:
				s.deliver(0, false)
			case s.device.busy():
				s.work()
			default:
				s.tick(rapid.SampledFrom([]int64{1, 30_000, 125_000}).Draw(t, "time"))
			}
			for _, c := range s.all {
				if submit, ok := c.(plan.Submit); ok && submit.StepID == "act" {
					if target, ok := agreed[submit.OperationID]; !ok || target != *submit.Expect.Target || submit.Arguments["alarm_id"] != target.ID {
						t.Fatalf("%s was sent for %+v, and agreed to was %+v", submit.OperationID, submit.Expect.Target, agreed)
					}
				}
			}
		}
	})
}

// lookOrAnswer is what might come: true, late, of another, or made up.
func lookOrAnswer(t *rapid.T, q *plan.Question) plan.Input {
	targets := rapid.SampledFrom([][]plan.Target{nil, {{ID: "a", Revision: "1", Label: "x"}}, {{ID: "b", Revision: "2"}, {ID: "a", Revision: "1"}}, {{}, {}}}).Draw(t, "candidates")
	id := rapid.SampledFrom([]string{"p-1/act/1", "p-1/act/2", "p-1/act/3", "p-2/act/1", ""}).Draw(t, "operation")
	report := rapid.SampledFrom([]*plan.Report{nil, nil, {Code: "STATE_UNKNOWN"}, {Code: "STATE_CHANGED"}, {}}).Draw(t, "report")
	question, choices := "p-1.1", []string{"yes", "no", "none", "a", "b", "", "continue"}
	if q != nil && rapid.Bool().Draw(t, "the open one") {
		question = q.ID
		choices = slices.Concat(choices, q.Choices)
	}
	return rapid.SampledFrom([]plan.Input{
		plan.Prepared{OperationID: id, Candidates: targets, Report: report, StateVersion: rapid.SampledFrom([]string{"", "v"}).Draw(t, "version"), Unseen: rapid.Bool().Draw(t, "unseen")},
		plan.Answer{QuestionID: question, Choice: rapid.SampledFrom(choices).Draw(t, "choice"), By: rapid.SampledFrom([]string{"kim", ""}).Draw(t, "by"), MayConfirm: rapid.Bool().Draw(t, "may")},
		plan.Submitted{OperationID: id, Delivery: plan.DeliveryRefused, Unasked: rapid.Bool().Draw(t, "unasked"), Report: report},
		plan.Pause{Token: "x", By: "kim"}, plan.Resume{Token: "x", By: "kim"}, plan.CancelStep{StepID: "act", By: "kim"},
		plan.Amend{By: "kim", Replace: rapid.Bool().Draw(t, "replace"), Steps: []plan.StepSpec{spec("dock", "dock", nil, nil)}},
	}).Draw(t, "input")
}
