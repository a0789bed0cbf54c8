package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"errand/plan"
)

func (r *planRun) parting() bool {
	for _, c := range r.calls {
		if c.parting && !c.future.IsReady() {
			return true
		}
	}
	return false
}

// Times of activities. Only the machine retries what moves a device (design §6 Submitting).
const (
	// delivery is how long a gateway's queue may hold a call: past it the route is wrong, and surely nothing was sent.
	delivery = 5 * time.Second
	// submitTime bounds a submit; past it nobody knows whether the device has it.
	submitTime  = 10 * time.Second
	askTime     = 10 * time.Second
	prepareTime = 10 * time.Second
	verifyTime  = 8 * time.Second // so that another look fits into the time for a verdict when a gateway dies in the middle of one
	sayTime     = 3 * time.Second
	planTime    = 30 * time.Second
	// modelTime is for two calls of a model, one after the other; modelBounds is how long a person waits for a plan while
	// the model is asked again and again. A worker that asks one says each few seconds that it lives.
	modelTime   = 90 * time.Second
	modelBounds = 3 * time.Minute
	modelBeat   = 10 * time.Second
	// decideTime is for one call of a model. A device stands still and a person waits meanwhile: past decideBounds, or so many
	// tries, the reason table's default counts.
	decideTime   = 60 * time.Second
	decideBounds = 2 * time.Minute
	decideTries  = 4
	leaseTime    = 10 * time.Second
	awaitBeat    = 5 * time.Second
	awaitBounds  = 30 * 24 * time.Hour
	performBeat  = 10 * time.Second // of a step in the cloud: a worker that died is noticed by then
)

func (r *planRun) device(route plan.Route, name, summary string, limit time.Duration, command any) workflow.Future {
	return onGateway(r.live, route, name, summary, limit, command)
}

func (r *planRun) out(f workflow.Future, input func(workflow.Future) plan.Input) {
	r.calls = append(r.calls, &call[plan.Input]{future: f, input: input})
}

// carryOut does what the machine commands.
func (r *planRun) carryOut(c plan.Command) {
	switch c := c.(type) {
	case plan.MakePlan:
		r.makePlan(c)
	case plan.AwaitDevice:
		r.awaitDevice(c)
	case plan.StopAwaiting:
		r.search.withdraw()
	case plan.Submit:
		r.submit(c)
	case plan.Perform:
		r.perform(c)
	case plan.StopPerforming:
		r.stopPerforming(c)
	case plan.CancelTask:
		r.cancelTask(c)
	case plan.QueryStatus:
		r.queryStatus(c)
	case plan.FetchContext:
		r.fetchContext(c)
	case plan.Prepare:
		r.prepare(c)
	case plan.Verify:
		r.verify(c)
	case plan.Ask:
		r.ask(c)
	case plan.Say:
		r.sayOnce(c)
	case plan.SetDeadline:
		r.wake = c
	case plan.Decide:
		r.decide(c)
	case plan.RequestLease:
		r.requestLease(c)
	case plan.ReleaseLease:
		r.releaseLease(c)
	case plan.WithdrawQuestion:
		// The device lets a question go when it expires; an answer to it finds no question open.
	case plan.Finish:
		r.outcome = &c.Outcome
	}
}
