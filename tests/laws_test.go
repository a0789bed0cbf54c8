package tests

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// TestLaws holds each law of the design on real processes, where no other test of this package does or where it can be
// held more sharply: by a device on a raw socket that says exactly what the test wants. docs/laws.md lists them all.
func TestLaws(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	t.Run("Together", func(t *testing.T) {
		var all sync.WaitGroup
		defer all.Wait()
		for _, c := range []struct {
			name string
			run  func(*testing.T, *stack.Stack)
		}{
			{"Law01OrderIsTheDependencies", orderIsTheDependencies},
			{"Law02TheSecondWaitsForTheFirst", secondWaitsForTheFirst},
			{"Law03WhatTheContractDoesNotGiveAwayIsNotSent", whatIsNotGivenAway},
			{"Law03WhatTheSlotDoesNotTakeIsNotSent", whatIsNotTaken},
			{"Law03TheGateRefusesWhatCannotBeBound", gateOfBindings},
			{"Law04UnlistedIsStoredNowhere", unlistedIsStoredNowhere},
			{"Law05OnlyItsCompletionCompletesAStep", onlyItsCompletion},
			{"Law06AnOlderTrysCompletionIsRecordedNotApplied", olderTrysCompletion},
			{"Law07AcrossAReconnect", twiceAcrossAReconnect},
			{"Law07AcrossAReset", twiceAcrossAReset},
			{"Law08ByBootAndNumber", byBootAndNumber},
			{"Law09AskedAboutBeforeAnythingElse", askedBeforeAnythingElse},
			{"Law10LateTruthCountsOnce", lateTruthCountsOnce},
			{"Law11SentAgainUnderTheSameID", sentAgainUnderTheSameID},
			{"Law11ALowerGenerationIsRefused", lowerGenerationIsRefused},
			{"Law17AStaleMapNamesNoRoom", staleMapNamesNoRoom},
			{"Law17And20AStaleSensorConfirmsNothing", staleSensorConfirmsNothing},
			{"Law18EveryWaitIsToldWithItsNextMove", everyWaitIsTold},
			{"Law18TheNextMoveIsWhatComes", nextMoveComes},
			{"Law19EachEventHasARecord", eachEventHasARecord},
		} {
			beside(t, &all, c.name, func(t *testing.T) { c.run(t, s) })
		}
	})
	t.Run("Law07AcrossAWorkersRestart", func(t *testing.T) { twiceAcrossARestart(t, s) }) // alone: the others need the worker
}

// beside starts a subtest beside the others of all: each spends most of its time waiting, and t.Parallel would run as many
// at a time as there are cores.
func beside(t *testing.T, all *sync.WaitGroup, name string, run func(*testing.T)) {
	all.Go(func() { t.Run(name, run) })
}

// The document's order is the reverse of the order in which its steps may run.
func orderIsTheDependencies(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	p := s.Submit(t, r, `{"steps":[
		{"id":"return","action":{"capability_id":"return_to_station","operation_id":"start"},"depends_on":["purify"]},
		{"id":"purify","action":{"capability_id":"stationary_purify","operation_id":"start"},"depends_on":["move"],"input_from":{"area_id":"arrival.result.area_id"}},
		{"id":"move","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}},"output_key":"arrival"}]}`)
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked")
}

// Neither of two moves depends on the other. While the first in plan order runs, the second is nowhere on the robot.
func secondWaitsForTheFirst(t *testing.T, s *stack.Stack) {
	r := s.Robot(t)
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Submit(t, r, `{"steps":[
		{"id":"second","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"거실"}},"depends_on":["first"]},
		{"id":"third","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"서재"}}},
		{"id":"first","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}}}]}`)
	r.AwaitFault(t, hold)
	state, err := r.Control(t).State(t.Context())
	if err != nil || state.Running == nil || state.Running.Spec.OperationID != p.ID+"/third/1" || len(state.Queue) != 0 {
		t.Errorf("the robot runs %+v and has %d more in its queue (%v), want the first ready step alone", state.Running, len(state.Queue), err)
	}
	r.Release(t, hold)
	wantOutcome(t, p, plan.Completed, "completed")
	var order []string
	for _, e := range r.Ledger(t) {
		order = append(order, e.OperationID)
	}
	if want := []string{p.ID + "/third/1", p.ID + "/first/1", p.ID + "/second/1"}; !slices.Equal(order, want) {
		t.Errorf("the ledger has %v, want %v", order, want)
	}
}

// taken starts a plan on a raw device, which accepts the first step.
func taken(t *testing.T, s *stack.Stack, document string) (*stack.Node, *stack.Plan) {
	t.Helper()
	n := s.Node(t, stack.NewKey(t), stack.Declared())
	p := s.SubmitTo(t, n.ID, document)
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	return n, p
}

// tell sends one event of the current boot and fails the test unless it is acknowledged as wanted.
func tell(t *testing.T, n *stack.Node, seq int, name, operation, more, ack string) {
	t.Helper()
	if got := n.Event(t, wire.NodeTaskEvent, taskEvent(fmt.Sprint("b1-", seq), seq, name, operation, more)); got.Ack != ack {
		t.Errorf("%s (%d) of %s is acknowledged as %+v, want %s", name, seq, operation, got, ack)
	}
}

// wantSubmits fails the test unless exactly these operations were sent over the socket.
func wantSubmits(t *testing.T, n *stack.Node, want ...string) {
	t.Helper()
	var got []string
	for _, r := range n.Received(wire.CommandSubmitTask) {
		task, err := wire.ParseTask([]byte(r.ParamsJSON))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, task.OperationID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the device was sent %v, want %v", got, want)
	}
}
