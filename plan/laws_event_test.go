package plan_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
)

// Short of COMPLETED and WORKFLOW_STEP_COMPLETED no word of a device completes a step: not its acceptance, not its start,
// not a parent's name, and not the completion target. A completion that can be verified is none before its verdict.
func TestLaw05OnlyItsCompletionCompletesAStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		s.until("move accepted", func() bool { return s.phase("move") == plan.StepAccepted })
		names := rapid.SliceOfN(rapid.SampledFrom([]plan.EventName{plan.EventQueued, plan.EventStarted, plan.EventRunning, plan.EventProgress,
			plan.EventStepStarted, plan.EventWorkflowCompleted, "move.done", "movement.arrived", "completed", "DONE", ""}), 0, 8).Draw(t, "names")
		for i, name := range names {
			s.take(s.event(1, int64(50+i), name, "p-1/move/1"))
			if s.phase("move") == plan.StepCompleted || len(s.submits) != 1 || len(s.state.View().Plan.CompletedStepIDs) != 0 {
				t.Fatalf("after %v move is %s, sent %v", names[:i+1], s.phase("move"), s.submits)
			}
		}
		s.take(s.event(1, 90, rapid.SampledFrom([]plan.EventName{plan.EventCompleted, plan.EventStepCompleted}).Draw(t, "completion"), "p-1/move/1"))
		if s.phase("move") != plan.StepCompleted || s.submits["p-1/purify/1"] != 1 {
			t.Fatalf("after its completion move is %s, sent %v", s.phase("move"), s.submits)
		}
		s.until("purify accepted", func() bool { return s.phase("purify") == plan.StepAccepted })
		s.take(s.event(1, 91, plan.EventCompleted, "p-1/purify/1"))
		if s.phase("purify") != plan.StepVerifying || s.submits["p-1/dock/1"] != 0 {
			t.Fatalf("before its verdict purify is %s, sent %v", s.phase("purify"), s.submits)
		}
	})
}

// event is a report of the device about an operation, with a listed result.
func (s *sim) event(epoch, seq int64, name plan.EventName, operation string) plan.Event {
	return plan.Event{EventID: fmt.Sprintf("b%d-%d", epoch, seq), DeviceID: testDevice, Epoch: epoch, Seq: seq, Name: name,
		OperationID: operation, TaskMethod: "do_move", Result: map[string]any{"area_id": "6"}}
}

// An event of any attempt but the live one is on record, and changes nothing: not of an earlier try of the same step, not
// of the same step of another plan, not one that names no attempt and another task.
func TestLaw06AnotherAttemptsEventIsRecordedNotApplied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.happens(plan.EventFailed, 80, "TRY_AGAIN", false)
		s.until("running again", func() bool { return s.submits["p-1/move/2"] == 1 && s.phase("move") == plan.StepAccepted })
		ev := s.event(1, 90, rapid.SampledFrom([]plan.EventName{plan.EventCompleted, plan.EventFailed, plan.EventBlocked, plan.EventRunning}).Draw(t, "name"),
			rapid.SampledFrom([]string{"p-1/move/1", "p-1/move/3", "p-2/move/2", "p-1/purify/1", "p-1/nosuch/2", "garbage", ""}).Draw(t, "operation"))
		ev.WorkflowID, ev.StepID = testPlan, "move"
		ev.TaskID = rapid.SampledFrom([]string{"t1", "", "t9"}).Draw(t, "task") // t2 is the live one's
		ev.Report = &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}
		before, entries := s.state.Steps[0].Ops[1], s.state.Entries
		s.take(ev)
		after := s.state.Steps[0].Ops[1]
		if after.Phase != before.Phase || after.Terminal != nil || s.state.Boundary != nil || s.state.Steps[0].Result != nil || len(s.submits) != 2 {
			t.Fatalf("%s of %q, task %q: the live attempt went from %+v to %+v", ev.Name, ev.OperationID, ev.TaskID, before, after)
		}
		if s.state.Entries == entries {
			t.Fatalf("%s of %q is not on record", ev.Name, ev.OperationID)
		}
	})
}

// However often an event comes, and however much later, it counts once. The same told under another number changes no
// step, commands nothing and takes no verdict again.
func TestLaw07AgainAndLaterChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		var told []plan.Event
		for range rapid.IntRange(3, 30).Draw(t, "moves") {
			switch {
			case len(s.events) > 0:
				told = append(told, s.events[0])
				s.deliver(0, false)
			case len(s.out) > 0:
				s.answer(0, fine)
			default:
				s.work()
			}
			if len(told) == 0 || s.finish != nil {
				continue
			}
			again := rapid.SampledFrom(told).Draw(t, "again")
			before := s.state
			s.all = nil
			s.take(again)
			if !reflect.DeepEqual(s.state, before) {
				t.Fatalf("event %s (%s) again changed the state", again.EventID, again.Name)
			}
			if rapid.Bool().Draw(t, "renumbered") && again.Name.Terminal() {
				again.Seq += 1000
				s.take(again)
				if !sameSteps(s.state.Steps, before.Steps) {
					t.Fatalf("%s (%s) under another number changed a step from %+v to %+v", again.EventID, again.Name, before.Steps, s.state.Steps)
				}
			}
			if slices.ContainsFunc(s.all, func(c plan.Command) bool { _, wake := c.(plan.SetDeadline); return !wake }) {
				t.Fatalf("event %s (%s) again commanded %v", again.EventID, again.Name, s.all)
			}
		}
		if o := s.settle(); o.State != plan.Completed || len(s.device.effects) != 3 {
			t.Fatalf("%s with %v", o.State, s.device.effects)
		}
	})
}

func sameSteps(a, b []plan.StepState) bool {
	return slices.EqualFunc(a, b, func(a, b plan.StepState) bool { return reflect.DeepEqual(a, b) })
}

// In whatever order the reports about one operation come, it stands in the end as the last of the highest rank says, by
// boot and number. What the timestamps say decides nothing.
func TestLaw08AnyOrderOfArrivalEndsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		s.until("move accepted", func() bool { return s.phase("move") == plan.StepAccepted })
		s.events = nil
		told := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plan.Event {
			ev := s.event(rapid.Int64Range(1, 2).Draw(t, "boot"), rapid.Int64Range(10, 40).Draw(t, "seq"),
				rapid.SampledFrom([]plan.EventName{plan.EventQueued, plan.EventStarted, plan.EventRunning, plan.EventBlocked}).Draw(t, "name"), "p-1/move/1")
			ev.Timestamp = rapid.Int64Range(0, 1000).Draw(t, "timestamp")
			return ev
		}), 1, 6).Draw(t, "told")
		slices.SortFunc(told, byNumber)
		told = slices.CompactFunc(told, func(a, b plan.Event) bool { return byNumber(a, b) == 0 }) // a number is given once
		want := plan.StepAccepted
		for _, ev := range told {
			switch {
			case ev.Name == plan.EventBlocked:
				want = plan.StepBlocked
			case ev.Name != plan.EventQueued:
				want = plan.StepRunning
			}
		}
		for _, ev := range rapid.Permutation(told).Draw(t, "arrival") {
			s.take(ev)
		}
		if s.phase("move") != want {
			t.Fatalf("after %v move is %s, want %s", told, s.phase("move"), want)
		}
	})
}

func byNumber(a, b plan.Event) int {
	if a.Epoch != b.Epoch {
		return int(a.Epoch - b.Epoch)
	}
	return int(a.Seq - b.Seq)
}
