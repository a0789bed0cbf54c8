package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"errand/plan"
	"errand/workflows"
)

// Plan is one plan of the stack.
type Plan struct {
	ID    string
	stack *Stack
}

// Say sends an utterance for a robot and returns its plan.
func (s *Stack) Say(tb testing.TB, r *Robot, text string) *Plan {
	tb.Helper()
	return s.start(tb, "/v1/utterances", map[string]any{"recognized_text": text, "device_id": r.ID})
}

// Submit sends a plan document for a robot.
func (s *Stack) Submit(tb testing.TB, r *Robot, document string) *Plan {
	tb.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		tb.Fatalf("the test's document: %v", err)
	}
	doc["device_id"] = r.ID
	return s.start(tb, "/v1/plans", doc)
}

func (s *Stack) start(tb testing.TB, path string, body map[string]any) *Plan {
	tb.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		tb.Fatal(err)
	}
	status, answer := s.Post(tb, path, string(raw))
	var started struct {
		PlanID string `json:"plan_id"`
	}
	if err := json.Unmarshal(answer, &started); err != nil || status >= 300 || started.PlanID == "" {
		tb.Fatalf("POST %s: %d %s", path, status, answer)
	}
	return &Plan{ID: started.PlanID, stack: s}
}

// Post makes one request with the stack's token and returns the answer.
func (s *Stack) Post(tb testing.TB, path, body string) (status int, answer []byte) {
	tb.Helper()
	return s.Do(tb, http.MethodPost, path, "Bearer "+token, body)
}

// Get makes one request with the stack's token and returns the answer.
func (s *Stack) Get(tb testing.TB, path string) (status int, answer []byte) {
	tb.Helper()
	return s.Do(tb, http.MethodGet, path, "Bearer "+token, "")
}

// Do makes one request with the given authorization.
func (s *Stack) Do(tb testing.TB, method, path, authorization, body string) (status int, answer []byte) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), method, s.API+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	answer, err = io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, bytes.TrimSpace(answer)
}

// View asks the plan how it stands.
func (p *Plan) View(tb testing.TB) plan.View {
	tb.Helper()
	var v plan.View
	Eventually(tb, "a view of "+p.ID, func(ctx context.Context) (bool, error) { // a busy worker may let one question fall
		var err error
		v, err = p.view(ctx)
		return err == nil, err
	})
	return v
}

func (p *Plan) view(ctx context.Context) (plan.View, error) {
	value, err := p.stack.Temporal.QueryWorkflow(ctx, p.ID, "", plan.QueryView)
	if err != nil {
		return plan.View{}, err
	}
	var v plan.View
	err = value.Get(&v)
	return v, err
}

// Await waits until the plan's view is as the test wants it.
func (p *Plan) Await(tb testing.TB, what string, holds func(plan.View) bool) plan.View {
	tb.Helper()
	var v plan.View
	Eventually(tb, what, func(ctx context.Context) (bool, error) {
		var err error
		if v, err = p.view(ctx); err != nil {
			return false, err
		}
		if holds(v) {
			return true, nil
		}
		return false, fmt.Errorf("it is %s, waiting for %q", v.State, v.Plan.WaitingFor)
	})
	return v
}

// AwaitStep waits until a step is in one of the phases.
func (p *Plan) AwaitStep(tb testing.TB, step string, phases ...plan.StepPhase) plan.View {
	tb.Helper()
	return p.Await(tb, fmt.Sprintf("step %s is %v", step, phases), func(v plan.View) bool {
		for _, st := range v.Steps {
			for _, phase := range phases {
				if st.ID == step && st.State == phase {
					return true
				}
			}
		}
		return false
	})
}

// Cancel asks over the API for the plan to stop.
func (p *Plan) Cancel(tb testing.TB) {
	tb.Helper()
	if status, answer := p.stack.Post(tb, "/v1/plans/"+p.ID+"/cancel", `{"why":"the test says so"}`); status >= 300 {
		tb.Fatalf("cancel %s: %d %s", p.ID, status, answer)
	}
}

// Wait waits for the plan's end and returns its outcome and how the run closed: completed, failed or canceled.
func (p *Plan) Wait(tb testing.TB) (plan.Outcome, string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	defer cancel()
	var o plan.Outcome
	err := p.stack.Temporal.GetWorkflow(ctx, p.ID, "").Get(ctx, &o)
	var (
		canceled *temporal.CanceledError
		failed   *temporal.ApplicationError
	)
	switch {
	case err == nil:
		return o, "completed"
	case errors.As(err, &canceled) && canceled.HasDetails():
		if err := canceled.Details(&o); err != nil {
			tb.Fatalf("the outcome of %s: %v", p.ID, err)
		}
		return o, "canceled"
	case errors.As(err, &failed) && failed.Type() == workflows.ErrorTypePlan:
		if err := failed.Details(&o); err != nil {
			tb.Fatalf("the outcome of %s: %v", p.ID, err)
		}
		return o, "failed"
	}
	tb.Fatalf("plan %s did not end as a plan does: %v", p.ID, err)
	return o, ""
}

// Plan names a plan that is already there.
func (s *Stack) Plan(id string) *Plan { return &Plan{ID: id, stack: s} }

// Answer answers the plan's question over the API.
func (p *Plan) Answer(tb testing.TB, questionID, choice string) {
	tb.Helper()
	body := fmt.Sprintf(`{"question_id":%q,"choice":%q}`, questionID, choice)
	if status, answer := p.stack.Post(tb, "/v1/plans/"+p.ID+"/answer", body); status >= 300 {
		tb.Fatalf("answer %s: %d %s", p.ID, status, answer)
	}
}

// Authorization is the header that the stack's programs accept.
func (s *Stack) Authorization() string { return "Bearer " + token }

// CancelInUI cancels the plan as Temporal's web UI does.
func (p *Plan) CancelInUI(tb testing.TB) {
	tb.Helper()
	p.inUI(tb, "cancel", `{"reason":"an operator"}`)
}

// TerminateInUI terminates the plan's workflow as Temporal's web UI does.
func (p *Plan) TerminateInUI(tb testing.TB, reason string) {
	tb.Helper()
	p.inUI(tb, "terminate", fmt.Sprintf(`{"reason":%q}`, reason))
}

// inUI asks for something as Temporal's web UI does: over its own HTTP API, with the CSRF token of its cookie.
func (p *Plan) inUI(tb testing.TB, action, body string) {
	tb.Helper()
	base := p.stack.UI + "/api/v1/namespaces/default/workflows/" + p.ID
	resp, err := http.Get(base) //nolint:noctx // any GET sets the cookie; the test's end ends it
	if err != nil {
		tb.Fatalf("the UI's API: %v", err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, base+"/"+action, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, c := range resp.Cookies() {
		if c.Name == "_csrf" {
			req.Header.Set("X-CSRF-TOKEN", c.Value)
			req.Header.Set("Cookie", c.Name+"="+c.Value)
		}
	}
	resp, err = http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatalf("%s in the UI: %v", action, err)
	}
	answer, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
		tb.Fatalf("%s in the UI: %d %s (%v)", action, resp.StatusCode, answer, err)
	}
}

// TokenEnv is the environment variable with the token that the stack's programs accept.
func (s *Stack) TokenEnv() string { return "ERRAND_TOKEN=" + token }
