package tests

import (
	"testing"

	"errand/plan"
	"errand/tests/stack"
)

// The gateway dies between a person's yes and the submit: it can take nothing any more when the yes is given, is killed, and comes
// back as another process. Nobody is asked again, since the yes still holds, and the chosen alarm goes once.
func TestLaw16AGatewayDiesBetweenTheYesAndTheSubmit(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	j := beginAlarms(t, s, patient)
	before := j.there()
	j.answers(j.asked("select"), j.b)
	yes := j.asked("confirm")
	s.GatewayProc.Freeze(t)
	j.answers(yes, "yes")
	j.plan.AwaitStep(t, "delete", plan.StepSubmitting)
	s.GatewayProc.Kill(t)
	s.GatewayProc.Start(t)
	o, _ := j.plan.Wait(t)
	if o.State != plan.Completed || o.Steps[0].Receipt == nil || o.Steps[0].Receipt.Confirmation == nil || o.Steps[0].Receipt.Confirmation.QuestionID != yes.ID {
		t.Errorf("%s for %+v, receipt %+v", o.State, o.Reason, o.Steps[0].Receipt)
	}
	j.left(before, j.b)
}
