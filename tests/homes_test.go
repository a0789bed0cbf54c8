package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"errand/deviceio/registry"
	"errand/plan"
	"errand/starter/api"
	"errand/tests/stack"
)

// street is an installation with two homes and their people, made on the command line.
type street struct {
	*testing.T
	stack  *stack.Stack
	tokens map[string]string // of people, by their ids
}

func newStreet(t *testing.T) *street {
	t.Helper()
	j := &street{T: t, stack: stack.Start(t), tokens: map[string]string{"api": strings.TrimPrefix((&stack.Stack{}).Authorization(), "Bearer ")}}
	j.errand("home", "add", "kim", "--voice", "command,hear")
	j.errand("home", "add", "lee", "--voice", "command,confirm,hear")
	j.user("mina", "kim", "command,hear")
	j.user("joon", "kim", "confirm,hear")
	j.user("yuna", "kim", "command,confirm,hear")
	j.user("lee", "lee", "command,confirm,hear")
	return j
}

// errand runs the command line as the operator.
func (j *street) errand(args ...string) string {
	j.Helper()
	printed, code := j.stack.Errand(j.T, args...)
	if code != 0 {
		j.Fatalf("errand %s: exit %d\n%s", strings.Join(args, " "), code, printed)
	}
	return printed
}

func (j *street) user(id, home, may string) {
	j.Helper()
	_, token, found := strings.Cut(j.errand("user", "add", id, "--home", home, "--may", may), "\ntoken ")
	if token, _, _ = strings.Cut(token, "\n"); !found || token == "" {
		j.Fatalf("no token for %s", id)
	}
	j.tokens[id] = token
}

// robotOf starts a robot and puts it in a home.
func (j *street) robotOf(home string) *stack.Robot {
	j.Helper()
	r := j.stack.Robot(j.T)
	j.errand("device", "move", r.ID, home)
	return r
}

func (j *street) as(id, method, path, body string) (status int, answer []byte) {
	j.Helper()
	return j.stack.Do(j.T, method, path, "Bearer "+j.tokens[id], body)
}

// problem is as, for what is to be refused with a status.
func (j *street) problem(want int, id, method, path, body string) api.Problem {
	j.Helper()
	status, answer := j.as(id, method, path, body)
	var p api.Problem
	if err := json.Unmarshal(answer, &p); err != nil || status != want {
		j.Fatalf("%s: %s %s: %d %s, want %d", id, method, path, status, answer, want)
	}
	return p
}

// unlocking has the door of the veranda unlocked, which is always confirmed.
const unlocking = `{"device_id":%q,"answer_within_ms":120000,"steps":[{"id":"unlock","action":{"capability_id":"door_unlock","operation_id":"unlock","arguments":{"name":"베란다"}}}]}`

// unlocks starts a plan in a person's name and waits until it asks for consent.
func (j *street) unlocks(id string, r *stack.Robot) (*stack.Plan, *plan.Question) {
	j.Helper()
	status, answer := j.as(id, http.MethodPost, "/v1/plans", fmt.Sprintf(unlocking, r.ID))
	var started api.Started
	if err := json.Unmarshal(answer, &started); err != nil || status >= 300 {
		j.Fatalf("%s submits: %d %s", id, status, answer)
	}
	p := j.stack.Plan(started.PlanID)
	v := p.Await(j.T, "somebody is asked to confirm", func(v plan.View) bool { return v.Question != nil && v.Question.Consents() || v.State.Closed() })
	if v.Question == nil {
		j.Fatalf("nobody is asked: %s, %s", v.State, v.Why)
	}
	wantEffects(j.T, r)
	return p, v.Question
}

func (j *street) answerPath(p *stack.Plan) string { return "/v1/plans/" + p.ID + "/answer" }

// TestTwoPeopleWhoDisagree holds that who may confirm decides, that the first of two such people decides, and that the other one is
// told. The judge is the robot's ledger.
func TestTwoPeopleWhoDisagree(t *testing.T) {
	t.Parallel()
	j := newStreet(t)
	for _, c := range []struct {
		name string
		run  func(*street)
	}{
		{"Law16TheOneWhoMayConfirmDecides", mayConfirmDecides},
		{"Law16TheFirstOfTwoDecides", firstDecides},
		{"Law16BothAtOnce", bothAtOnce},
		{"Law16AVoiceThatMayNotConfirm", voiceMayNotConfirm},
		{"Law16AVoiceThatMay", voiceMayConfirm},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(&street{T: t, stack: j.stack, tokens: j.tokens})
		})
	}
}

// Mina may command and says yes: refused, told who may, and the question stays open. Joon may confirm and says no: that stands.
func mayConfirmDecides(j *street) {
	r := j.robotOf("kim")
	p, q := j.unlocks("mina", r)
	refused := j.problem(http.StatusForbidden, "mina", http.MethodPost, j.answerPath(p), answerTo(j.T, q.ID, "yes"))
	if !strings.Contains(refused.Detail, "mina may not confirm") || !strings.Contains(refused.Detail, "joon") || !strings.Contains(refused.Detail, "yuna") {
		j.Errorf("mina is told %q", refused.Detail)
	}
	j.problem(http.StatusForbidden, "mina", http.MethodPost, "/v1/utterances",
		fmt.Sprintf(`{"recognized_text":"응","device_id":%q,"voice_context":{"active_workflow_id":%q}}`, r.ID, p.ID))
	j.problem(http.StatusForbidden, "lee", http.MethodPost, j.answerPath(p), answerTo(j.T, q.ID, "yes"))
	if v := p.View(j.T); v.Question == nil || v.Question.ID != q.ID {
		j.Fatalf("the question is gone: %+v", v)
	}
	if status, answer := j.as("joon", http.MethodPost, j.answerPath(p), answerTo(j.T, q.ID, "no")); status != http.StatusAccepted {
		j.Fatalf("joon says no: %d %s", status, answer)
	}
	o := wantOutcome(j.T, p, plan.Failed, "failed")
	wantEffects(j.T, r)
	if o.Reason.Code != "NOT_CONFIRMED" {
		j.Errorf("ended for %+v", o.Reason)
	}
}

func firstDecides(j *street) {
	for first, second := range map[string]string{"yes": "no", "no": "yes"} {
		r := j.robotOf("kim")
		p, q := j.unlocks("yuna", r)
		if status, answer := j.as("joon", http.MethodPost, j.answerPath(p), answerTo(j.T, q.ID, first)); status != http.StatusAccepted {
			j.Fatalf("joon says %s: %d %s", first, status, answer)
		}
		told := j.problem(http.StatusConflict, "yuna", http.MethodPost, j.answerPath(p), answerTo(j.T, q.ID, second))
		if told.Code != "already_answered" || told.AnsweredBy != "joon" || told.Choice != first {
			j.Errorf("yuna is told %+v", told)
		}
		if first == "no" {
			wantOutcome(j.T, p, plan.Failed, "failed")
			wantEffects(j.T, r)
			continue
		}
		o := wantOutcome(j.T, p, plan.Completed, "completed")
		wantEffects(j.T, r, "door_unlocked")
		if c := o.Steps[0].Receipt.Confirmation; c == nil || c.By != "joon" {
			j.Errorf("confirmed by %+v", c)
		}
	}
}

// Both answer in the same moment: one answer is taken, the other one is told it, and the robot did what the first one said.
func bothAtOnce(j *street) {
	r := j.robotOf("kim")
	p, q := j.unlocks("yuna", r)
	type said struct {
		id, choice string
		status     int
		answer     []byte
	}
	all := []said{{id: "joon", choice: "no"}, {id: "yuna", choice: "yes"}}
	var wait sync.WaitGroup
	for i := range all {
		body := answerTo(j.T, q.ID, all[i].choice)
		wait.Go(func() { all[i].status, all[i].answer = j.as(all[i].id, http.MethodPost, j.answerPath(p), body) })
	}
	wait.Wait()
	slices.SortFunc(all, func(a, b said) int { return a.status - b.status })
	winner, loser := all[0], all[1]
	var told api.Problem
	if err := json.Unmarshal(loser.answer, &told); err != nil || winner.status != http.StatusAccepted || loser.status != http.StatusConflict ||
		told.AnsweredBy != winner.id || told.Choice != winner.choice {
		j.Fatalf("%s: %d %s; %s: %d %s", winner.id, winner.status, winner.answer, loser.id, loser.status, loser.answer)
	}
	if winner.choice == "no" {
		wantOutcome(j.T, p, plan.Failed, "failed")
		wantEffects(j.T, r)
		return
	}
	wantOutcome(j.T, p, plan.Completed, "completed")
	wantEffects(j.T, r, "door_unlocked")
}

// A voice that nobody knows may command in kim's home, and not confirm: the robot's yes is on record and counts for nothing.
func voiceMayNotConfirm(j *street) {
	r := j.robotOf("kim")
	p, q := j.unlocks("mina", r)
	j.answersAtRobot(r, q, "yes")
	var strays api.StrayList
	stack.Eventually(j.T, "the refused answer is on record", func(context.Context) (bool, error) {
		status, answer := j.as("mina", http.MethodGet, "/v1/devices/"+r.ID+"/strays", "")
		err := json.Unmarshal(answer, &strays)
		return err == nil && status == http.StatusOK && len(strays.Events) > 0, err
	})
	if e := strays.Events[0]; e.Ack != "refused" || !strings.HasPrefix(e.Reason, "may_not_confirm: voice:"+r.ID) || !strings.Contains(e.Reason, "joon") {
		j.Errorf("on record: %+v", e)
	}
	if v := p.View(j.T); v.Question == nil || v.Question.ID != q.ID {
		j.Fatalf("the question is gone: %+v", v)
	}
	if status, answer := j.as("joon", http.MethodPost, j.answerPath(p), answerTo(j.T, q.ID, "yes")); status != http.StatusAccepted {
		j.Fatalf("joon says yes: %d %s", status, answer)
	}
	wantOutcome(j.T, p, plan.Completed, "completed")
	wantEffects(j.T, r, "door_unlocked")
}

func voiceMayConfirm(j *street) {
	r := j.robotOf("lee")
	p, q := j.unlocks("lee", r)
	j.answersAtRobot(r, q, "yes")
	o := wantOutcome(j.T, p, plan.Completed, "completed")
	wantEffects(j.T, r, "door_unlocked")
	if c := o.Steps[0].Receipt.Confirmation; c == nil || c.By != "voice:"+r.ID {
		j.Errorf("confirmed by %+v", c)
	}
}

// answersAtRobot answers where the robot stands, once it has asked.
func (j *street) answersAtRobot(r *stack.Robot, q *plan.Question, choice string) {
	j.Helper()
	c := r.Control(j.T)
	stack.Eventually(j.T, "the robot has asked", func(ctx context.Context) (bool, error) {
		err := c.Answer(ctx, q.ID, choice)
		return err == nil, err
	})
}

// TestWhoseDeviceItIs goes through a device's life in three homes: who sees and moves it, and whose its plans are.
func TestWhoseDeviceItIs(t *testing.T) {
	t.Parallel()
	j := newStreet(t)
	r := j.stack.Robot(t) // in the default home
	first := j.stack.Submit(t, r, `{"steps":[{"id":"look","action":{"capability_id":"alarm_search","operation_id":"read"}}]}`)
	wantOutcome(t, first, plan.Completed, "completed")
	j.errand("device", "move", r.ID, "kim")

	// Kim's people command it; nobody else does, the operator included, and nobody sees what it did before.
	for id, want := range map[string]int{"api": 403, "lee": 403, "joon": 403} {
		j.problem(want, id, http.MethodPost, "/v1/utterances", fmt.Sprintf(`{"recognized_text":"거실로 가줘","device_id":%q}`, r.ID))
	}
	j.problem(http.StatusForbidden, "mina", http.MethodGet, "/v1/plans/"+first.ID, "")
	second, q := j.unlocks("mina", r)
	for id, want := range map[string][]string{"api": {first.ID}, "mina": {second.ID}, "joon": {second.ID}, "lee": {}} {
		j.lists(id, want)
	}

	// It is at work: it does not go to another home, and a stop that names a plan of another home stops nothing.
	printed, code := j.stack.Errand(t, "device", "move", r.ID, "lee")
	if code == 0 || !strings.Contains(printed, second.ID) {
		t.Errorf("moved while it is at work: exit %d, %s", code, printed)
	}
	foreign := j.problem(http.StatusForbidden, "mina", http.MethodPost, "/v1/utterances",
		fmt.Sprintf(`{"recognized_text":"멈춰","device_id":%q,"voice_context":{"active_workflow_id":%q}}`, r.ID, first.ID))
	if foreign.Code != "foreign_plan" || !strings.Contains(foreign.TTSResponse, "멈추거나") {
		t.Errorf("a stop of a foreign plan: %+v", foreign)
	}
	if v := second.View(t); v.Question == nil || v.Question.ID != q.ID || v.Cancel != nil {
		t.Errorf("something was stopped: %+v", v)
	}
	if status, answer := j.as("yuna", http.MethodPost, j.answerPath(second), answerTo(t, q.ID, "no")); status != http.StatusAccepted {
		t.Fatalf("yuna says no: %d %s", status, answer)
	}
	wantOutcome(t, second, plan.Failed, "failed")

	// Now it moves, its past stays, and who was removed is nobody any more.
	stack.Eventually(t, "the robot moves on", func(context.Context) (bool, error) {
		printed, code := j.stack.Errand(t, "device", "move", r.ID, "lee")
		return code == 0, fmt.Errorf("%s", printed)
	})
	j.problem(http.StatusForbidden, "lee", http.MethodGet, "/v1/plans/"+second.ID, "")
	j.problem(http.StatusForbidden, "mina", http.MethodGet, "/v1/devices/"+r.ID, "")
	third, q := j.unlocks("lee", r)
	if status, answer := j.as("lee", http.MethodPost, j.answerPath(third), answerTo(t, q.ID, "yes")); status != http.StatusAccepted {
		t.Fatalf("lee says yes: %d %s", status, answer)
	}
	wantOutcome(t, third, plan.Completed, "completed")
	wantEffects(t, r, "door_unlocked")
	for id, want := range map[string][]string{"api": {first.ID}, "mina": {second.ID}, "lee": {third.ID}} {
		j.lists(id, want)
	}
	j.errand("user", "remove", "mina")
	if status, _ := j.as("mina", http.MethodGet, "/v1/plans", ""); status != http.StatusUnauthorized {
		t.Errorf("a removed user's token: %d", status)
	}
}

// lists waits until a person's list of plans is this.
func (j *street) lists(id string, want []string) {
	j.Helper()
	stack.Eventually(j.T, fmt.Sprintf("%s sees the plans %v", id, want), func(context.Context) (bool, error) {
		status, answer := j.as(id, http.MethodGet, "/v1/plans", "")
		var list api.PlanList
		if err := json.Unmarshal(answer, &list); err != nil || status != http.StatusOK {
			return false, fmt.Errorf("%d %s", status, answer)
		}
		got := []string{}
		for _, line := range list.Plans {
			got = append(got, line.PlanID)
		}
		return slices.Equal(got, want), fmt.Errorf("sees %v", got)
	})
}

// TestAPlanDoesNothingOnADeviceThatWasMovedUnderIt moves the device behind the API's back, in the midst of a plan, as a move does that
// meets a plan which begins in the same moment: the gateway sends nothing of the plan to the device, and says nothing there.
func TestAPlanDoesNothingOnADeviceThatWasMovedUnderIt(t *testing.T) {
	t.Parallel()
	j := newStreet(t)
	r := j.robotOf("kim")
	p, q := j.unlocks("yuna", r)
	if err := j.stack.OpenRegistry(t).MoveDevice(t.Context(), r.ID, "lee"); err != nil {
		t.Fatal(err)
	}
	before := said(t, r)
	if status, answer := j.as("yuna", http.MethodPost, j.answerPath(p), answerTo(t, q.ID, "yes")); status != http.StatusAccepted {
		t.Fatalf("yuna says yes: %d %s", status, answer)
	}
	o := wantOutcome(t, p, plan.Failed, "failed")
	wantEffects(t, r)
	if o.Reason == nil || o.Reason.Code != "DEVICE_MOVED" {
		t.Errorf("ended for %+v", o.Reason)
	}
	if after := said(t, r); !slices.Equal(before, after) {
		t.Errorf("the robot said %v for the home that it left", after[len(before):])
	}
	if d, err := j.stack.OpenRegistry(t).Device(t.Context(), r.ID); err != nil || d.HomeID != "lee" || d.State != registry.Approved {
		t.Errorf("%+v, %v", d, err)
	}
}

// said is what the robot said so far.
func said(t *testing.T, r *stack.Robot) (texts []string) {
	t.Helper()
	state, err := r.Control(t).State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range state.Said {
		texts = append(texts, s.Text)
	}
	return texts
}
