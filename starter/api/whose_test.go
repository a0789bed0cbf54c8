package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"errand/deviceio/registry"
	"errand/plan"
	"errand/plan/lease"
	"errand/starter/api"
	"errand/starter/plans"
)

// street is a house with two homes: robot and p-1 are of the default one, cleaner and p-2 of kim's.
type street struct {
	*house
	tokens map[string]string // of people, by their ids
}

func newStreet(t *testing.T) *street {
	t.Helper()
	s := &street{house: newHouse(t, "robot", "cleaner"), tokens: map[string]string{"tester": secret}}
	ctx := t.Context()
	for _, home := range []string{"kim", "lee"} {
		if err := s.registry.SetHome(ctx, registry.Home{ID: home}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.registry.MoveDevice(ctx, "id-cleaner", "kim"); err != nil {
		t.Fatal(err)
	}
	s.user("mina", "kim", registry.Rights{Command: true, Hear: true})
	s.user("joon", "kim", registry.Rights{Confirm: true})
	s.user("sora", "kim", registry.Rights{Hear: true})
	s.user("lee", "lee", registry.All())
	s.plans.devices = map[string]string{"p-1": "id-robot", "p-2": "id-cleaner"}
	s.plans.homes = map[string]string{"p-2": "kim"}
	s.plans.lease = func() lease.View { return lease.View{} }
	s.standing(plan.View{State: plan.WaitingUser, Question: &plan.Question{ID: "q", Kind: "confirm", Choices: []string{"yes", "no"}}})
	return s
}

func (s *street) user(id, home string, r registry.Rights) {
	s.t.Helper()
	token, err := s.registry.AddUser(s.t.Context(), registry.User{ID: id, HomeID: home, Rights: r})
	if err != nil {
		s.t.Fatal(err)
	}
	s.tokens[id] = token
}

// TestWhoMayDoWhat asks every route about another home's plan or device, in the name of each kind of person. 403 is the only refusal that
// is about a person, so any other status tells that they were let through.
func TestWhoMayDoWhat(t *testing.T) {
	const document = `{"device_id":"cleaner","steps":[{"id":"home","action":{"capability_id":"return_to_station","operation_id":"start"}}]}`
	const steps = `{"steps":[{"id":"home","action":{"capability_id":"return_to_station","operation_id":"start"}}]}`
	for _, tt := range []struct{ method, path, body, may string }{
		{"POST", "/v1/utterances", `{"recognized_text":"거실 청소해줘","device_id":"cleaner"}`, "mina"},
		{"POST", "/v1/utterances", `{"recognized_text":"멈춰","device_id":"cleaner"}`, "mina"},
		{"POST", "/v1/plans", document, "mina"},
		{"POST", "/v1/plans:validate", document, "mina"},
		{"POST", "/v1/plans/p-2/cancel", "", "mina"},
		{"POST", "/v1/plans/p-2/cancel", `{"step_id":"home"}`, "mina"},
		{"POST", "/v1/plans/p-2/pause", "", "mina"},
		{"POST", "/v1/plans/p-2/resume", "", "mina"},
		{"POST", "/v1/plans/p-2/amend", steps, "mina"},
		{"POST", "/v1/plans/p-2/answer", `{"question_id":"q","choice":"yes"}`, "joon"},
		{"GET", "/v1/plans/p-2", "", "mina sora"},
		{"GET", "/v1/devices/cleaner", "", "mina sora tester"},
		{"GET", "/v1/devices/cleaner/strays", "", "mina sora tester"},
		{"POST", "/v1/devices/cleaner/stop", "", "mina joon sora tester"},
		{"POST", "/v1/devices/cleaner/release", "", "mina tester"},
		{"POST", "/v1/devices/cleaner/forget", `{"why":"I see it"}`, "mina tester"},
		{"POST", "/v1/devices/cleaner/approve", "", "tester"},
		{"POST", "/v1/devices/cleaner/move", `{"home_id":"kim"}`, "tester"},
		{"POST", "/v1/devices/cleaner/revoke", "", "tester"},
		{"POST", "/v1/invites", "", "tester"},
		{"GET", "/v1/homes", "", "tester"},
		{"POST", "/v1/homes", `{"home_id":"park"}`, "tester"},
		{"GET", "/v1/users", "", "tester"},
		{"POST", "/v1/users", `{"user_id":"yuna","home_id":"kim","may_hear":true}`, "tester"},
		{"POST", "/v1/users/sora/remove", "", "tester"},
		{"GET", "/v1/catalog", "", "mina joon sora lee tester"},
	} {
		s := newStreet(t)
		for _, id := range []string{"mina", "joon", "sora", "lee", "tester"} { // what the last one does is for good
			s.plans.taken, s.plans.started = nil, map[string]plan.Start{}
			got := s.askAs(s.tokens[id], tt.method, tt.path, tt.body)
			if may := slices.Contains(strings.Fields(tt.may), id); (got.status != http.StatusForbidden) != may {
				t.Errorf("%s: %s %s %s: answered %d %s", id, tt.method, tt.path, tt.body, got.status, got.text)
				continue
			}
			if got.status < 400 {
				continue
			}
			if p := got.problem(t); got.status != http.StatusForbidden || p.Code != api.CodeForbidden || !strings.Contains(p.Detail, id) {
				t.Errorf("%s: %s %s: %+v", id, tt.method, tt.path, p)
			}
			if len(s.plans.taken)+len(s.plans.started) > 0 {
				t.Errorf("%s: %s %s was refused and done: %v %v", id, tt.method, tt.path, s.plans.taken, s.plans.started)
			}
		}
	}
}

// The events of a plan are heard by whoever may hear; they are a stream, so the others are told before it begins.
func TestWhoMayWatch(t *testing.T) {
	s := newStreet(t)
	s.plans.changes = []plans.Change{{Outcome: &plan.Outcome{PlanID: "p-2", State: plan.Completed}}}
	for id, want := range map[string]int{"mina": 200, "sora": 200, "joon": 403, "lee": 403, "tester": 403} {
		if got := s.askAs(s.tokens[id], "GET", "/v1/plans/p-2/events", ""); got.status != want {
			t.Errorf("%s: %d %s", id, got.status, got.text)
		}
	}
}

// Who may not hear any more is cut off in the midst of a watch.
func TestAWatcherWhoIsRemovedIsCutOff(t *testing.T) {
	s := newStreet(t)
	a, err := api.New(api.Parts{Plans: s.plans, Registry: s.registry, Catalog: s.api.Catalog, Now: s.clock, Tokens: s.api.Tokens, Heartbeat: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v1/plans/p-2/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.tokens["sora"])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewReader(answer.Body)
	if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, ": ") {
		t.Fatalf("reads %q, %v", line, err)
	}
	if err := s.registry.RemoveUser(t.Context(), "sora"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(lines); err != nil { // until the end, which never comes by itself
		t.Error(err)
	}
}

func TestARefusalSaysWhoMay(t *testing.T) {
	s := newStreet(t)
	p := s.askAs(s.tokens["sora"], "POST", "/v1/plans/p-2/cancel", "").problem(t)
	if !strings.Contains(p.Detail, `sora may not command what is of home "kim"; who may: mina`) {
		t.Errorf("to one of the home: %q", p.Detail)
	}
	p = s.askAs(s.tokens["lee"], "POST", "/v1/plans/p-2/cancel", "").problem(t)
	if strings.Contains(p.Detail, "mina") || !strings.Contains(p.Detail, "only its own people") {
		t.Errorf("to a stranger: %q", p.Detail)
	}
	p = s.ask("POST", "/v1/plans/p-2/cancel", "").problem(t)
	if !strings.Contains(p.Detail, "who may: mina") {
		t.Errorf("to an operator: %q", p.Detail)
	}
	s.user("guest", registry.DefaultHome, registry.Rights{Hear: true})
	p = s.askAs(s.tokens["guest"], "POST", "/v1/plans/p-1/cancel", "").problem(t)
	if !strings.Contains(p.Detail, "who may: tester") {
		t.Errorf("in the default home: %q", p.Detail)
	}
}

func TestListsShowOnlyWhatOneMayHear(t *testing.T) {
	s := newStreet(t)
	for id, want := range map[string][]string{"tester": {"robot", "cleaner"}, "mina": {"cleaner"}, "sora": {"cleaner"}, "joon": nil, "lee": nil} {
		var list api.DeviceList
		s.askAs(s.tokens[id], "GET", "/v1/devices", "").into(t, &list)
		var names []string
		for _, d := range list.Devices {
			names = append(names, d.DisplayName)
		}
		if slices.Sort(names); !slices.Equal(names, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s sees %v, want %v", id, names, want)
		}
	}
	for id, want := range map[string][]string{"tester": {"home"}, "mina": {"kim"}, "joon": {}, "lee": {"lee"}} {
		s.askAs(s.tokens[id], "GET", "/v1/plans", "")
		if got := s.plans.filter.Homes; got == nil || !slices.Equal(got, want) {
			t.Errorf("%s lists the plans of %v, want %v", id, got, want)
		}
	}
	// Nor does a refusal tell what else there is.
	if p := s.askAs(s.tokens["lee"], "GET", "/v1/devices/nothing", "").problem(t); strings.Contains(p.Detail, "cleaner") || strings.Contains(p.Detail, "robot") {
		t.Errorf("a stranger is told %q", p.Detail)
	}
}

// Without a name the only device of one's own home is meant, however many there are elsewhere.
func TestTheOnlyDeviceIsThatOfOnesHome(t *testing.T) {
	s := newStreet(t)
	var started api.Started
	s.askAs(s.tokens["mina"], "POST", "/v1/utterances", `{"recognized_text":"거실 청소해줘"}`).into(t, &started)
	if got := s.plans.started[started.PlanID]; got.DeviceID != "id-cleaner" || got.HomeID != "kim" {
		t.Errorf("started %+v", got)
	}
	s.ask("POST", "/v1/utterances", `{"recognized_text":"거실 청소해줘"}`).into(t, &started)
	if got := s.plans.started[started.PlanID]; got.DeviceID != "id-robot" || got.HomeID != "home" {
		t.Errorf("started %+v", got)
	}
	if p := s.askAs(s.tokens["lee"], "POST", "/v1/utterances", `{"recognized_text":"거실 청소해줘"}`).problem(t); p.Code != "unknown_device" {
		t.Errorf("%+v", p)
	}
}

// A stop that names a plan of another home, or of another device, stops nothing at all, and says so.
func TestAForeignPlanIsRefusedAndNothingIsStopped(t *testing.T) {
	for name, spoil := range map[string]func(*street) string{
		"of another home":   func(*street) string { return "p-1" },
		"of another device": func(s *street) string { s.plans.devices["p-3"], s.plans.homes["p-3"] = "id-other", "kim"; return "p-3" },
		"of the home where the device was before": func(s *street) string {
			s.plans.devices["p-3"], s.plans.homes["p-3"] = "id-cleaner", "lee"
			return "p-3"
		},
		"that is not there": func(*street) string { return "p-9" },
	} {
		for text, says := range map[string]string{"멈춰": "멈추거나", "stop": "stopped nothing", "취소해": "멈추거나", "응": "멈추거나", "그리고 거실도 청소해줘": "멈추거나"} {
			s := newStreet(t)
			foreign := spoil(s)
			s.plans.open = []string{"p-2"}
			got := s.askAs(s.tokens["mina"], "POST", "/v1/utterances",
				fmt.Sprintf(`{"recognized_text":%q,"device_id":"cleaner","voice_context":{"active_workflow_id":%q}}`, text, foreign))
			p := got.problem(t)
			if got.status != http.StatusForbidden || p.Code != "foreign_plan" || !strings.Contains(p.TTSResponse, says) || !strings.Contains(p.Detail, "nothing was done") {
				t.Errorf("%s, %q: %d %+v", name, text, got.status, p)
			}
			if len(s.plans.taken)+len(s.plans.started) > 0 {
				t.Errorf("%s, %q: %v %v", name, text, s.plans.taken, s.plans.started)
			}
		}
	}
}

// To consent is a right of its own; all other questions are answered by who commands.
func TestWhoMayAnswerWhat(t *testing.T) {
	for _, tt := range []struct{ id, kind, choice, spoken string }{
		{"mina", "decision", "yes", "응"}, {"joon", "confirm", "yes", ""}, {"joon", "confirm", "no", ""},
		{"!mina", "confirm", "yes", "응"}, {"!mina", "confirm", "no", "아니"}, {"!joon", "decision", "yes", ""}, {"!sora", "decision", "yes", ""}, {"!lee", "confirm", "yes", ""},
	} {
		id, no := strings.CutPrefix(tt.id, "!")
		for _, spoken := range []bool{false, true} {
			if spoken && tt.spoken == "" {
				continue
			}
			s := newStreet(t)
			s.standing(plan.View{State: plan.WaitingUser, Question: &plan.Question{ID: "q", Kind: tt.kind, Choices: []string{"yes", "no"}}})
			path, body := "/v1/plans/p-2/answer", fmt.Sprintf(`{"question_id":"q","choice":%q}`, tt.choice)
			if spoken {
				path, body = "/v1/utterances", fmt.Sprintf(`{"recognized_text":%q,"device_id":"cleaner","voice_context":{"active_workflow_id":"p-2"}}`, tt.spoken)
			}
			got := s.askAs(s.tokens[id], "POST", path, body)
			if no {
				if p := got.problem(t); got.status != 403 || len(s.plans.taken) != 0 {
					t.Errorf("%s, %s, spoken %v: %d %+v, taken %v", tt.id, tt.kind, spoken, got.status, p, s.plans.taken)
				}
				continue
			}
			if got.status >= 300 || len(s.plans.taken) != 1 {
				t.Errorf("%s, %s, spoken %v: %d %s, taken %v", tt.id, tt.kind, spoken, got.status, got.text, s.plans.taken)
				continue
			}
			if a, ok := s.plans.taken[0].(plan.Answer); !ok || a.By != id || a.Choice != tt.choice || a.MayConfirm != (id == "joon") {
				t.Errorf("%s: handed on %+v", tt.id, s.plans.taken[0])
			}
		}
	}
}

// The second of two people who answer learns what was decided, and by whom; over the API, by voice, and where both come at once.
func TestTheSecondOfTwoWhoAnswerIsTold(t *testing.T) {
	s := newStreet(t)
	answered := plan.View{State: plan.Running, Answers: []plan.Answered{{QuestionID: "q", Kind: "confirm", Choice: "no", By: "joon", At: s.clock().UnixMilli()}}}
	s.user("yuna", "kim", registry.All())
	told := func(got answer) {
		t.Helper()
		if p := got.problem(t); p.Status != 409 || p.Code != "already_answered" || p.AnsweredBy != "joon" || p.Choice != "no" || !strings.Contains(p.Detail, "joon") {
			t.Errorf("%d %+v", got.status, p)
		}
	}
	s.standing(answered)
	told(s.askAs(s.tokens["yuna"], "POST", "/v1/plans/p-2/answer", `{"question_id":"q","choice":"yes"}`))
	over := answered
	over.State = plan.Failed
	s.standing(over)
	told(s.askAs(s.tokens["yuna"], "POST", "/v1/plans/p-2/answer", `{"question_id":"q","choice":"yes"}`))
	// Both saw it open: the plan refuses the second one.
	open := plan.View{State: plan.WaitingUser, Question: &plan.Question{ID: "q", Kind: "confirm", Choices: []string{"yes", "no"}}}
	s.plans.refuse(fmt.Errorf("%w: already_answered", plans.ErrRefused))
	looks := 0
	s.plans.view = func(string) (plan.View, error) {
		if looks++; looks == 1 {
			return open, nil
		}
		return answered, nil
	}
	told(s.askAs(s.tokens["yuna"], "POST", "/v1/plans/p-2/answer", `{"question_id":"q","choice":"yes"}`))
	s.standing(answered)
	for id, says := range map[string]string{"yuna": "다른 분이 먼저", "joon": "command"} {
		got := s.askAs(s.tokens[id], "POST", "/v1/utterances", `{"recognized_text":"응","device_id":"cleaner","voice_context":{"active_workflow_id":"p-2"}}`)
		if !strings.Contains(got.text, says) {
			t.Errorf("%s: %s", id, got.text)
		}
	}
	if len(s.plans.taken) != 0 {
		t.Errorf("taken %v", s.plans.taken)
	}
}

// The answer to every route that refuses people is described.
func TestTheDescriptionTellsOf403(t *testing.T) {
	h := newHouse(t)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]json.RawMessage `json:"responses"`
		} `json:"paths"`
	}
	h.ask("GET", "/openapi.json", "").into(t, &doc)
	open := []string{"/v1/catalog", "/healthz", "/readyz", "/metrics", "/v1/plans get", "/v1/devices"} // the lists leave out what is not to be heard
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if told := op.Responses["403"] != nil; told == (slices.Contains(open, path) || slices.Contains(open, path+" "+method)) {
				t.Errorf("%s %s: 403 is told of: %v", method, path, told)
			}
		}
	}
}
