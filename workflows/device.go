package workflows

import (
	"fmt"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"errand/plan"
	"errand/plan/lease"
)

// longHistory is how many events a run of a DeviceWorkflow may have before it continues as new. One plan's turn costs
// some twenty.
const longHistory = 1000

// RegisterDevice makes the workflow of a device's lease known to a worker.
func RegisterDevice(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(DeviceWorkflow, workflow.RegisterOptions{Name: plan.DeviceWorkflowType})
}

// DeviceWorkflow holds the lease of one device for as long as any plan wants it, or anything may still move it. Its id is
// plan.DeviceWorkflowID. Each request to it is a signal with start, so that nobody needs to know whether it runs.
//
// Its result is the lease as it was left. It takes no cancellation: its plans can be cancelled, a quarantine forgotten.
func DeviceWorkflow(ctx workflow.Context, start lease.Start) (lease.View, error) {
	r := newDeviceRun(ctx, start)
	if err := r.handlers(); err != nil {
		return lease.View{}, fmt.Errorf("set up the handlers of device %s: %w", start.DeviceID, err)
	}
	r.step(lease.Resumed{})
	for _, signal := range start.Pending {
		r.take(signal)
	}
	for {
		r.renewing = r.renewing || r.long()
		r.drain()
		switch {
		case r.idle():
			return r.state.View(), nil
		case r.renewing && r.calls.alone():
			r.search.withdraw() // the next run asks anew
			next := lease.Start{DeviceID: start.DeviceID, State: &r.state, Pending: r.pending}
			return lease.View{}, workflow.NewContinueAsNewError(ctx, plan.DeviceWorkflowType, next)
		}
		if err := r.wait(); err != nil {
			return lease.View{}, fmt.Errorf("wait for device %s: %w", start.DeviceID, err)
		}
	}
}

// deviceRun is one run of a lease: the machine's state and what is out in the world for it.
type deviceRun struct {
	root, live workflow.Context
	signals    workflow.ReceiveChannel

	state  lease.State
	calls  calls[lease.Input]
	timer  *wakeTimer
	search *search
	shown  bool // the quarantine is among the search attributes

	// renewing says that the history is long: what is out is waited for, and the signals that come meanwhile are left to
	// the next run, or a lease that always has something out would never get one.
	renewing bool
	pending  []lease.Signal
}

func newDeviceRun(ctx workflow.Context, start lease.Start) *deviceRun {
	live, _ := workflow.NewDisconnectedContext(ctx)
	r := &deviceRun{root: ctx, live: live, state: lease.New(start.DeviceID),
		signals: workflow.GetSignalChannelWithOptions(ctx, lease.SignalName, workflow.SignalChannelOptions{
			Description: "what plans ask of the lease, and what is seen of the device; not sent by hand"})}
	if start.State != nil {
		r.state = *start.State
		v := r.state.View()
		r.shown = v.State == lease.Quarantined
	}
	return r
}

func (r *deviceRun) handlers() error {
	return workflow.SetQueryHandlerWithOptions(r.root, lease.QueryView, func() (lease.View, error) {
		return r.state.View(), nil
	}, workflow.QueryHandlerOptions{Description: "who holds the device, who waits, and what keeps it in quarantine"})
}

// wait is the one place where a lease waits. It lists what can wake it.
func (r *deviceRun) wait() error {
	return workflow.Await(r.live, func() bool {
		return r.signals.Len() > 0 || r.calls.answered() || r.timer.due()
	})
}

// drain hands everything that is ready to the machine, in a fixed order: signals as they came, then answers in the order
// they were asked for, then the timer.
//
// Nothing blocks between the last drain and a return: a signal that comes meanwhile makes the server refuse the return,
// and the decision is made again with the signal in it.
func (r *deviceRun) drain() {
	for {
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
func (r *deviceRun) next() (input lease.Input, ok bool) {
	var signal lease.Signal
	if r.signals.ReceiveAsync(&signal) {
		if r.renewing {
			r.pending = append(r.pending, signal)
			return nil, true
		}
		return signal.Input(), true
	}
	if input, ok := r.calls.take(); ok {
		return input, true
	}
	if r.timer.due() {
		r.timer = nil
		return lease.Woken{}, true
	}
	return nil, false
}

// take hands over a signal that was left by the run before.
func (r *deviceRun) take(signal lease.Signal) {
	if input := signal.Input(); input != nil {
		r.step(input)
	}
}

// step lets the machine take one input and carries out what it commands.
func (r *deviceRun) step(in lease.Input) {
	var commands []lease.Command
	r.state, commands = lease.Step(r.state, r.now(), in)
	for _, c := range commands {
		r.carryOut(c)
	}
	r.arm()
	r.show()
}

func (r *deviceRun) now() int64 { return workflow.Now(r.root).UnixMilli() }

// idle reports whether nobody wants the device, and all that was to be told has been.
func (r *deviceRun) idle() bool { return r.state.Idle() && len(r.calls) == 0 && len(r.pending) == 0 }

func (r *deviceRun) long() bool {
	info := workflow.GetInfo(r.root)
	return info.GetCurrentHistoryLength() >= longHistory || info.GetContinueAsNewSuggested()
}

// arm keeps a timer for the time the machine last asked for, or for an earlier one.
func (r *deviceRun) arm() {
	r.timer = r.timer.armed(r.live, r.state.Wake, r.now(), "next look at the holder and the device")
}
