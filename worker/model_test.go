package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errand/activities/prompt"
	"errand/catalog/load"
	"errand/internal/config"
	"errand/llm"
	"errand/llm/standin"
)

// settings are those of a worker whose model is the stand-in at url.
func settings(t *testing.T, url string) config.LLM {
	t.Helper()
	return config.LLM{LLM: config.LLMGemini, LLMKey: "k", LLMEndpoint: url, LLMTimeout: 5 * time.Second, LLMPlanCalls: 2,
		LLMBudget: filepath.Join(t.TempDir(), "state", "budget.db")}
}

// standIn starts a stand-in with a script.
func standIn(t *testing.T, replies ...standin.Reply) (*standin.Server, string) {
	t.Helper()
	server := standin.New(standin.Options{})
	url, err := server.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server.Script(replies...)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server, url
}

// open is openModel with a record of the calls that were made.
func open(t *testing.T, s config.LLM) (llm.Model, *[]llm.Call) {
	t.Helper()
	calls := &[]llm.Call{}
	model, done, err := openModel(t.Context(), s, slog.New(slog.DiscardHandler), func(_ context.Context, c llm.Call) { *calls = append(*calls, c) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	})
	return model, calls
}

// question is a whole one, as the planner asks it.
func question() llm.Request {
	seen := map[string]any{"map": map[string]any{"rooms": []any{map[string]any{"id": "6", "name": "안방"}}}}
	setting := prompt.NewSetting(load.Builtin().Whole(), seen, 0)
	return prompt.Plan(&setting, prompt.Wish{PlanID: "p", Text: "안방 바닥 좀 어떻게 해봐", Locale: "ko"})
}

func TestWithoutAModelWhoeverAsksIsToldWhatToDo(t *testing.T) {
	model, calls := open(t, config.LLM{LLM: config.LLMNone})
	if _, err := model.Generate(t.Context(), question()); llm.KindOf(err) != llm.Unconfigured || !strings.Contains(err.Error(), "ERRAND_LLM") || len(*calls) != 0 {
		t.Errorf("%v, %d calls", err, len(*calls))
	}
}

// The budget is asked before the model is, and outlives the process.
func TestLaw13TheBudgetIsKeptInItsFile(t *testing.T) {
	server, url := standIn(t)
	s := settings(t, url)
	model, calls := open(t, s)
	for range s.LLMPlanCalls {
		if _, err := model.Generate(t.Context(), question()); err != nil {
			t.Fatal(err)
		}
	}
	again, _ := open(t, s)
	if _, err := again.Generate(t.Context(), question()); llm.KindOf(err) != llm.BudgetSpent || len(server.Questions()) != 2 || len(*calls) != 2 {
		t.Errorf("%v after %d questions, %d told", err, len(server.Questions()), len(*calls))
	}
}

// What was recorded is answered again without a server, and what was not is an error, never a live call. No word of a
// person is in the files.
func TestACassetteIsRecordedAndPlayed(t *testing.T) {
	server, url := standIn(t)
	s := settings(t, url)
	s.LLMRecord = filepath.Join(t.TempDir(), "cassette")
	model, _ := open(t, s)
	said, err := model.Generate(t.Context(), question())
	if err != nil || !strings.Contains(said.Text, "안방") {
		t.Fatalf("%+v, %v", said, err)
	}

	s.LLMReplay, s.LLMRecord, s.LLMKey = s.LLMRecord, "", ""
	played, calls := open(t, s)
	again, err := played.Generate(t.Context(), question())
	if err != nil || again.Text != said.Text || len(server.Questions()) != 1 || len(*calls) != 1 {
		t.Errorf("%+v, %v after %d questions", again, err, len(server.Questions()))
	}
	other := question()
	other.Contents[0] = "another wish"
	other.PlanID = "p2"
	if _, err := played.Generate(t.Context(), other); llm.KindOf(err) != llm.Unrecorded || len(server.Questions()) != 1 {
		t.Errorf("%v after %d questions", err, len(server.Questions()))
	}
	files, err := os.ReadDir(s.LLMReplay)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	text, err := os.ReadFile(filepath.Join(s.LLMReplay, files[0].Name()))
	if err != nil || strings.Contains(string(text), "안방") || strings.Contains(string(text), "바닥") {
		t.Errorf("the cassette tells of a home: %s, %v", text, err)
	}
}

// Another model is another setting: the same question to a server that speaks chat completions.
func TestAnotherModelIsAnotherSetting(t *testing.T) {
	server, url := standIn(t)
	s := settings(t, url+"/v1")
	s.LLM, s.LLMModel, s.LLMKey = config.LLMOpenAI, "qwen3", ""
	model, calls := open(t, s)
	said, err := model.Generate(t.Context(), question())
	if err != nil || server.Questions()[0].Model != "qwen3" || (*calls)[0].Usage.Total == 0 {
		t.Fatalf("%+v, %v", said, err)
	}
	if proposal, faults := prompt.ReadPlan(said.Text); len(faults) > 0 || len(proposal.Document.Steps) != 1 {
		t.Errorf("%+v, %v", proposal, faults)
	}
}

// A call that nobody answers ends at the installation's time limit.
func TestACallHasTheInstallationsTimeLimit(t *testing.T) {
	_, url := standIn(t, standin.Hang())
	s := settings(t, url)
	s.LLMTimeout = 200 * time.Millisecond
	model, calls := open(t, s)
	if _, err := model.Generate(t.Context(), question()); llm.KindOf(err) != llm.TimedOut || len(*calls) != 1 || (*calls)[0].Kind != llm.TimedOut {
		t.Errorf("%v, %+v", err, *calls)
	}
}

func TestWhatCannotBeOpenedIsSaidAtTheStart(t *testing.T) {
	for name, s := range map[string]config.LLM{
		"no cassette":       {LLM: config.LLMGemini, LLMReplay: filepath.Join(t.TempDir(), "nowhere")},
		"no key":            {LLM: config.LLMGemini, LLMBudget: filepath.Join(t.TempDir(), "b.db")},
		"a folder's a file": {LLM: config.LLMGemini, LLMKey: "k", LLMBudget: "/dev/null/b.db"},
	} {
		if _, _, err := openModel(t.Context(), s, slog.New(slog.DiscardHandler), nil); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
