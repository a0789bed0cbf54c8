package plans

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"errand/internal/uitext"
	"errand/plan"
)

var (
	// ErrNoPlan means that no plan has this id, or that it is over for so long that Temporal forgot it.
	ErrNoPlan = errors.New("no such plan")
	// ErrOver means that the plan has ended, so nothing can be asked of it any more.
	ErrOver = errors.New("the plan is over")
	// ErrNoWorker means that the plan is there, but no worker answers for it now.
	ErrNoWorker = errors.New("no worker answers: see that one runs on the same Temporal server and namespace")
	// ErrRefused means that the plan itself said no; the text around it says why.
	ErrRefused = errors.New("the plan refused")
	// ErrNoOutcome means that the workflow was closed from outside, without a word on what was done.
	ErrNoOutcome = errors.New("the plan ended without an outcome")
)

// callTimeout bounds one call that a worker has to answer.
const callTimeout = 10 * time.Second

// Temporal is what this package needs of a Temporal client.
type Temporal interface {
	ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	GetWorkflow(ctx context.Context, workflowID, runID string) client.WorkflowRun
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, isLongPoll bool, filter enums.HistoryEventFilterType) client.HistoryEventIterator
	SignalWorkflow(ctx context.Context, workflowID, runID, signalName string, arg any) error
	QueryWorkflow(ctx context.Context, workflowID, runID, queryType string, args ...any) (converter.EncodedValue, error)
	UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	CheckHealth(ctx context.Context, r *client.CheckHealthRequest) (*client.CheckHealthResponse, error)
}

var _ Temporal = client.Client(nil)

// Client works with plans. It is safe for many goroutines.
type Client struct {
	temporal Temporal
}

// New returns a client over a connected Temporal client.
func New(t Temporal) *Client { return &Client{temporal: t} }

// Ping tells whether Temporal answers.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

// Start starts the plan, or finds that it was started before: a start is tried again freely, since its id is the
// idempotency key and a duplicate is rejected by the server (design §6 Idempotency).
func (c *Client) Start(ctx context.Context, s plan.Start) (already bool, err error) {
	_, err = c.temporal.ExecuteWorkflow(ctx, startOptions(s), plan.WorkflowType, s)
	if exists := (*serviceerror.WorkflowExecutionAlreadyStarted)(nil); errors.As(err, &exists) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("start plan %s: %w", s.PlanID, err)
	}
	return false, nil
}

func startOptions(s plan.Start) client.StartWorkflowOptions {
	state := plan.Planning
	if s.Document != nil {
		state = plan.Running
	}
	return client.StartWorkflowOptions{
		ID:                                       s.PlanID,
		TaskQueue:                                plan.TaskQueue,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            summary(s),
		StaticDetails:                            details(s),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(plan.AttributeDevice).ValueSet(s.DeviceID),
			temporal.NewSearchAttributeKeyKeyword(plan.AttributeState).ValueSet(string(state)),
			temporal.NewSearchAttributeKeyKeyword(plan.AttributeHome).ValueSet(plan.HomeOf(s.HomeID)),
		),
	}
}

// summary says what was asked, of whom.
func summary(s plan.Start) string {
	text := ""
	switch {
	case s.Utterance != nil:
		text = s.Utterance.Text
	case s.Document != nil:
		ids := make([]string, len(s.Document.Steps))
		for i, step := range s.Document.Steps {
			ids[i] = step.ID
		}
		text = strings.Join(ids, " → ")
	}
	if s.DeviceName != "" {
		text = s.DeviceName + ": " + text
	}
	return uitext.Line(text)
}

// details is Markdown for Temporal's UI.
func details(s plan.Start) string {
	var lines []string
	if s.DeviceName != "" {
		lines = append(lines, "device: "+uitext.Plain(s.DeviceName))
	}
	lines = append(lines, "device id: "+uitext.Code(s.DeviceID))
	if s.Utterance != nil {
		lines = append(lines, "said: "+uitext.Plain(s.Utterance.Text))
	}
	if s.Document != nil {
		for _, step := range s.Document.Steps {
			lines = append(lines, "step "+uitext.Code(step.ID)+": "+uitext.Code(step.Action.CapabilityID+"."+step.Action.OperationID))
		}
	}
	return "- " + strings.Join(lines, "\n- ")
}

// Cancel asks the plan to stop (law 15): it returns when the request is latched, not when things stand still.
func (c *Client) Cancel(ctx context.Context, id string, r plan.CancelRequest) error {
	return c.update(ctx, id, plan.UpdateCancel, r)
}

// Answer answers the plan's open question.
func (c *Client) Answer(ctx context.Context, id string, a plan.Answer) error {
	return c.update(ctx, id, plan.UpdateAnswer, a)
}

// Pause holds the plan's next submit until the token is resumed.
func (c *Client) Pause(ctx context.Context, id string, p plan.Pause) error {
	return c.update(ctx, id, plan.UpdatePause, p)
}

// Resume takes a pause's token back.
func (c *Client) Resume(ctx context.Context, id string, r plan.Resume) error {
	return c.update(ctx, id, plan.UpdateResume, r)
}

// Amend changes what is not frozen.
func (c *Client) Amend(ctx context.Context, id string, a plan.Amend) error {
	return c.update(ctx, id, plan.UpdateAmend, a)
}

// CancelStep withdraws one step.
func (c *Client) CancelStep(ctx context.Context, id string, s plan.CancelStep) error {
	return c.update(ctx, id, plan.UpdateCancelStep, s)
}

// FollowUp says what is to be done after what the plan does already.
func (c *Client) FollowUp(ctx context.Context, id string, f plan.FollowUp) error {
	return c.update(ctx, id, plan.UpdateFollowUp, f)
}

type onceKey struct{}

// Once makes the requests of a context ones that a plan takes once: the same key again changes nothing and succeeds as it did
// before, through new runs of the plan too (for its last 64 requests). Without it each call is a request of its own.
func Once(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, onceKey{}, key)
}

// Key is the key that Once gave the context; "" for none.
func Key(ctx context.Context) string {
	key, _ := ctx.Value(onceKey{}).(string)
	return key
}

func (c *Client) update(ctx context.Context, id, name string, arg any) error {
	stand, err := c.stand(ctx, id)
	if err != nil {
		return err
	}
	if stand.closed {
		return fmt.Errorf("plan %s: %w", id, ErrOver)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateID: Key(ctx), UpdateName: name, Args: []any{arg}, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	return updateError(id, name, err)
}

func updateError(id, name string, err error) error {
	var gone *serviceerror.NotFound
	var said *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &gone):
		return fmt.Errorf("plan %s: %w", id, ErrOver)
	case errors.As(err, &said):
		return fmt.Errorf("%w: %s", ErrRefused, said.Message())
	case unanswered(err):
		return fmt.Errorf("%s plan %s: %w", name, id, ErrNoWorker)
	}
	return fmt.Errorf("%s plan %s: %w", name, id, err)
}

// unanswered reports that the server is there and no worker took the call.
func unanswered(err error) bool {
	var late *serviceerror.DeadlineExceeded
	var noPoller *serviceerror.FailedPrecondition
	var timeout *client.WorkflowUpdateServiceTimeoutOrCanceledError
	return errors.As(err, &late) || errors.As(err, &noPoller) || errors.As(err, &timeout) ||
		errors.Is(err, context.DeadlineExceeded)
}
