package plans

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"errand/plan"
)

// Outcome waits for the plan to end and returns how it ended. The three ways in which its workflow closes all carry
// the same outcome (design §6 Close): completed and returned as the result, failed and unresolved as the detail of
// the error PlanFailed, a person's cancel as the detail of the cancellation.
//
// ErrNoOutcome means that the workflow was closed from outside: terminated, or timed out by the server.
func (c *Client) Outcome(ctx context.Context, id string) (plan.Outcome, error) {
	var outcome plan.Outcome
	err := c.temporal.GetWorkflow(ctx, id, "").Get(ctx, &outcome)
	if err == nil {
		return outcome, nil
	}
	if details, ok := closing(err); ok {
		if err := details(&outcome); err != nil {
			return plan.Outcome{}, fmt.Errorf("plan %s: %w: %w", id, ErrNoOutcome, err)
		}
		return outcome, nil
	}
	var gone *serviceerror.NotFound
	var terminated *temporal.TerminatedError
	var timedOut *temporal.TimeoutError
	var said *temporal.ApplicationError
	var silent *temporal.CanceledError
	switch {
	case errors.As(err, &gone):
		return plan.Outcome{}, fmt.Errorf("%w: %s", ErrNoPlan, id)
	case errors.As(err, &terminated):
		return plan.Outcome{}, fmt.Errorf("%w: it was terminated in Temporal%s; what its device did last is not known here", ErrNoOutcome, c.whyTerminated(ctx, id))
	case errors.As(err, &timedOut), errors.As(err, &said), errors.As(err, &silent):
		return plan.Outcome{}, fmt.Errorf("plan %s: %w: %w: what its device did last is not known here", id, ErrNoOutcome, err)
	}
	return plan.Outcome{}, fmt.Errorf("wait for the end of plan %s: %w", id, err)
}

// whyTerminated is who terminated a plan, and the reason that was given, as far as that is on record.
func (c *Client) whyTerminated(ctx context.Context, id string) string {
	events := c.temporal.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return "" // that it was terminated is known all the same
		}
		if a := event.GetWorkflowExecutionTerminatedEventAttributes(); a != nil {
			by, why := "", ""
			if a.GetIdentity() != "" {
				by = " by " + a.GetIdentity()
			}
			if a.GetReason() != "" {
				why = ": " + a.GetReason()
			}
			return by + why
		}
	}
	return ""
}

// closing finds the outcome in the error with which a plan's workflow closed.
func closing(err error) (details func(...any) error, ok bool) {
	var cancelled *temporal.CanceledError
	if errors.As(err, &cancelled) && cancelled.HasDetails() {
		return cancelled.Details, true
	}
	var failed *temporal.ApplicationError
	if errors.As(err, &failed) && failed.Type() == failureType && failed.HasDetails() {
		return failed.Details, true
	}
	return nil, false
}

// failureType is the type of the error with which a failed or unresolved plan closes; its detail is the outcome.
const failureType = "PlanFailed"
