package temporalerr_test

import (
	"context"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"errand/llm"
	"errand/llm/standin"
)

// temporalServer starts a real server; the tests' programs are built by make.
func temporalServer(t *testing.T) client.Client {
	t.Helper()
	path := os.Getenv("ERRAND_TEST_TEMPORAL")
	if path == "" {
		t.Skip("ERRAND_TEST_TEMPORAL names no Temporal server: run `make test`")
	}
	server, err := testsuite.StartDevServer(t.Context(), testsuite.DevServerOptions{ExistingPath: path, LogLevel: "error",
		ClientOptions: &client.Options{Logger: quiet}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.Client()
}

// The same on a real server and a real clock: when each attempt reached the model's server.
func TestARealServerWaitsAsLongAsTheModelsServerSays(t *testing.T) {
	c := temporalServer(t)
	const named = 1234567890 * time.Nanosecond
	server, m := model(t, standin.RateLimited(named), standin.Overloaded(), standin.Answer("now"), standin.QuotaSpent(named))
	w := worker.New(c, "llm", worker.Options{})
	w.RegisterWorkflow(once)
	w.RegisterActivityWithOptions(asking{m}.Ask, activity.RegisterOptions{Name: "Ask"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()

	if s := run(t, c); s.Answer != "now" {
		t.Fatalf("got %+v", s)
	}
	asked := server.Questions()
	if len(asked) != 3 {
		t.Fatalf("asked %d times, want 3: one request an attempt", len(asked))
	}
	if waited := asked[1].At.Sub(asked[0].At); waited < named {
		t.Errorf("after the 429 it waited %s, want at least %s", waited, named)
	}
	if waited := asked[2].At.Sub(asked[1].At); waited < 200*time.Millisecond || waited > named+10*time.Second {
		t.Errorf("after the 503 it waited %s, want the retry policy's 200 ms", waited)
	}

	// A day's quota names a delay too, and there is no second attempt.
	if s := run(t, c); s.Kind != llm.QuotaSpent || len(server.Questions()) != 4 {
		t.Errorf("got %+v after %d questions", s, len(server.Questions()))
	}
}

func run(t *testing.T, c client.Client) seen {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	started, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: "llm"}, once)
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := started.Get(ctx, &s); err != nil {
		t.Fatal(err)
	}
	return s
}
