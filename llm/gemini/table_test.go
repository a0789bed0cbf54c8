package gemini_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"errand/llm"
	"errand/llm/gemini"
	"errand/llm/standin"
)

const key = "test-key-0123456789"

// open starts a stand-in and a model that asks it.
func open(t *testing.T, o standin.Options) (*standin.Server, *gemini.Model) {
	t.Helper()
	server := standin.New(o)
	url, err := server.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close1(t, server) })
	return server, ask(t, gemini.Options{Key: key, Model: "gemini-2.5-flash", Endpoint: url})
}

func ask(t *testing.T, o gemini.Options) *gemini.Model {
	t.Helper()
	model, err := gemini.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close1(t, model) })
	return model
}

func close1(t *testing.T, c interface{ Close() error }) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

var schema = llm.Schema{Type: llm.Object, Required: []string{"decision"}, Properties: map[string]*llm.Schema{
	"decision": {Type: llm.String, Enum: []string{"retry", "ask"}},
	"steps":    {Type: llm.Array, Items: &llm.Schema{Type: llm.String}, Nullable: true},
	"count":    {Type: llm.Integer}, "share": {Type: llm.Number}, "sure": {Type: llm.Boolean},
}}

func question() llm.Request {
	return llm.Request{Instructions: "decide", Contents: []string{"the path is blocked"}, Schema: &schema}
}

// TestEveryWayACallCanEnd is the table of what the API does and what the client library makes of it: whatever that is, the
// caller gets a whole answer, or an error whose kind says what to do. Each row is asked once: nothing is tried again inside.
func TestEveryWayACallCanEnd(t *testing.T) {
	t.Parallel()
	const whole = `{"decision":"retry"}`
	for name, c := range map[string]struct {
		reply      standin.Reply
		kind       llm.Kind
		retryAfter time.Duration
		finish     llm.Finish
		status     int
	}{
		"an answer":                   {reply: standin.Answer(whole)},
		"an answer in parts":          {reply: standin.AnswerInParts(`{"decision"`, `:"retry"}`)},
		"the prompt is blocked":       {reply: standin.BlockedPrompt("SAFETY"), kind: llm.Blocked, finish: llm.FinishBlocked},
		"blocked without a reason":    {reply: standin.BlockedPrompt(""), kind: llm.Blocked, finish: llm.FinishBlocked},
		"blocked for a newer reason":  {reply: standin.BlockedPrompt("IMAGE_SAFETY"), kind: llm.Blocked, finish: llm.FinishBlocked},
		"SAFETY":                      {reply: standin.Ending("SAFETY", ""), kind: llm.Blocked, finish: llm.FinishBlocked},
		"SAFETY in the middle":        {reply: standin.Ending("SAFETY", whole), kind: llm.Blocked, finish: llm.FinishBlocked},
		"RECITATION":                  {reply: standin.Ending("RECITATION", ""), kind: llm.Blocked, finish: llm.FinishBlocked},
		"PROHIBITED_CONTENT":          {reply: standin.Ending("PROHIBITED_CONTENT", ""), kind: llm.Blocked, finish: llm.FinishBlocked},
		"MAX_TOKENS":                  {reply: standin.CutOff(`{"decision":"re`), kind: llm.CutOff, finish: llm.FinishCutOff},
		"MAX_TOKENS after valid JSON": {reply: standin.CutOff(whole), kind: llm.CutOff, finish: llm.FinishCutOff},
		"MAX_TOKENS without a part":   {reply: standin.CutOff(""), kind: llm.CutOff, finish: llm.FinishCutOff},
		"MALFORMED_FUNCTION_CALL":     {reply: standin.MalformedCall(), kind: llm.Malformed, finish: "MALFORMED_FUNCTION_CALL"},
		"an end newer than we are":    {reply: standin.Ending("NOT_YET_INVENTED", whole), kind: llm.Malformed, finish: "NOT_YET_INVENTED"},
		"OTHER":                       {reply: standin.Ending("OTHER", whole), kind: llm.Malformed, finish: "OTHER"},
		"no end at all":               {reply: standin.Ending("", whole), kind: llm.Malformed, finish: llm.FinishUnknown},
		"no candidates":               {reply: standin.NoCandidates(), kind: llm.Empty, status: 200},
		"STOP without a word":         {reply: standin.Ending("STOP", ""), kind: llm.Empty, finish: llm.FinishStop},
		"parallel function calls":     {reply: standin.FunctionCalls("a", "b"), kind: llm.Empty, finish: llm.FinishStop},
		"thoughts and newer parts":    {reply: standin.AnswerAmong(whole)},
		"nothing but such parts":      {reply: standin.AnswerAmong(""), kind: llm.Empty, finish: llm.FinishStop},
		"text instead of JSON":        {reply: standin.Answer("Sure! {\"decision\":\"retry\"}"), kind: llm.Malformed, finish: llm.FinishStop},
		"a page instead of an answer": {reply: standin.Raw(200, "text/html", "<html>sign in</html>"), kind: llm.Malformed, status: 200},

		"429 with a fraction":   {reply: standin.RateLimited(38922534355), kind: llm.RateLimited, retryAfter: 38922534355, status: 429},
		"429 in whole seconds":  {reply: standin.RateLimited(8 * time.Second), kind: llm.RateLimited, retryAfter: 8 * time.Second, status: 429},
		"429 without details":   {reply: standin.RateLimitedBare(), kind: llm.RateLimited, status: 429},
		"429 for the day":       {reply: standin.QuotaSpent(22 * time.Second), kind: llm.QuotaSpent, status: 429},
		"503":                   {reply: standin.Overloaded(), kind: llm.Unavailable, status: 503},
		"503 from a proxy":      {reply: standin.Raw(503, "text/html", "<html>busy</html>"), kind: llm.Unavailable, status: 503},
		"500":                   {reply: standin.InternalError(), kind: llm.Unavailable, status: 500},
		"504":                   {reply: standin.DeadlineExceeded(), kind: llm.Unavailable, status: 504},
		"400":                   {reply: standin.BadRequest("Invalid value"), kind: llm.BadRequest, status: 400},
		"400 for the key":       {reply: standin.WrongKey(), kind: llm.Denied, status: 400},
		"403":                   {reply: standin.Forbidden(), kind: llm.Denied, status: 403},
		"404":                   {reply: standin.NotFound("gemini-9"), kind: llm.NoSuchModel, status: 404},
		"the connection breaks": {reply: standin.Drop(), kind: llm.Unavailable},
	} {
		for _, named := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", enums as numbers", true: ", enums as names"}[named], func(t *testing.T) {
				t.Parallel()
				server, model := open(t, standin.Options{NamedEnums: named, Rule: unexpected(t)})
				server.Script(c.reply)
				answer, err := model.Generate(t.Context(), question())
				if asked := len(server.Questions()); asked != 1 {
					t.Errorf("the server was asked %d times, want 1: Temporal owns the retries", asked)
				}
				if c.kind == "" {
					if err != nil || answer.Text != whole || answer.Finish != llm.FinishStop {
						t.Fatalf("got %+v, %v", answer, err)
					}
					return
				}
				e := failure(t, err, c.kind)
				if e.RetryAfter != c.retryAfter || e.Status != c.status || e.Finish != c.finish || e.Model != "gemini-2.5-flash" {
					t.Errorf("got retry after %s, status %d, finish %q, model %q; want %s, %d, %q", e.RetryAfter, e.Status, e.Finish, e.Model,
						c.retryAfter, c.status, c.finish)
				}
			})
		}
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

// unexpected is a rule that nobody should need.
func unexpected(t *testing.T) standin.Rule {
	return func(standin.Question) standin.Reply {
		t.Error("a question that the script does not answer")
		return standin.InternalError()
	}
}

// The library would try a 503 again until the context's deadline, and tell of that alone. One call is one try: it ends
// with the first 503, long before its deadline, and says what it was.
func TestA503EndsTheCallAtOnce(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	server.Script(standin.Overloaded(), standin.Answer(`{}`))
	r := question()
	r.Limits.Timeout = time.Minute
	began := time.Now()
	_, err := model.Generate(t.Context(), r)
	e := failure(t, err, llm.Unavailable)
	if waited := time.Since(began); waited > 30*time.Second {
		t.Errorf("the call took %s", waited)
	}
	if !e.Retryable() || !strings.Contains(e.Detail, "overloaded") || server.Unused() != 1 {
		t.Errorf("got %v, %d replies unused", e, server.Unused())
	}
}

// Case: a model that never answers. The call has a deadline of its own, whatever its caller has.
func TestACallEndsAtItsOwnDeadline(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	server.Script(standin.Hang())
	r := question()
	r.Limits.Timeout = 200 * time.Millisecond
	_, err := model.Generate(t.Context(), r)
	if e := failure(t, err, llm.TimedOut); !e.Retryable() || e.Latency < r.Limits.Timeout {
		t.Errorf("got %v after %s", e, e.Latency)
	}
}

func TestACallEndsWhenItsCallerGivesUp(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	server.Script(standin.Hang())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		if err := server.Await(ctx, 1); err != nil {
			t.Error(err)
		}
	}()
	_, err := model.Generate(ctx, question())
	if e := failure(t, err, llm.Canceled); !errors.Is(e, context.Canceled) {
		t.Errorf("got %v", e)
	}
}

// Without a connection the library's error names the URL. The key is not in it, nor anywhere else in the error.
func TestNoConnectionIsTriedAgainLaterAndShowsNoKey(t *testing.T) {
	t.Parallel()
	model := ask(t, gemini.Options{Key: key, Model: "gemini-2.5-flash", Endpoint: "http://127.0.0.1:1"})
	_, err := model.Generate(t.Context(), question())
	if e := failure(t, err, llm.Unavailable); !e.Retryable() || e.Status != 0 {
		t.Errorf("got %v", e)
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if strings.Contains(inner.Error(), key) {
			t.Errorf("a cause shows the key: %v", inner)
		}
	}
}

func TestAWrongKeyAndAModelThatThereIsNotAreSaidByTheServer(t *testing.T) {
	t.Parallel()
	server := standin.New(standin.Options{Key: "another", Models: []string{"gemini-2.5-flash"}})
	url, err := server.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close1(t, server) })
	_, err = ask(t, gemini.Options{Key: key, Model: "gemini-2.5-flash", Endpoint: url}).Generate(t.Context(), question())
	if e := failure(t, err, llm.Denied); e.Retryable() || !strings.Contains(e.Detail, "API key not valid") {
		t.Errorf("got %v", e)
	}
	_, err = ask(t, gemini.Options{Key: "another", Model: "gemini-0", Endpoint: url}).Generate(t.Context(), question())
	if e := failure(t, err, llm.NoSuchModel); e.Retryable() || !strings.Contains(e.Detail, "gemini-0") {
		t.Errorf("got %v", e)
	}
	if asked := server.Questions(); len(asked) != 0 {
		t.Errorf("%d questions got through", len(asked))
	}
}

// What the server says of an end is told on, for whoever looks into it.
func TestAnEndTellsTheServersMessage(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	server.Script(standin.Raw(http.StatusOK, "application/json", `{"candidates":[{"finishReason":"OTHER","finishMessage":"It failed inside."}]}`))
	_, err := model.Generate(t.Context(), question())
	if e := failure(t, err, llm.Malformed); !strings.Contains(e.Detail, "It failed inside.") {
		t.Errorf("got %v", e)
	}
}

func TestAnAnswerTellsWhatItCost(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	server.Script(
		standin.Raw(http.StatusOK, "application/json", `{"candidates":[{"content":{"parts":[{"text":"{}"}]},"finishReason":"STOP"}],
			"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":3,"thoughtsTokenCount":40,"totalTokenCount":54},"modelVersion":"gemini-2.5-flash-002"}`),
		standin.Raw(http.StatusOK, "application/json", `{"promptFeedback":{"blockReason":"SAFETY"},
			"usageMetadata":{"promptTokenCount":11,"totalTokenCount":11},"modelVersion":"gemini-2.5-flash-002"}`))
	answer, err := model.Generate(t.Context(), question())
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Usage{Prompt: 11, Output: 3, Total: 54}
	if answer.Usage != want || answer.ModelVersion != "gemini-2.5-flash-002" || answer.Latency <= 0 {
		t.Errorf("got %+v", answer.Meta)
	}
	_, err = model.Generate(t.Context(), question())
	if e := failure(t, err, llm.Blocked); e.Usage.Total != 11 || e.ModelVersion != "gemini-2.5-flash-002" {
		t.Errorf("a blocked call cost %+v", e.Meta)
	}
}
