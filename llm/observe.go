package llm

import (
	"context"
	"errors"
	"time"
)

// Call is what is told of one call: enough for metrics and a log, and nothing of what was asked or answered.
type Call struct {
	PlanID  string
	Purpose string
	// Kind is "" for an answer, else why there is none.
	Kind Kind
	// Elapsed is how long the caller waited. Meta.Latency is the model's part of it.
	Elapsed time.Duration
	Meta
}

// Observe returns the model with each call told to tell, once, when it has ended. tell must not block.
func Observe(model Model, tell func(context.Context, Call)) Model { return observed{model, tell} }

type observed struct {
	model Model
	tell  func(context.Context, Call)
}

var _ Model = observed{}

func (o observed) Generate(ctx context.Context, r Request) (Response, error) {
	began := time.Now()
	answer, err := o.model.Generate(ctx, r)
	call := Call{PlanID: r.PlanID, Purpose: r.Purpose, Elapsed: time.Since(began), Meta: answer.Meta}
	var failure *Error
	if errors.As(err, &failure) {
		call.Kind, call.Meta = failure.Kind, failure.Meta
	}
	o.tell(ctx, call)
	return answer, err
}
