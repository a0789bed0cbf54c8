package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/plan/lease"
)

// deciding is plans as they stand, by their ids, and who holds a device.
type deciding struct {
	mu     sync.Mutex
	views  map[string]plan.View
	holder string
	asked  []string
}

func (d *deciding) View(_ context.Context, planID string) (plan.View, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, planID)
	v, ok := d.views[planID]
	if !ok {
		return v, errors.New("no such plan")
	}
	return v, nil
}

func (d *deciding) Lease(context.Context, string) (v lease.View, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holder != "" {
		v.Holder = &lease.HoldView{}
		v.Holder.PlanID = d.holder
	}
	return v, nil
}

// decided is the answer to a batch as an app reads it.
type decided struct {
	acks
	Decisions []struct {
		PlanID   string               `json:"plan_id"`
		Decision *plan.ReplanDecision `json:"replan_decision"`
		Question *plan.Question       `json:"question"`
	} `json:"decisions"`
}

// The answer to a batch carries what was decided by then in the plans that the batch asked a decision of, and in the shape of every other
// decision (contract.md §7): by an event that says that it needs one, or by an observation, in the plan that has the device.
func TestADecisionThatIsReadyComesWithTheAnswer(t *testing.T) {
	t.Parallel()
	retry := &plan.ReplanDecision{Decision: plan.DecideRetry, TTSResponse: "다시 해볼게요.", By: "table", StepID: "move", Code: "PATH_BLOCKED", At: 7}
	question := &plan.Question{ID: "p-2.1", Text: "계속할까요?", Choices: []string{"yes", "no"}}
	views := &deciding{views: map[string]plan.View{"p-1": {Decision: retry}, "p-2": {Question: question}, "p-3": {}}, holder: "p-2"}
	h := newHome(t, func(o *gateway.Options) { o.Views, o.Observations = views, &watching{} })
	c := h.caller()
	post := func(path, body string) (got decided) {
		t.Helper()
		body = `{"event":` + body + `}`
		if status, text := c.call(http.MethodPost, path, body, &got); status != http.StatusOK || len(got.Acks) == 0 || got.Acks[0].Ack != wire.AckApplied {
			t.Fatalf("%s: %d %s", body, status, text)
		}
		return got
	}
	blocked := event(1, "BLOCKED", `"reason_code":"PATH_BLOCKED","requires_cloud_decision":true`)
	got := post("/v1/task-events", blocked)
	if len(got.Decisions) != 1 || got.Decisions[0].PlanID != "p-1" || got.Decisions[0].Question != nil {
		t.Fatalf("decisions %+v", got.Decisions)
	}
	if d := got.Decisions[0].Decision; d == nil || d.Decision != retry.Decision || d.TTSResponse != retry.TTSResponse || d.Code != retry.Code || d.At != retry.At {
		t.Errorf("decided %+v, want %+v", d, retry)
	}

	got = post("/v1/observations", `{"event_id":"b1-2","boot_id":"b1","seq":2,"kind":"pet_in_the_way","observed_at":"2026-11-30T09:00:00Z","requires_cloud_decision":true}`)
	if len(got.Decisions) != 1 || got.Decisions[0].PlanID != "p-2" || got.Decisions[0].Decision != nil || got.Decisions[0].Question == nil ||
		got.Decisions[0].Question.ID != question.ID || strings.Join(got.Decisions[0].Question.Choices, " ") != "yes no" {
		t.Errorf("observed: %+v", got.Decisions)
	}

	// Nothing to decide, nothing decided, or nobody to say: the events are taken all the same.
	views.mu.Lock()
	views.asked = nil
	views.mu.Unlock()
	if got := post("/v1/task-events", event(3, "COMPLETED", "")); got.Decisions != nil {
		t.Errorf("a success brings %+v", got.Decisions)
	}
	views.mu.Lock()
	if len(views.asked) != 0 {
		t.Errorf("asked %v for a success", views.asked)
	}
	delete(views.views, "p-1")
	views.mu.Unlock()
	if got := post("/v1/task-events", strings.Replace(blocked, `"seq":1`, `"seq":4`, 1)); got.Decisions != nil {
		t.Errorf("a plan that cannot be seen brings %+v", got.Decisions)
	}
}
