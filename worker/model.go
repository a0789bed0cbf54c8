package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"errand/internal/config"
	"errand/llm"
	"errand/llm/budget"
	"errand/llm/cassette"
	"errand/llm/gemini"
	"errand/llm/openai"
)

// hint is what an operator can do when no model is set up.
const hint = "name one in ERRAND_LLM (`errand config` lists the settings)"

// openModel builds the one model of this process and what is around it. From the outside in: the call's time limit, the
// budget, the record of each call, and the client or its cassette. So what is recorded as a call is one that the budget
// let through. close lets go of it all.
func openModel(ctx context.Context, s config.LLM, log *slog.Logger, tell func(context.Context, llm.Call)) (model llm.Model, done func() error, err error) {
	if !s.Asks() {
		return llm.None{Hint: hint}, func() error { return nil }, nil
	}
	asked, closeClient, err := connect(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	store, err := openBudget(ctx, s.LLMBudget)
	if err != nil {
		return nil, nil, errors.Join(err, closeClient())
	}
	model = budget.Guard(llm.Observe(asked, tell), budget.Options{Store: store, Log: log,
		PerPlan: budget.Limits{Calls: s.LLMPlanCalls, Tokens: s.LLMPlanTokens}, Monthly: budget.Limits{Tokens: s.LLMMonthTokens}})
	return timed{model: model, limits: llm.Limits{Timeout: s.LLMTimeout}}, func() error { return errors.Join(closeClient(), store.Close()) }, nil
}

// connect is the model itself: a cassette's answers, or a server's, recorded or not.
func connect(ctx context.Context, s config.LLM) (model llm.Model, done func() error, err error) {
	done = func() error { return nil }
	switch {
	case s.LLMReplay != "":
		model, err = cassette.Open(s.LLMReplay)
		return model, done, err
	case s.LLM == config.LLMOpenAI:
		model, err = openai.New(openai.Options{Endpoint: s.LLMEndpoint, Model: s.LLMModel, Key: s.LLMKey})
	default:
		name := s.LLMModel
		if name == "" {
			name = config.DefaultGeminiModel
		}
		var g *gemini.Model
		if g, err = gemini.New(ctx, gemini.Options{Key: s.LLMKey, Model: name, Endpoint: s.LLMEndpoint}); err == nil {
			model, done = g, g.Close
		}
	}
	if err == nil && s.LLMRecord != "" {
		model = cassette.Record(model, s.LLMRecord)
	}
	return model, done, err
}

// openBudget opens the accounts, and makes their folder.
func openBudget(ctx context.Context, path string) (*budget.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the budget (ERRAND_LLM_BUDGET) cannot be made: %w", err)
	}
	return budget.Open(ctx, path)
}

// timed gives each call the installation's time limit, unless it has one of its own.
type timed struct {
	model  llm.Model
	limits llm.Limits
}

var _ llm.Model = timed{}

func (t timed) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if r.Limits.Timeout == 0 {
		r.Limits.Timeout = t.limits.Timeout
	}
	return t.model.Generate(ctx, r)
}
