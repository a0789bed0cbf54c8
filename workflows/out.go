package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"errand/internal/uitext"
	"errand/plan"
)

// call is one request of a machine that is out in the world: every one comes back as exactly one of its inputs.
type call[I any] struct {
	future   workflow.Future
	input    func(workflow.Future) I
	parting  bool // the run's end waits for it, briefly
	standing bool // it waits for the device, however long that takes: a new run gives the command again
}

// calls are those that are out, oldest first.
type calls[I any] []*call[I]

// answered reports whether one has come back.
func (c calls[I]) answered() bool {
	for _, one := range c {
		if one.future.IsReady() {
			return true
		}
	}
	return false
}

// take takes the oldest one that has come back.
func (c *calls[I]) take() (input I, ok bool) {
	for i, one := range *c {
		if one.future.IsReady() {
			*c = append((*c)[:i:i], (*c)[i+1:]...)
			return one.input(one.future), true
		}
	}
	return input, false
}

// alone reports whether nothing is out that comes back only to this run.
func (c calls[I]) alone() bool {
	for _, one := range c {
		if !one.standing {
			return false
		}
	}
	return true
}

// search is an AwaitDevice that is out.
type search struct {
	cancel    workflow.CancelFunc
	withdrawn bool
}

// startSearch asks any gateway for a route, for as long as it takes.
func startSearch(live workflow.Context, summary string, command any) (*search, workflow.Future) {
	ctx, cancel := workflow.WithCancel(live)
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: plan.GatewaysTaskQueue, StartToCloseTimeout: awaitBounds, HeartbeatTimeout: awaitBeat,
		Summary: uitext.Line(summary), WaitForCancellation: false,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1.5, MaximumInterval: 10 * time.Second},
	})
	return &search{cancel: cancel}, workflow.ExecuteActivity(ctx, plan.ActivityAwaitDevice, command)
}

// withdraw ends a search, if there is one.
func (s *search) withdraw() {
	if s != nil && !s.withdrawn {
		s.withdrawn = true
		s.cancel()
	}
}

// found reads what a search brought. One that came back just before it was withdrawn must not answer the next one.
func (s *search) found(ctx workflow.Context, f workflow.Future, in any) bool {
	return f.Get(ctx, in) == nil && !s.withdrawn
}

// onGateway calls an activity on the queue of the gateway that holds the socket, once.
func onGateway(live workflow.Context, route plan.Route, name, summary string, limit time.Duration, command any) workflow.Future {
	ctx := workflow.WithActivityOptions(live, workflow.ActivityOptions{
		TaskQueue: route.TaskQueue, ScheduleToStartTimeout: delivery, StartToCloseTimeout: limit,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: uitext.Line(summary),
		DisableEagerExecution: true,
	})
	return workflow.ExecuteActivity(ctx, name, command)
}

// wakeTimer is a run's one timer. It is set anew only for an earlier time: when it fires before the time asked for, it is
// armed again, which saves two events a step (reference: what a step costs).
type wakeTimer struct {
	at     int64
	future workflow.Future
	cancel workflow.CancelFunc
}

func (t *wakeTimer) due() bool { return t != nil && t.future.IsReady() }

// armed returns a timer for the time asked for (Unix ms; 0 is none), or the one that is there if it is earlier.
func (t *wakeTimer) armed(live workflow.Context, at, now int64, summary string) *wakeTimer {
	if at == 0 || (t != nil && t.at <= at) {
		return t
	}
	if t != nil {
		t.cancel()
	}
	ctx, cancel := workflow.WithCancel(live)
	wait := time.Duration(max(at-now, 0)) * time.Millisecond
	return &wakeTimer{at: at, cancel: cancel,
		future: workflow.NewTimerWithOptions(ctx, wait, workflow.TimerOptions{Summary: uitext.Line(summary)})}
}
