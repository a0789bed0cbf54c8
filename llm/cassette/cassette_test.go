package cassette_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errand/llm"
	"errand/llm/cassette"
)

// model answers as it is told, and counts how often it was asked.
type model struct {
	answer llm.Response
	err    error
	asked  int
}

func (m *model) Generate(context.Context, llm.Request) (llm.Response, error) {
	m.asked++
	return m.answer, m.err
}

const person = "할머니 방"

func question() llm.Request {
	return llm.Request{Instructions: "Plan.", Contents: []string{`{"utterance":"할머니 방으로 가줘"}`, "Kitchen"}, Purpose: "plan", PlanID: "plan-1",
		Schema:   &llm.Schema{Type: llm.Object, Properties: map[string]*llm.Schema{"room": {Type: llm.String, Enum: []string{person}}}},
		Personal: []string{"할머니 방으로 가줘", person, "Kitchen", `Bob "the" Baker`, ""}}
}

var meta = llm.Meta{Model: "m", ModelVersion: "m-1", Finish: llm.FinishStop, Usage: llm.Usage{Prompt: 5, Output: 2, Total: 7}, Latency: time.Second}

// record keeps one exchange, and returns the file's text.
func record(t *testing.T, dir string, r llm.Request, m *model) string {
	t.Helper()
	before := files(t, dir)
	answer, err := cassette.Record(m, dir).Generate(t.Context(), r)
	if answer != m.answer || !errors.Is(err, m.err) {
		t.Fatalf("the recorder changed the answer: %+v, %v", answer, err)
	}
	after := files(t, dir)
	for name, text := range after {
		if before[name] == "" {
			return text
		}
	}
	t.Fatal("no file was written")
	return ""
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[entry.Name()] = string(text)
	}
	return all
}

func open(t *testing.T, dir string) *cassette.Player {
	t.Helper()
	p, err := cassette.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is played is what was said, to the byte; what is on the disk tells nobody's words or rooms.
func TestAnExchangeIsPlayedAsItWas(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"as it is":          `{"room":"할머니 방","say":"할머니 방으로 가줘, 네"}`,
		"in another case":   `{"say":"to the kitchen, the Kitchen"}`,
		"escaped":           `{"say":"for Bob \"the\" Baker"}`,
		"as ASCII, small":   `{"room":"\ud560\uba38\ub2c8 \ubc29"}`,
		"as ASCII, capital": `{"room":"\uD560\uBA38\uB2C8 \uBC29"}`,
		"nothing personal":  `{"say":"네"}`,
		"spaces are kept":   "{ \"a\" :\t1 }\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := &model{answer: llm.Response{Text: text, Meta: meta}}
			file := record(t, dir, question(), m)
			var kept struct{ Answer struct{ Text string } }
			if err := json.Unmarshal([]byte(file), &kept); err != nil {
				t.Fatal(err)
			}
			for _, private := range []string{"할머니", "Kitchen", "kitchen", "Baker", `\ud560`, `\uD560`, "가줘"} {
				if strings.Contains(file, private) || strings.Contains(kept.Answer.Text, private) {
					t.Errorf("the file tells %q:\n%s", private, file)
				}
			}
			answer, err := open(t, dir).Generate(t.Context(), question())
			if err != nil || answer != m.answer || m.asked != 1 {
				t.Errorf("played %+v, %v", answer, err)
			}
		})
	}
}

// The model's own failures are part of the exchange; the weather is not.
func TestFailuresOfTheModelArePlayedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	for _, kind := range llm.Kinds() {
		dir := t.TempDir()
		m := &model{err: &llm.Error{Kind: kind, Status: 200, Detail: "wrong at byte 3", Meta: meta}}
		if _, err := cassette.Record(m, dir).Generate(t.Context(), question()); llm.KindOf(err) != kind {
			t.Errorf("%s: recorded as %v", kind, err)
		}
		if kept := len(files(t, dir)); kept > 0 != kind.Answered() {
			t.Errorf("%s: %d files", kind, kept)
		}
		if !kind.Answered() {
			continue
		}
		_, err := open(t, dir).Generate(t.Context(), question())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != kind || e.Meta != meta || e.Detail != "wrong at byte 3" || e.Status != 200 {
			t.Errorf("%s: played as %v", kind, err)
		}
	}
}

// A miss is an error, and never a call. It says in what the question differs from the nearest one that was recorded.
func TestAMissIsAnErrorThatSaysWhatDiffers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	record(t, dir, question(), &model{answer: llm.Response{Text: "{}", Meta: meta}})
	other := question()
	other.Instructions, other.Contents = "Decide.", nil
	record(t, dir, other, &model{answer: llm.Response{Text: "{}", Meta: meta}})
	p := open(t, dir)
	for name, c := range map[string]struct {
		change func(*llm.Request)
		differ string
	}{
		"other words":    {func(r *llm.Request) { r.Contents[1] = "Küche" }, "[contents[1]]"},
		"one part more":  {func(r *llm.Request) { r.Contents = append(r.Contents, "x") }, "[contents[2]]"},
		"instructions":   {func(r *llm.Request) { r.Instructions = "Plan!" }, "[instructions]"},
		"the schema":     {func(r *llm.Request) { r.Schema.Properties["room"].Enum = []string{"x"} }, "[schema]"},
		"no schema":      {func(r *llm.Request) { r.Schema = nil }, "[schema]"},
		"a longer limit": {func(r *llm.Request) { r.Limits.MaxOutputTokens = 9 }, "[max_output_tokens]"},
		"personal":       {func(r *llm.Request) { r.Personal = nil }, "[personal]"},
	} {
		r := question()
		c.change(&r)
		_, err := p.Generate(t.Context(), r)
		if llm.KindOf(err) != llm.Unrecorded || !strings.Contains(err.Error(), c.differ) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "plan-") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, change := range map[string]func(*llm.Request){
		"another plan": func(r *llm.Request) { r.PlanID = "plan-2" }, "another purpose": func(r *llm.Request) { r.Purpose = "x" },
		"another deadline": func(r *llm.Request) { r.Limits.Timeout = time.Hour }, "the limit that is the default": func(r *llm.Request) { r.Limits.MaxOutputTokens = llm.DefaultMaxOutputTokens },
	} {
		r := question()
		change(&r)
		if _, err := p.Generate(t.Context(), r); err != nil {
			t.Errorf("%s is the same question, got %v", name, err)
		}
	}
	if _, err := open(t, t.TempDir()).Generate(t.Context(), question()); llm.KindOf(err) != llm.Unrecorded || !strings.HasSuffix(err.Error(), "record it") {
		t.Errorf("from an empty folder: %v", err)
	}
}

// An exchange that cannot be kept without telling something personal, or at all, is an error at once.
func TestWhatCannotBeKeptIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"escaped half":         `{"room":"\ud560머니 방"}`,
		"mixed case":           `{"say":"the KITCHEN"}`,
		"looks like reference": `{"say":"{{personal:0}}"}`,
	} {
		dir := t.TempDir()
		answer, err := cassette.Record(&model{answer: llm.Response{Text: text, Meta: meta}}, dir).Generate(t.Context(), question())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Unrecorded || e.Meta != meta || answer.Text != "" || len(files(t, dir)) != 0 {
			t.Errorf("%s: got %+v, %v, %d files", name, answer, err, len(files(t, dir)))
		}
	}
	notADir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notADir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := cassette.Record(&model{answer: llm.Response{Text: "{}", Meta: meta}}, notADir).Generate(t.Context(), question())
	if llm.KindOf(err) != llm.Unrecorded {
		t.Errorf("got %v", err)
	}
}

func TestOpenReportsEveryFileThatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := record(t, dir, question(), &model{answer: llm.Response{Text: "{}", Meta: meta}})
	for name, text := range map[string]string{
		"a-text.json": "no", "b-newer.json": strings.Replace(good, `"version": 1`, `"version": 2`, 1),
		"c-edited.json": strings.Replace(good, `"bytes": 5`, `"bytes": 6`, 1), "d-empty.json": strings.Replace(good, `"answer"`, `"other"`, 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := cassette.Open(dir)
	for _, want := range []string{"a-text.json", "b-newer.json: its format is version 2", "c-edited.json: its hash is not", "d-empty.json: it has neither"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if _, err := cassette.Open(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestAPlayerHeedsItsCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, t.TempDir()).Generate(ctx, question()); llm.KindOf(err) != llm.Canceled {
		t.Errorf("got %v", err)
	}
}
