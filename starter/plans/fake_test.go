package plans_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"errand/plan"
	"errand/starter/plans"
)

// fakeTemporal is one workflow: its views, its history and its end, as a test gives them.
type fakeTemporal struct {
	t *testing.T

	mu      sync.Mutex
	started []client.StartWorkflowOptions
	views   []plan.View // one for each query; the last one stays
	queries int
	// queryErr fails the next queries, one each.
	queryErr []error
	// history is one channel of events for each run; closing it ends the run.
	history  map[string]chan *history.HistoryEvent
	info     *workflow.WorkflowExecutionInfo
	end      func(out any) error
	update   func(client.UpdateWorkflowOptions) error
	listed   []*workflowservice.ListWorkflowExecutionsRequest
	page     *workflowservice.ListWorkflowExecutionsResponse
	startErr error
}

var _ plans.Temporal = (*fakeTemporal)(nil)

func running(t *testing.T, id string) *fakeTemporal {
	return &fakeTemporal{t: t, history: map[string]chan *history.HistoryEvent{"run-1": make(chan *history.HistoryEvent, 100)},
		info: &workflow.WorkflowExecutionInfo{
			Execution: &common.WorkflowExecution{WorkflowId: id, RunId: "run-1"},
			Type:      &common.WorkflowType{Name: plan.WorkflowType},
			Status:    enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
			SearchAttributes: &common.SearchAttributes{IndexedFields: map[string]*common.Payload{
				plan.AttributeDevice: payload("robot-1"), plan.AttributeState: payload("running")}},
		}}
}

func payload(s string) *common.Payload {
	p, err := converter.GetDefaultDataConverter().ToPayload(s)
	if err != nil {
		panic(err)
	}
	return p
}

func (f *fakeTemporal) taskCompleted(run string) {
	f.history[run] <- &history.HistoryEvent{EventType: enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED}
}

func (f *fakeTemporal) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, name any, args ...any) (client.WorkflowRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name != plan.WorkflowType || len(args) != 1 {
		f.t.Errorf("started %v with %v", name, args)
	}
	f.started = append(f.started, o)
	return nil, f.startErr
}

func (f *fakeTemporal) GetWorkflow(context.Context, string, string) client.WorkflowRun {
	return fakeRun{f}
}

// ends is the end of a run with a result.
func ends(o plan.Outcome) func(any) error {
	return func(out any) error {
		into, ok := out.(*plan.Outcome)
		if !ok {
			return fmt.Errorf("the result was to go into a %T", out)
		}
		*into = o
		return nil
	}
}

type fakeRun struct{ f *fakeTemporal }

func (fakeRun) GetID() string                  { return "" }
func (fakeRun) GetRunID() string               { return "" }
func (fakeRun) GetFirstExecutionRunID() string { return "" }
func (r fakeRun) Get(ctx context.Context, out any) error {
	return r.GetWithOptions(ctx, out, client.WorkflowRunGetOptions{})
}
func (r fakeRun) GetWithOptions(_ context.Context, out any, _ client.WorkflowRunGetOptions) error {
	return r.f.end(out)
}

func (f *fakeTemporal) GetWorkflowHistory(ctx context.Context, _, run string, longPoll bool, _ enums.HistoryEventFilterType) client.HistoryEventIterator {
	if !longPoll {
		f.t.Error("the history is read without a long poll")
	}
	return &fakeHistory{ctx: ctx, events: f.history[run]}
}

type fakeHistory struct {
	ctx    context.Context
	events chan *history.HistoryEvent
	next   *history.HistoryEvent
	err    error
}

func (h *fakeHistory) HasNext() bool {
	select {
	case e, open := <-h.events:
		h.next = e
		return open
	case <-h.ctx.Done():
		h.err = h.ctx.Err()
		return true
	}
}

func (h *fakeHistory) Next() (*history.HistoryEvent, error) { return h.next, h.err }

func (f *fakeTemporal) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queryErr) > 0 {
		err := f.queryErr[0]
		f.queryErr = f.queryErr[1:]
		return nil, err
	}
	if len(f.views) == 0 {
		return nil, errors.New("no view in this test")
	}
	v := f.views[min(f.queries, len(f.views)-1)]
	f.queries++
	return jsonValue{v}, nil
}

type jsonValue struct{ v any }

func (jsonValue) HasValue() bool { return true }
func (j jsonValue) Get(out any) error {
	text, err := json.Marshal(j.v)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}

func (f *fakeTemporal) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return fakeUpdate{f.update(o)}, nil
}

type fakeUpdate struct{ err error }

func (fakeUpdate) WorkflowID() string                   { return "" }
func (fakeUpdate) RunID() string                        { return "" }
func (fakeUpdate) UpdateID() string                     { return "" }
func (u fakeUpdate) Get(_ context.Context, _ any) error { return u.err }

func (f *fakeTemporal) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if f.info == nil || f.info.GetExecution().GetWorkflowId() != id {
		return nil, serviceerror.NewNotFound("no execution")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: f.info}, nil
}

func (f *fakeTemporal) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	f.listed = append(f.listed, r)
	return f.page, nil
}

func (f *fakeTemporal) CheckHealth(context.Context, *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	return &client.CheckHealthResponse{}, nil
}
