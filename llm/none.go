package llm

import "context"

// None is the model of an installation that has none: whoever asks is told so, and what to do.
type None struct {
	// Hint is what to do about it, such as which setting names a model.
	Hint string
}

var _ Model = None{}

// Generate answers that there is no model.
func (n None) Generate(context.Context, Request) (Response, error) {
	detail := "no model is set up"
	if n.Hint != "" {
		detail += ": " + n.Hint
	}
	return Response{}, &Error{Kind: Unconfigured, Detail: detail}
}
