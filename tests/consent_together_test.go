package tests

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"errand/plan"
	"errand/tests/stack"
)

// Many answer while no worker is there to take it, one this and one that: they come to the plan in one moment. Whoever is told that
// theirs was taken said what was taken.
func TestLaw16ManyAnswerTogether(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	j := beginAlarms(t, s, patient)
	q := j.asked("select")
	var (
		mu            sync.Mutex
		taken         = map[string]int{}
		dropped       int
		sent, settled sync.WaitGroup
	)
	s.WorkerProc.Freeze(t)
	for n := range 16 {
		sent.Add(1)
		settled.Go(func() {
			choice := []string{j.a, j.b}[n%2]
			sent.Done()
			update, err := s.Temporal.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{WorkflowID: j.plan.ID, UpdateName: plan.UpdateAnswer,
				Args: []any{plan.Answer{QuestionID: q.ID, Choice: choice, By: fmt.Sprint("person-", n), MayConfirm: true}}, WaitForStage: client.WorkflowUpdateStageCompleted})
			if err == nil {
				err = update.Get(t.Context(), nil)
			}
			mu.Lock()
			defer mu.Unlock()
			var (
				timeout     *client.WorkflowUpdateServiceTimeoutOrCanceledError
				unavailable *serviceerror.Unavailable
			)
			switch {
			case err == nil:
				taken[choice]++
			case errors.As(err, &timeout), errors.As(err, &unavailable):
				dropped++
			}
		})
	}
	sent.Wait()
	s.WorkerProc.Thaw(t)
	settled.Wait()
	v := j.plan.View(t)
	// The server may let updates fall that came to a frozen worker: then nobody is told, which is no lie.
	told := taken[j.a] + taken[j.b]
	if len(v.Answers) != 1 || told > 1 || told == 1 && taken[v.Answers[0].Choice] != 1 || told == 0 && dropped == 0 {
		t.Errorf("told that it was taken: %v; dropped %d; taken: %+v", taken, dropped, v.Answers)
	}
	j.plan.Cancel(t)
	j.plan.Wait(t)
}
