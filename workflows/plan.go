package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"errand/internal/uitext"
	"errand/plan"
)

// ErrorTypePlan is the type of the application error that closes a failed or unresolved plan; its detail is the outcome.
const ErrorTypePlan = "PlanFailed"

// Register makes the workflows known to a worker.
func Register(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(PlanWorkflow, workflow.RegisterOptions{Name: plan.WorkflowType})
}

// PlanWorkflow carries out one plan. Its id is the plan's id.
//
// It closes as Completed with the outcome as its result (completed, returned), as Failed with the outcome as the error's
// detail (failed, unresolved), or as Canceled with the outcome as the error's detail, when a cancel was latched.
func PlanWorkflow(ctx workflow.Context, start plan.Start) (plan.Outcome, error) {
	r := newPlanRun(ctx, start)
	if err := r.handlers(); err != nil {
		return plan.Outcome{}, fmt.Errorf("set up the handlers of plan %s: %w", start.PlanID, err)
	}
	if start.Carried != nil {
		r.goOn()
	} else {
		r.step(plan.Begin{})
	}
	for r.outcome == nil {
		if err := r.wait(); err != nil {
			return plan.Outcome{}, fmt.Errorf("wait in plan %s: %w", start.PlanID, err)
		}
		r.drain()
		if renewed, err := r.renew(); renewed || err != nil {
			return plan.Outcome{}, err
		}
	}
	return r.close()
}

// planRun is one run of a plan: the machine's state and what is out in the world for it.
type planRun struct {
	// root is cancelled by Temporal; live is not, so that a stop can be carried out (law 15).
	root, live workflow.Context
	signals    workflow.ReceiveChannel

	state   plan.State
	latched bool // root's cancellation was handed to the machine
	calls   calls[plan.Input]
	inbox   []plan.Input // from update handlers
	taken   int          // how many of the inbox the machine took
	timer   *wakeTimer
	wake    plan.SetDeadline // the machine's last wish to be woken
	search  *search
	stop    workflow.CancelFunc // of the step in the cloud that is out
	shown   shown
	// renewing says that a new run is about to begin: no more requests are taken up in this one.
	renewing bool
	asked    bool // a new run was asked for
	updates  []plan.CarriedUpdate
	outcome  *plan.Outcome
}

func newPlanRun(ctx workflow.Context, start plan.Start) *planRun {
	live, _ := workflow.NewDisconnectedContext(ctx)
	r := &planRun{root: ctx, live: live, state: plan.New(start),
		signals: workflow.GetSignalChannelWithOptions(ctx, plan.SignalName, workflow.SignalChannelOptions{
			Description: "what the device reports; sent by its gateway, not by hand"})}
	if c := start.Carried; c != nil {
		r.state, r.updates = c.State, c.Updates
	}
	return r
}

// wait is the one place where a plan waits. It lists what can wake it.
func (r *planRun) wait() error {
	return workflow.Await(r.live, func() bool {
		return r.signals.Len() > 0 ||
			r.calls.answered() ||
			len(r.inbox) > 0 ||
			(r.root.Err() != nil && !r.latched) ||
			r.timer.due()
	})
}

// drain hands everything that is ready to the machine, in the fixed order.
func (r *planRun) drain() {
	for r.outcome == nil {
		input, ok := r.next()
		if !ok {
			return
		}
		if input != nil {
			r.step(input)
		}
	}
}

// next takes the next thing that is ready; ok is false when there is none.
// A nil input with ok true means that something was consumed that says nothing.
func (r *planRun) next() (input plan.Input, ok bool) {
	var signal plan.Signal
	if r.signals.ReceiveAsync(&signal) {
		r.asked = r.asked || signal.Renew
		return inputOf(signal), true
	}
	if input, ok := r.calls.take(); ok {
		return input, true
	}
	if len(r.inbox) > 0 {
		input, r.inbox = r.inbox[0], r.inbox[1:]
		r.taken++
		return input, true
	}
	if r.root.Err() != nil && !r.latched {
		r.latched = true
		return plan.CancelRequest{By: "temporal", Source: "temporal"}, true // who and why is in the history alone
	}
	if r.timer.due() {
		r.timer = nil
		return plan.DeadlinePassed{}, true
	}
	return nil, false
}

// inputOf opens the envelope of the one signal.
func inputOf(s plan.Signal) plan.Input {
	switch {
	case s.Event != nil:
		return *s.Event
	case s.Device != nil:
		return *s.Device
	case s.Doubt != nil:
		return *s.Doubt
	case s.Observation != nil:
		return *s.Observation
	case s.Answer != nil:
		return *s.Answer
	case s.Lease != nil:
		return *s.Lease
	case s.Cancel != nil:
		return *s.Cancel
	}
	return nil
}

// step lets the machine take one input and carries out what it commands.
func (r *planRun) step(in plan.Input) {
	var commands []plan.Command
	r.state, commands = plan.Step(r.state, r.now(), in)
	for _, c := range commands {
		r.carryOut(c)
	}
	r.arm()
	r.show()
}

func (r *planRun) now() int64 { return workflow.Now(r.root).UnixMilli() }

// close ends the run. Nothing blocks between the last drain and the return but the wait for handlers; what came
// in the meantime is drained for the record (temporal: a signal pending at the return vanishes).
func (r *planRun) close() (plan.Outcome, error) {
	if err := workflow.Await(r.live, func() bool { return workflow.AllHandlersFinished(r.root) && !r.parting() }); err != nil {
		return plan.Outcome{}, fmt.Errorf("wait for handlers: %w", err)
	}
	var signal plan.Signal
	for r.signals.ReceiveAsync(&signal) {
		workflow.GetLogger(r.root).Info("signal after the outcome", "plan", r.outcome.PlanID)
	}
	o := *r.outcome
	switch {
	case o.Cancel != nil:
		return o, temporal.NewCanceledError(o)
	case o.State == plan.Failed || o.State == plan.NotAsExpected || o.State == plan.Unresolved:
		message := uitext.Line(string(o.State) + ": " + r.state.View().Why) // seen at once in Temporal's UI
		return o, temporal.NewNonRetryableApplicationError(message, ErrorTypePlan, nil, o)
	}
	return o, nil
}

// arm keeps a timer for the time the machine last asked for, or for an earlier one.
func (r *planRun) arm() {
	if r.outcome == nil {
		r.timer = r.timer.armed(r.live, r.wake.At, r.now(), "if nothing comes: "+r.wake.Move.Words())
	}
}
