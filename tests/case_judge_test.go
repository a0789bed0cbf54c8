package tests

import (
	"context"
	"slices"
	"time"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// end waits for the plan's end, which must be one of these, and judges it by what holds for every case: no doubled effect, no lost
// completion, no false success, nothing that moves after the outcome, and a record that keeps the laws.
func (c *caseTrial) end(right ...plan.Phase) plan.Outcome {
	c.t.Helper()
	o, closed := c.plan.Wait(c.t)
	if !slices.Contains(right, o.State) {
		c.t.Errorf("the plan ended %s (%+v), want %v", o.State, o.Reason, right)
	}
	want := "completed"
	switch {
	case o.Cancel != nil:
		want = "canceled"
	case o.State == plan.Failed || o.State == plan.Unresolved:
		want = "failed"
	}
	if closed != want {
		c.t.Errorf("the run of a plan that ended %s closed as %s, want %s", o.State, closed, want)
	}
	c.judge(o.Steps, o.EndedAt)
	return o
}

// judge holds what the plan says of its steps against what the robot did.
func (c *caseTrial) judge(steps []plan.StepOutcome, endedAt int64) {
	c.t.Helper()
	motions := c.rest()
	unknown := false
	for _, step := range steps {
		effects := c.effectsOf(step)
		unknown = unknown || step.Phase == plan.StepUnknown
		switch {
		case len(effects) > 1:
			c.t.Errorf("Law11: step %s took effect %d times: %+v", step.ID, len(effects), effects)
		case step.Phase == plan.StepCompleted && len(effects) == 0:
			c.t.Errorf("Law20: step %s is told as completed, and never was", step.ID)
		case step.Phase != plan.StepCompleted && step.Phase != plan.StepUnknown && len(effects) > 0:
			c.t.Errorf("Law10: step %s is told as %s, and it was done: a lost completion", step.ID, step.Phase)
		case len(effects) == 1 && step.OperationID != effects[0].OperationID:
			c.t.Errorf("Law06: step %s is told of %s, and %s did it", step.ID, step.OperationID, effects[0].OperationID)
		}
	}
	arrived := map[string]int{}
	for _, m := range motions {
		if m.Completed {
			arrived[m.OperationID]++
		}
		op, err := plan.ParseOperationID(m.OperationID)
		if own := err == nil && op.Plan == c.plan.ID; own && !unknown && (m.EndedAt > endedAt || m.EndedAt == 0) {
			c.t.Errorf("Law15: the robot moved for %s after the outcome: %d ms", m.OperationID, m.EndedAt-endedAt)
		}
	}
	for operation, n := range arrived {
		if n > 1 {
			c.t.Errorf("Law11: %d movements of %s", n, operation)
		}
	}
	for _, breach := range c.record().breaches() {
		c.t.Error(breach)
	}
}

// effectsOf returns what the ledger has of a step.
func (c *caseTrial) effectsOf(step plan.StepOutcome) (found []robot.Effect) {
	for _, e := range c.robot.Ledger(c.t) {
		if op, err := plan.ParseOperationID(e.OperationID); err == nil && op.Plan == c.plan.ID && op.Step == step.ID {
			found = append(found, e)
		}
	}
	return found
}

// rest sees that the case happened, frees the robot of its faults, and returns its drives once a minute of the world has passed
// with nothing to do: whatever is still on its way to the robot, or in it, shows by then.
func (c *caseTrial) rest() []robot.Motion {
	c.t.Helper()
	control := c.robot.Control(c.t)
	faults, err := control.State(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, f := range faults.Faults {
		if slices.Contains(c.faults, f.ID) && f.Hits == 0 {
			c.t.Errorf("the fault %s of %s%s never struck: the case did not happen", f.Kind, f.Method, f.Event)
		}
	}
	if err := control.ClearFaults(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	var (
		began int64
		state robot.Snapshot
	)
	stack.Eventually(c.t, "the robot has nothing to do for a minute of its time", func(ctx context.Context) (bool, error) {
		seen, err := control.State(ctx)
		if err != nil {
			return false, err
		}
		state = seen
		if began == 0 || state.Running != nil || len(state.Queue) > 0 {
			began = state.World.ElapsedMs
		}
		return state.World.ElapsedMs-began > time.Minute.Milliseconds(), nil
	})
	return c.robot.Motions(c.t)
}

// wantCompleted waits for the plan's end: every step done once, at its first try, and seen to be so.
func (c *caseTrial) wantCompleted() plan.Outcome {
	c.t.Helper()
	o := c.end(plan.Completed)
	for _, step := range o.Steps {
		if op, err := plan.ParseOperationID(step.OperationID); err != nil || op.Generation != 1 {
			c.t.Errorf("step %s was done by %q, want its first try", step.ID, step.OperationID)
		}
		if r := step.Receipt; r == nil || r.Verdict != plan.Verified {
			c.t.Errorf("Law20: step %s was done, and nobody looked: %+v", step.ID, r)
		}
	}
	return o
}

// wantStopped holds the end of a plan that a person stopped at a step: the first wish is on record, and what comes after the step
// never began. It returns how that step ended.
func (c *caseTrial) wantStopped(at planStep, way string) plan.StepOutcome {
	c.t.Helper()
	o := c.end(plan.Cancelled)
	switch {
	case o.Cancel == nil:
		c.t.Errorf("no cancel is on record: %+v", o)
	case way == byAPI && (o.Cancel.Source != "api" || o.Cancel.Why != "wish 1"):
		c.t.Errorf("the cancel on record is %+v, want the first wish over the API", o.Cancel)
	case way == byTemporal && o.Cancel.Source != "temporal" && c.wishes == 1: // of several that wait together the API's are taken first
		c.t.Errorf("the cancel on record is %+v, want that in Temporal", o.Cancel)
	}
	for _, step := range o.Steps[at.index+1:] {
		if step.Phase != plan.StepCancelled || step.OperationID != "" {
			c.t.Errorf("step %s after the cancelled one ended %s (%s)", step.ID, step.Phase, step.OperationID)
		}
	}
	return o.Steps[at.index]
}
