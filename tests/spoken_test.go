package tests

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/starter/api"
	"errand/tests/stack"
)

// TestWordsThatSteer says words to plans that are under way. No model is there to understand them.
func TestWordsThatSteer(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *stack.Stack)
	}{
		{"Law15AStopReachesTheRobot", spokenStop},
		{"APauseHoldsTheNextStep", spokenPause},
		{"AFollowUpIsAppended", spokenFollowUp},
		{"AFollowUpThatNobodyUnderstands", spokenNonsense},
		{"AnAnswer", spokenAnswer},
		{"NothingUnderWay", spokenToNobody},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s)
		})
	}
}

// speak says something to a robot; plan is the one that the speaker refers to, or "".
func speak(t *testing.T, s *stack.Stack, r *stack.Robot, plan, utteranceID, text string) api.Started {
	t.Helper()
	body, err := json.Marshal(api.Utterance{RecognizedText: text, UtteranceID: utteranceID, DeviceID: r.ID, VoiceContext: api.VoiceContext{ActiveWorkflowID: plan}})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := s.Post(t, "/v1/utterances", string(body))
	var started api.Started
	if err := json.Unmarshal(answer, &started); err != nil || status != http.StatusOK {
		t.Fatalf("%q: %d %s", text, status, answer)
	}
	return started
}

// A stop, with nobody named, ends what moves and what waits; said again it stops nothing that came after.
func spokenStop(t *testing.T, s *stack.Stack) {
	r, p, _ := moving(t, s, robot.FaultHold)
	waits := s.Say(t, r, sentence)
	waits.Await(t, "the second plan waits its turn", func(v plan.View) bool { return v.Plan.WaitingFor == "lease" })
	said := speak(t, s, r, "", "stop-1", "멈춰!")
	says := map[plan.Phase]string{plan.Cancelling: "아직 멈추지 않았을 수", plan.Cancelled: "그만두었어요"}[said.State] // as fast as it was
	if said.PlanID != p.ID || says == "" || !strings.Contains(said.TTSResponse, says) {
		t.Errorf("answered %+v", said)
	}
	wantOutcome(t, p, plan.Cancelled, "canceled")
	wantOutcome(t, waits, plan.Cancelled, "canceled")
	wantEffects(t, r)
	atRest(t, r)
	next := s.Say(t, r, sentence)
	if again := speak(t, s, r, "", "stop-1", "멈춰!"); again.PlanID != p.ID || again.State != plan.Cancelled {
		t.Errorf("again: answered %+v", again)
	}
	wantOutcome(t, next, plan.Completed, "completed")
}

// A pause lets what moves come to its end, says so, and sends nothing more; speaking again takes it back.
func spokenPause(t *testing.T, s *stack.Stack) {
	r, p, hold := moving(t, s, robot.FaultHold)
	if said := speak(t, s, r, p.ID, "pause-1", "잠깐만 기다려 봐"); said.State != plan.Paused || !strings.Contains(said.TTSResponse, "끝까지 하고") {
		t.Errorf("answered %+v", said)
	}
	r.Release(t, hold)
	p.AwaitStep(t, "move", plan.StepCompleted)
	if v := p.View(t); v.State != plan.Paused || v.Steps[1].OperationID != "" {
		t.Errorf("%s; %+v", v.State, v.Steps[1])
	}
	if said := speak(t, s, r, "", "resume-1", "계속해 줘"); said.State == plan.Paused || !strings.Contains(said.TTSResponse, "계속할게요") {
		t.Errorf("answered %+v", said)
	}
	if said := speak(t, s, r, p.ID, "pause-1", "잠깐만 기다려 봐"); said.State == plan.Paused {
		t.Errorf("the pause again: answered %+v", said)
	}
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}

// What is said to come next is planned, appended, and carried out once, however often it is delivered.
func spokenFollowUp(t *testing.T, s *stack.Stack) {
	r, p, hold := moving(t, s, robot.FaultHold)
	for range 3 {
		if said := speak(t, s, r, p.ID, "next-1", "그리고 거실도 청소해줘"); said.PlanID != p.ID || said.State != plan.Running {
			t.Errorf("answered %+v", said)
		}
	}
	v := p.Await(t, "the plan is extended", func(v plan.View) bool { return v.Plan.PlanRevision == 2 })
	if v.LLMCalls != 0 {
		t.Errorf("%d model calls", v.LLMCalls)
	}
	r.Release(t, hold)
	o := wantOutcome(t, p, plan.Completed, "completed")
	ids := map[string]bool{}
	for _, step := range o.Steps {
		ids[step.ID] = true
	}
	if len(ids) != len(o.Steps) || o.Revision != 2 {
		t.Errorf("revision %d, steps %v", o.Revision, ids)
	}
	wantEffects(t, r, "arrived", "purified", "docked", "arrived", "cleaned")
}

// A follow-up that no routine takes, with no model there, changes nothing.
func spokenNonsense(t *testing.T, s *stack.Stack) {
	r, p, hold := moving(t, s, robot.FaultHold)
	speak(t, s, r, p.ID, "", "그리고 창문도 열어줘")
	p.Await(t, "the follow-up came to nothing", func(v plan.View) bool {
		for _, e := range v.Journal {
			if strings.Contains(e.Text, "nothing came of a follow-up") {
				return true
			}
		}
		return false
	})
	r.Release(t, hold)
	if o := wantOutcome(t, p, plan.Completed, "completed"); o.Revision != 1 || len(o.Steps) != 3 {
		t.Errorf("revision %d, %d steps", o.Revision, len(o.Steps))
	}
	wantEffects(t, r, "arrived", "purified", "docked")
}

// The plan's question is answered by voice; what does not fit it is asked again.
func spokenAnswer(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultFail, Method: "setStationaryPurify", At: &half, ReasonCode: "FILTER_MISSING"})
	p := s.Say(t, r, sentence)
	v := p.Await(t, "the plan asks", func(v plan.View) bool { return v.State == plan.WaitingUser && v.Question != nil })
	if said := speak(t, s, r, p.ID, "", "응"); said.State != plan.WaitingUser || said.TTSResponse != v.Question.Text {
		t.Errorf("yes, to an either-or: %+v", said)
	}
	if said := speak(t, s, r, p.ID, "", "다시 해줘"); said.PlanID != p.ID || said.State == plan.WaitingUser {
		t.Errorf("again: %+v", said)
	}
	wantOutcome(t, p, plan.Completed, "completed")
}

func spokenToNobody(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	for text, says := range map[string]string{"멈춰": "맡은 일이 없어요", "stop": "nothing under way", "청소 취소하고 안방으로 가": "아무것도 하지 않았어요"} {
		if said := speak(t, s, r, "", "", text); said.PlanID != "" || !strings.Contains(said.TTSResponse, says) {
			t.Errorf("%q: %+v", text, said)
		}
	}
	p := s.Say(t, r, sentence)
	wantOutcome(t, p, plan.Completed, "completed")
	if said := speak(t, s, r, p.ID, "", "취소해"); said.State != plan.Completed || said.TTSResponse == "" {
		t.Errorf("after the end: %+v", said)
	}
}
