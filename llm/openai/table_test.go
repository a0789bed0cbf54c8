package openai_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"errand/llm"
	"errand/llm/openai"
	"errand/llm/standin"
)

const key = "test-key-0123456789"

func open(t *testing.T, o standin.Options) (*standin.Server, *openai.Model) {
	t.Helper()
	server := standin.New(o)
	url, err := server.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, ask(t, openai.Options{Endpoint: url + "/v1", Model: "qwen3:8b", Key: key})
}

func ask(t *testing.T, o openai.Options) *openai.Model {
	t.Helper()
	model, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

var schema = llm.Schema{Type: llm.Object, Required: []string{"decision"}, Properties: map[string]*llm.Schema{
	"decision": {Type: llm.String, Enum: []string{"retry", "ask"}, Nullable: true}}}

func question() llm.Request {
	return llm.Request{Instructions: "decide", Contents: []string{"the path is blocked", "둘째"}, Schema: &schema}
}

// TestEveryWayACallCanEnd holds the second implementation to what the first one promises, with the same stand-in.
func TestEveryWayACallCanEnd(t *testing.T) {
	t.Parallel()
	const whole = `{"decision":"retry"}`
	for name, c := range map[string]struct {
		reply      standin.Reply
		kind       llm.Kind
		retryAfter time.Duration
		status     int
	}{
		"an answer":                {reply: standin.Answer(whole)},
		"the question is blocked":  {reply: standin.BlockedPrompt("SAFETY"), kind: llm.Blocked},
		"content filter":           {reply: standin.Ending("SAFETY", whole), kind: llm.Blocked},
		"length":                   {reply: standin.CutOff(whole), kind: llm.CutOff},
		"length without a word":    {reply: standin.CutOff(""), kind: llm.CutOff},
		"an end newer than we are": {reply: standin.Ending("NOT_YET_INVENTED", whole), kind: llm.Malformed},
		"no end at all":            {reply: standin.Ending("", whole), kind: llm.Malformed},
		"no choices":               {reply: standin.NoCandidates(), kind: llm.Empty},
		"stop without a word":      {reply: standin.Ending("STOP", ""), kind: llm.Empty},
		"text instead of JSON":     {reply: standin.Answer("Sure!"), kind: llm.Malformed},
		"a page, not an answer":    {reply: standin.Raw(200, "text/html", "<html>"), kind: llm.Malformed},
		"an answer without end":    {reply: standin.Raw(200, "application/json", strings.Repeat(" ", 5<<20)), kind: llm.Malformed},
		"a refusal in the message": {reply: standin.Raw(200, "application/json", `{"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]}`), kind: llm.Blocked},
		"429 with a time":          {reply: standin.RateLimited(8 * time.Second), kind: llm.RateLimited, retryAfter: 8 * time.Second, status: 429},
		"429 without":              {reply: standin.RateLimitedBare(), kind: llm.RateLimited, status: 429},
		"429 for good":             {reply: standin.QuotaSpent(time.Second), kind: llm.QuotaSpent, status: 429},
		"503":                      {reply: standin.Overloaded(), kind: llm.Unavailable, status: 503},
		"503 from a proxy":         {reply: standin.Raw(503, "text/html", "<html>"), kind: llm.Unavailable, status: 503},
		"500":                      {reply: standin.InternalError(), kind: llm.Unavailable, status: 500},
		"400":                      {reply: standin.BadRequest("no"), kind: llm.BadRequest, status: 400},
		"403":                      {reply: standin.Forbidden(), kind: llm.Denied, status: 403},
		"404":                      {reply: standin.NotFound("m"), kind: llm.NoSuchModel, status: 404},
		"the connection breaks":    {reply: standin.Drop(), kind: llm.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, model := open(t, standin.Options{})
			server.Script(c.reply, standin.InternalError())
			answer, err := model.Generate(t.Context(), question())
			if server.Unused() != 1 {
				t.Errorf("%d replies are left, want 1: Temporal owns the retries", server.Unused())
			}
			if c.kind == "" {
				if err != nil || answer.Text != whole || answer.Usage.Total == 0 || answer.ModelVersion != "qwen3:8b-standin" {
					t.Fatalf("got %+v, %v", answer, err)
				}
				return
			}
			e := failure(t, err, c.kind)
			if e.RetryAfter != c.retryAfter || e.Status != c.status || e.Model != "qwen3:8b" {
				t.Errorf("got retry after %s, status %d, model %q", e.RetryAfter, e.Status, e.Model)
			}
		})
	}
}

func failure(t *testing.T, err error, kind llm.Kind) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("Generate = %v, want the kind %q", err, kind)
	}
	if strings.Contains(err.Error(), key) {
		t.Errorf("the error shows the key: %v", err)
	}
	return e
}

func TestTheServerIsAskedWhatTheRequestSays(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{Key: key})
	server.Script(standin.Answer(`{"decision":"ask"}`))
	r := question()
	r.Limits.MaxOutputTokens = 77
	if _, err := model.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	q := server.Questions()[0]
	if q.Model != "qwen3:8b" || q.Instructions != "decide" || !reflect.DeepEqual(q.Contents, r.Contents) || q.MaxOutputTokens != 77 ||
		q.Temperature == nil || *q.Temperature > 1e-9 {
		t.Errorf("asked %+v", q)
	}
	if q.Schema == nil || !q.Schema.Properties["decision"].Nullable || q.Schema.Properties["decision"].Enum[1] != "ask" {
		t.Errorf("the schema on the wire is %+v", q.Schema)
	}
}

func TestAModelThatReasonsIsAskedInItsWords(t *testing.T) {
	t.Parallel()
	server := standin.New(standin.Options{})
	server.Script(standin.Answer(`{"decision":"ask"}`))
	model := ask(t, openai.Options{Endpoint: "http://standin/v1", Model: "o3-mini", Transport: carry{server}})
	if _, err := model.Generate(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	if q := server.Questions()[0]; q.Temperature != nil || q.MaxOutputTokens != llm.DefaultMaxOutputTokens ||
		!strings.Contains(string(q.Body), "max_completion_tokens") {
		t.Errorf("asked %s", q.Body)
	}
}

func TestACallEndsAtItsOwnDeadlineAndWhenItsCallerGivesUp(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	server.Script(standin.Hang(), standin.Hang())
	r := question()
	r.Limits.Timeout = 200 * time.Millisecond
	_, err := model.Generate(t.Context(), r)
	if e := failure(t, err, llm.TimedOut); e.Latency < r.Limits.Timeout {
		t.Errorf("got %v after %s", e, e.Latency)
	}

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		if err := server.Await(ctx, 2); err != nil {
			t.Error(err)
		}
	}()
	_, err = model.Generate(ctx, question())
	if e := failure(t, err, llm.Canceled); !errors.Is(e, context.Canceled) {
		t.Errorf("got %v", e)
	}
}

func TestNoConnectionIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	model := ask(t, openai.Options{Endpoint: "http://127.0.0.1:1/v1", Model: "m"})
	_, err := model.Generate(t.Context(), question())
	if e := failure(t, err, llm.Unavailable); !e.Retryable() || e.Status != 0 {
		t.Errorf("got %v", e)
	}
}

func TestARetryTimeMayHaveAFraction(t *testing.T) {
	t.Parallel()
	server := standin.New(standin.Options{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "0.25")
		server.ServeHTTP(w, r)
	})
	server.Script(standin.RateLimitedBare())
	model := ask(t, openai.Options{Endpoint: "http://standin/v1", Model: "m", Transport: carry{handler}})
	_, err := model.Generate(t.Context(), question())
	if e := failure(t, err, llm.RateLimited); e.RetryAfter != 250*time.Millisecond {
		t.Errorf("got %s", e.RetryAfter)
	}
}
