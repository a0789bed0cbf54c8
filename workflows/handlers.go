package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"errand/plan"
)

// handlers sets up what people and planners can ask of a running plan.
func (r *planRun) handlers() error {
	err := workflow.SetQueryHandlerWithOptions(r.root, plan.QueryView, func() (plan.View, error) {
		return r.state.View(), nil
	}, workflow.QueryHandlerOptions{Description: "the plan as it stands: steps, results, what it waits for, its journal. No input"})
	if err != nil {
		return fmt.Errorf("query %s: %w", plan.QueryView, err)
	}
	err = workflow.SetUpdateHandlerWithOptions(r.root, plan.UpdateCancel, r.cancel, workflow.UpdateHandlerOptions{
		Description: "ask the plan to stop; the answer is the plan's state, not yet what physically happened. " +
			`Input: {"by": "your name", "why": "..."}`,
		Validator: r.mayCancel,
	})
	if err != nil {
		return fmt.Errorf("update %s: %w", plan.UpdateCancel, err)
	}
	err = workflow.SetUpdateHandlerWithOptions(r.root, plan.UpdateAnswer, r.answer, workflow.UpdateHandlerOptions{
		Description: "answer the open question; the current details say which it is. " +
			`Input: {"question_id": "...", "choice": "...", "by": "your name"}`,
		Validator: r.mayAnswer,
	})
	if err != nil {
		return fmt.Errorf("update %s: %w", plan.UpdateAnswer, err)
	}
	return nil
}

// mayCancel refuses an unsigned request. A second cancel is taken and changes nothing.
func (r *planRun) mayCancel(in plan.CancelRequest) error {
	if in.By == "" {
		return fmt.Errorf("cancel: by is missing: say who asks")
	}
	return nil
}

func (r *planRun) cancel(ctx workflow.Context, in plan.CancelRequest) (plan.Phase, error) {
	in.Source = "api"
	return r.handle(ctx, in)
}

func (r *planRun) mayAnswer(in plan.Answer) error {
	q := r.state.Question
	switch {
	case in.By == "":
		return fmt.Errorf("answer: by is missing: say who answers")
	case q == nil:
		return fmt.Errorf("answer: no question is open")
	case q.ID != in.QuestionID:
		return fmt.Errorf("answer: question %q is not open; %q is", in.QuestionID, q.ID)
	case r.now() >= q.ExpiresAt:
		return fmt.Errorf("answer: question %q has expired: no answer in time was taken as no", in.QuestionID)
	case !slices.Contains(q.Choices, in.Choice):
		return fmt.Errorf("answer: %q is not a choice; the choices are %v", in.Choice, q.Choices)
	}
	return nil
}

func (r *planRun) answer(ctx workflow.Context, in plan.Answer) (plan.Phase, error) {
	return r.handle(ctx, in)
}

// handle puts a request in line and answers with the plan's state once the machine took it.
func (r *planRun) handle(ctx workflow.Context, in plan.Input) (plan.Phase, error) {
	r.inbox = append(r.inbox, in)
	ticket := r.taken + len(r.inbox)
	live, _ := workflow.NewDisconnectedContext(ctx) // a cancel from Temporal must not fail the request
	if err := workflow.Await(live, func() bool { return r.taken >= ticket || r.outcome != nil }); err != nil {
		return "", fmt.Errorf("wait for the plan to take the request: %w", err)
	}
	return r.state.Phase(), nil
}
