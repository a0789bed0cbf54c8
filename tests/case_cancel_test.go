package tests

import (
	"fmt"
	"strings"
	"time"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/plan/lease"
	"errand/tests/stack"
)

// drawWishes draws how a plan is cancelled: how often, how long apart, and how the first time.
func (c *caseTrial) drawWishes() (cancel func(), way string) {
	way = pick(c, "cancelled in", byAPI, byAPI, byTemporal)
	more := pick(c, "and again, times", 0, 1, 2, 4)
	apart := c.between("apart", 0, 1500*time.Millisecond)
	other := pick(c, "then in", byAPI, byTemporal)
	return func() {
		c.cancel(way)
		for range more {
			pause(apart)
			c.cancel(other)
		}
	}, way
}

// cancelledOnce sees that of all the wishes the plan took one.
func (c *caseTrial) cancelledOnce() {
	c.t.Helper()
	n := 0
	for _, e := range c.view().Journal {
		if e.Kind == "note" && strings.HasPrefix(e.Text, "cancel asked for") {
			n++
		}
	}
	if n != 1 {
		c.t.Errorf("the journal has %d cancels, want one: the rest change nothing", n)
	}
}

// c05: a submit that nobody ever acknowledges, a device that is idle, a cancel, and another. It is resolved by asking, the second
// cancel changes nothing, and the device is free: the next plan runs.
func neverAcknowledged(c *caseTrial) {
	const lost, forgotten = "never arrives", "is forgotten in a restart"
	step := c.anyStep()
	how := pick(c, "the submit", lost, lost, forgotten)
	times := pick(c, "lost, times", 1, 2, -1)
	wait := c.between("the cancel comes after", 0, 13*time.Second)
	cancel, way := c.drawWishes()
	away := c.between("the robot comes back after", 0, 2*time.Second)

	c.begin()
	none := 0.0
	switch how {
	case lost:
		c.fault(robot.Fault{Kind: robot.FaultLoseRequest, Method: step.method, Times: times})
		c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultHold, Method: step.method, At: &none}) // sent again, it stands still
	case forgotten:
		c.robot.Fault(c.t, unacknowledged(step.method))
		c.robot.Fault(c.t, mute(step.method))
		c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultDropTask, Method: step.method, At: &none})
	}
	c.submit()
	if how == lost {
		c.struck(c.faults[0])
		pause(wait)
		cancel()
	} else {
		c.died()
		pause(wait)
		cancel()
		pause(away)
		c.robot.Start(c.t)
	}
	if got := c.wantStopped(step, way); got.Phase != plan.StepCancelled {
		c.t.Errorf("step %s ended %s, want cancelled", step.id, got.Phase)
	}
	c.cancelledOnce()
	operation := c.operation(step, 1)
	if r := c.record(); r.count("cancel_task answered", operation, "")+r.count("status answered", operation, "") == 0 {
		c.t.Error("the device was never asked about it")
	}
	next := c.stack.Submit(c.t, c.robot, threeStepPlan)
	wantOutcome(c.t, next, plan.Completed, "completed")
}

// c06: the device takes the cancel and goes on, and completes. Reported as completed, with the cancel on record; nothing follows.
func cancelBeaten(c *caseTrial) {
	step := c.anyStep()
	at := c.fraction("the task stands still at")
	wait := c.between("the cancel comes after", 0, 1500*time.Millisecond)
	cancel, way := c.drawWishes()
	after := c.between("it goes on after", 0, 3*time.Second)
	told := pick(c, "its completion is", "told", "told twice", "lost", "told off the air", "told late")
	outage := c.between("by", 200*time.Millisecond, 3*time.Second)

	c.begin()
	deaf := c.fault(robot.Fault{Kind: robot.FaultDeaf, Method: step.method})
	hold := c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at})
	completed := robot.Fault{Method: step.method, Event: "COMPLETED", DurationMs: ms(outage)}
	switch told {
	case "told twice":
		completed.Kind = robot.FaultDuplicateEvent
	case "lost":
		completed.Kind = robot.FaultDropEvent
	case "told off the air":
		completed.Kind = robot.FaultOffline
	case "told late":
		completed.Kind = robot.FaultHoldEvent
	}
	if completed.Kind != "" {
		c.fault(completed)
	}
	c.submit()
	c.struck(hold)
	pause(wait)
	cancel()
	c.struck(deaf)
	pause(after)
	c.robot.Release(c.t, hold)
	if got := c.wantStopped(step, way); got.Phase != plan.StepCompleted || got.EventName != "COMPLETED" {
		c.t.Errorf("step %s ended %s by %q, want completed by the robot's word", step.id, got.Phase, got.EventName)
	}
	c.cancelledOnce()
}

// c13: two plans for one device come while a third is stopping. One mover: each waits, is refused, or takes the others' place, as
// its policy says, and whoever has the robot has it alone.
func queuedWhileStopping(c *caseTrial) {
	step := c.anyStep()
	at := c.fraction("the first stands still at")
	deaf := pick(c, "and does not listen", true, false)
	early := pick(c, "the second comes before the cancel", true, false)
	policies := []plan.LeasePolicy{pick(c, "policy", plan.LeaseQueue, plan.LeaseReplace, plan.LeaseReject), pick(c, "policy", plan.LeaseQueue, plan.LeaseReplace, plan.LeaseReject)}
	cancel, way := c.drawWishes()
	apart := c.between("the other two come apart by", 0, 1500*time.Millisecond)
	after := c.between("the first goes on after", 0, 3*time.Second)

	c.begin()
	if deaf {
		c.fault(robot.Fault{Kind: robot.FaultDeaf, Method: step.method})
	}
	hold := c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at})
	c.submit()
	c.struck(hold)
	come := func(policy plan.LeasePolicy) *stack.Plan {
		return c.stack.Submit(c.t, c.robot, strings.Replace(threeStepPlan, "{", fmt.Sprintf(`{"lease_policy":%q,`, policy), 1))
	}
	if !early {
		cancel()
	}
	second := come(policies[0])
	if early {
		cancel()
	}
	pause(apart)
	third := come(policies[1])
	if deaf {
		c.struck(c.faults[0]) // the cancel has come, and is not heeded
	}
	pause(after)
	c.robot.Release(c.t, hold)
	ends := []plan.Outcome{c.wantItsTurn(second, policies[0], policies[1]), c.wantItsTurn(third, policies[1], "")}
	if early && policies[0] == plan.LeaseReplace {
		way = "" // it may have been faster than the person
	}
	c.wantStopped(step, way)
	oneMover(c.t, c.robot, ends)
	awaitLease(c.t, c.stack, c.robot.ID, "the device is free", func(v lease.View) bool { return v.State == lease.Free })
}

// wantItsTurn holds the end of a plan that came while the device was another's, with those that came after it, against its policy.
func (c *caseTrial) wantItsTurn(p *stack.Plan, policy, next plan.LeasePolicy) plan.Outcome {
	c.t.Helper()
	o, _ := p.Wait(c.t)
	switch {
	case o.State == plan.Completed:
	case policy == plan.LeaseReject && o.State == plan.Failed && o.Reason != nil && o.Reason.Code == "DEVICE_BUSY":
	case next == plan.LeaseReplace && o.State == plan.Cancelled && o.Cancel.Source == "lease":
	default:
		c.t.Errorf("plan %s with the policy %s ended %s: %+v %+v", p.ID, policy, o.State, o.Reason, o.Cancel)
	}
	return o
}
