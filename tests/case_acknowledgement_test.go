package tests

import (
	"time"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
)

// ms is a duration as faults take it.
func ms(d time.Duration) int64 { return d.Milliseconds() }

// noEvent is the name of no event: an answer that is slow does not slow the events.
const noEvent = "NONE"

// tooLate is longer than a submit waits for its answer.
const tooLate = 10200 * time.Millisecond

// c01: the acknowledgement of a submit is lost. Unless an event tells of it first, the device is asked for that operation before
// anything else (the record's breaches tell), and there is one movement.
func lostAcknowledgement(c *caseTrial) {
	const dropped, late, cut = "dropped", "too late", "cut off with the link"
	const first, after, never = "in time", "once the device was asked", "never"
	step := c.anyStep()
	lost := pick(c, "the acknowledgement is", dropped, late, cut)
	told := pick(c, "its events are told", first, after, after, never)
	stands := pick(c, "it stands still until then", true, false)
	at := c.fraction("at")
	longer := c.between("and so much longer", 0, 2*time.Second)
	delay := c.between("the late answer takes", tooLate, 14*time.Second)
	outage := c.between("the link is down for", 200*time.Millisecond, 3*time.Second)

	c.begin()
	switch lost {
	case dropped:
		c.fault(robot.Fault{Kind: robot.FaultDropAnswer, Method: step.method})
	case late:
		c.fault(robot.Fault{Kind: robot.FaultSlow, Command: wire.CommandSubmitTask, Event: noEvent, Method: step.method, DelayMs: ms(delay)})
	case cut: // and if not with the link, then so
		c.robot.Fault(c.t, unacknowledged(step.method))
		c.fault(robot.Fault{Kind: robot.FaultOffline, Method: step.method, Event: "QUEUED", DurationMs: ms(outage)})
	}
	var kept []string // what is released once the device was asked
	switch {
	case told == after:
		kept = append(kept, c.fault(robot.Fault{Kind: robot.FaultHoldEvent, Method: step.method, Times: -1}))
	case told == never && lost != cut: // asked too early, while it still runs, it would be asked again in half a minute only
		c.fault(mute(step.method))
	}
	switch {
	case stands && told == after:
		kept = append(kept, c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at}))
	case told == first:
		c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at, DurationMs: ms(longer) + 1})
	}
	c.submit()
	operation := c.operation(step, 1)
	if told == after {
		c.awaitRecord("the device is asked about "+operation, func(r planRecord) bool { return r.count("status answered", operation, "found") > 0 })
	}
	for _, fault := range kept {
		c.robot.Release(c.t, fault)
		pause(longer)
	}
	c.wantCompleted()
	if n := c.record().count(plan.ActivitySubmit, operation, ""); n != 1 && c.cross.kind == crossNothing {
		c.t.Errorf("%s, which the device had, was submitted %d times", operation, n)
	}
}

// c03: the result comes before the submit's own answer. It is applied, and nothing is lost.
func eventBeforeItsWait(c *caseTrial) {
	step := c.anyStep()
	until := pick(c, "the answer waits for", "COMPLETED", "COMPLETED", "STARTED", "QUEUED")
	slow := c.between("and so much longer", 0, 4*time.Second)
	at := c.fraction("the task stands still at")
	stands := c.between("for", 0, 1500*time.Millisecond)
	twice := pick(c, "told and answered", "once", "twice")

	c.begin()
	c.fault(robot.Fault{Kind: robot.FaultDelayAnswer, Method: step.method, Event: until})
	if slow > time.Second {
		c.fault(robot.Fault{Kind: robot.FaultSlow, Command: wire.CommandSubmitTask, Event: noEvent, Method: step.method, DelayMs: ms(slow)})
	}
	if stands > 100*time.Millisecond {
		c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at, DurationMs: ms(stands)})
	}
	if twice == "twice" {
		c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultDuplicateEvent, Method: step.method, Times: -1})
		c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultDoubleAnswer, Method: step.method})
	}
	c.submit()
	c.wantCompleted()
	if until != "COMPLETED" || c.cross.kind != crossNothing {
		return
	}
	r := c.record()
	if event, answer := r.index("event", c.operation(step, 1)), r.index("submit answered", c.operation(step, 1)); answer >= 0 && event > answer || event < 0 {
		c.t.Errorf("the first event stands at %d of the record and the submit's answer at %d: the case did not happen", event, answer)
	}
}

// c04: the robot is silent, and the step is given to it again, while the first submit of it is still on its way: both arrive.
// One effect: the first is asked about, and what comes after its cancel or a later try is fenced off.
func twoPerformers(c *caseTrial) {
	const late, copied, refused, failed, cancelled = "arrives late", "arrives twice", "refused, and arrives again", "failed, and arrives again", "arrives after its cancel"
	step := c.anyStep()
	how := pick(c, "the first submit", late, copied, refused, failed, cancelled)
	delay := c.between("the late one takes", tooLate, 14*time.Second)
	soon := c.between("the copy takes", 50*time.Millisecond, 4*time.Second)
	at := c.fraction("it stands still, or fails, at")
	stands := c.between("for", 0, 3*time.Second)
	wait := c.between("the answer or the cancel takes", 0, 1500*time.Millisecond)
	way := pick(c, "cancelled in", byAPI, byTemporal)
	code := pick(c, "it failed because of", "FILTER_MISSING", robot.ReasonExecutorFault) // asked about, tried again by the table

	c.begin()
	if how == late || how == cancelled {
		c.fault(robot.Fault{Kind: robot.FaultLateRequest, Method: step.method, DelayMs: ms(delay)})
	} else {
		c.fault(robot.Fault{Kind: robot.FaultCopyRequest, Method: step.method, DelayMs: ms(soon)})
	}
	switch how {
	case refused:
		c.fault(robot.Fault{Kind: robot.FaultRefuse, Method: step.method, ReasonCode: robot.ReasonPathBlocked})
	case failed:
		c.fault(robot.Fault{Kind: robot.FaultFail, Method: step.method, At: at, ReasonCode: code})
	case late, copied:
		c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at, DurationMs: ms(stands) + 1})
	}
	c.submit()
	switch how {
	case late, copied:
		c.wantCompleted()
	case refused, failed:
		c.watch("the plan is over", notYet, func(plan.Question) string {
			pause(wait)
			return "retry"
		})
		o := c.end(plan.Completed)
		if got := o.Steps[step.index].OperationID; got != c.operation(step, 2) {
			c.t.Errorf("it was done by %s, want the second try", got)
		}
	case cancelled:
		c.struck(c.faults[0])
		pause(wait)
		c.cancel(way)
		if got := c.wantStopped(step, way); got.Phase != plan.StepCancelled {
			c.t.Errorf("step %s ended %s, want cancelled: it had not arrived yet", step.id, got.Phase)
		}
	}
}
