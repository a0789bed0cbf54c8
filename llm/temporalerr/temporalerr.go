// Package temporalerr tells Temporal what an *llm.Error means for the activity that asked a model: whether to try again,
// and when. Temporal owns the retries; nothing under Model.Generate tries anything twice.
//
//	answer, err := model.Generate(ctx, request)
//	if err != nil {
//		return plan.Decided{}, temporalerr.Of(err)
//	}
package temporalerr

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"errand/llm"
)

// TypePrefix starts the type of every application error made here; the llm.Kind follows: "llm.quota_spent".
const TypePrefix = "llm."

// Of returns the error for an activity to end with.
//
// What may pass by itself is retryable, and not before the time that the model's server named. What says something of the
// question or the installation is not: the same call would end the same, and cost again. An attempt whose caller gave up
// ends as cancelled. Any other error stays as it is.
//
// Its details are what the call cost (llm.Meta), and whatever else the activity wants its workflow to know.
func Of(err error, more ...any) error {
	var e *llm.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Kind == llm.Canceled:
		return temporal.NewCanceledError()
	}
	return temporal.NewApplicationErrorWithOptions(e.Error(), TypePrefix+string(e.Kind), temporal.ApplicationErrorOptions{
		NonRetryable:   !e.Retryable(),
		NextRetryDelay: e.RetryAfter,
		Details:        append([]any{e.Meta}, more...),
	})
}

// Kind returns the kind of an activity's error that Of made, as a workflow sees it; "" for any other.
func Kind(err error) llm.Kind {
	var failure *temporal.ApplicationError
	if !errors.As(err, &failure) {
		return ""
	}
	for _, kind := range llm.Kinds() {
		if failure.Type() == TypePrefix+string(kind) {
			return kind
		}
	}
	return ""
}
