package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"errand/plan"
)

func (r *planRun) makePlan(c plan.MakePlan) {
	ctx := workflow.WithActivityOptions(r.live, workflow.ActivityOptions{
		StartToCloseTimeout: planTime, ScheduleToCloseTimeout: 4 * planTime, Summary: "make a plan of what was said",
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3},
	})
	r.out(workflow.ExecuteActivity(ctx, plan.ActivityPlan, c), func(f workflow.Future) plan.Input {
		var in plan.Planned
		if err := f.Get(r.live, &in); err != nil {
			return plan.Planned{Report: &plan.Report{Code: "PLANNER_FAILED", Detail: cause(err)}}
		}
		if in.ForModel {
			r.planByModel(c, in)
			return nil
		}
		return in
	})
}

// planByModel asks a model what no routine takes. Temporal owns the tries: as often as fits into a person's patience, and
// as late as the model's server asks for. When it fails for good, what the first planner said counts.
func (r *planRun) planByModel(c plan.MakePlan, otherwise plan.Planned) {
	ctx := workflow.WithActivityOptions(r.live, workflow.ActivityOptions{
		StartToCloseTimeout: modelTime, ScheduleToCloseTimeout: modelBounds, HeartbeatTimeout: modelBeat, Summary: "ask a model for a plan",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
	})
	r.out(workflow.ExecuteActivity(ctx, plan.ActivityPlanByModel, c), func(f workflow.Future) plan.Input {
		var in plan.Planned
		if err := f.Get(r.live, &in); err != nil {
			otherwise.ForModel, otherwise.LLMCalls = false, modelCalls(err)
			otherwise.Report = &plan.Report{Code: "PLANNER_FAILED", Detail: cause(err)}
			return otherwise
		}
		return in
	})
}

// modelCalls is how often a model was asked by an activity that failed for good: the last detail of its error, or of its
// last heartbeat.
func modelCalls(err error) (calls int) {
	var (
		failure *temporal.ApplicationError
		timeout *temporal.TimeoutError
		cost    any
	)
	switch {
	case errors.As(err, &failure) && failure.Details(&cost, &calls) == nil:
	case errors.As(err, &timeout) && timeout.LastHeartbeatDetails(&calls) == nil:
	default:
		return 0 // no attempt came as far as to ask
	}
	return calls
}

// decide asks the plan's decider. One that fails has decided nothing: the reason table's default counts, and is spent.
func (r *planRun) decide(c plan.Decide) {
	ctx := workflow.WithActivityOptions(r.live, workflow.ActivityOptions{
		StartToCloseTimeout: decideTime, ScheduleToCloseTimeout: decideBounds, HeartbeatTimeout: modelBeat,
		Summary:     "decide about " + c.Boundary.Report.Code,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: decideTries},
	})
	r.out(workflow.ExecuteActivity(ctx, plan.ActivityDecide, c), func(f workflow.Future) plan.Input {
		var in plan.Decided
		if err := f.Get(r.live, &in); err != nil {
			return plan.Decided{Reason: "the decider failed: " + cause(err), LLMCalls: modelCalls(err)}
		}
		return in
	})
}

// requestLease asks until the lease knows of it; its answer comes as a signal. The plan's own deadlines bound the wait.
func (r *planRun) requestLease(c plan.RequestLease) {
	ctx := workflow.WithActivityOptions(r.live, workflow.ActivityOptions{
		StartToCloseTimeout: leaseTime, Summary: "ask for the device's lease",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 10 * time.Second},
	})
	r.out(workflow.ExecuteActivity(ctx, plan.ActivityRequestLease, c.Request), nothing)
}

// releaseLease is tried for a minute; after that the lease finds out by itself that its holder is over.
func (r *planRun) releaseLease(c plan.ReleaseLease) {
	ctx := workflow.WithActivityOptions(r.live, workflow.ActivityOptions{
		StartToCloseTimeout: leaseTime, ScheduleToCloseTimeout: time.Minute, Summary: "give the device's lease back",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 10 * time.Second},
	})
	f := workflow.ExecuteActivity(ctx, plan.ActivityReleaseLease, c.Release)
	r.calls = append(r.calls, &call[plan.Input]{future: f, input: nothing, parting: true})
}

// awaitDevice looks for the device; the machine's deadline bounds it.
func (r *planRun) awaitDevice(c plan.AwaitDevice) {
	r.search.withdraw()
	search, f := startSearch(r.live, "find "+r.deviceName()+", or wait for it", c)
	r.search = search
	r.calls = append(r.calls, &call[plan.Input]{future: f, standing: true, input: func(f workflow.Future) plan.Input {
		var in plan.DeviceFound
		if !search.found(r.live, f, &in) {
			return nil
		}
		return in
	}})
}

// submit is carried out on a context of its own: cancelling the workflow must not hide whether a command went out.
func (r *planRun) submit(c plan.Submit) {
	summary := fmt.Sprintf("send %s: %s", c.StepID, c.TaskMethod)
	if c.Again {
		summary += ", again under the same id"
	}
	r.out(r.device(c.Route, plan.ActivitySubmit, summary, submitTime, c), func(f workflow.Future) plan.Input {
		var in plan.Submitted
		if err := f.Get(r.live, &in); err != nil {
			in = plan.Submitted{Delivery: plan.DeliveryUnknown, Detail: cause(err)}
			if neverStarted(err) {
				in.Delivery = plan.DeliveryUndelivered
			}
		}
		in.OperationID, in.ConnectionEpoch = c.OperationID, c.Route.ConnectionEpoch
		return in
	})
}

// neverStarted reports whether an activity surely was not begun: nobody took it off its queue in time.
func neverStarted(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// cause says in plain words why an activity brought nothing. Temporal's own text is in the history.
func cause(err error) string {
	var (
		timeout *temporal.TimeoutError
		failure *temporal.ApplicationError
	)
	switch {
	case neverStarted(err):
		return "its gateway did not take it in time"
	case errors.As(err, &timeout):
		return "no answer in time"
	case errors.As(err, &failure):
		return failure.Message()
	}
	return err.Error()
}

func (r *planRun) cancelTask(c plan.CancelTask) {
	r.out(r.device(c.Route, plan.ActivityCancelTask, "ask the device to stop "+stepOf(c.OperationID), askTime, c), func(f workflow.Future) plan.Input {
		var in plan.CancelAnswered
		if err := f.Get(r.live, &in); err != nil {
			in = plan.CancelAnswered{Case: plan.CancelUnreachable, Detail: cause(err)}
		}
		in.OperationID, in.ConnectionEpoch = c.OperationID, c.Route.ConnectionEpoch
		return in
	})
}

func (r *planRun) queryStatus(c plan.QueryStatus) {
	r.out(r.device(c.Route, plan.ActivityStatus, "ask the device how "+stepOf(c.OperationID)+" stands", askTime, c), func(f workflow.Future) plan.Input {
		var in plan.StatusReported
		if err := f.Get(r.live, &in); err != nil {
			in = plan.StatusReported{Finding: plan.StatusUnreachable, Detail: cause(err)}
		}
		in.OperationID, in.ConnectionEpoch = c.OperationID, c.Route.ConnectionEpoch
		return in
	})
}

func (r *planRun) fetchContext(c plan.FetchContext) {
	r.out(r.device(c.Route, plan.ActivityContext, "read the device's context", askTime, c), func(f workflow.Future) plan.Input {
		var in plan.ContextFetched
		if err := f.Get(r.live, &in); err != nil {
			in = plan.ContextFetched{Detail: cause(err)}
		}
		in.ConnectionEpoch = c.Route.ConnectionEpoch
		return in
	})
}

func (r *planRun) prepare(c plan.Prepare) {
	r.out(r.device(c.Route, plan.ActivityPrepare, "look at what "+stepOf(c.OperationID)+" would act on", prepareTime, c), func(f workflow.Future) plan.Input {
		var in plan.Prepared
		if err := f.Get(r.live, &in); err != nil {
			in = plan.Prepared{Unseen: neverStarted(err), Detail: cause(err)}
			if !in.Unseen { // the device did not tell in time: nobody knows how things stand
				in.Report = &plan.Report{Code: plan.CodeStateUnknown, Detail: cause(err)}
			}
		}
		in.OperationID, in.ConnectionEpoch = c.OperationID, c.Route.ConnectionEpoch
		return in
	})
}

func (r *planRun) verify(c plan.Verify) {
	r.out(r.device(c.Route, plan.ActivityVerify, "see whether "+stepOf(c.OperationID)+" is really done", verifyTime, c), func(f workflow.Future) plan.Input {
		in, wrong := plan.VerifiedResult{}, true
		if err := f.Get(r.live, &in); err != nil {
			wrong = neverStarted(err) // one that nobody answered says nothing of the route
			in = plan.VerifiedResult{Verdict: plan.Unverified, Unseen: temporal.IsTimeoutError(err), Detail: cause(err)}
		}
		if in.OperationID = c.OperationID; wrong {
			in.ConnectionEpoch = c.Route.ConnectionEpoch
		}
		return in
	})
}

// ask and sayOnce reach the person through the device; a failure is on record in the history and changes nothing.
func (r *planRun) ask(c plan.Ask) {
	if c.Route != nil {
		r.out(r.device(*c.Route, plan.ActivityAsk, "ask the person: "+c.Question.Text, askTime, c), nothing)
	}
}

func (r *planRun) sayOnce(c plan.Say) {
	if c.Route == nil || c.Text == "" {
		return
	}
	f := r.device(*c.Route, plan.ActivitySay, "tell the person: "+c.Text, sayTime, c)
	r.calls = append(r.calls, &call[plan.Input]{future: f, input: nothing, parting: true})
}

func nothing(workflow.Future) plan.Input { return nil }

// deviceName is what people call the device, as far as the plan was told.
func (r *planRun) deviceName() string {
	if name := r.state.Start.DeviceName; name != "" {
		return name
	}
	return "the device"
}

// stepOf names the step of an operation: its id as a whole says nothing more to people who look at its plan.
func stepOf(operationID string) string {
	id, err := plan.ParseOperationID(operationID)
	if err != nil {
		return operationID
	}
	if id.Generation > 1 {
		return fmt.Sprintf("%s (try %d)", id.Step, id.Generation)
	}
	return id.Step
}
