package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"errand/plan"
)

const (
	// renewAfter is how many events one run may have before the plan goes on in a new one.
	renewAfter = 4000
	// keptUpdates is how many answered requests a new run remembers.
	keptUpdates = 64
)

// renew lets the plan go on in a new run, if its history is long enough or somebody asked for it, and nothing is out that
// would be lost: no activity but one that is given again, no request in line, no signal unread (design §6).
func (r *planRun) renew() (bool, error) {
	if r.outcome != nil || !r.due() {
		return false, nil
	}
	if !r.idle() {
		if !r.state.Held { // or a plan that is never idle would never get its new run
			r.step(plan.Hold{On: true})
		}
		return false, nil
	}
	r.renewing = true // requests that come from here on are refused, and may be made again
	if err := workflow.Await(r.live, func() bool { return workflow.AllHandlersFinished(r.root) }); err != nil {
		return false, fmt.Errorf("wait for handlers before a new run: %w", err)
	}
	if !r.idle() { // something came meanwhile
		r.renewing = false
		return false, nil
	}
	r.search.withdraw()
	next := r.state.Start
	next.Carried = &plan.Carried{State: r.state, Updates: r.updates}
	return true, workflow.NewContinueAsNewError(r.root, plan.WorkflowType, next)
}

func (r *planRun) due() bool {
	info := workflow.GetInfo(r.root)
	limit := r.state.Start.RenewAfter
	if limit <= 0 {
		limit = renewAfter
	}
	return r.asked || info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() >= limit
}

// idle reports whether everything that came was taken, and nothing is out that comes back only here.
func (r *planRun) idle() bool {
	return r.calls.alone() && !r.calls.answered() && r.signals.Len() == 0 && len(r.inbox) == 0 && (r.root.Err() == nil || r.latched) && !r.timer.due()
}

// goOn takes up a plan where the run before left it.
func (r *planRun) goOn() {
	for _, c := range plan.Outstanding(r.state) {
		r.carryOut(c)
	}
	r.arm()
	r.show()
	if r.state.Held {
		r.step(plan.Hold{})
	}
}

// remember keeps the answer to a request, for the same one again in a later run.
func (r *planRun) remember(id string, answer plan.Phase) {
	r.updates = append(r.updates, plan.CarriedUpdate{ID: id, Answer: answer})
	if extra := len(r.updates) - keptUpdates; extra > 0 {
		r.updates = append([]plan.CarriedUpdate(nil), r.updates[extra:]...)
	}
}

// answeredBefore finds the answer to a request that an earlier run took.
func (r *planRun) answeredBefore(id string) (plan.Phase, bool) {
	for _, u := range r.updates {
		if u.ID == id {
			return u.Answer, true
		}
	}
	return "", false
}
