package plan_test

import (
	"slices"
	"testing"

	"errand/plan"
)

// The tests here are about two things that cross on their way: an answer and a later request, a cancel and a submit, a
// question to the device and its own report.

// out takes the first request of type T out of line, unanswered.
func out[T plan.Command](s *sim) T {
	s.t.Helper()
	i := request[T](s)
	if i < 0 {
		s.t.Fatalf("no such request is out; %s", describe(s.state))
	}
	c, _ := s.out[i].(T)
	s.out = slices.Delete(s.out, i, i+1)
	return c
}

// lostSubmit is a plan whose first submit was given up by its sender, while the network still has it.
func lostSubmit(t *testing.T) *sim {
	t.Helper()
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	s.answer(request[plan.Submit](s), late)
	return s
}

// moves lets everything that is still under way reach the device, and reports whether it does anything.
func (s *sim) moves() bool {
	before := len(s.device.effects)
	for len(s.delayed) > 0 {
		s.arrive(0)
	}
	for s.device.busy() {
		s.work()
	}
	return len(s.device.effects) > before
}

func TestLaw15NothingMovesWhenALostSubmitArrivesAfterTheCancel(t *testing.T) {
	s := lostSubmit(t)
	query := out[plan.QueryStatus](s)
	s.take(plan.Pause{Token: "x", By: "kim"})
	s.take(s.reply(query, fine)) // not found: to be sent again, but the plan is held
	s.take(plan.CancelRequest{By: "kim"})
	o := s.settle()
	if o.State != plan.Cancelled || s.moves() {
		t.Errorf("%s, and then the device did %v", o.State, s.device.effects)
	}
}

func TestLaw15NotFoundDuringACancelIsNoProofThatNothingComes(t *testing.T) {
	s := lostSubmit(t)
	s.take(plan.CancelRequest{By: "kim"})
	s.take(s.reply(out[plan.QueryStatus](s), fine))
	if s.finish != nil {
		t.Fatalf("closed as %s while a submit is under way and no cancel was taken", s.finish.State)
	}
	if o := s.settle(); o.State != plan.Cancelled || o.Steps[0].Phase != plan.StepCancelled || s.moves() {
		t.Errorf("%s, move %s, and then the device did %v", o.State, o.Steps[0].Phase, s.device.effects)
	}
}

func TestLaw15ALostSubmitIsUnresolvedWhenTheDeviceIsAway(t *testing.T) {
	s := lostSubmit(t)
	query := out[plan.QueryStatus](s)
	s.take(plan.Pause{Token: "x", By: "kim"})
	s.take(s.reply(query, fine))
	s.device.online = false
	s.take(plan.CancelRequest{By: "kim"})
	for range 100 {
		if s.finish != nil {
			break
		}
		if len(s.out) > 0 && request[plan.AwaitDevice](s) != 0 {
			s.answer(0, fine)
			continue
		}
		s.tick(s.state.Wake - s.now)
	}
	if s.finish == nil || s.finish.State != plan.Unresolved || s.finish.Steps[0].Phase != plan.StepUnknown {
		t.Errorf("outcome %+v, want unresolved", s.finish)
	}
}

func TestARefusalThatRacesItsCancelIsNoFailure(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	submit := out[plan.Submit](s)
	s.take(plan.CancelRequest{By: "kim"})
	cancel := s.reply(out[plan.CancelTask](s), fine)
	s.take(s.reply(submit, fine)) // refused: its cancel was there first
	s.take(cancel)
	if s.finish == nil || s.finish.Steps[0].Phase != plan.StepCancelled {
		t.Errorf("outcome %+v, want move cancelled: it never ran", s.finish)
	}
}

func TestLaw11AnAnswerToNothingThatIsOutSaysNothing(t *testing.T) {
	s := lostSubmit(t)
	notFound := s.reply(out[plan.QueryStatus](s), fine)
	s.take(notFound)
	submit := out[plan.Submit](s)
	s.take(notFound) // asked before the submit that is out
	if request[plan.Submit](s) >= 0 {
		t.Fatal("sent again on the word of an old answer, while a submit is out")
	}
	s.take(s.reply(submit, ackLost))
	out[plan.QueryStatus](s)
	s.take(s.answers[0]) // send 1's answer, once more
	if s.phase("move") != plan.StepUnknown {
		t.Errorf("move is %s on the word of an old answer", s.phase("move"))
	}
}

func TestADoubtDuringASubmitIsAskedAboutAfterIt(t *testing.T) {
	for name, in := range map[string]plan.Input{
		"refused event":              plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1", Why: "unreadable"},
		"event without operation id": plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 70, Name: plan.EventCompleted, WorkflowID: testPlan, StepID: "move", TaskID: "t1"},
	} {
		s := newSim(t, threeSteps())
		s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
		submit := out[plan.Submit](s)
		s.take(in)
		s.take(s.reply(submit, fine))
		if request[plan.QueryStatus](s) < 0 {
			t.Errorf("%s: the device was not asked (law 9)", name)
		}
	}
}

func TestAnswersWithATerminalThatIsNoneNeitherSpinNorWaitForEver(t *testing.T) {
	for _, name := range []plan.EventName{"", "WORKFLOW_COMPLETED", "movement.arrived", plan.EventRunning, plan.EventQueued} {
		odd := &plan.Event{EventID: "x", DeviceID: testDevice, OperationID: "p-1/move/1", Name: name}
		s := newSim(t, threeSteps())
		s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
		out[plan.Submit](s)
		s.take(plan.Submitted{OperationID: "p-1/move/1", Delivery: plan.DeliveryAccepted, TaskID: "t1", StoreID: storeA, Terminal: odd})
		if at := s.state.Steps[0].Ops[0].CheckAt; at <= s.now || at > s.now+10*60_000 {
			t.Errorf("%q in a submit's answer: asked about at %d, now %d", name, at, s.now)
		}
		s.tick(s.state.Wake - s.now)
		for range 5 {
			out[plan.QueryStatus](s)
			s.take(plan.StatusReported{OperationID: "p-1/move/1", Finding: plan.StatusFound, Status: plan.OpRunning, Terminal: odd})
			if request[plan.QueryStatus](s) >= 0 {
				t.Fatalf("%q in a status answer: asked again at once, for ever", name)
			}
			s.tick(s.state.Wake - s.now)
		}
	}
}

func TestResendsPaceThemselves(t *testing.T) {
	s := newSim(t, threeSteps())
	for range 100 {
		if i := request[plan.Submit](s); i >= 0 {
			s.answer(i, vanish)
			continue
		}
		if len(s.out) > 0 {
			s.answer(0, fine)
			continue
		}
		break
	}
	if n := s.submits["p-1/move/1"]; n > 3 {
		t.Errorf("sent %d times in no time", n)
	}
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s, want it to get through in the end", o.State)
	}
}

func TestLaw08ABlockedEventBehindItsStatusStillCounts(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.device.block(&plan.Report{Code: "ASK_ME", RequiresDecision: true})
	s.collect()
	s.tick(s.state.Wake - s.now) // overdue
	s.answer(request[plan.QueryStatus](s), fine)
	if s.phase("move") != plan.StepBlocked || len(s.asked) != 0 {
		t.Fatalf("move is %s with %d questions, want blocked, the reason unknown", s.phase("move"), len(s.asked))
	}
	s.deliver(0, true)
	s.deliver(0, true)
	if len(s.asked) != 1 {
		t.Errorf("%d questions after the event with the reason, want 1", len(s.asked))
	}
}

func TestABlockedTaskThatGoesOnNeedsNoDecision(t *testing.T) {
	for _, told := range []string{"event", "status"} {
		s := newSim(t, threeSteps())
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.device.block(&plan.Report{Code: "ASK_ME", RequiresDecision: true})
		s.collect()
		s.deliver(0, false)
		if s.state.Phase() != plan.WaitingUser {
			t.Fatalf("plan is %s, want waiting_user", s.state.Phase())
		}
		s.device.work() // goes on by itself
		if told == "event" {
			s.collect()
			s.deliver(0, false)
		} else {
			s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1"})
			s.answer(request[plan.QueryStatus](s), fine)
		}
		if s.state.Phase() != plan.Running || s.state.Question != nil || s.state.Steps[0].Reason != nil {
			t.Errorf("%s: plan is %s with question %v: what is asked about is no more", told, s.state.Phase(), s.state.Question)
		}
		s.tick(3 * 60_000)
		if o := s.settle(); o.State != plan.Completed {
			t.Errorf("%s: %s: a task that went on was stopped for want of an answer", told, o.State)
		}
	}
}

func TestAContradictionDoesNotReopenAStepThatOthersWereBuiltOn(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.epoch = 2
	s.until("purify running", func() bool { return s.phase("purify") == plan.StepRunning })
	s.device.block(&plan.Report{Code: "ASK_ME", RequiresDecision: true})
	s.collect()
	s.deliver(0, false)
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 9, Name: plan.EventFailed, OperationID: "p-1/move/1", Report: &plan.Report{Code: "TRY_AGAIN"}})
	if s.phase("move") != plan.StepCompleted {
		t.Errorf("move is %s while purify is in flight on its result", s.phase("move"))
	}
	if s.submits["p-1/move/2"] != 0 {
		t.Error("Law02: move is tried again while purify is in flight")
	}
}

func TestAnAnswerAfterItsTimeIsNo(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{spec("unlock", "unlock", nil, nil), spec("dock", "dock", []string{"unlock"}, nil)}}
	s := newSim(t, doc)
	s.device.verdict = plan.Unverified
	s.until("a question", func() bool { return len(s.asked) > 0 })
	s.now = s.asked[0].ExpiresAt // the worker was away; the answer is read before the timer
	s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: "continue", By: "kim"})
	if o := s.settle(); o.State != plan.Failed || s.submits["p-1/dock/1"] != 0 {
		t.Errorf("%s, dock sent %d times: an answer after its time moved the device", o.State, s.submits["p-1/dock/1"])
	}
}

func TestAVerdictOutsideTheThreeIsUnverified(t *testing.T) {
	doc := &plan.Document{Steps: []plan.StepSpec{spec("unlock", "unlock", nil, nil), spec("dock", "dock", []string{"unlock"}, nil)}}
	s := newSim(t, doc)
	s.device.verdict = "perhaps"
	s.until("a question", func() bool { return len(s.asked) > 0 })
	if s.asked[0].Kind != "proceed_unverified" {
		t.Errorf("asked %s", s.asked[0].Kind)
	}
}

func TestLaw11OurOwnRefusalOfAResendDoesNotMakeTheFirstDead(t *testing.T) {
	for _, unasked := range []bool{true, false} {
		s := lostSubmit(t)
		s.take(s.reply(out[plan.QueryStatus](s), fine)) // not found: sent again
		out[plan.Submit](s)
		s.take(plan.Submitted{OperationID: "p-1/move/1", Delivery: plan.DeliveryRefused, Unasked: unasked, Report: &plan.Report{Code: "TRY_AGAIN"}})
		if second := s.submits["p-1/move/2"] == 1; second == unasked {
			t.Errorf("refused on our side %v: a second try is out: %v", unasked, second)
		}
		if unasked {
			if o := s.settle(); o.State != plan.Completed || s.device.effects[0] != "p-1/move/1" {
				t.Errorf("%s, effects %v", o.State, s.device.effects)
			}
		}
	}
}
