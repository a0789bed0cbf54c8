package tests

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"

	"errand/catalog"
	"errand/catalog/load"
	"errand/llm/standin"
	"errand/plan"
	"errand/tests/stack"
)

// mind is a stand-in for a language model that many tests share: what each scripts is known by a word of its wish.
type mind struct {
	*standin.Server
	url     string
	metrics string // the worker's

	mu      sync.Mutex
	replies map[string][]standin.Reply
	asked   map[string][]time.Time
}

const mindKey = "the-right-key-of-the-stand-in"

// withMind starts a stand-in, and an installation whose worker asks it.
func withMind(t *testing.T, options ...stack.Option) (*mind, *stack.Stack) {
	t.Helper()
	m := &mind{replies: map[string][]standin.Reply{}, asked: map[string][]time.Time{}}
	m.Server = standin.New(standin.Options{Key: mindKey, Rule: m.rule})
	url, err := m.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	m.url, m.metrics = url, fmt.Sprintf("127.0.0.1:%d", stack.FreePort(t))
	return m, stack.Start(t, append([]stack.Option{"ERRAND_LLM=gemini", "ERRAND_LLM_KEY=" + mindKey, stack.Option("ERRAND_LLM_ENDPOINT=" + url),
		"ERRAND_LLM_TIMEOUT=3s", stack.Option("ERRAND_METRICS_LISTEN=" + m.metrics)}, options...)...)
}

// script answers the questions whose contents have the word with these replies, in order; then the rules do.
func (m *mind) script(word string, replies ...standin.Reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies[word] = replies
}

func (m *mind) rule(q standin.Question) standin.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	said := strings.Join(q.Contents, "\n")
	for word, left := range m.replies {
		if strings.Contains(said, word) {
			m.asked[word] = append(m.asked[word], q.At)
			if len(left) > 0 {
				m.replies[word] = left[1:]
				return left[0]
			}
		}
	}
	return standin.Rules(q)
}

// times is when the questions with a word came.
func (m *mind) times(word string) []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]time.Time(nil), m.asked[word]...)
}

// answering writes a plan as a model would.
func answering(steps ...string) standin.Reply {
	return standin.Answer(`{"selected_routes":["device"],"steps":[` + strings.Join(steps, ",") + `]}`)
}

const secure = `{"id":"guard","depends_on":[],"action":{"capability_id":"security_mode","operation_id":"start"}}`

// What no routine takes becomes a plan by a model, behind the same gate and with a person's word where it weighs.
func TestModel(t *testing.T) {
	t.Parallel()
	m, s := withMind(t, stack.AsShipped)
	t.Run("Law12NoRoutineAsksTheModel", func(t *testing.T) { noRoutineAsks(t, m, s) }) // first and alone: then nothing was asked yet
	t.Run("Together", func(t *testing.T) {
		var all sync.WaitGroup
		defer all.Wait()
		for _, c := range []struct {
			name string
			run  func(*testing.T, *mind, *stack.Stack)
		}{
			{"ASentenceOutsideTheRoutinesBecomesAPlanAndRuns", outsideTheRoutines},
			{"Law14WhatAModelPutsInAboveReversibleAPersonConfirms", aPersonConfirms},
			{"Law14ARefusedPlanMovesNothing", refusedPlanMovesNothing},
			{"Law20WhatTheModelSaysIsToldToNobody", modelsWordsAreToldToNobody},
			{"AskedAgainWhenTheServerSays", askedAgainInTime},
			{"AModelThatDoesNotAnswerIsAskedAgain", hangingModel},
			{"AWrongKeyIsSaid", wrongKey},
			{"AQuotaThatEndsIsSaid", quotaEnds},
		} {
			beside(t, &all, c.name, func(t *testing.T) { c.run(t, m, s) })
		}
	})
	t.Run("AWorkerThatDiesWhileItAsks", func(t *testing.T) { workerDiesAsking(t, m, s) })
}

func outsideTheRoutines(t *testing.T, _ *mind, s *stack.Stack) {
	r := s.Robot(t)
	p := s.Say(t, r, "먼저 서재 바닥을 청소하고 그다음에는 충전하러 가도록 해")
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "cleaned", "docked")
	if effects := r.Ledger(t); effects[0].RoomID == "" || o.LLMCalls != 1 || o.Verified != 2 {
		t.Errorf("%+v after %d calls: %+v", effects, o.LLMCalls, o)
	}
	if kinds := activitiesOf(t, s, p.ID); kinds[plan.ActivityPlanByModel] != 1 {
		t.Errorf("its history has %v", kinds)
	}
	var record strings.Builder
	for _, e := range p.View(t).Journal {
		record.WriteString(e.Text + "\n")
	}
	if !strings.Contains(record.String(), "asked the model gemini-2.5-flash-standin: 1 calls") || !strings.Contains(record.String(), "not told to the model: ") {
		t.Errorf("the record does not tell what was asked, and what was left out: %s", record.String())
	}
}

// Nobody says yes to what the model wants: nothing happens. Somebody does: then it does.
func aPersonConfirms(t *testing.T, m *mind, s *stack.Stack) {
	asked := func(v plan.View) bool { return v.Question != nil && v.Question.Kind == "confirm" }
	for word, choice := range map[string]string{"수상한 소리": "no", "수상한 냄새": "yes"} {
		m.script(word, answering(secure))
		r := s.Robot(t)
		p := s.Say(t, r, word+"가 나")
		v := p.Await(t, "the person is asked", asked)
		wantEffects(t, r)
		p.Answer(t, v.Question.ID, choice)
		if choice == "no" {
			o := wantOutcome(t, p, plan.Failed, "failed")
			wantEffects(t, r)
			if o.Reason == nil || o.Reason.Code != "NOT_CONFIRMED" {
				t.Errorf("%+v", o.Reason)
			}
			continue
		}
		wantOutcome(t, p, plan.Completed, "completed")
		wantEffects(t, r, "secured")
	}
}

func refusedPlanMovesNothing(t *testing.T, m *mind, s *stack.Stack) {
	lowered := strings.Replace(secure, `"id"`, `"impact":"read_only","id"`, 1)
	m.script("지켜줄래", answering(lowered), answering(lowered))
	r := s.Robot(t)
	p := s.Say(t, r, "밤새 나를 지켜줄래")
	o := wantOutcome(t, p, plan.Failed, "failed")
	wantEffects(t, r)
	if o.Reason.Code != "PLAN_INVALID" || o.LLMCalls != 2 || !strings.Contains(o.TTSResponse, "다르게 말씀해 주시겠어요?") {
		t.Errorf("%+v, %q after %d calls", o.Reason, o.TTSResponse, o.LLMCalls)
	}
}

func modelsWordsAreToldToNobody(t *testing.T, m *mind, s *stack.Stack) {
	m.script("택배", standin.Answer(`{"steps":[],"unplanned":"not_understood","selected_routes":[]}`))
	r := s.Robot(t)
	p := s.Say(t, r, "택배 좀 받아놔")
	o := wantOutcome(t, p, plan.Failed, "failed")
	wantEffects(t, r)
	if o.Reason.Code != "NO_PLAN" || !strings.Contains(o.TTSResponse, "제가 할 수 있는 일") {
		t.Errorf("%+v, %q", o.Reason, o.TTSResponse)
	}
}

// A 429 with its own delay, then a 503, then a plan: Temporal waits as long as the server says, and the plan runs.
func askedAgainInTime(t *testing.T, m *mind, s *stack.Stack) {
	const named = 2345678901 * time.Nanosecond
	m.script("먼지투성이", standin.RateLimited(named), standin.Overloaded())
	r := s.Robot(t)
	p := s.Say(t, r, "거실이 먼지투성이니까 바닥 청소 부탁하고 싶어")
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "cleaned")
	at := m.times("먼지투성이")
	if len(at) != 3 || o.LLMCalls != 3 {
		t.Fatalf("asked %d times, counted %d; want 3", len(at), o.LLMCalls)
	}
	if waited := at[1].Sub(at[0]); waited < named {
		t.Errorf("after the 429 it waited %s, want at least %s", waited, named)
	}
	if waited := at[2].Sub(at[1]); waited < time.Second || waited > 30*time.Second {
		t.Errorf("after the 503 it waited %s, want the retry policy's few seconds", waited)
	}
}

func hangingModel(t *testing.T, m *mind, s *stack.Stack) {
	m.script("뒤죽박죽", standin.Hang())
	r := s.Robot(t)
	p := s.Say(t, r, "서재가 뒤죽박죽이니까 바닥 청소 부탁하고 싶어")
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "cleaned")
	if o.LLMCalls != 2 {
		t.Errorf("%d calls, want 2", o.LLMCalls)
	}
}

func wrongKey(t *testing.T, m *mind, s *stack.Stack) {
	m.script("열쇠", standin.WrongKey())
	wantSaid(t, s, "내 열쇠 어디 있는지 알아?", "MODEL_DENIED", "언어 모델을 쓸 수 없어서 정해진 말만 알아들어요")
}

func quotaEnds(t *testing.T, m *mind, s *stack.Stack) {
	m.script("하루치", standin.QuotaSpent(22*time.Second))
	wantSaid(t, s, "하루치 빨래를 개어 놔", "MODEL_QUOTA_SPENT", "다 써서")
	if n := len(m.times("하루치")); n != 1 {
		t.Errorf("Law13: a day's quota was asked for %d times", n)
	}
}

// wantSaid says something that comes to no plan, and holds why, what the person hears, and that nothing moved.
func wantSaid(t *testing.T, s *stack.Stack, text, code, says string) {
	t.Helper()
	r := s.Robot(t)
	o := wantOutcome(t, s.Say(t, r, text), plan.Failed, "failed")
	wantEffects(t, r)
	if o.Reason == nil || o.Reason.Code != code || !strings.Contains(o.TTSResponse, says) {
		t.Errorf("%q: %+v, %q; want %s and a sentence with %q", text, o.Reason, o.TTSResponse, code, says)
	}
}

// spoken has a sentence for each routine of the catalog.
var spoken = map[string]string{
	"go_to_room": "안방으로 가줘", "purify_room_and_return": "안방으로 가서 청정하고 복귀해줘", "purify_room": "안방 청정해줘", "clean_room": "안방 청소해줘",
	"clean_room_and_return": "안방 청소하고 돌아와줘", "return_to_station": "충전대로 돌아가줘", "security_on": "보안 모드 켜줘", "come_to_me": "이리 와줘", "status": "상태 알려줘",
	"alarm_delete_at": "7시 알람 삭제해줘", "alarm_delete_named": "출근 알람 지워줘", "alarm_delete": "알람 삭제해줘", "alarm_set": "6시 반에 알람 맞춰줘",
	"alarm_list": "알람 뭐 있어?", "alarm_list_at": "7시 알람 있어?", "reminder_list": "알림 알려줘", "reminder_delete_named": "약 먹기 알림 삭제해줘",
	"reminder_delete": "알림 지워줘", "light_on": "불 켜줘", "light_on_in": "안방 불 켜줘", "light_on_named": "스탠드 켜줘", "light_off": "불 꺼줘",
	"light_off_in": "안방 불 꺼줘", "light_off_named": "스탠드 꺼줘", "door_lock": "문 잠가줘", "door_lock_named": "현관문 잠가줘", "door_unlock": "문 열어줘",
	"door_unlock_named": "현관문 열어줘",
}

// Law 12: on the normal path no model is asked. Each routine of the catalog runs on a stack that has one; neither its
// history nor the worker's metric nor the model's server knows of a call.
func noRoutineAsks(t *testing.T, m *mind, s *stack.Stack) {
	anyVoice := filepath.Join(s.Dir, "home.yaml") // a home where the robot comes to whoever calls, with one thing of each kind
	if err := os.WriteFile(anyVoice, []byte(`{"speakers": [""], "rooms": [{"id": "1", "name": "거실"}, {"id": "6", "name": "안방", "x": 4, "pm25": 48}],
		"alarms": [{"id": "wake", "time": "07:00", "label": "출근", "enabled": true}], "reminders": [{"id": "pills", "text": "약 먹기"}],
		"lights": [{"id": "lamp", "name": "스탠드", "room_name": "안방"}], "doors": [{"id": "front", "name": "현관", "room_name": "거실"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, routine := range load.Builtin().Routines {
		text, ok := spoken[routine.ID]
		if !ok {
			t.Errorf("the test has no sentence for the routine %s", routine.ID)
			continue
		}
		beside(t, &all, routine.ID, func(t *testing.T) {
			r := s.Robot(t, stack.Option("ERRAND_ROBOT_HOME="+anyVoice))
			p := s.Say(t, r, text)
			if alwaysConfirmed(routine) {
				q := p.Await(t, "the person is asked", func(v plan.View) bool { return v.Question != nil }).Question
				p.Answer(t, q.ID, "yes")
			}
			o := wantOutcome(t, p, plan.Completed, "completed")
			if o.LLMCalls != 0 {
				t.Errorf("%d model calls", o.LLMCalls)
			}
			if kinds := activitiesOf(t, s, p.ID); kinds[plan.ActivityPlan] != 1 || kinds[plan.ActivityPlanByModel]+kinds[plan.ActivityDecide] != 0 {
				t.Errorf("its history has %v", kinds)
			}
		})
	}
	all.Wait()
	if asked := len(m.Questions()); asked != 0 {
		t.Errorf("the model was asked %d times", asked)
	}
	if told := m.calls(t); told != "errand_llm_calls_total{end=\"answer\",purpose=\"decide\"} 0\nerrand_llm_calls_total{end=\"answer\",purpose=\"plan\"} 0\n" {
		t.Errorf("the metric says\n%s", told)
	}
}

// alwaysConfirmed reports whether a person is asked before a routine's step, whoever asked for it.
func alwaysConfirmed(r catalog.Routine) bool {
	whole := load.Builtin().Whole()
	return slices.ContainsFunc(r.Steps, func(step catalog.RoutineStep) bool {
		c, ok := whole.Capability(step.CapabilityID)
		return ok && whole.Policy(c).Confirm == catalog.ConfirmAlways
	})
}

// calls are the lines of the worker's metrics that count model calls.
func (m *mind) calls(t *testing.T) string {
	t.Helper()
	answer, err := http.Get("http://" + m.metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "errand_llm_calls_total") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		t.Fatalf("the worker counts no model calls: %s", text)
	}
	return strings.Join(lines, "")
}

// activitiesOf counts the activities in a plan's history, by type.
func activitiesOf(t *testing.T, s *stack.Stack, id string) map[string]int {
	t.Helper()
	kinds := map[string]int{}
	for _, event := range historyOf(t, s.Temporal, id).Events {
		if event.EventType == enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			kinds[event.GetActivityTaskScheduledEventAttributes().ActivityType.Name]++
		}
	}
	return kinds
}

// A worker is killed while the model thinks: another one asks again, and both calls count.
func workerDiesAsking(t *testing.T, m *mind, s *stack.Stack) {
	m.script("엉망", standin.Hang())
	r := s.Robot(t)
	p := s.Say(t, r, "서재가 엉망이니까 바닥 청소 부탁하고 싶어")
	stack.Eventually(t, "the model is asked", func(context.Context) (bool, error) { return len(m.times("엉망")) == 1, nil })
	s.WorkerProc.Kill(t)
	s.WorkerProc.Start(t)
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "cleaned")
	if o.LLMCalls != 2 || len(m.times("엉망")) != 2 {
		t.Errorf("%d calls counted, %d made; want 2", o.LLMCalls, len(m.times("엉망")))
	}
}

// Without a model everything that needs none works, and what needs one says so.
func TestWithoutAModel(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.Robot(t)
	wantOutcome(t, s.Say(t, r, "안방으로 가줘"), plan.Completed, "completed")
	wantEffects(t, r, "arrived")
	wantSaid(t, s, "거실이 먼지투성이야", "MODEL_UNCONFIGURED", "언어 모델을 쓸 수 없어서 정해진 말만 알아들어요")
}
