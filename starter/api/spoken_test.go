package api_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"errand/plan"
	"errand/starter/api"
	"errand/starter/plans"
)

// busy is a house whose robot carries out the plans named; p-1, if it is one of them, has the lease.
func busy(t *testing.T, ids ...string) *house {
	h := newHouse(t, "robot")
	for _, id := range ids {
		h.plans.devices[id] = "id-robot"
		if id != "p-1" {
			h.plans.open = append(h.plans.open, id)
		}
	}
	h.standing(plan.View{State: plan.Running, Steps: []plan.StepView{{ID: "move", CapabilityID: "move_to_room", State: plan.StepRunning}}})
	return h
}

// standing lets every plan stand like this.
func (h *house) standing(v plan.View) {
	h.plans.view = func(id string) (plan.View, error) {
		v.PlanID = id
		return v, nil
	}
}

// say sends an utterance; fields is more of the body.
func (h *house) say(text, fields string) answer {
	if fields != "" {
		fields = "," + fields
	}
	return h.ask("POST", "/v1/utterances", fmt.Sprintf(`{"recognized_text":%q%s}`, text, fields))
}

const named = `"voice_context":{"active_workflow_id":"p-1"}`

func TestWordsThatSteerGoToThePlanAndStartNothing(t *testing.T) {
	by := "tester"
	for _, tt := range []struct {
		text, fields string
		want         any
		state        plan.Phase
		said         string
	}{
		{"취소해", named, plan.CancelRequest{By: by, Why: "a person said so", Source: "api"}, plan.Cancelling, "방으로 이동은 아직 멈추지 않았을 수"},
		{"멈춰", "", plan.CancelRequest{By: by, Why: "a person said so", Source: "api"}, plan.Cancelling, "멈추는 중이에요"},
		{"stop", named, plan.CancelRequest{By: by, Why: "a person said so", Source: "api"}, plan.Cancelling, "may not have stopped yet"},
		{"멈춰, 위험해", "", plan.CancelRequest{By: by, Why: "a person said so", Source: "api"}, plan.Cancelling, "나머지 말씀은 따로"},
		{"잠깐만", named, plan.Pause{Token: "voice", By: by}, plan.Paused, "끝까지 하고"},
		{"hold on", "", plan.Pause{Token: "voice", By: by}, plan.Paused, "I will finish this, and wait"},
		{"계속해", named, plan.Resume{Token: "voice", By: by}, plan.Running, "계속할게요"},
		{"계속해", named, plan.Resume{Token: "voice", By: by}, plan.Paused, "다른 분이"},
		{"그리고 거실도 청소해줘", named, plan.FollowUp{Text: "거실 청소해줘", By: by}, plan.Running, "이어서 할 수 있는지"},
		{"and then go back", "", plan.FollowUp{Text: "go back", By: by}, plan.Running, "whether I can do that next"},
	} {
		h := busy(t, "p-1")
		h.standing(plan.View{State: tt.state, Steps: []plan.StepView{{ID: "move", CapabilityID: "move_to_room", State: plan.StepRunning}}})
		var got api.Started
		h.say(tt.text, tt.fields).into(t, &got)
		if len(h.plans.started) != 0 || !slices.Equal(h.plans.taken, []any{tt.want}) {
			t.Errorf("%q: started %v, taken %+v; want %+v", tt.text, h.plans.started, h.plans.taken, tt.want)
		}
		if got.WorkflowID != "p-1" || got.PlanID != "p-1" || got.State != tt.state || !strings.Contains(got.TTSResponse, tt.said) || got.UIURL == "" {
			t.Errorf("%q: answered %+v, want %q", tt.text, got, tt.said)
		}
	}
}

// A stop is for the device: all its plans end, lest the next one moves it at once. A cancel must know which.
func TestAStopEndsEverythingThatADeviceDoes(t *testing.T) {
	for text, want := range map[string]int{"멈춰": 3, "stop!": 3, "취소해": 0, "잠깐만": 0, "계속해": 0} {
		h := busy(t, "p-2", "p-1", "p-3")
		h.plans.devices["p-9"] = "id-other" // it is no plan of this device, and not listed
		var got api.Started
		h.say(text, "").into(t, &got)
		if len(h.plans.taken) != want || len(h.plans.started) != 0 || (want > 0) != (got.PlanID == "p-1") || got.TTSResponse == "" {
			t.Errorf("%q: taken %+v, answered %+v", text, h.plans.taken, got)
		}
	}
	h := busy(t, "p-2", "p-1")
	h.say("멈춰", named)
	if len(h.plans.taken) != 2 {
		t.Errorf("a stop that names a plan reached %d of 2", len(h.plans.taken))
	}
	h = busy(t, "p-2", "p-1")
	h.say("취소해", `"voice_context":{"active_workflow_id":"p-2"}`)
	if len(h.plans.taken) != 1 {
		t.Errorf("a cancel that names a plan reached %d", len(h.plans.taken))
	}
}

func TestWordsToNobodyStartNothing(t *testing.T) {
	for text, says := range map[string]string{"멈춰": "맡은 일이 없어요", "취소해": "맡은 일이 없어요", "잠깐만": "맡은 일이 없어요", "계속해": "맡은 일이 없어요", "응": "맡은 일이 없어요",
		"stop": "nothing under way", "청소 취소하고 안방으로 가": "아무것도 하지 않았어요", "cancel the cleaning and go to the bedroom": "did nothing"} {
		h := newHouse(t, "robot")
		var got api.Started
		h.say(text, "").into(t, &got)
		if len(h.plans.started) != 0 || got.PlanID != "" || got.State != "" || !strings.Contains(got.TTSResponse, says) {
			t.Errorf("%q: started %v, answered %+v, want %q", text, h.plans.started, got, says)
		}
	}
}

// The same delivery again acts no second time, and means what it meant, whatever became of the plans since.
func TestARepeatedControlActsOnce(t *testing.T) {
	for _, text := range []string{"멈춰", "취소해", "잠깐만", "계속해", "그리고 복귀해", "응"} {
		h := busy(t, "p-1")
		if text == "응" {
			h.standing(asking("continue", "stop"))
		}
		body := named + `,"utterance_id":"u-1"`
		var first, again api.Started
		h.say(text, body).into(t, &first)
		h.later(time.Minute)
		h.standing(plan.View{State: plan.Running}) // resumed, answered: another state
		h.plans.devices["p-2"], h.plans.open = "id-robot", []string{"p-2"}
		h.say(text, body).into(t, &again)
		if len(h.plans.taken) != 1 || len(h.plans.started) != 0 || first.PlanID != "p-1" || again.PlanID != "p-1" {
			t.Errorf("%q: taken %+v, started %v, answered %q and %q", text, h.plans.taken, h.plans.started, first.PlanID, again.PlanID)
		}
		h.later(24 * time.Hour)
		if got := h.say(text, body); got.status != http.StatusOK || len(h.plans.taken) != 1 {
			t.Errorf("%q a day later: %d, taken %+v", text, got.status, h.plans.taken)
		}
		if p := h.say("안방으로 가줘", body).problem(t); p.Code != "different_body" || strings.Contains(p.Detail, "{") {
			t.Errorf("%q, then another sentence: %+v", text, p)
		}
	}
	h := newHouse(t, "robot") // it was said to nobody, and stays so
	h.say("멈춰", `"utterance_id":"u-1"`)
	h.plans.devices["p-1"] = "id-robot"
	h.say("멈춰", `"utterance_id":"u-1"`)
	if len(h.plans.taken) != 0 {
		t.Errorf("a stop of before the plan stopped it: %+v", h.plans.taken)
	}
}

func TestOldWordsDoNotSteer(t *testing.T) {
	h := busy(t, "p-1")
	old := fmt.Sprintf(`%s,"utterance_id":"u-1","spoken_at":%d`, named, h.now.Add(-6*time.Minute).UnixMilli())
	for range 2 {
		if p := h.say("계속해", old).problem(t); p.Code != "too_old" || len(h.plans.taken) != 0 {
			t.Errorf("%+v, taken %+v", p, h.plans.taken)
		}
	}
}

func TestAForeignPlanIsNotSteered(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-other"
	for _, text := range []string{"멈춰", "취소해", "잠깐만", "그리고 복귀해"} {
		if got := h.say(text, named); got.status != http.StatusForbidden || len(h.plans.taken) != 0 || len(h.plans.started) != 0 {
			t.Errorf("%q: %d, taken %+v", text, got.status, h.plans.taken)
		}
	}
}

// asking is a plan that waits for a person.
func asking(choices ...string) plan.View {
	return plan.View{State: plan.WaitingUser, Question: &plan.Question{ID: "p-1.1", Text: "이어서 할까요?", Choices: choices}}
}

func TestAQuestionIsAnsweredByVoiceWhereTheWordsFit(t *testing.T) {
	for _, tt := range []struct {
		text    string
		choices []string
		choice  string // "" for no answer
		said    string
	}{
		{"응", []string{"continue", "stop"}, "continue", ""}, {"아니", []string{"continue", "stop"}, "stop", ""}, {"다시 해줘", []string{"retry", "stop"}, "retry", ""},
		{"기다려", []string{"wait", "stop"}, "wait", ""}, {"응", []string{"retry", "stop"}, "", "이어서 할까요?"}, {"skip", []string{"continue", "stop"}, "", "이어서 할까요?"},
		{"파란 방", []string{"파란 방", "빨간 방"}, "파란 방", ""},
	} {
		h := busy(t, "p-1")
		h.standing(asking(tt.choices...))
		var got api.Started
		h.say(tt.text, named).into(t, &got)
		var want []any
		if tt.choice != "" {
			want = []any{plan.Answer{QuestionID: "p-1.1", Choice: tt.choice, By: "tester", MayConfirm: true}}
		}
		if !slices.Equal(h.plans.taken, want) || len(h.plans.started) != 0 || got.PlanID != "p-1" || !strings.Contains(got.TTSResponse, tt.said) {
			t.Errorf("%q to %v: taken %+v, answered %+v", tt.text, tt.choices, h.plans.taken, got)
		}
	}
	h := busy(t, "p-1")
	var got api.Started
	h.say("응", named).into(t, &got)
	if len(h.plans.taken)+len(h.plans.started) != 0 || !strings.Contains(got.TTSResponse, "여쭤본 것이 없어요") {
		t.Errorf("yes to nothing: taken %+v, answered %+v", h.plans.taken, got)
	}
	h.say("안방 청소해줘", named)
	if len(h.plans.started) != 1 {
		t.Errorf("a wish beside an active plan started %d", len(h.plans.started))
	}
}

// What a plan says no to is told as it is.
func TestWordsThatComeTooLateSaySo(t *testing.T) {
	over := plan.View{State: plan.Completed, Outcome: &plan.Outcome{State: plan.Completed, TTSResponse: "안방에 도착했어요."}}
	for _, tt := range []struct {
		text string
		err  error
		view plan.View
		said string
	}{
		{"취소해", plans.ErrOver, over, "안방에 도착했어요."}, {"멈춰", plans.ErrOver, over, "안방에 도착했어요."}, {"잠깐만", plans.ErrOver, over, "이미 끝났어요"},
		{"계속해", plans.ErrRefused, plan.View{State: plan.Running}, "기다리라고 하신 적이"}, {"잠깐만", plans.ErrRefused, plan.View{State: plan.Cancelling}, "그만두었어요"},
	} {
		h := busy(t, "p-1")
		h.standing(tt.view)
		h.plans.refuse(tt.err)
		var got api.Started
		h.say(tt.text, named).into(t, &got)
		if got.TTSResponse == "" || !strings.Contains(got.TTSResponse, tt.said) || got.State != tt.view.State {
			t.Errorf("%q: answered %+v, want %q", tt.text, got, tt.said)
		}
	}
}

// A follow-up to a plan that takes none is a plan of its own, once.
func TestAFollowUpToAPlanThatIsEndingStartsAPlan(t *testing.T) {
	for _, refuses := range []error{plans.ErrOver, plans.ErrRefused} {
		h := busy(t, "p-1")
		h.plans.refuse(refuses)
		body := named + `,"utterance_id":"u-1"`
		var first, again api.Started
		h.say("끝나면 복귀해줘", body).into(t, &first)
		h.say("끝나면 복귀해줘", body).into(t, &again)
		s, started := h.plans.started[first.PlanID]
		if !started || len(h.plans.started) != 1 || first.PlanID != again.PlanID || s.Utterance.Text != "복귀해줘" {
			t.Errorf("after %v: started %+v, answered %+v and %+v", refuses, h.plans.started, first, again)
		}
	}
	h := newHouse(t, "robot")
	var got api.Started
	h.say("그리고 복귀해줘", `"utterance_id":"u-1"`).into(t, &got)
	if s := h.plans.started[got.PlanID]; s.Utterance == nil || !reflect.DeepEqual(s.Utterance.Text, "복귀해줘") {
		t.Errorf("with nothing under way: %+v", h.plans.started)
	}
}

// A repeat of a follow-up whose plan ended meanwhile is not carried out a second time.
func TestARepeatedFollowUpOfAnEndedPlanStartsNothing(t *testing.T) {
	h := busy(t, "p-1")
	body := named + `,"utterance_id":"u-1"`
	h.say("끝나면 복귀해줘", body)
	h.plans.keys = nil
	h.plans.refuse(plans.ErrOver)
	h.standing(plan.View{State: plan.Completed, Outcome: &plan.Outcome{State: plan.Completed, TTSResponse: "다 했어요."}})
	var got api.Started
	h.say("끝나면 복귀해줘", body).into(t, &got)
	if len(h.plans.started) != 0 || got.PlanID != "p-1" || !strings.Contains(got.TTSResponse, "이미 끝났어요") {
		t.Errorf("started %v, answered %+v", h.plans.started, got)
	}
}

// Whoever stops a plan that has no steps yet hears that it stopped: such a plan's outcome has no sentence.
func TestAStopWhileItIsBeingPlannedIsAnswered(t *testing.T) {
	for text, says := range map[string]string{"멈춰": "그만두었어요", "cancel": "stopped"} {
		h := busy(t, "p-1")
		h.standing(plan.View{State: plan.Cancelled, Outcome: &plan.Outcome{State: plan.Cancelled, Cancel: &plan.Latch{By: "kim"}}})
		var got api.Started
		h.say(text, "").into(t, &got)
		if got.State != plan.Cancelled || !strings.Contains(got.TTSResponse, says) {
			t.Errorf("%q: answered %+v", text, got)
		}
	}
}

// "두 번째 거" means something only to who was asked which: the device's only plan, named or not. Where nobody asked it is a wish.
func TestAPlaceAmongSeveralAnswersWhoAsked(t *testing.T) {
	which := plan.View{State: plan.WaitingUser, Question: &plan.Question{ID: "q-1", Kind: "select", Choices: []string{"yes", "b", "none"},
		Options: []plan.Target{{ID: "yes", Label: "07:00 출근 알람"}, {ID: "b", Label: "07:00 운동 알람"}}}}
	for text, want := range map[string]string{"두 번째 거": "b", "the first one": "yes", "아니": "none"} {
		h := busy(t, "p-1")
		h.standing(which)
		h.say(text, "")
		if taken := []any{plan.Answer{QuestionID: "q-1", Choice: want, By: "tester", MayConfirm: true}}; !reflect.DeepEqual(h.plans.taken, taken) || len(h.plans.started) != 0 {
			t.Errorf("%q: taken %+v, started %v", text, h.plans.taken, h.plans.started)
		}
	}
	// Yes says nothing about which, whatever the things are called.
	h := busy(t, "p-1")
	h.standing(which)
	if h.say("응", ""); len(h.plans.taken) != 0 || len(h.plans.started) != 0 {
		t.Errorf("yes: taken %+v, started %v", h.plans.taken, h.plans.started)
	}
	h = newHouse(t, "robot")
	if h.say("두 번째 거", ""); len(h.plans.started) != 1 {
		t.Errorf("nobody asked, and it started %v", h.plans.started)
	}
}
