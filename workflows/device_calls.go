package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"errand/plan"
	"errand/plan/lease"
)

func (r *deviceRun) out(f workflow.Future, input func(workflow.Future) lease.Input) {
	r.calls = append(r.calls, &call[lease.Input]{future: f, input: input})
}

// carryOut does what the machine commands.
func (r *deviceRun) carryOut(c lease.Command) {
	switch c := c.(type) {
	case lease.Tell:
		r.tell(c)
	case lease.AskHolder:
		r.askHolder(c)
	case lease.AwaitDevice:
		r.awaitDevice(c)
	case lease.StopAwaiting:
		r.search.withdraw()
	case lease.ListTasks:
		r.listTasks(c)
	case lease.CancelTask:
		r.cancelTask(c)
	case lease.QueryStatus:
		r.queryStatus(c)
	case lease.SetTimer:
		// arm reads it from the state.
	}
}

// tell signals a plan. One that is over cannot be told.
func (r *deviceRun) tell(c lease.Tell) {
	f := workflow.SignalExternalWorkflow(r.live, c.PlanID, "", plan.SignalName, c.Signal)
	r.out(f, func(f workflow.Future) lease.Input {
		told := c.Answer()
		if err := f.Get(r.live, nil); err != nil {
			var nobody *temporal.UnknownExternalWorkflowExecutionError
			if told.Gone = errors.As(err, &nobody); !told.Gone {
				told.Failed = err.Error()
			}
		}
		return told
	})
}

// holderTime bounds one look at a plan: reading the record of one that is over replays its history.
const holderTime = 20 * time.Second

// askHolder is tried until it is answered: Temporal itself knows.
func (r *deviceRun) askHolder(c lease.AskHolder) {
	ctx := workflow.WithActivityOptions(r.live, workflow.ActivityOptions{
		StartToCloseTimeout: holderTime, Summary: "is plan " + c.PlanID + " still there",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second},
	})
	r.out(workflow.ExecuteActivity(ctx, lease.ActivityAskHolder, c), func(f workflow.Future) lease.Input {
		var in lease.HolderSeen
		if err := f.Get(r.live, &in); err != nil {
			in = lease.HolderSeen{Open: true} // nobody knows: look again later
		}
		in.PlanID = c.PlanID
		return in
	})
}

func (r *deviceRun) awaitDevice(c lease.AwaitDevice) {
	r.search.withdraw()
	search, f := startSearch(r.live, "find the device", c)
	r.search = search
	r.calls = append(r.calls, &call[lease.Input]{future: f, standing: true, input: func(f workflow.Future) lease.Input {
		var in lease.DeviceFound
		if !search.found(r.live, f, &in) {
			return nil
		}
		return in
	}})
}

func (r *deviceRun) device(route plan.Route, name, summary string, command any) workflow.Future {
	return onGateway(r.live, route, name, summary, askTime, command)
}

func (r *deviceRun) listTasks(c lease.ListTasks) {
	r.out(r.device(c.Route, lease.ActivityTasks, "what does the device run", c), func(f workflow.Future) lease.Input {
		var in lease.TasksListed
		if err := f.Get(r.live, &in); err != nil {
			in = lease.TasksListed{Listing: lease.Unreachable, Detail: cause(err)}
		}
		in.ConnectionEpoch = c.Route.ConnectionEpoch
		return in
	})
}

func (r *deviceRun) cancelTask(c lease.CancelTask) {
	r.out(r.device(c.Route, plan.ActivityCancelTask, "stop "+c.OperationID, c), func(f workflow.Future) lease.Input {
		var in lease.CancelAnswered
		if err := f.Get(r.live, &in); err != nil {
			in.CancelAnswered = plan.CancelAnswered{Case: plan.CancelUnreachable, Detail: cause(err)}
		}
		in.OperationID, in.ConnectionEpoch = c.OperationID, c.Route.ConnectionEpoch
		return in
	})
}

func (r *deviceRun) queryStatus(c lease.QueryStatus) {
	r.out(r.device(c.Route, plan.ActivityStatus, "ask about "+c.OperationID, c), func(f workflow.Future) lease.Input {
		var in lease.StatusReported
		if err := f.Get(r.live, &in); err != nil {
			in.StatusReported = plan.StatusReported{Finding: plan.StatusUnreachable, Detail: cause(err)}
		}
		in.OperationID, in.ConnectionEpoch = c.OperationID, c.Route.ConnectionEpoch
		return in
	})
}
