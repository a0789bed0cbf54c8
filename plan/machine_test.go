package plan_test

import (
	"slices"
	"strings"
	"testing"

	"errand/plan"
)

func TestMainJobEndsVerifiedWithABoundResult(t *testing.T) {
	s := newSim(t, threeSteps())
	o := s.settle()
	if o.State != plan.Completed || o.LLMCalls != 0 {
		t.Fatalf("outcome %s with %d model calls, want completed with none", o.State, o.LLMCalls)
	}
	if want := []string{"p-1/move/1", "p-1/purify/1", "p-1/dock/1"}; !slices.Equal(s.device.effects, want) {
		t.Errorf("effects %v, want %v", s.device.effects, want)
	}
	if got := s.state.Steps[1].Arguments["area_id"]; got != "6" {
		t.Errorf("purify's area_id is %v, want the one bound from the move", got)
	}
	if o.Verified != 1 {
		t.Errorf("%d verified steps, want the one whose capability can be verified", o.Verified)
	}
}

func TestLaw01And02StepsGoInOrderOneAtATime(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{
		spec("last", "dock", []string{"a", "b"}, nil), spec("a", "move", nil, nil), spec("b", "clean", nil, nil)}}
	s := newSim(t, doc)
	s.settle()
	if want := []string{"a", "b", "last"}; !slices.Equal(s.order, want) {
		t.Errorf("submitted in order %v, want %v: of the ready ones the first in plan order", s.order, want)
	}
}

func TestLaw03ABindingThatFailsSubmitsNothing(t *testing.T) {
	for name, result := range map[string]map[string]any{
		"field absent":   {"room_name": "안방"},
		"field null":     {"area_id": nil},
		"field mistyped": {"area_id": 6.0},
		"no result":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, threeSteps())
			s.device.result = result
			o := s.settle()
			if o.State != plan.Failed || o.Reason.Code != "STEP_RESULT_BINDING_FAILED" {
				t.Fatalf("outcome %s (%v), want failed by STEP_RESULT_BINDING_FAILED", o.State, o.Reason)
			}
			if s.submits["p-1/purify/1"] != 0 || len(s.device.effects) != 1 {
				t.Errorf("submits %v, effects %v: nothing may move after the failed binding", s.submits, s.device.effects)
			}
			if !journalHas(s, "boundary", "STEP_RESULT_BINDING_FAILED") {
				t.Error("waiting_replan is not on record")
			}
		})
	}
}

func TestLaw03AnEnvelopeHoldsListedFieldsOnly(t *testing.T) {
	s := newSim(t, &plan.Document{Steps: []plan.StepSpec{spec("move", "move", nil, nil),
		spec("clean", "clean", []string{"move"}, map[string]string{"arrival": "move.result"})}})
	s.settle()
	got, ok := s.state.Steps[1].Arguments["arrival"].(map[string]any)
	if !ok || len(got) != 2 || got["area_id"] != "6" || got["room_name"] != "안방" {
		t.Errorf("the envelope is %v, want the two listed fields", got)
	}
}

func TestLaw05AcceptedAndRunningAreNotCompleted(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	if s.phase("purify") != plan.StepPending || len(s.submits) != 1 {
		t.Errorf("purify is %s before the move is completed", s.phase("purify"))
	}
	ev := s.state.Steps[0].Ops[0]
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 90, Name: "movement.arrived", OperationID: ev.ID})
	if s.phase("move") != plan.StepRunning {
		t.Errorf("a completion target was taken for an event name: move is %s", s.phase("move"))
	}
}

func TestLaw06AnEventCountsOnlyForItsOperation(t *testing.T) {
	foreign := []string{"p-1/move/2", "p-2/move/1", "p-1/dock/1", "p-1/nosuch/1", "not an id", "p-1/move/01"}
	for _, id := range foreign {
		s := newSim(t, threeSteps())
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 90, Name: plan.EventCompleted, OperationID: id, TaskMethod: "do_move"})
		if s.phase("move") != plan.StepRunning {
			t.Errorf("an event for %q changed p-1/move/1", id)
		}
	}
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.Event{EventID: "x", DeviceID: "robot-2", Epoch: 1, Seq: 90, Name: plan.EventCompleted, OperationID: "p-1/move/1"})
	if s.phase("move") != plan.StepRunning {
		t.Error("another device's event was applied")
	}
}

func TestLaw08OrderIsEpochAndSequence(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	event := func(epoch, seq int64, name plan.EventName) plan.Event {
		return plan.Event{EventID: "x", DeviceID: testDevice, Epoch: epoch, Seq: seq, Name: name, OperationID: "p-1/move/1"}
	}
	s.take(event(2, 1, plan.EventBlocked))
	if s.phase("move") != plan.StepBlocked {
		t.Fatalf("a later boot's BLOCKED did not count: %s", s.phase("move"))
	}
	s.take(event(1, 50, plan.EventRunning))
	if s.phase("move") != plan.StepBlocked {
		t.Error("an earlier boot's RUNNING overwrote a later boot's BLOCKED")
	}
	s.take(event(2, 2, plan.EventRunning))
	if s.phase("move") != plan.StepRunning {
		t.Error("the RUNNING after BLOCKED did not count")
	}
	s.take(event(2, 3, plan.EventQueued))
	if s.phase("move") != plan.StepRunning {
		t.Error("QUEUED overwrote RUNNING")
	}
}

func TestCaseC01LostAcknowledgement(t *testing.T) {
	for _, delivered := range []bool{true, false} {
		s := newSim(t, threeSteps())
		s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
		way := vanish
		if delivered {
			way = ackLost
		}
		s.answer(request[plan.Submit](s), way)
		if s.phase("move") != plan.StepUnknown {
			t.Fatalf("after a lost acknowledgement move is %s, want unknown (law 9)", s.phase("move"))
		}
		if request[plan.QueryStatus](s) < 0 || request[plan.Submit](s) >= 0 {
			t.Fatal("the device must be asked before anything else")
		}
		if o := s.settle(); o.State != plan.Completed || len(s.device.effects) != 3 {
			t.Errorf("delivered=%v: %s with effects %v, want completed with one movement", delivered, o.State, s.device.effects)
		}
	}
}

func TestCaseC02LateSuccess(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.device.online = false
	s.tick(s.state.Wake - s.now)
	if s.phase("move") != plan.StepUnknown {
		t.Fatalf("overdue, move is %s, want unknown and not failed", s.phase("move"))
	}
	s.answer(request[plan.QueryStatus](s), fine)
	s.work()
	s.device.connect()
	for len(s.events) > 0 {
		s.deliver(0, false)
	}
	if o := s.settle(); o.State != plan.Completed || s.submits["p-1/purify/1"] != 1 {
		t.Errorf("%s, purify submitted %d times, want completed and once", o.State, s.submits["p-1/purify/1"])
	}
}

func TestCaseC03EventBeforeItsWait(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	c, ok := s.out[request[plan.Submit](s)].(plan.Submit)
	if !ok {
		t.Fatal("no submit is out")
	}
	answer := s.device.submit(c)
	s.work()
	s.work()
	s.collect()
	for len(s.events) > 0 {
		s.deliver(len(s.events)-1, false) // and the other way round
	}
	if s.phase("move") != plan.StepCompleted {
		t.Fatalf("move is %s before its submit was answered, want completed", s.phase("move"))
	}
	s.out = slices.DeleteFunc(s.out, func(o plan.Command) bool { x, ok := o.(plan.Submit); return ok && x.OperationID == c.OperationID })
	s.take(answer)
	if o := s.settle(); o.State != plan.Completed || len(s.device.effects) != 3 {
		t.Errorf("%s with effects %v", o.State, s.device.effects)
	}
}

func TestCaseC06CancelBeatenByCompletion(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.device.stubborn = true
	s.take(plan.CancelRequest{By: "kim", Why: "changed my mind"})
	s.answer(request[plan.CancelTask](s), fine)
	o := s.settle()
	if o.Steps[0].Phase != plan.StepCompleted || o.State != plan.Cancelled || o.Cancel == nil {
		t.Errorf("plan %s, move %s, cancel %v: a completion may beat a cancel, which stays on record", o.State, o.Steps[0].Phase, o.Cancel)
	}
	if len(s.device.effects) != 1 {
		t.Errorf("effects %v, want the move alone", s.device.effects)
	}
}

func TestCaseC08RestartWithoutAWord(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.device.silent = true
	s.work() // it ends, and never says so
	s.device.silent = false
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s, want the stored completion found by asking", o.State)
	}
}

func TestLaw09NotFoundInAnotherStoreIsNotProof(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	s.answer(request[plan.Submit](s), ackLost)
	s.device.forgetful, s.device.silent, s.device.outbox = true, true, nil
	s.events = nil
	o := s.settle()
	if o.State != plan.Unresolved || s.submits["p-1/move/1"] != 1 {
		t.Errorf("%s after %d submits, want unresolved after one", o.State, s.submits["p-1/move/1"])
	}
	if o.Steps[0].Phase != plan.StepUnknown {
		t.Errorf("Law19: move is reported %s, want unknown", o.Steps[0].Phase)
	}
}

func TestLaw15CancelBeforeTheFirstSubmit(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.online = false
	s.take(plan.CancelRequest{By: "kim"})
	if s.finish == nil || s.finish.State != plan.Cancelled {
		t.Fatalf("not cancelled at once: %s", describe(s.state))
	}
	for _, st := range s.finish.Steps {
		if st.Phase != plan.StepCancelled || st.OperationID != "" {
			t.Errorf("%s is %s (%s), want cancelled and never sent", st.ID, st.Phase, st.OperationID)
		}
	}
}

func TestLaw15CancelWhileRunningStopsTheDevice(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.CancelRequest{By: "kim"})
	s.take(plan.CancelRequest{By: "lee"})
	if n := len(s.out); n != 1 {
		t.Fatalf("%d requests are out, want one cancel", n)
	}
	o := s.settle()
	if o.State != plan.Cancelled || o.Cancel.By != "kim" || len(s.device.effects) != 0 {
		t.Errorf("%s by %s, effects %v; want cancelled by the first, nothing done", o.State, o.Cancel.By, s.device.effects)
	}
}

func TestLaw15CancelBeatsADelayedSubmit(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	s.take(plan.CancelRequest{By: "kim"})
	s.answer(request[plan.CancelTask](s), fine) // the device never saw it: a tombstone
	if s.finish == nil || s.finish.State != plan.Cancelled {
		t.Fatalf("not cancelled: %s", describe(s.state))
	}
	c, ok := s.out[request[plan.Submit](s)].(plan.Submit)
	if !ok {
		t.Fatal("no submit is out")
	}
	late := s.device.submit(c)
	if late.Delivery != plan.DeliveryRefused || len(s.device.effects) != 0 {
		t.Errorf("the delayed submit was %s", late.Delivery)
	}
}

func TestLaw15CancelWithTheDeviceAwayEndsUnresolved(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.CancelRequest{By: "kim"})
	s.device.online = false
	s.answer(request[plan.CancelTask](s), fine)
	for range 100 {
		if s.finish != nil {
			break
		}
		s.tick(s.state.Wake - s.now)
	}
	if s.finish == nil || s.finish.State != plan.Unresolved || s.finish.Cancel == nil || s.finish.Steps[0].Phase != plan.StepUnknown {
		t.Errorf("outcome %+v, want unresolved with the cancel on record", s.finish)
	}
}

func TestLaw17And20UnverifiedIsHedgedAndContradictedFails(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.verdict = plan.Unverified
	if o := s.settle(); o.State != plan.Completed || o.Verified != 0 || !strings.Contains(o.TTSResponse, "Probably done.") || !strings.Contains(o.TTSResponse, "Not all confirmed.") {
		t.Errorf("%s: %q, want completed and hedged", o.State, o.TTSResponse)
	}
	s = newSim(t, threeSteps())
	s.device.verdict = plan.Contradicted
	o := s.settle()
	if o.State != plan.NotAsExpected || o.Reason.Code != "VERIFY_CONTRADICTED" || o.Steps[1].Phase != plan.StepContradicted {
		t.Errorf("%s (%v), purify %s; want not_as_expected, contradicted", o.State, o.Reason, o.Steps[1].Phase)
	}
	if s.submits["p-1/dock/1"] != 0 {
		t.Error("dock ran on a contradicted completion")
	}
}

func TestUnverifiedPersistentStepAsks(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{spec("unlock", "unlock", nil, nil), spec("dock", "dock", []string{"unlock"}, nil)}}
	for choice, want := range map[string]plan.Phase{"continue": plan.Completed, "stop": plan.Failed, "": plan.Failed} {
		s := newSim(t, doc)
		s.device.verdict = plan.Unverified
		s.until("a question", func() bool { return len(s.asked) > 0 })
		if s.state.Phase() != plan.WaitingUser {
			t.Fatalf("plan is %s, want waiting_user", s.state.Phase())
		}
		if choice != "" {
			s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: choice, By: "kim"})
		}
		if o := s.settle(); o.State != want {
			t.Errorf("answer %q: %s, want %s", choice, o.State, want)
		}
	}
}

func TestLaw18AnOfflineDeviceMakesThePlanWaitThenEnd(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.online = false
	if s.state.Phase() != plan.WaitingDevice {
		t.Fatalf("plan is %s, want waiting_device", s.state.Phase())
	}
	s.tick(s.state.Wake - s.now)
	if s.finish == nil || s.finish.Reason.Code != "START_TOO_LATE" {
		t.Errorf("outcome %+v; want failed, too late to start", s.finish)
	}
}

func TestOldIntentionsDoNotMoveRobots(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("move completed", func() bool { return s.phase("move") == plan.StepCompleted })
	s.device.online = false
	s.answer(request[plan.Submit](s), notSent)
	s.tick(16 * 60_000)
	s.device.connect()
	s.answer(request[plan.AwaitDevice](s), fine)
	if len(s.asked) != 1 || s.submits["p-1/purify/1"] != 1 {
		t.Fatalf("after a wait of 16 minutes: %d questions, purify sent %d times; want it to ask first", len(s.asked), s.submits["p-1/purify/1"])
	}
	s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: "continue", By: "kim"})
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s after the yes", o.State)
	}
}

func TestCaseC07FailedIsNotDone(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.fail["move"] = &plan.Report{Code: "TRY_AGAIN"}
	o := s.settle()
	if o.State != plan.Failed || s.submits["p-1/purify/1"] != 0 {
		t.Errorf("%s, purify sent %d times", o.State, s.submits["p-1/purify/1"])
	}
	if n := len(s.state.Steps[0].Ops); n < 2 || n > 5 {
		t.Errorf("%d attempts, want a bounded number of retries", n)
	}
	for i, op := range s.state.Steps[0].Ops {
		if op.Generation != i+1 || !op.Phase.Dead() {
			t.Errorf("Law11: generation %d is %s", op.Generation, op.Phase)
		}
	}
}

func TestARefusedStepTakesTheReasonTablesDefault(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.refuse = &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED", RequiresDecision: true}
	o := s.settle()
	if o.State != plan.Failed || o.Reason.Code != "MOVE_POLICY_NOT_ALLOWED" || len(s.device.effects) != 0 {
		t.Errorf("%s (%v), effects %v", o.State, o.Reason, s.device.effects)
	}
	if !strings.Contains(o.TTSResponse, "Moving is not allowed.") {
		t.Errorf("the person hears %q", o.TTSResponse)
	}
}

func TestContradictingTerminalsTheFirstBySequenceStands(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.Event{EventID: "a", DeviceID: testDevice, Epoch: 1, Seq: 80, Name: plan.EventCompleted, OperationID: "p-1/move/1", Result: map[string]any{"area_id": "6"}})
	s.take(plan.Event{EventID: "b", DeviceID: testDevice, Epoch: 1, Seq: 81, Name: plan.EventFailed, OperationID: "p-1/move/1"})
	if s.phase("move") != plan.StepCompleted {
		t.Errorf("move is %s after a contradicting FAILED, want the first to stand", s.phase("move"))
	}
	if !journalHas(s, "note", "contradiction") {
		t.Error("the contradiction is not on record")
	}
}

func TestPauseHoldsTheNextSubmit(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.Pause{Token: "a", By: "kim"})
	s.take(plan.Pause{Token: "b", By: "lee"})
	s.until("move completed", func() bool { return s.phase("move") == plan.StepCompleted })
	s.take(plan.Resume{Token: "a", By: "kim"})
	if s.submits["p-1/purify/1"] != 0 || s.state.Phase() != plan.Paused {
		t.Fatalf("a plan with a token left is %s and sent %v", s.state.Phase(), s.submits)
	}
	s.take(plan.Resume{Token: "b", By: "lee"})
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s after the last resume", o.State)
	}
}

func journalHas(s *sim, kind, text string) bool {
	return slices.ContainsFunc(s.state.Journal, func(e plan.Entry) bool { return e.Kind == kind && strings.Contains(e.Text, text) })
}
