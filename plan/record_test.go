package plan_test

import (
	"testing"

	"errand/plan"
)

// The tests here are about what is kept on record: reasons, receipts, ids, times.

func TestAnOlderBlockedDoesNotAskAgain(t *testing.T) {
	s := runningMove(t)
	s.happens(plan.EventBlocked, 80, "ASK_ME", true)
	s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: "wait", By: "kim"})
	s.happens(plan.EventBlocked, 79, "MOVE_POLICY_NOT_ALLOWED", true)
	s.happens(plan.EventQueued, 81, "", false)
	if len(s.asked) != 1 || s.state.Boundary != nil || s.state.Steps[0].Reason.Code != "ASK_ME" {
		t.Errorf("%d questions, boundary %+v, reason %+v", len(s.asked), s.state.Boundary, s.state.Steps[0].Reason)
	}
}

func TestTheReasonOfAStopByAPerson(t *testing.T) {
	s := runningMove(t)
	s.happens(plan.EventFailed, 80, "ASK_ME", true)
	s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: "stop", By: "kim"})
	if o := s.settle(); o.State != plan.Failed || o.Reason.Code != "ASK_ME" {
		t.Errorf("%s for %+v, want what was asked about", o.State, o.Reason)
	}
	s = newSim(t, &plan.Document{Steps: []plan.StepSpec{spec("unlock", "unlock", nil, nil), spec("dock", "dock", []string{"unlock"}, nil)}})
	s.device.verdict = plan.Unverified
	s.until("a question", func() bool { return len(s.asked) > 0 })
	s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: "stop", By: "kim"})
	if o := s.settle(); o.State != plan.Failed || o.Reason.Code != "STOPPED_BY_PERSON" {
		t.Errorf("%s for %+v", o.State, o.Reason)
	}
}

func TestAStopWaitsAsLongAsTheTaskMayTake(t *testing.T) {
	s := runningMove(t)
	sent := s.state.Steps[0].Ops[0].SentAt
	s.take(plan.CancelRequest{By: "kim"})
	if want := sent + 60_000 + 120_000 + 60_000; s.state.Cancel.GiveUpAt != want {
		t.Errorf("gives up at %d, want %d: its queue time, its run time and a minute", s.state.Cancel.GiveUpAt, want)
	}
	s = runningMove(t)
	s.tick(9*60_000 + 1) // over and over asked about
	s.take(plan.CancelRequest{By: "kim"})
	if want := s.now + 60_000; s.state.Cancel.GiveUpAt != want {
		t.Errorf("gives up at %d, want %d: never less than a minute", s.state.Cancel.GiveUpAt, want)
	}
}

func TestReceiptsAndOutcomesNameWhatWasDone(t *testing.T) {
	s := newSim(t, threeSteps())
	o := s.settle()
	move := o.Steps[0]
	if move.EventName != "COMPLETED" || move.TaskMethod != "do_move" || move.OperationID != "p-1/move/1" {
		t.Errorf("move ends as %+v", move)
	}
	r := move.Receipt
	if r == nil || r.TargetRef != "room:안방" || r.LogicalAction != "move.start" || r.OperationID != "p-1/move/1" || r.Verdict != plan.Unverified {
		t.Errorf("receipt %+v", r)
	}
	if r := o.Steps[1].Receipt; r.TargetRef != "" || r.VerifiedBy != "context" || r.Verdict != plan.Verified {
		t.Errorf("receipt %+v, want no target: area_id is grounded in nothing", r)
	}
}

func TestAStatusBringsTheTaskIDThatTheLostAnswerHad(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	s.answer(request[plan.Submit](s), ackLost)
	s.answer(request[plan.QueryStatus](s), fine)
	if got := s.state.Steps[0].Ops[0].TaskID; got != "t1" {
		t.Errorf("the task is %q", got)
	}
}

func TestLaw08TheAnswerAfterTheResultChangesNothing(t *testing.T) {
	for _, late := range []plan.Submitted{{Delivery: plan.DeliveryUnknown}, {Delivery: plan.DeliveryUndelivered, ConnectionEpoch: 1},
		{Delivery: plan.DeliveryRefused, Report: &plan.Report{Code: "X"}}, {Delivery: plan.DeliveryAccepted, TaskID: "t1", StoreID: storeA}} {
		s := newSim(t, threeSteps())
		s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
		out[plan.Submit](s)
		s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 9, Name: plan.EventFailed, OperationID: "p-1/move/1", TaskID: "t1", Report: &plan.Report{Code: "ASK_ME"}})
		late.OperationID = "p-1/move/1"
		s.take(late)
		if op := s.state.Steps[0].Ops[0]; op.Phase != plan.OpFailed || op.Lost || op.CheckAt != 0 || s.state.Device.Route == nil || len(s.asked) != 1 {
			t.Errorf("%s after its end: %+v, %d questions", late.Delivery, op, len(s.asked))
		}
	}
}

func TestAPersonsRetryIsTheNextGeneration(t *testing.T) {
	s := runningMove(t)
	s.happens(plan.EventFailed, 80, "ASK_ME", true)
	s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: "retry", By: "kim"})
	if s.submits["p-1/move/2"] != 1 || s.state.Question != nil || len(s.asked) != 1 {
		t.Errorf("submits %v, %d questions; want the second try", s.submits, len(s.asked))
	}
}
