package plan_test

import (
	"slices"
	"testing"

	"errand/plan"
)

func TestLaw17TheDeciderIsToldHowTheDeviceIsNow(t *testing.T) {
	s := decidedSim(t)
	s.looks = true
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	look := out[plan.FetchContext](s)
	if s.decides != 0 || look.DeviceID != testDevice {
		t.Fatal("the decider was asked before the device")
	}
	s.happens(plan.EventFailed, 81, "MOVE_POLICY_NOT_ALLOWED", true) // the look serves what is due when it comes back
	if request[plan.FetchContext](s) >= 0 {
		t.Error("the device is asked twice at once")
	}
	s.take(plan.ContextFetched{Context: contextWithRooms(true)})
	d := deciding(t, s)
	if d.Context["map"] == nil || d.Boundary.Unseen != "" || d.Boundary.Report.Code != "MOVE_POLICY_NOT_ALLOWED" {
		t.Errorf("context %v, unseen %q, about %s", d.Context, d.Boundary.Unseen, d.Boundary.Report.Code)
	}
	if slices.Contains(d.Options, plan.DecideAsk) != slices.Contains(d.Options, plan.DecideRetry) {
		t.Errorf("options %v: a person can only be asked whether to try again", d.Options)
	}
}

func TestADeviceThatCannotBeAskedHoldsNoDecisionUp(t *testing.T) {
	s := decidedSim(t)
	s.looks = true
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	out[plan.FetchContext](s)
	s.take(plan.ContextFetched{Detail: "no answer in time"})
	if d := deciding(t, s); d.Context != nil || d.Boundary.Unseen != "no answer in time" {
		t.Errorf("context %v, unseen %q", d.Context, d.Boundary.Unseen)
	}

	s = decidedSim(t)
	s.looks = true
	s.take(plan.DeviceChange{Gone: s.state.Device.Route.ConnectionEpoch})
	s.happens(plan.EventFailed, 80, "ASK_ME", true)
	if d := deciding(t, s); d.Context != nil || d.Boundary.Unseen == "" {
		t.Errorf("context %v, unseen %q", d.Context, d.Boundary.Unseen)
	}
}

func TestADecisionIsOnRecordInTheOneShapeWhoeverTookIt(t *testing.T) {
	s := decidedSim(t)
	s.happens(plan.EventFailed, 80, "ASK_ME", true)
	out[plan.Decide](s)
	s.take(plan.Decided{Decision: plan.DecideAsk, TTSResponse: "다시 해볼까요?", Reason: "it may work"})
	d := s.state.View().Decision
	if d == nil || d.By != "model" || d.TTSResponse != "다시 해볼까요?" || d.Question != d.TTSResponse || len(d.Choices) == 0 || d.StepID != "move" || d.Code != "ASK_ME" {
		t.Errorf("on record: %+v", d)
	}
	s.take(plan.Answer{QuestionID: s.state.Question.ID, Choice: "retry", By: "kim"})
	if d = s.state.View().Decision; d.By != "person" || d.Decision != plan.DecideRetry {
		t.Errorf("on record: %+v", d)
	}
	s = newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.happens(plan.EventFailed, 80, "MOVE_POLICY_NOT_ALLOWED", true)
	if d = s.state.View().Decision; d == nil || d.By != "table" || d.Decision != plan.DecideCancel || d.TTSResponse != "Moving is not allowed." {
		t.Errorf("on record: %+v", d)
	}
}

// A model's plan names the rooms that the device has now, not those of the utterance.
func TestLaw14AnUnknownRoomInANewPlanIsRefused(t *testing.T) {
	s := decidedSim(t)
	s.looks = true
	s.happens(plan.EventFailed, 80, "ASK_ME", true)
	out[plan.FetchContext](s)
	s.take(plan.ContextFetched{Context: contextWithRooms(true)})
	deciding(t, s)
	attic := spec("attic", "move", nil, nil)
	attic.Action.Arguments = map[string]any{"room": "다락방"}
	s.take(plan.Decided{Decision: plan.DecideReplan, Steps: []plan.StepSpec{attic}, LLMCalls: 1})
	if !journalHas(s, "note", "다락방") || s.state.Revision != 1 || s.state.Decided != 1 {
		t.Errorf("revision %d, %d spent", s.state.Revision, s.state.Decided)
	}
	if d := deciding(t, s); d.Boundary.Refused == "" || d.Left != 4 { // it may try once more, and is told why
		t.Errorf("refused %q, %d left", d.Boundary.Refused, d.Left)
	}
}
