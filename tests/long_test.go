package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"go.temporal.io/api/workflowservice/v1"

	"errand/plan"
	"errand/tests/stack"
)

// chain is a plan of n steps of one kind, each after the one before.
func chain(n int, step func(i int) string) string {
	steps := make([]json.RawMessage, n)
	for i := range steps {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(`"s%d"`, i-1)
		}
		steps[i] = json.RawMessage(fmt.Sprintf(`{"id":"s%d","depends_on":[%s],"action":%s}`, i, after, step(i)))
	}
	raw, err := json.Marshal(map[string]any{"steps": steps, "deadline_ms": 7_200_000})
	if err != nil {
		panic(err) // the literals above are not JSON
	}
	return string(raw)
}

func speaks(i int) string {
	return fmt.Sprintf(`{"capability_id":"speak","operation_id":"say","arguments":{"text":"%d"}}`, i)
}

func moves(i int) string {
	return fmt.Sprintf(`{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":%q}}`, []string{"안방", "거실"}[i%2])
}

// A plan of 200 steps goes through many runs of its workflow, each of its steps once.
func TestLaw07APlanOf200StepsGoesThroughManyRuns(t *testing.T) {
	t.Parallel()
	s := stack.Start(t, "ERRAND_RENEW_AFTER=300", "ERRAND_FORWARD_STARTED=false")
	r := s.Robot(t)
	p := s.Submit(t, r, chain(200, speaks))
	o := wantOutcome(t, p, plan.Completed, "completed")
	if len(o.Steps) != 200 {
		t.Errorf("%d steps", len(o.Steps))
	}
	runs := runsOf(t, s, p.ID)
	if runs < 7 {
		t.Errorf("%d runs of at most 300 events and a few more", runs)
	}
	said := map[string]int{}
	for _, e := range r.Ledger(t) {
		said[e.OperationID]++
	}
	for i := range 200 {
		if id := fmt.Sprintf("%s/s%d/1", p.ID, i); said[id] != 1 {
			t.Errorf("Law11: %d effects of %s", said[id], id)
		}
	}
	t.Logf("200 steps in %d runs", runs)
}

// runsOf counts the runs of a plan's workflow.
func runsOf(t *testing.T, s *stack.Stack, id string) int64 {
	t.Helper()
	var runs int64
	stack.Eventually(t, "all runs of the plan are listed as closed", func(ctx context.Context) (bool, error) {
		query := fmt.Sprintf("WorkflowId = %q", id)
		all, err := s.Temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
		if err != nil {
			return false, err
		}
		open, err := s.Temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query + " AND ExecutionStatus = 'Running'"})
		if err != nil {
			return false, err
		}
		runs = all.GetCount()
		return runs > 0 && open.GetCount() == 0, nil
	})
	return runs
}

const (
	// planCost bounds what a plan costs apart from its steps: start and end, lease, finding the device, telling the person,
	// and a timer that had to be set anew.
	planCost   = 40
	chainSteps = 30
)

// What a step costs: at most 11 events of history, 4 more with STARTED forwarded, 6 more where it is verified.
func TestWhatAStepCostsInHistory(t *testing.T) {
	t.Parallel()
	for started, forwarded := range map[string]int{"false": 0, "true": 4} {
		t.Run("STARTED forwarded "+started, func(t *testing.T) {
			t.Parallel()
			s := stack.Start(t, stack.Option("ERRAND_FORWARD_STARTED="+started))
			for name, c := range map[string]struct {
				step func(int) string
				most int
			}{"unverified": {speaks, 11}, "verified": {moves, 11 + 6}} {
				t.Run(name, func(t *testing.T) {
					events := eventsOf(t, s, chain(chainSteps, c.step))
					t.Logf("%.1f events a step, and what the plan itself costs", float64(events-planCost)/chainSteps)
					if most := c.most + forwarded; events > chainSteps*most+planCost {
						t.Errorf("%d events for %d steps: may be %d a step and %d for the plan", events, chainSteps, most, planCost)
					}
				})
			}
		})
	}
}

func eventsOf(t *testing.T, s *stack.Stack, document string) int {
	t.Helper()
	p := s.Submit(t, s.Robot(t), document)
	wantOutcome(t, p, plan.Completed, "completed")
	events := historyOf(t, s.Temporal, p.ID).GetEvents()
	kinds := map[string]int{}
	for _, e := range events {
		kinds[e.GetEventType().String()]++
	}
	t.Logf("%d events: %s", len(events), counts(kinds))
	return len(events)
}
