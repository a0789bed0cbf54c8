package config_test

import (
	"errors"
	"strings"
	"testing"

	"errand/internal/config"
)

// Without any setting there is no model, and that is no fault.
func TestNoModelIsTheDefault(t *testing.T) {
	var w config.Worker
	if err := config.Load(&w); err != nil || w.LLM.LLM != config.LLMNone {
		t.Errorf("%q, %v", w.LLM.LLM, err)
	}
}

func TestWhatDoesNotFitTogetherIsSaidWithItsName(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		says string
	}{
		"an unknown model":        {map[string]string{"ERRAND_LLM": "hal"}, `"hal" is no model that we know`},
		"gemini without a key":    {map[string]string{"ERRAND_LLM": "gemini"}, "ERRAND_LLM_KEY is not set"},
		"openai without a server": {map[string]string{"ERRAND_LLM": "openai", "ERRAND_LLM_MODEL": "m"}, "ERRAND_LLM_ENDPOINT"},
		"a server without http":   {map[string]string{"ERRAND_LLM": "openai", "ERRAND_LLM_MODEL": "m", "ERRAND_LLM_ENDPOINT": "127.0.0.1:11434/v1"}, "is no URL of a server"},
		"nothing to record":       {map[string]string{"ERRAND_LLM_RECORD": "d"}, "nothing to record"},
		"both at once":            {map[string]string{"ERRAND_LLM": "gemini", "ERRAND_LLM_KEY": "k", "ERRAND_LLM_RECORD": "d", "ERRAND_LLM_REPLAY": "d"}, "record first"},
		"too long a wait":         {map[string]string{"ERRAND_LLM_TIMEOUT": "5m"}, "between 1s and 40s"},
		"a budget below nothing":  {map[string]string{"ERRAND_LLM_MONTH_TOKENS": "-1"}, "ERRAND_LLM_MONTH_TOKENS: -1 is below 0"},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range c.env {
				t.Setenv(key, value)
			}
			var w config.Worker
			if err := config.Load(&w); !errors.Is(err, config.ErrSettings) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}

// A cassette needs no key, and neither does a local server.
func TestWhatNeedsNoKeyIsTakenWithoutOne(t *testing.T) {
	for _, env := range []map[string]string{
		{"ERRAND_LLM": "gemini", "ERRAND_LLM_REPLAY": "d"},
		{"ERRAND_LLM": "openai", "ERRAND_LLM_MODEL": "qwen3", "ERRAND_LLM_ENDPOINT": "http://127.0.0.1:11434/v1"},
	} {
		for key, value := range env {
			t.Setenv(key, value)
		}
		var w config.Worker
		if err := config.Load(&w); err != nil {
			t.Errorf("%v: %v", env, err)
		}
		for key := range env {
			t.Setenv(key, "")
		}
	}
}

// The key is in no listing.
func TestTheModelsKeyIsShownNowhere(t *testing.T) {
	t.Setenv("ERRAND_LLM_KEY", "very-secret-key")
	for _, row := range config.Settings(new(config.Worker)) {
		if strings.Contains(row.Value, "very-secret-key") {
			t.Errorf("%+v", row)
		}
	}
}
