package temporalerr_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"errand/llm"
	"errand/llm/gemini"
	"errand/llm/standin"
	"errand/llm/temporalerr"
)

func TestEachKindTellsTemporalWhetherToTryAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range llm.Kinds() {
		err := temporalerr.Of(fmt.Errorf("decide: %w", &llm.Error{Kind: kind, RetryAfter: 7, Meta: llm.Meta{Model: "m", Usage: llm.Usage{Total: 3}}}))
		var failure *temporal.ApplicationError
		if kind == llm.Canceled {
			if !temporal.IsCanceledError(err) {
				t.Errorf("%s became %v", kind, err)
			}
			continue
		}
		if !errors.As(err, &failure) || failure.NonRetryable() == kind.Retryable() || failure.NextRetryDelay() != 7 || temporalerr.Kind(err) != kind {
			t.Errorf("%s became %#v", kind, failure)
			continue
		}
		var meta llm.Meta
		if err := failure.Details(&meta); err != nil || meta.Usage.Total != 3 {
			t.Errorf("%s costs %+v, %v", kind, meta, err)
		}
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	if got := temporalerr.Of(other); !errors.Is(got, other) || got.Error() != "other" {
		t.Errorf("got %v", got)
	}
	if temporalerr.Of(nil) != nil || temporalerr.Kind(other) != "" {
		t.Error("nil or a foreign error became something")
	}
	if kind := temporalerr.Kind(temporal.NewApplicationError("m", "llm.something_newer")); kind != "" {
		t.Errorf("got %q", kind)
	}
}

// quiet keeps the attempts that fail by design out of the test's output.
var quiet = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// asking is an activity that asks a model, as the real ones do.
type asking struct{ model llm.Model }

func (a asking) Ask(ctx context.Context) (string, error) {
	answer, err := a.model.Generate(ctx, llm.Request{Contents: []string{"?"}, Limits: llm.Limits{Timeout: 5 * time.Second}})
	return answer.Text, temporalerr.Of(err)
}

// seen is what a workflow sees of it.
type seen struct {
	Answer string
	Kind   llm.Kind
}

// once runs the activity under a retry policy whose own delays are plain to tell from the server's.
func once(ctx workflow.Context) (seen, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 30 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 2, MaximumAttempts: 5}})
	var s seen
	err := workflow.ExecuteActivity(ctx, "Ask").Get(ctx, &s.Answer)
	s.Kind = temporalerr.Kind(err)
	return s, nil
}

// model starts a stand-in with a script, and a client of it.
func model(t *testing.T, replies ...standin.Reply) (*standin.Server, llm.Model) {
	t.Helper()
	server := standin.New(standin.Options{})
	url, err := server.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server.Script(replies...)
	m, err := gemini.New(t.Context(), gemini.Options{Key: "k", Model: "gemini-2.5-flash", Endpoint: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return server, m
}

// The timing of 429 and 503 as Temporal sees them, on a clock that skips: the first waits as long as the server says, to
// the fraction; the second as long as the retry policy says.
func TestTemporalWaitsAsLongAsTheServerSays(t *testing.T) {
	t.Parallel()
	const named = 38922534355 * time.Nanosecond
	server, m := model(t, standin.RateLimited(named), standin.Overloaded(), standin.Answer("now"))
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet)
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflow(once)
	env.RegisterActivityWithOptions(asking{m}.Ask, activity.RegisterOptions{Name: "Ask"})
	began := env.Now()
	env.ExecuteWorkflow(once)
	var s seen
	if err := env.GetWorkflowResult(&s); err != nil || s.Answer != "now" {
		t.Fatalf("got %+v, %v", s, err)
	}
	if asked := len(server.Questions()); asked != 3 {
		t.Errorf("asked %d times, want 3: one request an attempt", asked)
	}
	// The second wait is the policy's own, at least its first interval; real time passes too while the stand-in answers.
	waited, least := env.Now().Sub(began), named+100*time.Millisecond
	if waited < least || waited > least+20*time.Second {
		t.Errorf("waited %s, want %s", waited, least)
	}
}
