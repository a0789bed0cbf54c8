package tests

import (
	"time"

	"errand/deviceio/robot"
	"errand/plan"
)

// shortRun is how long a task may take where its overdue end is part of the case: with the machine's own slack it is overdue
// after about a quarter of a minute.
const shortRun = 4 * time.Second

// c02: the link goes down in the middle of a step, its deadline passes, the robot finishes, the link comes up. In between the step
// is unknown and not failed; the late success is applied, and the next step is submitted once.
func lateSuccess(c *caseTrial) {
	step := c.anyStep()
	at := c.fraction("the link goes down at")
	stands := c.between("the task goes on after", 0, time.Second)
	down := pick(c, "its deadline", "passes", "does not pass")
	outage := map[string]time.Duration{
		"passes":        c.between("down for, if it passes", 15*time.Second, 17*time.Second),
		"does not pass": c.between("down for, if not", 500*time.Millisecond, 6*time.Second),
	}[down]
	flaps := pick(c, "then it goes down again, times", 0, 0, 1, 2)
	flap := c.between("each time for", 100*time.Millisecond, 1500*time.Millisecond)

	c.begin()
	off := c.fault(robot.Fault{Kind: robot.FaultOffline, Method: step.method, At: at})
	if stands > 50*time.Millisecond {
		c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at, DurationMs: ms(stands)})
	}
	c.submitWith(timing{runMs: ms(shortRun)})
	c.struck(off)
	up := time.Now().Add(outage)
	c.await("the step is unknown", func(v plan.View) bool { return v.Steps[step.index].State == plan.StepUnknown })
	c.awaitEffect(step)
	pause(time.Until(up))
	v := c.view()
	if got := v.Steps[step.index].State; got != plan.StepUnknown || v.State.Closed() {
		c.t.Errorf("Law09: before the link is up the step is %s and the plan %s, want unknown and not over", got, v.State)
	}
	c.robot.Release(c.t, off)
	for range flaps {
		id := c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultOffline, DurationMs: ms(flap)})
		c.struck(id)
		pause(flap + flap/2)
	}
	c.wantCompleted()
	for _, e := range c.view().Journal {
		if e.Kind == "step" && e.To == string(plan.StepFailed) {
			c.t.Errorf("Law09: step %s was told as failed in between: %s", e.Step, e.Text)
		}
	}
}

// c08: the robot started, and then says nothing any more: it was restarted and is idle, or finished without a word. Only asking brings
// it to light, and the step does not run for ever.
func restartWithoutAWord(c *caseTrial) {
	const silent, unheard, idle = "finishes without a word", "comes back idle, not acknowledged", "comes back idle"
	step := c.anyStep()
	how := pick(c, "the robot", silent, unheard, idle)
	at := c.fraction("at")
	away := c.between("it is away for", 0, 2*time.Second)
	wait := c.between("the cancel comes after", 0, 2*time.Second)
	way := pick(c, "cancelled in", byAPI, byTemporal)

	c.begin()
	switch how {
	case silent:
		c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultDropEvent, Method: step.method, Event: "RUNNING", Times: -1})
		c.fault(robot.Fault{Kind: robot.FaultDropEvent, Method: step.method, Event: "COMPLETED", Times: -1})
	case unheard:
		c.robot.Fault(c.t, unacknowledged(step.method))
		c.robot.Fault(c.t, mute(step.method))
		c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultDropTask, Method: step.method, At: at})
	case idle:
		c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at})
	}
	c.submitWith(timing{runMs: ms(map[string]time.Duration{silent: shortRun, unheard: shortRun, idle: 3 * shortRun}[how])})
	if how == idle { // it has told that it has the task
		c.struck(c.faults[0])
		c.await("the step is acknowledged", func(v plan.View) bool { return v.Steps[step.index].TaskID != "" })
		c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultDropTask, Method: step.method, At: at})
		c.robot.Release(c.t, c.faults[0])
	}
	if how != silent {
		c.died()
		pause(away)
		c.robot.Start(c.t)
	}
	operation := c.operation(step, 1)
	c.awaitRecord("the device is asked about "+operation, func(r planRecord) bool {
		return r.count("status answered", operation, "found")+r.count("status answered", operation, "not_found") > 0
	})
	if how != idle {
		c.wantCompleted()
		return
	}
	pause(wait)
	c.staysUnknown(step, way)
}

// staysUnknown holds a step of which the device knows nothing any more: it is unknown, and so is the plan's end, which comes in
// bounded time once a person has had enough.
func (c *caseTrial) staysUnknown(step planStep, way string) {
	c.t.Helper()
	c.await("the step is unknown", func(v plan.View) bool { return v.Steps[step.index].State == plan.StepUnknown })
	c.cancel(way)
	v := c.await("the plan stops", func(v plan.View) bool { return v.Cancel != nil })
	if bound := time.UnixMilli(v.Cancel.GiveUpAt); bound.After(time.Now().Add(time.Minute + 6*shortRun)) {
		c.t.Errorf("Law18: the plan gives up at %v only", bound)
	}
	if n := len(crosses); c.n <= n || c.n%n != 0 { // the minute of grace is waited for by one trial in four, and none of the first
		c.leave(v)
		return
	}
	o := c.end(plan.Unresolved)
	if got := o.Steps[step.index].Phase; got != plan.StepUnknown {
		c.t.Errorf("step %s ended %s, want unknown", step.id, got)
	}
}

// leave ends a plan that would wait on, and judges it as it stood.
func (c *caseTrial) leave(v plan.View) {
	c.t.Helper()
	if err := c.stack.Temporal.TerminateWorkflow(c.t.Context(), c.plan.ID, "", "the test has seen enough"); err != nil {
		c.t.Fatal(err)
	}
	var steps []plan.StepOutcome
	for _, s := range v.Steps {
		steps = append(steps, plan.StepOutcome{ID: s.ID, Phase: s.State, OperationID: s.OperationID})
	}
	c.judge(steps, time.Now().UnixMilli())
}
