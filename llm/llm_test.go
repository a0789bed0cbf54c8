package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"errand/llm"
)

// Every kind is exactly one of: it may pass by itself, the model did it, a person must act.
func TestEveryKindSaysWhatToDo(t *testing.T) {
	t.Parallel()
	want := map[llm.Kind]string{
		llm.Unavailable: "retry", llm.TimedOut: "retry", llm.RateLimited: "retry",
		llm.Blocked: "answered", llm.CutOff: "answered", llm.Empty: "answered", llm.Malformed: "answered",
		llm.Unrecorded: "", llm.QuotaSpent: "", llm.BudgetSpent: "", llm.Denied: "", llm.NoSuchModel: "", llm.BadRequest: "",
		llm.Unconfigured: "", llm.Canceled: "",
	}
	if len(want) != len(llm.Kinds()) {
		t.Fatalf("Kinds lists %d, want %d", len(llm.Kinds()), len(want))
	}
	for _, kind := range llm.Kinds() {
		sort, ok := want[kind]
		if !ok || kind.Retryable() != (sort == "retry") || kind.Answered() != (sort == "answered") {
			t.Errorf("%s: retryable %t, answered %t, want %q", kind, kind.Retryable(), kind.Answered(), sort)
		}
	}
}

func TestAnAnswerIsWholeOrNone(t *testing.T) {
	t.Parallel()
	schema := &llm.Schema{Type: llm.Object, Properties: map[string]*llm.Schema{"a": {Type: llm.String}}}
	for name, c := range map[string]struct {
		schema *llm.Schema
		finish llm.Finish
		text   string
		want   llm.Kind
	}{
		"whole":                           {schema, llm.FinishStop, `{"a":"b"}`, ""},
		"whole, though it does not fit":   {schema, llm.FinishStop, `{"other":1}`, ""},
		"plain text without a schema":     {nil, llm.FinishStop, "yes", ""},
		"cut off, though it is JSON":      {schema, llm.FinishCutOff, `{"a":"b"}`, llm.CutOff},
		"cut off before a word":           {nil, llm.FinishCutOff, "", llm.CutOff},
		"blocked, though there is a text": {schema, llm.FinishBlocked, `{"a":"b"}`, llm.Blocked},
		"an end that nobody knows":        {schema, "SOMETHING_NEW", `{"a":"b"}`, llm.Malformed},
		"no end at all":                   {schema, "", `{"a":"b"}`, llm.Malformed},
		"no word":                         {schema, llm.FinishStop, "", llm.Empty},
		"blanks":                          {nil, llm.FinishStop, " \n", llm.Empty},
		"no JSON":                         {schema, llm.FinishStop, "Sure!", llm.Malformed},
		"JSON and more":                   {schema, llm.FinishStop, `{"a":"b"} and so on`, llm.Malformed},
		"JSON in a fence":                 {schema, llm.FinishStop, "```json\n{}\n```", llm.Malformed},
		"half a JSON":                     {schema, llm.FinishStop, `{"a":`, llm.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := llm.Response{Text: c.text, Meta: llm.Meta{Finish: c.finish, Usage: llm.Usage{Total: 7}}}
			got, err := llm.Accept(llm.Request{Schema: c.schema}, answer)
			if llm.KindOf(err) != c.want || (c.want == "" && got != answer) {
				t.Fatalf("got %+v, %v; want %q", got, err, c.want)
			}
			var e *llm.Error
			if errors.As(err, &e) && (e.Usage.Total != 7 || (c.text != "" && strings.Contains(e.Error(), "Sure"))) {
				t.Errorf("the error forgets what it cost, or quotes the answer: %+v", e)
			}
		})
	}
}

func TestASchemaIsJSONSchema(t *testing.T) {
	t.Parallel()
	s := &llm.Schema{Type: llm.Object, Description: "d", Required: []string{"a"}, Properties: map[string]*llm.Schema{
		"a": {Type: llm.String, Enum: []string{"x"}, Nullable: true}, "b": {Type: llm.Array, Items: &llm.Schema{Type: llm.Integer}}}}
	got, err := json.Marshal(s)
	const want = `{"additionalProperties":false,"description":"d","properties":{"a":{"enum":["x",null],"type":["string","null"]},` +
		`"b":{"items":{"type":"integer"},"type":"array"}},"required":["a"],"type":"object"}`
	if err != nil || string(got) != want || s.Validate() != nil {
		t.Errorf("got %s, %v, %v", got, err, s.Validate())
	}
}

func TestASchemaThatModelsRefuseIsReportedWhole(t *testing.T) {
	t.Parallel()
	s := &llm.Schema{Type: llm.Object, Required: []string{"missing"}, Properties: map[string]*llm.Schema{
		"empty": {Type: llm.Object}, "list": {Type: llm.Array}, "odd": {Type: "date"}, "one": {Type: llm.Integer, Enum: []string{"1"}},
		"none": nil, "deep": {Type: llm.Array, Items: &llm.Schema{Type: llm.Object}}}}
	err := s.Validate()
	for _, want := range []string{"schema.empty is an object without", "schema.list is an array", `schema.odd has the type "date"`,
		"schema.one has an enum", `schema requires "missing"`, "schema.none is nil", "schema.deep[] is an object without"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate lacks %q:\n%v", want, err)
		}
	}
}

func TestWhatOthersWroteIsQuotedInPartAndWithoutTheKey(t *testing.T) {
	t.Parallel()
	got := llm.Quote("no: secret-key-1 "+strings.Repeat("방", 1000), "secret-key-1")
	if !strings.HasPrefix(got, "no: (the key) 방") || len([]rune(got)) != 301 {
		t.Errorf("got %q", got)
	}
	if got := llm.Quote("check", "k"); got != "check" {
		t.Errorf("got %q", got)
	}
}

type fixed struct {
	answer llm.Response
	err    error
}

func (f fixed) Generate(context.Context, llm.Request) (llm.Response, error) { return f.answer, f.err }

func TestEveryCallIsToldOnceWithWhatItCost(t *testing.T) {
	t.Parallel()
	meta := llm.Meta{Model: "m", ModelVersion: "m-1", Usage: llm.Usage{Total: 7}}
	for kind, model := range map[llm.Kind]fixed{
		"":          {answer: llm.Response{Text: "t", Meta: meta}},
		llm.Blocked: {err: &llm.Error{Kind: llm.Blocked, Meta: meta}},
	} {
		var told []llm.Call
		observed := llm.Observe(model, func(_ context.Context, c llm.Call) { told = append(told, c) })
		answer, err := observed.Generate(t.Context(), llm.Request{PlanID: "p", Purpose: "plan"})
		if answer != model.answer || !errors.Is(err, model.err) {
			t.Errorf("got %v, %v", answer, err)
		}
		if len(told) != 1 || told[0].Kind != kind || told[0].Meta != meta || told[0].PlanID != "p" || told[0].Purpose != "plan" {
			t.Errorf("told %+v", told)
		}
	}
}

// Case: no key and no stand-in. What needs a model says so, and what to do.
func TestWithoutAModelTheCallSaysSo(t *testing.T) {
	t.Parallel()
	_, err := llm.None{Hint: "set ERRAND_LLM"}.Generate(t.Context(), llm.Request{})
	if llm.KindOf(err) != llm.Unconfigured || err.Error() != "the model: unconfigured: no model is set up: set ERRAND_LLM" {
		t.Errorf("got %v", err)
	}
}
