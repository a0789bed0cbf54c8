package workflows

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"errand/plan"
)

// handlers sets up what people and planners can ask of a running plan.
func (r *planRun) handlers() error {
	return errors.Join(
		workflow.SetQueryHandlerWithOptions(r.root, plan.QueryView, func() (plan.View, error) { return r.state.View(), nil },
			workflow.QueryHandlerOptions{Description: "the plan as it stands: steps, results, what it waits for, its journal. No input"}),
		update(r, plan.UpdateCancel, "ask the plan to stop; the answer is the plan's state, not yet what physically happened. "+
			`Input: {"by": "your name", "why": "..."}`, r.mayCancel),
		update(r, plan.UpdateAnswer, "answer the open question; the current details say which it is. "+
			`Input: {"question_id": "...", "choice": "...", "by": "your name", "may_confirm": true}; may_confirm: you may consent to it`, r.mayAnswer),
		update(r, plan.UpdatePause, "hold the next submit; what runs goes on. It is held until every token is resumed. "+
			`Input: {"token": "...", "by": "your name"}`, r.mayPause),
		update(r, plan.UpdateResume, "take one token back. "+`Input: {"token": "...", "by": "your name"}`, r.mayResume),
		update(r, plan.UpdateAmend, "append steps, or replace those that have not begun. "+
			`Input: {"steps": [...], "slice": {...}, "replace": false, "by": "your name"}`, r.mayAmend),
		update(r, plan.UpdateFollowUp, "say what is to be done next; it is planned and appended. "+
			`Input: {"text": "...", "by": "your name"}`, r.mayFollowUp),
		update(r, plan.UpdateCancelStep, "withdraw one step; what depends on it is left out too. "+
			`Input: {"step_id": "...", "by": "your name", "why": "..."}`, r.mayCancelStep),
	)
}

// update sets up one request that the machine takes. refusal says why it would not; it is not on record then.
func update[T plan.Input](r *planRun, name, description string, refusal func(T) error) error {
	err := workflow.SetUpdateHandlerWithOptions(r.root, name,
		func(ctx workflow.Context, in T) (plan.Phase, error) { return r.handle(ctx, in) },
		workflow.UpdateHandlerOptions{Description: description, Validator: func(ctx workflow.Context, in T) error {
			if _, before := r.answeredBefore(workflow.GetCurrentUpdateInfo(ctx).ID); before {
				return nil // answered again, whatever has become of the plan since
			}
			if r.renewing {
				return fmt.Errorf("%s: the plan goes on in a new run just now: ask again", name)
			}
			if err := refusal(in); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}})
	if err != nil {
		return fmt.Errorf("update %s: %w", name, err)
	}
	return nil
}

// handle puts a request in line and answers with the plan's state once the machine took it.
func (r *planRun) handle(ctx workflow.Context, in plan.Input) (plan.Phase, error) {
	id := workflow.GetCurrentUpdateInfo(ctx).ID
	if answer, before := r.answeredBefore(id); before {
		return answer, nil
	}
	if c, ok := in.(plan.CancelRequest); ok {
		c.Source = "api"
		in = c
	}
	r.inbox = append(r.inbox, in)
	ticket := r.taken + len(r.inbox)
	live, _ := workflow.NewDisconnectedContext(ctx) // a cancel from Temporal must not fail the request
	if err := workflow.Await(live, func() bool { return r.taken >= ticket || r.outcome != nil }); err != nil {
		return "", fmt.Errorf("wait for the plan to take the request: %w", err)
	}
	if a, ok := in.(plan.Answer); ok {
		if refusal := r.state.Overruled(a, r.now()); refusal != nil {
			return "", fmt.Errorf("%s: %w", plan.UpdateAnswer, refusal)
		}
	}
	answer := r.state.Phase()
	r.remember(id, answer)
	return answer, nil
}

var errUnsigned = errors.New("by is missing: say who asks")

// mayCancel refuses an unsigned request. A second cancel is taken and changes nothing.
func (r *planRun) mayCancel(in plan.CancelRequest) error {
	if in.By == "" {
		return errUnsigned
	}
	return nil
}

// mayAnswer refuses what would change nothing, and says what was decided instead.
func (r *planRun) mayAnswer(in plan.Answer) error {
	if refusal := r.state.AnswerRefusal(in, r.now()); refusal != nil {
		return refusal
	}
	return nil
}

// mayPause takes the same token again: that changes nothing.
func (r *planRun) mayPause(in plan.Pause) error {
	switch {
	case in.By == "":
		return errUnsigned
	case in.Token == "":
		return errors.New("token is missing: it is what resumes the plan")
	case r.state.Outcome != nil || r.state.Cancel != nil || r.state.Ending != nil:
		return errors.New("the plan is over, or on its way there")
	case len(r.state.Pauses) >= maxPauses && !slices.Contains(r.state.Pauses, in.Token):
		return fmt.Errorf("%d tokens hold the plan already: resume some", maxPauses)
	}
	return nil
}

// maxPauses bounds the tokens that hold one plan.
const maxPauses = 16

func (r *planRun) mayResume(in plan.Resume) error {
	switch {
	case in.By == "":
		return errUnsigned
	case len(r.state.Pauses) == 0:
		return errors.New("the plan is not paused")
	case !slices.Contains(r.state.Pauses, in.Token):
		return fmt.Errorf("no pause has the token %q; the plan is held by %s", in.Token, strings.Join(r.state.Pauses, ", "))
	}
	return nil
}

func (r *planRun) mayAmend(in plan.Amend) error {
	if in.By == "" {
		return errUnsigned
	}
	if faults := r.state.AmendFaults(in); len(faults) > 0 {
		return faults
	}
	return nil
}

func (r *planRun) mayCancelStep(in plan.CancelStep) error {
	if in.By == "" {
		return errUnsigned
	}
	if refusal := r.state.CancelStepRefusal(in); refusal != "" {
		return errors.New(refusal)
	}
	return nil
}

// mayFollowUp takes what can be planned; whether a plan is found is the planner's to say.
func (r *planRun) mayFollowUp(in plan.FollowUp) error {
	if in.By == "" {
		return errUnsigned
	}
	if refusal := r.state.FollowUpRefusal(in); refusal != "" {
		return errors.New(refusal)
	}
	return nil
}
