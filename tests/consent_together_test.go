package tests

import (
	"fmt"
	"sync"
	"testing"

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
			if mu.Lock(); err == nil {
				taken[choice]++
			}
			mu.Unlock()
		})
	}
	sent.Wait()
	s.WorkerProc.Thaw(t)
	settled.Wait()
	v := j.plan.View(t)
	if len(v.Answers) != 1 || len(taken) != 1 || taken[v.Answers[0].Choice] != 1 {
		t.Errorf("told that it was taken: %v; taken: %+v", taken, v.Answers)
	}
	j.plan.Cancel(t)
	j.plan.Wait(t)
}
