package tests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"

	"errand/catalog"
	"errand/catalog/load"
	"errand/deviceio/robot"
	"errand/plan"
	"errand/starter/plans"
	"errand/tests/stack"
)

// caseTrial is one trial of a case: one plan of three steps on one robot of its own.
type caseTrial struct {
	hard        hardCase
	n           int
	cross       cross
	struckAfter time.Duration // when the cross strikes, from the trial's beginning
	draw
	drawn []string // what was drawn, for people
	begin func()   // waits until it is time to begin: everything is drawn by then

	t      *testing.T
	stack  *stack.Stack
	robot  *stack.Robot
	plan   *stack.Plan
	faults []string // that must have struck, or the case did not happen
	wishes int      // to cancel, so far

	started atomic.Pointer[stack.Plan] // the plan, for the cross
}

// carryOut runs the trial, and if it fails tells everything there is to know about it.
func (c *caseTrial) carryOut(t *testing.T, s *stack.Stack) {
	c.t, c.stack = t, s
	defer func() {
		if t.Failed() {
			t.Log(c)
			c.tellRecord()
		}
	}()
	c.robot = s.Robot(t, robotSpeed)
	c.hard.run(c)
}

// timing shortens a plan's times, and changes its catalog, where a trial would take too long otherwise.
type timing struct {
	runMs, deadlineMs int64 // 0 leaves what there is
	decider           string
	change            func(*catalog.Slice)
}

// submit starts the plan over the API.
func (c *caseTrial) submit() { c.goesOn(c.stack.Submit(c.t, c.robot, threeStepPlan)) }

func (c *caseTrial) goesOn(p *stack.Plan) {
	c.plan = p
	c.started.Store(p)
}

// renew asks the plan, if it is under way, to go on in a new run.
func (c *caseTrial) renew(t *testing.T) {
	p := c.started.Load()
	if p == nil {
		return
	}
	err := c.stack.Temporal.SignalWorkflow(t.Context(), p.ID, "", plan.SignalName, plan.Signal{Renew: true})
	if over := (*serviceerror.NotFound)(nil); err != nil && !errors.As(err, &over) {
		t.Errorf("a new run of %s: %v", p.ID, err)
	}
}

// submitWith starts the plan as the API does, but with times of the trial's own.
func (c *caseTrial) submitWith(w timing) {
	c.t.Helper()
	doc, err := plan.Decode([]byte(threeStepPlan))
	if err != nil {
		c.t.Fatal(err)
	}
	slice := load.Builtin().Slice([]string{"move_to_room", "stationary_purify", "return_to_station"})
	for i := range slice.Capabilities {
		if w.runMs > 0 {
			slice.Capabilities[i].Timeouts = catalog.Timeouts{QueueMs: w.runMs, RunMs: w.runMs}
		}
	}
	if w.change != nil {
		w.change(&slice)
	}
	id := fmt.Sprintf("case-%s-%d-%s", c.hard.id, c.n, c.robot.ID[:8])
	_, err = plans.New(c.stack.Temporal).Start(c.t.Context(), plan.Start{PlanID: id, DeviceID: c.robot.ID, AskedAt: time.Now().UnixMilli(),
		DeadlineMs: w.deadlineMs, Decider: w.decider, Document: &doc, Slice: &slice})
	if err != nil {
		c.t.Fatal(err)
	}
	c.goesOn(c.stack.Plan(id))
}

// operation names a try of a step.
func (c *caseTrial) operation(s planStep, generation int) string {
	return plan.OperationID{Plan: c.plan.ID, Step: s.id, Generation: generation}.String()
}

// fault scripts a fault, without which the case does not happen.
func (c *caseTrial) fault(f robot.Fault) string {
	c.t.Helper()
	id := c.robot.Fault(c.t, f)
	c.faults = append(c.faults, id)
	return id
}

// struck waits until a fault has struck, or the robot died of it.
func (c *caseTrial) struck(id string) {
	c.t.Helper()
	stack.Eventually(c.t, "fault "+id+" strikes", func(ctx context.Context) (bool, error) {
		select {
		case <-c.robot.Ended():
			return true, nil
		default:
		}
		control, err := c.robot.Reach()
		if err != nil {
			return false, err
		}
		f, err := control.AwaitFault(ctx, id, 1, time.Second)
		return err == nil && f.Hits > 0, err
	})
}

// await watches the plan until its view is as the case wants it. A plan that is over before is a failure.
func (c *caseTrial) await(what string, holds func(plan.View) bool) plan.View {
	c.t.Helper()
	v, over := c.watch(what, holds, nil)
	if over && !holds(v) {
		c.t.Fatalf("the plan was over (%s) before %s", v.State, what)
	}
	return v
}

// view is how the plan stands, as soon as a worker tells.
func (c *caseTrial) view() plan.View {
	c.t.Helper()
	v, _ := c.watch("how the plan stands is told", func(plan.View) bool { return true }, nil)
	return v
}

// watch is await for a plan that may end instead, and that may ask: ask gives the answer to each question, once.
func (c *caseTrial) watch(what string, holds func(plan.View) bool, ask func(plan.Question) string) (v plan.View, over bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), stack.Patience)
	defer cancel()
	ticks := time.NewTicker(400 * time.Millisecond)
	defer ticks.Stop()
	answered := ""
	for {
		look, done := context.WithTimeout(ctx, 5*time.Second)
		seen, err := c.plan.Look(look)
		done()
		if err == nil {
			v = seen
		}
		if v.Outcome != nil || err == nil && holds(v) {
			return v, v.Outcome != nil
		}
		if q := v.Question; q != nil && ask != nil && q.ID != answered {
			answered = q.ID
			c.answer(*q, ask(*q))
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			c.t.Fatalf("never: %s; the plan is %s, waiting for %q (%v)", what, v.State, v.Plan.WaitingFor, err)
		}
	}
}

// notYet watches a plan to its end.
func notYet(plan.View) bool { return false }

// answer answers a question, again and again while nobody takes the answer.
func (c *caseTrial) answer(q plan.Question, choice string) {
	c.t.Helper()
	c.insist("answer", fmt.Sprintf(`{"question_id":%q,"choice":%q}`, q.ID, choice))
}

// Ways to cancel: over the API, and as Temporal's own UI and tools do.
const (
	byAPI      = "API"
	byTemporal = "Temporal"
)

// cancel asks the plan to stop. Each wish has a reason of its own, so that the record shows which one was taken.
func (c *caseTrial) cancel(way string) {
	c.t.Helper()
	c.wishes++
	if way == byAPI {
		c.insist("cancel", fmt.Sprintf(`{"reason":"wish %d"}`, c.wishes))
		return
	}
	err := c.stack.Temporal.CancelWorkflow(c.t.Context(), c.plan.ID, "")
	if over := (*serviceerror.NotFound)(nil); err != nil && !errors.As(err, &over) {
		c.t.Fatalf("cancel in Temporal: %v", err)
	}
}

// insist posts until it is taken, or the plan is over: a worker may be away.
func (c *caseTrial) insist(what, body string) {
	c.t.Helper()
	stack.Eventually(c.t, what+" is taken", func(context.Context) (bool, error) {
		status, text := c.stack.Post(c.t, "/v1/plans/"+c.plan.ID+"/"+what, body)
		if status < 300 || status == http.StatusConflict || status == http.StatusGone {
			return true, nil
		}
		return false, fmt.Errorf("%d %s", status, text)
	})
}

// died waits until the robot has died of a fault.
func (c *caseTrial) died() {
	c.t.Helper()
	select {
	case <-c.robot.Ended():
	case <-time.After(stack.Patience):
		c.t.Fatal("the robot did not die")
	}
}

// effects counts what the ledger has of each step of the plan.
func (c *caseTrial) effects() map[string]int {
	c.t.Helper()
	count := map[string]int{}
	for _, e := range c.robot.Ledger(c.t) {
		if op, err := plan.ParseOperationID(e.OperationID); err == nil && op.Plan == c.plan.ID {
			count[op.Step]++
		}
	}
	return count
}

// awaitEffect waits until the ledger has a step.
func (c *caseTrial) awaitEffect(s planStep) {
	c.t.Helper()
	stack.Eventually(c.t, "the robot "+s.effect, func(context.Context) (bool, error) { return c.effects()[s.id] > 0, nil })
}
