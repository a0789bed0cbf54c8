package plans

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"errand/plan"
)

// Change is one thing that happened to a plan: exactly one field is set.
type Change struct {
	Entry   *plan.Entry   `json:"entry,omitempty"`
	Bound   *Bound        `json:"bound,omitempty"`
	Outcome *plan.Outcome `json:"outcome,omitempty"` // always the last
}

// Bound tells that a result of one step became an argument of another (law 3).
type Bound struct {
	Step  string `json:"step"`
	Slot  string `json:"slot"`
	Value any    `json:"value"`
	// Path is where the value came from, e.g. arrival.result.area_id; From is the step that this names.
	Path string `json:"path"`
	From string `json:"from"`
}

// Watch tells every journal entry with a number above since, the values bound on the way, and at last the outcome.
// It returns when the outcome was told, when emit fails (with its error) or when ctx ends.
func (c *Client) Watch(ctx context.Context, id string, since int, emit func(Change) error) error {
	told := teller{since: since, bound: map[string]bool{}, emit: emit}
	if err := c.follow(ctx, id, func(v plan.View) (bool, error) { return false, told.tell(v) }); err != nil {
		return err
	}
	if v, err := c.query(ctx, id); err == nil { // the closing task's own entries; without a worker the outcome must do
		if err := told.tell(v); err != nil {
			return err
		}
	}
	outcome, err := c.Outcome(ctx, id)
	if err != nil {
		return err
	}
	return emit(Change{Outcome: &outcome})
}

// AwaitPlanned waits until the plan has steps or is over, and returns its view. When ctx ends first it returns the
// last view there was (the zero one if none) with ctx's error.
func (c *Client) AwaitPlanned(ctx context.Context, id string) (plan.View, error) {
	var last plan.View
	planned := false
	err := c.follow(ctx, id, func(v plan.View) (bool, error) {
		last, planned = v, len(v.Steps) > 0
		return planned, nil
	})
	if err != nil || planned {
		return last, err
	}
	outcome, err := c.Outcome(ctx, id) // over before it had any step
	if err != nil {
		return last, err
	}
	return viewOf(outcome), nil
}

// retryAfter is how long a view that nobody answered is waited for before it is asked for again.
const retryAfter = time.Second

// follow calls see with the plan's view after each of its workflow's tasks, until see is done or the plan is over.
func (c *Client) follow(ctx context.Context, id string, see func(plan.View) (done bool, err error)) error {
	stand, err := c.stand(ctx, id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	progress := c.progress(ctx, id, stand.runID)
	for {
		select {
		case <-progress.woken:
		case <-progress.over:
			return progress.err
		case <-ctx.Done():
			return ctx.Err()
		}
		done, err := c.look(ctx, id, progress, see)
		if err != nil || done {
			return err
		}
	}
}

// look shows one view. While no worker answers it asks again: the plan goes on, and its next word may be long in coming.
// Once the plan is over there is no need: its outcome stands without a worker.
func (c *Client) look(ctx context.Context, id string, p *progress, see func(plan.View) (bool, error)) (bool, error) {
	for {
		view, err := c.query(ctx, id)
		if err == nil {
			return see(view)
		}
		if !errors.Is(err, ErrNoWorker) {
			return false, err
		}
		select {
		case <-time.After(retryAfter):
		case <-p.over:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// progress is a running plan's history as a wake-up call. Several tasks that complete in a row may be one call.
type progress struct {
	woken chan struct{}
	over  chan struct{} // closed when there is no more
	err   error         // why, if not because the plan is over; read it after over is closed
}

func (c *Client) progress(ctx context.Context, id, runID string) *progress {
	p := &progress{woken: make(chan struct{}, 1), over: make(chan struct{})}
	go func() {
		defer close(p.over)
		for next := runID; next != ""; {
			events := c.temporal.GetWorkflowHistory(ctx, id, next, true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			next, p.err = p.read(events)
		}
		if gone := (*serviceerror.NotFound)(nil); errors.As(p.err, &gone) {
			p.err = fmt.Errorf("%w: %s", ErrNoPlan, id)
		}
	}()
	return p
}

// read follows one run to its end. It returns the run that continues it, if one does.
func (p *progress) read(events client.HistoryEventIterator) (next string, err error) {
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return "", err
		}
		// A plan's state changes in its workflow's tasks only.
		if event.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			select {
			case p.woken <- struct{}{}:
			default:
			}
		}
		next = continuedAs(event)
	}
	return next, nil
}

func continuedAs(e *history.HistoryEvent) string {
	return e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
}

// teller remembers what was told of a plan.
type teller struct {
	since int
	bound map[string]bool // step ids
	emit  func(Change) error
}

// tell emits what the view has and was not told yet.
func (t *teller) tell(v plan.View) error {
	for i := range v.Journal {
		entry := v.Journal[i]
		if entry.N <= t.since {
			continue
		}
		if missed := entry.N - t.since - 1; missed > 0 {
			if err := t.emit(Change{Entry: &plan.Entry{N: entry.N - 1, At: entry.At, Kind: "note",
				Text: fmt.Sprintf("%d earlier entries are no longer kept", missed)}}); err != nil {
				return err
			}
		}
		if err := t.emit(Change{Entry: &entry}); err != nil {
			return err
		}
		t.since = entry.N
		if err := t.tellBound(v, entry); err != nil {
			return err
		}
	}
	return nil
}

// tellBound emits the values bound into a step once it leaves for the device.
func (t *teller) tellBound(v plan.View, e plan.Entry) error {
	if e.Kind != "step" || t.bound[e.Step] || !underway(plan.StepPhase(e.To)) {
		return nil
	}
	for _, step := range v.Steps {
		if step.ID != e.Step {
			continue
		}
		t.bound[e.Step] = true
		for _, slot := range sortedKeys(step.Bound) {
			path := step.Bound[slot]
			bound := Bound{Step: step.ID, Slot: slot, Value: step.Arguments[slot], Path: path, From: source(v, path)}
			if err := t.emit(Change{Bound: &bound}); err != nil {
				return err
			}
		}
	}
	return nil
}

func underway(p plan.StepPhase) bool {
	return p != plan.StepPending && p != plan.StepReady && p != plan.StepConfirming
}

// source is the step that a path's first segment names: by output key, else by id.
func source(v plan.View, path string) string {
	name, _, _ := strings.Cut(path, ".")
	for _, s := range v.Steps {
		if s.OutputKey == name {
			return s.ID
		}
	}
	return name
}
