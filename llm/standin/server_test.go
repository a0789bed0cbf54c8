package standin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"errand/llm/standin"
)

// call sends one request to a handler, and returns the status and the decoded body.
func call(t *testing.T, s http.Handler, method, target, body string, header ...string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var answer map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s %s: %d %q: %v", method, target, w.Code, w.Body, err)
	}
	return w.Code, answer
}

// at follows a path of names and indexes into a decoded body.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch key := step.(type) {
		case string:
			fields, _ := value.(map[string]any)
			value = fields[key]
		case int:
			list, _ := value.([]any)
			if key >= len(list) {
				return nil
			}
			value = list[key]
		}
	}
	return value
}

const (
	generate = "/v1beta/models/gemini-2.5-flash:generateContent"
	hello    = `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
)

// The older client sends the key in the query and asks for numbers; the newer one sends it in a header and reads names.
func TestBothClientsAreSpokenTo(t *testing.T) {
	t.Parallel()
	s := standin.New(standin.Options{Key: "right"})
	s.Script(standin.Answer("hi"), standin.Answer("hi"))
	for name, c := range map[string]struct {
		target, header string
		finish         any
	}{
		"key in the query, numbers": {generate + "?%24alt=json%3Benum-encoding%3Dint&key=right", "", 1.0},
		"key in a header, names":    {generate, "right", "STOP"},
	} {
		status, answer := call(t, s, "POST", c.target, hello, "x-goog-api-key", c.header)
		if status != 200 || at(t, answer, "candidates", 0, "finishReason") != c.finish || at(t, answer, "candidates", 0, "content", "role") != "model" ||
			at(t, answer, "candidates", 0, "content", "parts", 0, "text") != "hi" || at(t, answer, "modelVersion") != "gemini-2.5-flash-standin" ||
			at(t, answer, "usageMetadata", "totalTokenCount") != 3.0 {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
}

func TestRequestsAreRefusedAsTheAPIRefusesThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target, key, body string
		status            int
		word, message     string
	}{
		"no key":            {generate, "", hello, 403, "PERMISSION_DENIED", "unregistered callers"},
		"a wrong key":       {generate, "wrong", hello, 400, "INVALID_ARGUMENT", "API key not valid"},
		"no such model":     {"/v1beta/models/gpt-2:generateContent", "right", hello, 404, "NOT_FOUND", "models/gpt-2 is not found"},
		"no such method":    {"/v1beta/models/gemini-2.5-flash:sing", "right", hello, 404, "NOT_FOUND", "sing"},
		"no such path":      {"/v1beta/corpora", "right", hello, 404, "NOT_FOUND", "/v1beta/corpora"},
		"no JSON":           {generate, "right", `{`, 400, "INVALID_ARGUMENT", "Invalid JSON payload"},
		"a misspelt name":   {generate, "right", `{"contents":[],"genarationConfig":{}}`, 400, "INVALID_ARGUMENT", `Unknown name "genarationConfig"`},
		"no contents":       {generate, "right", `{}`, 400, "INVALID_ARGUMENT", "contents is not specified"},
		"no parts":          {generate, "right", `{"contents":[{"role":"user"}]}`, 400, "INVALID_ARGUMENT", "parts must not be empty"},
		"an unknown role":   {generate, "right", `{"contents":[{"role":"boss","parts":[{"text":"x"}]}]}`, 400, "INVALID_ARGUMENT", "valid role"},
		"a schema for text": {generate, "right", withConfig(`{"responseSchema":{"type":1}}`), 400, "INVALID_ARGUMENT", "response_mime_type"},
		"an object without properties": {generate, "right", withConfig(`{"responseMimeType":"application/json","responseSchema":{"type":6,"properties":{"a":{"type":"OBJECT"}}}}`),
			400, "INVALID_ARGUMENT", "response_schema.properties[a].properties: should be non-empty"},
		"an array without items": {generate, "right", withConfig(`{"responseMimeType":"application/json","responseSchema":{"type":5}}`), 400, "INVALID_ARGUMENT", "items: missing field"},
		"required, not defined":  {generate, "right", withConfig(`{"responseMimeType":"application/json","responseSchema":{"type":6,"properties":{"a":{"type":1}},"required":["a","b"]}}`), 400, "INVALID_ARGUMENT", "required[1]: property is not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := standin.New(standin.Options{Key: "right"})
			status, answer := call(t, s, "POST", c.target, c.body, "x-goog-api-key", c.key)
			message, _ := at(t, answer, "error", "message").(string)
			if status != c.status || at(t, answer, "error", "status") != c.word || at(t, answer, "error", "code") != float64(c.status) || !strings.Contains(message, c.message) {
				t.Errorf("got %d %v", status, answer)
			}
			if len(s.Questions()) != 0 {
				t.Error("it counts as a question")
			}
		})
	}
}

func withConfig(config string) string {
	return `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":` + config + `}`
}

// A 429 has the API's own body, field by field: RetryInfo with a fraction, the quota's id, or no details at all.
func TestA429HasTheAPIsDetails(t *testing.T) {
	t.Parallel()
	s := standin.New(standin.Options{})
	s.Script(standin.RateLimited(38922534355), standin.QuotaSpent(22*time.Second), standin.RateLimitedBare())
	_, minute := call(t, s, "POST", generate+"?key=k", hello)
	_, day := call(t, s, "POST", generate+"?key=k", hello)
	status, bare := call(t, s, "POST", generate+"?key=k", hello)
	if at(t, minute, "error", "details", 2, "retryDelay") != "38.922534355s" || at(t, day, "error", "details", 2, "retryDelay") != "22s" ||
		at(t, day, "error", "details", 0, "violations", 0, "quotaId") != "GenerateRequestsPerDayPerProjectPerModel-FreeTier" ||
		at(t, minute, "error", "details", 0, "@type") != "type.googleapis.com/google.rpc.QuotaFailure" {
		t.Errorf("got\n%v\n%v", minute, day)
	}
	if status != 429 || at(t, bare, "error", "details") != nil || at(t, bare, "error", "status") != "RESOURCE_EXHAUSTED" {
		t.Errorf("got %d %v", status, bare)
	}
}

func TestModelsAreListedAndTokensCounted(t *testing.T) {
	t.Parallel()
	s := standin.New(standin.Options{Models: []string{"gemini-2.5-flash"}})
	if _, list := call(t, s, "GET", "/v1beta/models?key=k", ""); at(t, list, "models", 0, "name") != "models/gemini-2.5-flash" {
		t.Errorf("got %v", list)
	}
	if status, one := call(t, s, "GET", "/v1beta/models/gemini-2.5-flash?key=k", ""); status != 200 || at(t, one, "name") != "models/gemini-2.5-flash" {
		t.Errorf("got %v", one)
	}
	if status, _ := call(t, s, "GET", "/v1beta/models/gemini-1?key=k", ""); status != 404 {
		t.Errorf("got %d", status)
	}
	if _, count := call(t, s, "POST", "/v1beta/models/gemini-2.5-flash:countTokens?key=k", hello); at(t, count, "totalTokens") != 2.0 {
		t.Errorf("got %v", count)
	}
	if _, list := call(t, s, "GET", "/v1/models", ""); at(t, list, "data", 0, "id") != "gemini-2.5-flash" {
		t.Errorf("got %v", list)
	}
}

func TestChatCompletionsRefuseInTheirOwnWords(t *testing.T) {
	t.Parallel()
	const chat = `{"model":"qwen3","messages":[{"role":"user","content":"hello"}]}`
	s := standin.New(standin.Options{Key: "right", Models: []string{"qwen3"}})
	if status, answer := call(t, s, "POST", "/v1/chat/completions", chat); status != 401 || at(t, answer, "error", "code") != "invalid_api_key" {
		t.Errorf("got %d %v", status, answer)
	}
	if status, _ := call(t, s, "POST", "/v1/chat/completions", "{", "Authorization", "Bearer right"); status != 400 {
		t.Errorf("got %d", status)
	}
	if status, _ := call(t, s, "POST", "/v1/chat/completions", strings.Replace(chat, "qwen3", "other", 1), "Authorization", "Bearer right"); status != 404 {
		t.Errorf("got %d", status)
	}
	s.Script(standin.Answer("hi"))
	if status, answer := call(t, s, "POST", "/v1/chat/completions", chat, "Authorization", "Bearer right"); status != 200 || at(t, answer, "choices", 0, "message", "content") != "hi" {
		t.Errorf("got %d %v", status, answer)
	}
}

// A script is answered in order, each reply once, and then the rule.
func TestAScriptComesBeforeTheRule(t *testing.T) {
	t.Parallel()
	s := standin.New(standin.Options{Rule: func(q standin.Question) standin.Reply { return standin.Answer("rule: " + q.Contents[0]) }})
	s.Script(standin.Answer("first"), standin.Overloaded())
	for i, want := range []any{"first", nil, "rule: hello"} {
		if _, answer := call(t, s, "POST", generate+"?key=k", hello); at(t, answer, "candidates", 0, "content", "parts", 0, "text") != want {
			t.Errorf("%d: got %v", i, answer)
		}
	}
	if s.Unused() != 0 || len(s.Questions()) != 3 {
		t.Errorf("%d unused, %d questions", s.Unused(), len(s.Questions()))
	}
}

// What hangs ends when the one who asks leaves, or the server closes; what waits is given after its time.
func TestAReplyHangsUntilNobodyWaits(t *testing.T) {
	t.Parallel()
	s := standin.New(standin.Options{})
	url, err := s.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Script(standin.Hang(), standin.Answer("late").After(50*time.Millisecond), standin.Hang())
	ctx, leave := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() { asked <- post(ctx, url) }()
	if err := s.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := <-asked; err == nil {
		t.Error("the one who left got an answer")
	}
	began := time.Now()
	if err := post(t.Context(), url); err != nil || time.Since(began) < 50*time.Millisecond {
		t.Errorf("got %v after %s", err, time.Since(began))
	}
	go func() { asked <- post(t.Context(), url) }()
	if err := s.Await(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-asked; err == nil {
		t.Error("a closed server answered")
	}
}

func post(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+generate+"?key=k", bytes.NewReader([]byte(hello)))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if closing := answer.Body.Close(); err == nil {
		err = closing
	}
	return err
}
