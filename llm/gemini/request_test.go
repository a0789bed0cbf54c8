package gemini_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"errand/llm"
	"errand/llm/gemini"
	"errand/llm/standin"
)

func TestTheServerIsAskedWhatTheRequestSays(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	server.Script(standin.Answer(`{"decision":"ask"}`))
	r := question()
	r.Contents = []string{"first", "둘째"}
	r.Limits.MaxOutputTokens = 77
	r.PlanID, r.Purpose, r.Personal = "plan-of-somebody", "decide", []string{"somebody"}
	if _, err := model.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	q := server.Questions()[0]
	if q.Model != "gemini-2.5-flash" || q.Instructions != "decide" || !reflect.DeepEqual(q.Contents, r.Contents) ||
		q.MaxOutputTokens != 77 || q.Temperature == nil || *q.Temperature != 0 {
		t.Errorf("asked %+v", q)
	}
	if got, want := marshal(t, q.Schema), marshal(t, r.Schema); got != want {
		t.Errorf("the schema on the wire is\n%s\nwant\n%s", got, want)
	}
	for _, private := range []string{"somebody", key} {
		if strings.Contains(string(q.Body), private) {
			t.Errorf("the request's body tells %q", private)
		}
	}
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnAnswerLongerThanAllowedIsCutOff(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	server.Script(standin.Answer(`{"decision":"` + strings.Repeat("x", 1000) + `"}`))
	r := question()
	r.Limits.MaxOutputTokens = 10
	_, err := model.Generate(t.Context(), r)
	if e := failure(t, err, llm.CutOff); e.Usage.Output != 10 {
		t.Errorf("got %+v", e.Meta)
	}
}

// What the API would refuse is not sent.
func TestASchemaThatModelsRefuseIsNotSent(t *testing.T) {
	t.Parallel()
	server, model := open(t, standin.Options{})
	r := question()
	r.Schema = &llm.Schema{Type: llm.Object, Properties: map[string]*llm.Schema{"arguments": {Type: llm.Object}}}
	_, err := model.Generate(t.Context(), r)
	if e := failure(t, err, llm.BadRequest); !strings.Contains(e.Detail, "schema.arguments") || len(server.Questions()) != 0 {
		t.Errorf("got %v after %d questions", e, len(server.Questions()))
	}
}

func TestNewNeedsAKeyAndAModel(t *testing.T) {
	t.Parallel()
	for _, o := range []gemini.Options{{Model: "gemini-2.5-flash"}, {Key: key}} {
		if _, err := gemini.New(t.Context(), o); err == nil {
			t.Errorf("New(%+v) is no error", o)
		}
	}
}
