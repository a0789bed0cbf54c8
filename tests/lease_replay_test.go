package tests

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"errand/plan"
	"errand/plan/lease"
	"errand/tests/stack"
	"errand/workflows"
)

// TestLeaseHistoriesReplay replays leases from the first event, as a worker does that was restarted. With -record it keeps
// them as golden files.
func TestLeaseHistoriesReplay(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	for name, run := range map[string]func(*testing.T, *stack.Stack) (deviceID string){
		"lease-turns": func(t *testing.T, s *stack.Stack) string {
			r, first, held := hold(t, s)
			second, refused := s.Submit(t, r, thereAndBack(plan.LeaseQueue)), s.Submit(t, r, thereAndBack(plan.LeaseReject))
			refused.Wait(t)
			awaitLease(t, s, r.ID, "one waits", func(v lease.View) bool { return len(v.Queue) == 1 })
			r.Release(t, held)
			first.Wait(t)
			second.Wait(t)
			return r.ID
		},
		"lease-replaced": func(t *testing.T, s *stack.Stack) string {
			r, first, _ := hold(t, s)
			second := s.Submit(t, r, thereAndBack(plan.LeaseReplace))
			first.Wait(t)
			second.Wait(t)
			return r.ID
		},
		"lease-terminated": func(t *testing.T, s *stack.Stack) string {
			r, first, _ := hold(t, s)
			terminate(t, s, first)
			s.Submit(t, r, thereAndBack(plan.LeaseQueue)).Wait(t)
			return r.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deviceID := run(t, s)
			goneWhenIdle(t, s, deviceID)
			if *record != "" {
				keep(t, filepath.Join(*record, name+".json"), historyOf(t, s.Temporal, plan.DeviceWorkflowID(deviceID)))
			}
		})
	}
}

// leaseRuns are the histories of every run of a device's lease that is over, by run id. Visibility knows them a moment late:
// known are those that were read before.
func leaseRuns(ctx context.Context, s *stack.Stack, deviceID string, known map[string]*history.History) error {
	id := plan.DeviceWorkflowID(deviceID)
	list, err := s.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000,
		Query: fmt.Sprintf("WorkflowId = '%s' AND ExecutionStatus != 'Running'", id)})
	if err != nil {
		return err
	}
	for _, e := range list.GetExecutions() {
		run := e.GetExecution().GetRunId()
		if known[run] != nil {
			continue
		}
		h := &history.History{}
		for events := s.Temporal.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			event, err := events.Next()
			if err != nil {
				return err
			}
			h.Events = append(h.Events, event)
		}
		known[run] = h
	}
	return nil
}

func replays(t *testing.T, h *history.History) {
	t.Helper()
	replayer := worker.NewWorkflowReplayer()
	workflows.RegisterDevice(replayer)
	if err := replayer.ReplayWorkflowHistory(nil, h); err != nil {
		t.Errorf("the lease's history of %d events does not replay: %v", len(h.GetEvents()), err)
	}
}

// say sends a lease one signal, as the activities of plans do.
func say(t *testing.T, s *stack.Stack, deviceID string, signal lease.Signal) client.WorkflowRun {
	t.Helper()
	run, err := s.Temporal.SignalWithStartWorkflow(t.Context(), plan.DeviceWorkflowID(deviceID), lease.SignalName, signal,
		client.StartWorkflowOptions{TaskQueue: plan.TaskQueue}, plan.DeviceWorkflowType, lease.Start{DeviceID: deviceID})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func wants(deviceID, planID string, policy plan.LeasePolicy) lease.Signal {
	return lease.Signal{Request: &plan.LeaseRequest{PlanID: planID, DeviceID: deviceID, Policy: policy}}
}

// answered collects the plans that a lease told something, over all its runs, and whether a run continued as new.
func answered(runs map[string]*history.History) (told map[string]bool, renewed bool) {
	told = map[string]bool{}
	for _, h := range runs {
		for _, e := range h.GetEvents() {
			if a := e.GetSignalExternalWorkflowExecutionInitiatedEventAttributes(); a != nil {
				told[a.GetWorkflowExecution().GetWorkflowId()] = true
			}
			renewed = renewed || e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW
		}
	}
	return told, renewed
}

// A lease ends when nobody wants the device. Each request here comes just when the one before makes it end: whether the
// run takes it along or a new one begins, it is answered.
func TestNoRequestFallsBetweenTwoRunsOfALease(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	const requests = 60
	for i := range requests { // of plans that are not there: a grant finds nobody, and nobody wants the device any more
		id := fmt.Sprintf("p-%d", i)
		awaitLastTask(t, s, say(t, s, "nobody", wants("nobody", id, plan.LeaseQueue)), id)
	}
	leaseEnds(t, s, "nobody")
	runs := map[string]*history.History{}
	stack.Eventually(t, "every request was answered", func(ctx context.Context) (bool, error) {
		if err := leaseRuns(ctx, s, "nobody", runs); err != nil {
			return false, err
		}
		told, _ := answered(runs)
		return len(told) == requests && len(runs) > 1, fmt.Errorf("%d of %d, in %d runs", len(told), requests, len(runs))
	})
	refused := 0
	for _, h := range runs {
		for _, e := range h.GetEvents() {
			if e.GetWorkflowTaskFailedEventAttributes().GetCause() == enums.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND {
				refused++
			}
		}
	}
	t.Logf("%d requests in %d runs; %d times the server refused the end, since a request had come", requests, len(runs), refused)
}

// awaitLastTask reads a run's history as it grows until the worker works on the answer that the plan is not there: the
// task that ends the run, if nothing else comes.
func awaitLastTask(t *testing.T, s *stack.Stack, run client.WorkflowRun, planID string) {
	t.Helper()
	told, over := int64(0), false
	events := s.Temporal.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if a := e.GetSignalExternalWorkflowExecutionInitiatedEventAttributes(); a.GetWorkflowExecution().GetWorkflowId() == planID {
			told = e.GetEventId()
		}
		if a := e.GetSignalExternalWorkflowExecutionFailedEventAttributes(); a != nil {
			over = over || a.GetInitiatedEventId() == told
		}
		if over && e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_STARTED {
			return
		}
	}
}

// A lease that is held for long while many come and go continues as new, and forgets nobody who waits.
func TestALongLeaseGoesOnInANewRun(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r, first, held := hold(t, s)
	const n = 150
	for i := range n {
		say(t, s, r.ID, wants(r.ID, fmt.Sprintf("reject-%d", i), plan.LeaseReject))
		say(t, s, r.ID, wants(r.ID, fmt.Sprintf("queue-%d", i), plan.LeaseQueue))
	}
	v := awaitLease(t, s, r.ID, "all wait", func(v lease.View) bool { return len(v.Queue) == n })
	if v.Holder == nil || v.Holder.PlanID != first.ID {
		t.Errorf("the holder is %+v, want %s", v.Holder, first.ID)
	}
	for i, w := range v.Queue {
		if w.PlanID != fmt.Sprintf("queue-%d", i) {
			t.Fatalf("turn %d is %s's", i, w.PlanID)
		}
	}
	last := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	r.Release(t, held)
	wantOutcome(t, first, plan.Completed, "completed")
	wantOutcome(t, last, plan.Completed, "completed")
	goneWhenIdle(t, s, r.ID)
	runs := map[string]*history.History{}
	stack.Eventually(t, "every request was answered", func(ctx context.Context) (bool, error) {
		if err := leaseRuns(ctx, s, r.ID, runs); err != nil {
			return false, err
		}
		told, renewed := answered(runs)
		return len(told) == 2*n+2 && renewed, fmt.Errorf("%d of %d, in %d runs, continued as new: %v", len(told), 2*n+2, len(runs), renewed)
	})
	for _, h := range runs {
		t.Logf("a run of %d events", len(h.GetEvents()))
		replays(t, h)
	}
}
