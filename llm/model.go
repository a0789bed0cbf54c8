package llm

import (
	"context"
	"time"
)

// Model is a language model that can be asked.
type Model interface {
	// Generate asks once. Its error is always an *Error, whose Kind says what to do about it.
	Generate(ctx context.Context, r Request) (Response, error)
}

// Request is one question.
type Request struct {
	// Instructions is what the model shall do. Only text of our own belongs here.
	Instructions string
	// Contents is what the model is told, a part each: what a person said, what a device reported. It is data, and may be
	// hostile.
	Contents []string
	// Schema is the shape of the answer, a JSON value; nil asks for plain text.
	Schema *Schema
	Limits Limits

	// PlanID names the plan whose budget the call spends.
	PlanID string
	// Purpose is what the call is for, such as "plan" or "decide".
	Purpose string
	// Personal lists the strings in this request that tell of people or their home: what was said, the names of rooms,
	// devices and persons. They are written to no file.
	Personal []string
}

// The defaults of a request's limits.
const (
	DefaultMaxOutputTokens = 2048
	DefaultTimeout         = 20 * time.Second
)

// Limits bound one call.
type Limits struct {
	// MaxOutputTokens bounds the answer; 0 means DefaultMaxOutputTokens.
	MaxOutputTokens int
	// Timeout bounds the call; 0 means DefaultTimeout.
	Timeout time.Duration
}

// OrDefaults returns the limits with the defaults in the place of what is not set.
func (l Limits) OrDefaults() Limits {
	if l.MaxOutputTokens <= 0 {
		l.MaxOutputTokens = DefaultMaxOutputTokens
	}
	if l.Timeout <= 0 {
		l.Timeout = DefaultTimeout
	}
	return l
}

// Response is a whole answer.
type Response struct {
	// Text is what the model said: with a Schema one JSON value, which may still not fit it.
	Text string
	Meta
}

// Meta is what is known of a call besides its answer, as far as it is known.
type Meta struct {
	// Model is the model that was asked, ModelVersion the one that says it answered.
	Model        string `json:"model,omitempty"`
	ModelVersion string `json:"model_version,omitempty"`
	Finish       Finish `json:"finish,omitempty"`
	Usage        Usage  `json:"usage"`
	// Latency is from the request to the end of the answer.
	Latency time.Duration `json:"latency_ns,omitempty"`
}

// Usage counts tokens. Total is what is paid for: it may be more than Prompt and Output, by what a model thought unseen.
type Usage struct {
	Prompt int `json:"prompt"`
	Output int `json:"output"`
	Total  int `json:"total"`
}

// Finish says why the model stopped.
type Finish string

// The ends that every model has. An end of another kind keeps the model's own word for it.
const (
	FinishStop    Finish = "stop"    // it came to its end
	FinishCutOff  Finish = "cut_off" // MaxOutputTokens were spent
	FinishBlocked Finish = "blocked" // it, or what watches it, refused to go on
	FinishUnknown Finish = "unknown" // it did not say
)
