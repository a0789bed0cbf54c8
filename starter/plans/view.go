package plans

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"errand/plan"
)

// stand is how a plan's workflow stands.
type stand struct {
	runID  string
	closed bool
	line   Line
}

// stand finds the workflow of a plan; another kind of workflow under that id is no plan.
func (c *Client) stand(ctx context.Context, id string) (stand, error) {
	if !plan.ValidID(id) {
		return stand{}, fmt.Errorf("%w: %q is not a plan id", ErrNoPlan, id)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	answer, err := c.temporal.DescribeWorkflowExecution(ctx, id, "")
	if gone := (*serviceerror.NotFound)(nil); errors.As(err, &gone) {
		return stand{}, fmt.Errorf("%w: %s", ErrNoPlan, id)
	}
	if err != nil {
		return stand{}, fmt.Errorf("find plan %s: %w", id, err)
	}
	found := answer.GetWorkflowExecutionInfo()
	if found.GetType().GetName() != plan.WorkflowType {
		return stand{}, fmt.Errorf("%w: %s", ErrNoPlan, id)
	}
	return stand{
		runID:  found.GetExecution().GetRunId(),
		closed: found.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
		line:   line(found),
	}, nil
}

// Find returns a plan's line, whether it runs or is over and whether a worker is there or not.
func (c *Client) Find(ctx context.Context, id string) (Line, error) {
	stand, err := c.stand(ctx, id)
	return stand.line, err
}

// View returns how a plan stands. For a plan that is over it carries the outcome, which is final; its steps and
// journal are then missing if no worker is there to tell them.
func (c *Client) View(ctx context.Context, id string) (plan.View, error) {
	stand, err := c.stand(ctx, id)
	if err != nil {
		return plan.View{}, err
	}
	view, unasked := c.query(ctx, id)
	if !stand.closed {
		return view, unasked
	}
	outcome, err := c.Outcome(ctx, id)
	if errors.Is(err, ErrNoOutcome) {
		return cutOff(view, stand.line, err), nil
	}
	if err != nil {
		return view, err
	}
	if unasked != nil {
		view = viewOf(outcome)
		view.DeviceID = stand.line.DeviceID
	}
	view.State, view.Outcome = outcome.State, &outcome
	return view, nil
}

// cutOff is the view of a plan that was closed from outside: it tells how the plan stood then. What was under way is unknown.
func cutOff(v plan.View, l Line, why error) plan.View {
	v.PlanID, v.DeviceID, v.State, v.Why = l.PlanID, l.DeviceID, plan.Unresolved, why.Error()
	v.Next, v.Question, v.Plan.WaitingFor = nil, nil, ""
	for i := range v.Steps {
		s := &v.Steps[i]
		if s.State.Terminal() {
			continue
		}
		if s.OperationID != "" {
			s.State, s.Why = plan.StepUnknown, "the plan was closed from outside while this was "+string(s.State)
		}
		s.Until = 0
	}
	return v
}

// viewOf is what an outcome alone tells.
func viewOf(o plan.Outcome) plan.View {
	v := plan.View{PlanID: o.PlanID, State: o.State, Cancel: o.Cancel, LLMCalls: o.LLMCalls, Outcome: &o,
		Plan: plan.PlanState{CompletedStepIDs: []string{}, StepResults: map[string]plan.StepResult{}, PlanRevision: o.Revision}}
	if o.Reason != nil {
		v.Why = o.Reason.Code
	}
	for _, s := range o.Steps {
		step := plan.StepView{ID: s.ID, State: s.Phase, OperationID: s.OperationID, Reason: s.Reason}
		if s.Receipt != nil {
			step.Verdict, step.Why = s.Receipt.Verdict, string(s.Receipt.Verdict)
		}
		if s.Phase == plan.StepCompleted {
			v.Plan.CompletedStepIDs = append(v.Plan.CompletedStepIDs, s.ID)
		}
		v.Plan.StepResults[s.ID] = plan.StepResult{Status: string(s.Phase), EventName: s.EventName,
			TaskMethod: s.TaskMethod, Result: s.Result}
		if s.Reason != nil {
			step.Why = s.Reason.Code
		}
		v.Steps = append(v.Steps, step)
	}
	return v
}

// query asks the workflow for its view.
func (c *Client) query(ctx context.Context, id string) (plan.View, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	value, err := c.temporal.QueryWorkflow(ctx, id, "", plan.QueryView)
	if err != nil {
		return plan.View{}, queryError(id, err)
	}
	var view plan.View
	if err := value.Get(&view); err != nil {
		return plan.View{}, fmt.Errorf("read the view of plan %s: %w", id, err)
	}
	return view, nil
}

func queryError(id string, err error) error {
	var gone *serviceerror.NotFound
	var notReady *serviceerror.WorkflowNotReady
	switch {
	case errors.As(err, &gone):
		return fmt.Errorf("%w: %s", ErrNoPlan, id)
	case errors.As(err, &notReady), unanswered(err):
		return fmt.Errorf("plan %s: %w", id, ErrNoWorker)
	}
	return fmt.Errorf("ask plan %s for its view: %w", id, err)
}
