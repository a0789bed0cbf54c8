package plan_test

import (
	"slices"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// The tests here are about times, to the millisecond: what ends a wait, and how long one is.

// A plan that is being stopped gives up on the truth when its time is over, and not before.
func TestLaw18AStopEndsWhenItSaid(t *testing.T) {
	s := runningMove(t)
	s.device.online = false
	s.take(plan.CancelRequest{By: "kim"})
	s.now = s.state.Cancel.GiveUpAt - 1
	s.take(plan.DeadlinePassed{})
	if s.finish != nil {
		t.Fatalf("%s before its time", s.finish.State)
	}
	s.now++
	s.take(plan.DeadlinePassed{})
	if s.finish == nil || s.finish.State != plan.Unresolved {
		t.Fatalf("not over at its time: %s", describe(s.state))
	}
	s = newSim(t, threeSteps())
	s.take(plan.CancelRequest{By: "kim"})
	if got := s.finish.Cancel; got.GiveUpAt != s.now+60_000 || got.At != s.now {
		t.Errorf("with nothing in flight the cancel is %+v, now %d", got, s.now)
	}
	s = runningMove(t)
	sent := s.state.Steps[0].Ops[0].SentAt
	s.happens(plan.EventBlocked, 80, "MOVE_POLICY_NOT_ALLOWED", true)
	if got := s.state.Ending; got.At != s.now || got.GiveUpAt != sent+60_000+120_000+60_000 {
		t.Errorf("an ending is %+v, sent at %d", got, sent)
	}
}

// A task that is alive though it is overdue is asked about every half minute; one that does not stop, after a quarter of the
// time that its stop has taken, between 3 s and half a minute.
func TestLaw18WhatIsAliveIsAskedAboutInItsTime(t *testing.T) {
	alive := plan.StatusReported{OperationID: "p-1/move/1", Finding: plan.StatusFound, Status: plan.OpRunning, Epoch: 1, AsOfSeq: 90}
	next := func(s *sim, after int64) int64 {
		s.now += after
		s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1"})
		out[plan.QueryStatus](s)
		s.take(alive)
		return s.state.Steps[0].Ops[0].CheckAt - s.now
	}
	if got := next(runningMove(t), 1000); got != 30_000 {
		t.Errorf("asked again after %d ms", got)
	}
	for name, stop := range map[string]func(*sim){
		"a cancel":  func(s *sim) { s.take(plan.CancelRequest{By: "kim"}) },
		"an ending": func(s *sim) { s.happens(plan.EventBlocked, 80, "MOVE_POLICY_NOT_ALLOWED", true) },
	} {
		for after, want := range map[int64]int64{1000: 3_000, 12_000: 3_000, 40_000: 10_000, 120_000: 30_000, 121_000: 30_000} {
			s := runningMove(t)
			s.device.stubborn = true
			stop(s)
			s.answer(request[plan.CancelTask](s), fine)
			if got := next(s, after); got != want {
				t.Errorf("%s, %d ms on: asked again after %d ms, want %d", name, after, got, want)
			}
		}
	}
}

// An answer that brings nothing is followed by the next question: where the device cannot answer at all, after a minute.
func TestLaw18ADeviceThatCannotAnswerIsAskedEveryMinute(t *testing.T) {
	s := lostSubmit(t)
	out[plan.QueryStatus](s)
	s.take(plan.StatusReported{OperationID: "p-1/move/1", Finding: plan.StatusUnsupported})
	if got := s.state.Steps[0].Ops[0].CheckAt - s.now; got != 60_000 {
		t.Errorf("asked again after %d ms", got)
	}
	s = lostSubmit(t)
	out[plan.QueryStatus](s)
	s.take(plan.StatusReported{OperationID: "p-1/move/1", Finding: plan.StatusUnreachable, ConnectionEpoch: s.device.connection})
	if s.state.Device.Route != nil || s.state.Steps[0].Ops[0].CheckAt != s.now {
		t.Errorf("unreachable: the route is %+v", s.state.Device.Route)
	}
}

// A submit that never arrives is sent again at once, and then after 2, 4, 8 s, up to a minute.
func TestLaw11SubmitsThatNeverArriveArePaced(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	var waits []int64
	for range 8 {
		began := s.now
		for request[plan.Submit](s) < 0 {
			s.tick(1)
		}
		waits = append(waits, s.now-began)
		s.answer(request[plan.Submit](s), vanish)
		s.answer(request[plan.QueryStatus](s), fine)
	}
	if want := []int64{0, 0, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000}; !slices.Equal(waits, want) {
		t.Errorf("sent after %v ms, want %v", waits, want)
	}
}

// What the first submit may take from receipt to start ends with the time to start; later ones have their queue's time.
func TestOldIntentionsDoNotStartLate(t *testing.T) {
	s := newSim(t, threeSteps())
	s.tick(4*60_000 + 30_000)
	s.until("move out", func() bool { return request[plan.Submit](s) >= 0 })
	if c := out[plan.Submit](s); c.TTLMs != 30_000 || c.TimeoutMs != 120_000 || c.Again {
		t.Errorf("half a minute before it is too late: %+v", c)
	}
	s = newSim(t, threeSteps())
	s.until("move out", func() bool { return request[plan.Submit](s) >= 0 })
	if c, _ := s.out[0].(plan.Submit); c.TTLMs != 60_000 {
		t.Errorf("at first: %+v", c)
	}
	s.until("move done", func() bool { return s.phase("move") == plan.StepCompleted })
	out[plan.Submit](s)
	s.now += 4*60_000 + 30_000
	s.take(plan.Submitted{OperationID: "p-1/purify/1", Delivery: plan.DeliveryUndelivered})
	if c := out[plan.Submit](s); c.OperationID != "p-1/purify/1" || c.TTLMs != 60_000 || !c.Again {
		t.Errorf("under way: %+v", c)
	}
}

// timedSim is a plan with one reason's recovery of its own.
func timedSim(t *testing.T, r catalog.Recovery) *sim {
	t.Helper()
	slice := testSlice()
	slice.Reasons = append(slice.Reasons, catalog.Reason{Code: "SLOW", Default: "ask", Recovery: r})
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: threeSteps(), Slice: slice})
	s.take(plan.Begin{})
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	return s
}

// No recovery waits longer than ten minutes at a time.
func TestRecoverysWaitsAreBounded(t *testing.T) {
	const most = 10 * 60_000
	s := timedSim(t, catalog.Recovery{Action: "wait", MaxAttempts: 3, BackoffMs: 300_000})
	s.happens(plan.EventBlocked, 80, "SLOW", false)
	if got := s.state.Steps[0].WaitUntil - s.now; got != most {
		t.Errorf("a blocked task has %d ms", got)
	}
	s = timedSim(t, catalog.Recovery{Action: "retry", MaxAttempts: 3, BackoffMs: 400_000})
	s.device.fail["move"] = &plan.Report{Code: "SLOW"}
	for i, want := range []int64{400_000, most, most} {
		s.until("another try", func() bool { return len(s.state.Steps[0].Ops) == i+2 })
		wait := s.state.Steps[0].Ops[i+1].CheckAt - s.now
		if wait != want {
			t.Errorf("try %d is sent after %d ms, want %d", i+2, wait, want)
		}
		s.tick(wait)
	}
}

// The time that the table gives a blocked task is given once: blocked again for the same reason, someone decides.
func TestLaw13ABlockedTaskIsGivenItsTimeOnce(t *testing.T) {
	s := runningMove(t)
	s.happens(plan.EventBlocked, 80, "WAIT_FOR_IT", false)
	if s.state.Boundary != nil || s.state.Steps[0].Recovered["WAIT_FOR_IT"] != 3 {
		t.Fatalf("boundary %+v, recovered %v", s.state.Boundary, s.state.Steps[0].Recovered)
	}
	s.happens(plan.EventRunning, 81, "", false)
	if st := s.state.Steps[0]; st.WaitUntil != 0 || st.Reason != nil {
		t.Errorf("it goes on, and waits until %d for %+v", st.WaitUntil, st.Reason)
	}
	s.happens(plan.EventBlocked, 82, "WAIT_FOR_IT", false)
	if s.state.Boundary == nil || len(s.asked) != 1 || s.state.Boundary.Report.Detail != "the reason table's recovery was tried 3 times" {
		t.Errorf("boundary %+v, %d questions", s.state.Boundary, len(s.asked))
	}
}

// What the reason table's recovery does is on record, with how often.
func TestRecoveryIsOnRecord(t *testing.T) {
	s := failing(t, "", "move", "PASSES")
	s.until("the second failure", func() bool { return len(s.state.Steps[0].Ops) == 3 })
	var got []string
	for _, e := range s.state.Journal {
		if e.Kind == "recovery" {
			got = append(got, e.Step+" "+e.From+" "+e.To+" "+e.Text)
		}
	}
	if want := []string{"move PASSES retry 1 of 2", "move PASSES retry 2 of 2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if v := s.state.View().Steps[0]; v.Reason == nil || v.Reason.Code != "PASSES" || v.Why != "tried again after PASSES, 2 of 2" {
		t.Errorf("it waits for %+v: %q", v.Reason, v.Why)
	}
}

// A wish's times count from when it was made, which is never later than now; without any, a plan has an hour, and five
// minutes to start in.
func TestAPlansTimesCountFromTheWish(t *testing.T) {
	for name, c := range map[string]struct {
		start             plan.Start
		deadline, startBy int64
	}{
		"by default":     {plan.Start{AskedAt: 1000}, 1000 + 3_600_000, 1000 + 300_000},
		"as asked for":   {plan.Start{AskedAt: 1000, DeadlineMs: 50_000, StartByMs: 20_000}, 51_000, 21_000},
		"in the future":  {plan.Start{AskedAt: 90_000}, 10_000 + 3_600_000, 10_000 + 300_000},
		"negative times": {plan.Start{AskedAt: 1000, DeadlineMs: -1, StartByMs: -1}, 1000 + 3_600_000, 1000 + 300_000},
	} {
		c.start.PlanID, c.start.DeviceID, c.start.Document, c.start.Slice = testPlan, testDevice, threeSteps(), testSlice()
		s, _ := plan.Step(plan.New(c.start), 10_000, plan.Begin{})
		if s.Deadline != c.deadline || s.StartBy != c.startBy {
			t.Errorf("%s: deadline %d, to start by %d; want %d, %d", name, s.Deadline, s.StartBy, c.deadline, c.startBy)
		}
		again, _ := plan.Step(s, 20_000, plan.Begin{})
		if again.Deadline != c.deadline || again.At != 20_000 || again.Version != plan.StateVersion {
			t.Errorf("%s: begun again, the deadline is %d at %d", name, again.Deadline, again.At)
		}
		if back, _ := plan.Step(again, 15_000, plan.DeadlinePassed{}); back.At != 20_000 {
			t.Errorf("%s: the clock went back to %d", name, back.At)
		}
	}
}

// A plan's deadline says in what it was caught.
func TestADeadlineSaysInWhatItCaughtThePlan(t *testing.T) {
	s := runningMove(t)
	s.now = s.state.Deadline
	s.take(plan.DeadlinePassed{})
	if got := s.state.Ending.Report; got.Code != "DEADLINE_PASSED" || got.Detail != "the plan's deadline passed while it was running" {
		t.Errorf("%+v", got)
	}
}

// A plan that is being stopped will not fail for having started too late: it gives up on the truth.
func TestLaw18WhatIsBeingStoppedIsNotTooLate(t *testing.T) {
	s := newSim(t, threeSteps())
	s.now += 4*60_000 + 30_000
	s.until("move out", func() bool { return request[plan.Submit](s) >= 0 })
	out[plan.Submit](s)
	s.take(plan.Submitted{OperationID: "p-1/move/1", Delivery: plan.DeliveryRefused, Report: &plan.Report{Code: "PASSES"}})
	if next := s.state.View().Next; next == nil || next.Move != plan.MoveSendAgain {
		t.Fatalf("next is %+v", next)
	}
	s.take(plan.CancelRequest{By: "kim"})
	if next := s.state.View().Next; next == nil || next.Move != plan.MoveGiveUp || next.At != s.state.Cancel.GiveUpAt || request[plan.CancelTask](s) < 0 {
		t.Errorf("next is %+v, the cancel %+v", next, s.state.Cancel)
	}
}
