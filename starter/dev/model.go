package dev

import (
	"context"
	"fmt"
	"os"

	"errand/internal/config"
	"errand/llm/standin"
)

// LLMStandin is the name of the model that is no model: a server of our own that answers by simple rules, for working
// without a key.
const LLMStandin = "standin"

// modelKey is the setting that none but the worker is told.
const modelKey = "ERRAND_LLM_KEY"

// standinKey is the key that the worker shows to the stand-in, which takes any.
const standinKey = "the-stand-in-takes-any-key"

// startModel settles which model the worker asks: the environment's ("" or what the settings name), or the stand-in, which
// is started here. It returns what the worker is to be told; stop ends what was started.
func startModel(ctx context.Context, choice string) (env []string, stop func() error, err error) {
	nothing := func() error { return nil }
	if key := os.Getenv(modelKey); key != "" {
		env = append(env, modelKey+"="+key)
	}
	switch choice {
	case "":
		return env, nothing, nil
	case config.LLMNone:
		return []string{"ERRAND_LLM=none", "ERRAND_LLM_RECORD=", "ERRAND_LLM_REPLAY="}, nothing, nil
	case LLMStandin:
	default:
		return append(env, "ERRAND_LLM="+choice), nothing, nil
	}
	server := standin.New(standin.Options{})
	url, err := server.Start(ctx, host+":0")
	if err != nil {
		return nil, nil, fmt.Errorf("start the stand-in for a language model: %w", err)
	}
	return []string{"ERRAND_LLM=gemini", modelKey + "=" + standinKey, "ERRAND_LLM_ENDPOINT=" + url, "ERRAND_LLM_MODEL="}, server.Close, nil
}
