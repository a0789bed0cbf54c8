package tests

import (
	"slices"
	"time"

	"errand/activities"
	"errand/catalog"
	"errand/deviceio/robot"
	"errand/plan"
)

// The bounds that every plan keeps (law 13), whatever anybody decides.
const (
	mostTries     = 3 // of a step, by decision; what the reason table's recovery tries comes on top
	mostDecisions = 7 // five, a person's answer to the last of them, and the one that finds that all are spent
	mostAnswers   = 6
)

// spent is what a plan tried, and on whose word.
type spent struct {
	tries, recovered map[string]int // by step
	decisions        int
}

// again counts the tries after the first, without those of the reason table's recovery.
func (s spent) again() (n int) {
	for step, tries := range s.tries {
		n += tries - 1 - s.recovered[step]
	}
	return n
}

// bounded sees that a plan that came to its end kept its bounds, and returns what it spent.
func (c *caseTrial) bounded(o plan.Outcome) spent {
	c.t.Helper()
	s := spent{tries: map[string]int{}, recovered: map[string]int{}}
	for _, l := range c.record() {
		if op, err := plan.ParseOperationID(l.operation); l.what == plan.ActivitySubmit && err == nil {
			s.tries[op.Step] = max(s.tries[op.Step], op.Generation)
		}
	}
	for _, e := range c.view().Journal {
		switch {
		case e.Kind == "decision" && e.To != "": // one that is none is followed by the table's
			s.decisions++
		case e.Kind == "recovery":
			s.recovered[e.Step]++
		}
	}
	for step, n := range s.tries {
		if n > mostTries+s.recovered[step] {
			c.t.Errorf("Law13: step %s was tried %d times, %d of them by the reason table", step, n, s.recovered[step])
		}
	}
	if s.decisions > mostDecisions {
		c.t.Errorf("Law13: %d decisions", s.decisions)
	}
	c.dependantsKeptOut(o)
	return s
}

// dependantsKeptOut sees that nothing after a step that is not done ever began, and that the plan says so.
func (c *caseTrial) dependantsKeptOut(o plan.Outcome) {
	c.t.Helper()
	own := o.Steps[:len(planSteps)] // without the way home that a decision may have added
	undone := slices.IndexFunc(own, func(s plan.StepOutcome) bool { return s.Phase != plan.StepCompleted })
	if undone < 0 {
		if o.State != plan.Completed {
			c.t.Errorf("every step is done, and the plan ended %s", o.State)
		}
		return
	}
	if o.State == plan.Completed {
		c.t.Errorf("Law20: the plan ended completed, and step %s is %s", own[undone].ID, own[undone].Phase)
	}
	for _, s := range own[undone+1:] {
		if s.Phase != plan.StepSkipped || s.OperationID != "" {
			c.t.Errorf("Law01: step %s, after one that failed, ended %s (%s)", s.ID, s.Phase, s.OperationID)
		}
	}
}

// early draws how far on a task fails, again and again: a robot that failed late is so near by the third time that it just gets there.
func (c *caseTrial) early(what string) *float64 {
	f := float64(c.IntN(60)) / 100
	c.note("%s: %.2f", what, f)
	return &f
}

// c07: a step that failed is not done. What depends on it never runs, and the same goal is not repeated for ever, whatever is answered.
func failedIsNotDone(c *caseTrial) {
	const fails, refused, late = "fails", "is refused", "takes too long"
	step := c.anyStep()
	how := pick(c, "it", fails, fails, refused, late)
	code := pick(c, "because of", robot.ReasonPathBlocked, robot.ReasonMovePolicy, robot.ReasonExecutorFault, robot.ReasonBatteryLow, "FILTER_MISSING", "PREEMPTED")
	times := pick(c, "times", 1, 2, 3, -1)
	at := c.early("at")
	hesitates := c.between("a question is answered after", 0, time.Second)
	var answers []string
	for range mostAnswers {
		answers = append(answers, pick(c, "answer", "retry", "retry", "stop"))
	}

	c.begin()
	switch how {
	case fails:
		c.fault(robot.Fault{Kind: robot.FaultFail, Method: step.method, At: at, ReasonCode: code, Times: times})
	case refused:
		c.fault(robot.Fault{Kind: robot.FaultRefuse, Method: step.method, ReasonCode: code, Times: times})
	case late:
		code = "TASK_TIMED_OUT"
		c.fault(robot.Fault{Kind: robot.FaultHold, Method: step.method, At: at, Times: times})
	}
	c.submitWith(timing{runMs: map[string]int64{late: 3000}[how]})
	n := 0
	c.watch("the plan is over", notYet, func(plan.Question) string {
		pause(hesitates)
		n++
		return answers[min(n, len(answers))-1]
	})
	o := c.end(plan.Completed, plan.Failed, plan.Returned)
	c.bounded(o)
	if o.State != plan.Completed && (o.Reason == nil || o.Reason.Code != code) {
		c.t.Errorf("the plan ended %s because of %+v, want %s", o.State, o.Reason, code)
	}
	if got := o.Steps[step.index].Phase; times < 0 && got != plan.StepFailed {
		c.t.Errorf("step %s, which fails whenever it is tried, ended %s", step.id, got)
	}
}

// c11: whatever is decided comes back the same: the table says retry, a person does, or the plan's decider does or breaks, again and
// again. Each spends of the budget; then the plan stops, and says why.
func againAndAgain(c *caseTrial) {
	steps := planSteps
	code := pick(c, "because of", robot.ReasonPathBlocked, robot.ReasonExecutorFault)
	var times []int
	for _, s := range steps {
		times = append(times, pick(c, s.id+" fails, times", 0, 0, 1, 2, -1))
	}
	worst := pick(c, "and without end", steps...)
	times[worst.index] = -1
	table := pick(c, "the table says", "ask", "retry")
	decider := pick(c, "decider", "", activities.TableDecider, "one that is not there")
	recoveries := pick(c, "the table's recovery, times", 0, 1, 2)
	backoff := c.between("each after", 0, time.Second)
	at := c.early("at")
	hesitates := c.between("a question is answered after", 0, 500*time.Millisecond)

	c.begin()
	for i, n := range times {
		if n != 0 {
			c.robot.Fault(c.t, robot.Fault{Kind: robot.FaultFail, Method: steps[i].method, At: at, ReasonCode: code, Times: n})
		}
	}
	c.submitWith(timing{decider: decider, change: func(s *catalog.Slice) {
		reasons := slices.Clone(s.Reasons)
		for i := range reasons {
			if reasons[i].Code == code {
				reasons[i].Default = table
				reasons[i].Recovery = catalog.Recovery{Action: "retry", MaxAttempts: recoveries, BackoffMs: ms(backoff)}
			}
		}
		s.Reasons = reasons
	}})
	asked := 0
	c.watch("the plan is over", notYet, func(q plan.Question) string {
		pause(hesitates)
		if !slices.Contains(q.Choices, "retry") {
			return "stop" // nothing is left to be tried
		}
		asked++
		return "retry"
	})
	o := c.end(plan.Failed)
	s := c.bounded(o)
	if o.Reason == nil || o.Reason.Code != code {
		c.t.Errorf("it stopped because of %+v, want %s", o.Reason, code)
	}
	switch {
	case s.again() == 0:
		c.t.Errorf("nobody had it tried again: %+v", s)
	case table == "ask" && asked < s.again():
		c.t.Errorf("%d questions, and %+v", asked, s)
	}
}
