package tests

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
	"errand/workflows"
)

var record = flag.String("record", "", "folder to write the histories to: golden files of the workflow's replay test")

// TestHistoriesReplay runs plans of every kind on real processes and replays their histories from the first event, as a
// worker does that was restarted. With -record it keeps them as golden files.
func TestHistoriesReplay(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	for name, run := range map[string]func(*testing.T, *stack.Stack) *stack.Plan{
		"completed": func(t *testing.T, s *stack.Stack) *stack.Plan { return s.Say(t, s.Robot(t), sentence) },
		"lost-acknowledgement": func(t *testing.T, s *stack.Stack) *stack.Plan {
			r := s.Robot(t)
			r.Fault(t, robot.Fault{Kind: robot.FaultDropAnswer, Method: "setMoveTo"})
			return s.Say(t, r, sentence)
		},
		"event-before-answer": func(t *testing.T, s *stack.Stack) *stack.Plan {
			r := s.Robot(t)
			r.Fault(t, robot.Fault{Kind: robot.FaultDelayAnswer, Method: "setMoveTo"})
			return s.Say(t, r, sentence)
		},
		"binding-failed": func(t *testing.T, s *stack.Stack) *stack.Plan {
			r := s.Robot(t)
			r.Fault(t, robot.Fault{Kind: robot.FaultOmitResult, Method: "setMoveTo"})
			return s.Say(t, r, sentence)
		},
		"cancelled-by-api": func(t *testing.T, s *stack.Stack) *stack.Plan {
			_, p, _ := moving(t, s, robot.FaultHold)
			p.Cancel(t)
			return p
		},
		"cancelled-in-temporal": func(t *testing.T, s *stack.Stack) *stack.Plan {
			_, p, _ := moving(t, s, robot.FaultHold)
			if err := s.Temporal.CancelWorkflow(t.Context(), p.ID, ""); err != nil {
				t.Fatal(err)
			}
			return p
		},
		"asked-and-retried": func(t *testing.T, s *stack.Stack) *stack.Plan {
			r := s.Robot(t)
			r.Fault(t, robot.Fault{Kind: robot.FaultFail, Method: "setStationaryPurify", At: &half, ReasonCode: "FILTER_MISSING"})
			p := s.Say(t, r, sentence)
			v := p.Await(t, "the plan asks", func(v plan.View) bool { return v.Question != nil })
			p.Answer(t, v.Question.ID, "retry")
			return p
		},
		"chosen-and-confirmed": func(t *testing.T, s *stack.Stack) *stack.Plan {
			j := beginAlarms(t, s, patient)
			j.answers(j.asked("select"), j.b)
			j.answers(j.asked("confirm"), "yes")
			return j.plan
		},
		"no-plan": func(t *testing.T, s *stack.Stack) *stack.Plan { return s.Say(t, s.Robot(t), "창문 열어줘") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := run(t, s)
			p.Wait(t)
			h := historyOf(t, s.Temporal, p.ID)
			replayer := worker.NewWorkflowReplayer()
			workflows.Register(replayer)
			if err := replayer.ReplayWorkflowHistory(nil, h); err != nil {
				t.Errorf("the history does not replay: %v", err)
			}
			if *record != "" {
				keep(t, filepath.Join(*record, name+".json"), h)
			}
		})
	}
}

func historyOf(t *testing.T, c client.Client, id string) *history.History {
	t.Helper()
	h := &history.History{}
	for events := c.GetWorkflowHistory(context.Background(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			t.Fatalf("history of %s: %v", id, err)
		}
		h.Events = append(h.Events, event)
	}
	return h
}

func keep(t *testing.T, file string, h *history.History) {
	t.Helper()
	text, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
