package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"errand/internal/uitext"
	"errand/plan"
)

// perform has a worker carry out a step in the cloud, once. One that was not begun in time, or never told how it ended, is
// the machine's business.
func (r *planRun) perform(c plan.Perform) {
	ctx, stop := workflow.WithCancel(r.live)
	r.stop = stop
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToStartTimeout: milliseconds(c.QueueMs), StartToCloseTimeout: milliseconds(c.TimeoutMs), HeartbeatTimeout: performBeat,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}, WaitForCancellation: true,
		Summary: uitext.Line("carry out " + stepOf(c.OperationID) + " in the cloud: " + c.TaskMethod),
	})
	r.out(workflow.ExecuteActivity(ctx, plan.ActivityPerform, c), func(f workflow.Future) plan.Input {
		in := plan.Performed{}
		if err := f.Get(r.live, &in); err != nil {
			in = performedNot(err)
		}
		in.OperationID = c.OperationID
		return in
	})
}

// performedNot reads the failure of a step in the cloud.
func performedNot(err error) plan.Performed {
	switch {
	case temporal.IsCanceledError(err):
		return plan.Performed{Stopped: true}
	case neverStarted(err):
		return plan.Performed{Report: &plan.Report{Code: "TASK_TIMED_OUT", Detail: "no worker took it in time"}}
	case temporal.IsTimeoutError(err):
		return plan.Performed{Unknown: true, Detail: cause(err)}
	}
	return plan.Performed{Report: &plan.Report{Code: "EXECUTOR_FAILED", Detail: cause(err)}}
}

func (r *planRun) stopPerforming(plan.StopPerforming) { r.stop() }

// milliseconds is a time of the catalog; none is a minute.
func milliseconds(ms int64) time.Duration {
	if ms <= 0 {
		return time.Minute
	}
	return time.Duration(ms) * time.Millisecond
}
