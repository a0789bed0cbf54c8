package config

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// The language models that can be chosen.
const (
	LLMNone   = "none"
	LLMGemini = "gemini"
	LLMOpenAI = "openai"
)

// DefaultGeminiModel is asked when no other is named.
const DefaultGeminiModel = "gemini-2.5-flash"

// LLM is the settings of the language model that plans what no routine takes.
type LLM struct {
	LLM         string `default:"none" desc:"which language model plans what no routine takes: none, gemini, or openai (any server that speaks its chat completions: Ollama, vLLM and the like)"`
	LLMKey      string `split_words:"true" secret:"true" desc:"API key of the model's server; gemini needs one, local servers take none"`
	LLMModel    string `split_words:"true" desc:"the model's name at its server; default for gemini: gemini-2.5-flash"`
	LLMEndpoint string `split_words:"true" unit:"URL" desc:"the model's server; default for gemini: Google's; for openai up to the version, such as http://127.0.0.1:11434/v1"`
	// LLMTimeout leaves room for two calls in one try of a plan: see workflows.
	LLMTimeout     time.Duration `split_words:"true" default:"20s" unit:"1s to 40s" desc:"how long one call of the model may take; Temporal tries again"`
	LLMPlanCalls   int           `split_words:"true" default:"20" unit:"calls" desc:"calls of the model that one plan may cost, every try counted; 0: no bound"`
	LLMPlanTokens  int           `split_words:"true" default:"100000" unit:"tokens" desc:"tokens that one plan may cost; 0: no bound"`
	LLMMonthTokens int           `split_words:"true" default:"5000000" unit:"tokens" desc:"tokens that all plans together may cost in a calendar month (UTC); 0: no bound"`
	LLMBudget      string        `split_words:"true" default:".errand/budget.db" unit:"file" desc:"where it is kept what was spent, made if it is absent; workers of one machine share it"`
	LLMRecord      string        `split_words:"true" unit:"folder" desc:"keep every exchange with the model there, as a cassette; default: none is kept"`
	LLMReplay      string        `split_words:"true" unit:"folder" desc:"answer from the cassette in it alone, and never ask a live model; default: ask it"`
}

// Asks reports whether a model is chosen at all.
func (l *LLM) Asks() bool { return l.LLM != LLMNone && l.LLM != "" }

// Validate checks what belongs together, and every bound.
func (l *LLM) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	live := l.LLMReplay == ""
	switch l.LLM {
	case LLMNone, "":
		if !live || l.LLMRecord != "" {
			fault("ERRAND_LLM is none, so there is nothing to record or replay: name a model, or leave ERRAND_LLM_RECORD and ERRAND_LLM_REPLAY empty")
		}
	case LLMGemini:
		if l.LLMKey == "" && live {
			fault("ERRAND_LLM_KEY is not set, and gemini needs a key: set one, or leave ERRAND_LLM out to go on without a model")
		}
	case LLMOpenAI:
		if (l.LLMEndpoint == "" || l.LLMModel == "") && live {
			fault("ERRAND_LLM is openai: set ERRAND_LLM_ENDPOINT and ERRAND_LLM_MODEL too")
		}
	default:
		fault("ERRAND_LLM: %q is no model that we know: use none, gemini or openai", l.LLM)
	}
	if l.LLMEndpoint != "" && !webURL(l.LLMEndpoint) {
		fault("ERRAND_LLM_ENDPOINT: %q is no URL of a server: write it like http://127.0.0.1:11434/v1", l.LLMEndpoint)
	}
	if !live && l.LLMRecord != "" {
		fault("ERRAND_LLM_RECORD and ERRAND_LLM_REPLAY are both set: record first, replay then")
	}
	if l.LLMTimeout < time.Second || l.LLMTimeout > 40*time.Second {
		fault("ERRAND_LLM_TIMEOUT: %s is not between 1s and 40s", l.LLMTimeout)
	}
	for name, n := range map[string]int{"ERRAND_LLM_PLAN_CALLS": l.LLMPlanCalls, "ERRAND_LLM_PLAN_TOKENS": l.LLMPlanTokens, "ERRAND_LLM_MONTH_TOKENS": l.LLMMonthTokens} {
		if n < 0 {
			fault("%s: %d is below 0", name, n)
		}
	}
	return errors.Join(errs...)
}

// webURL reports whether a text is the URL of a web server. A client takes others too, and then never gets an answer.
func webURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
