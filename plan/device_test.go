package plan_test

import (
	"testing"

	"errand/plan"
)

// An answer that an older connection brought says nothing about the newer one.
func TestOnlyTheConnectionThatFailedIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		epoch func(*sim) int64
		kept  bool
	}{
		"the one before": {func(s *sim) int64 { return s.device.connection - 1 }, true},
		"this one":       {func(s *sim) int64 { return s.device.connection }, false},
	} {
		s := newSim(t, threeSteps())
		s.device.connect()
		s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
		submit := out[plan.Submit](s)
		s.take(plan.Submitted{OperationID: submit.OperationID, Delivery: plan.DeliveryUndelivered, ConnectionEpoch: c.epoch(s), Detail: "no socket"})
		if (s.state.Device.Route != nil) != c.kept || (request[plan.Submit](s) >= 0) != c.kept {
			t.Errorf("%s: the route is %+v, sent again: %v", name, s.state.Device.Route, request[plan.Submit](s) >= 0)
		}
		if !c.kept && s.state.View().Steps[0].Why != "not delivered: no socket" {
			t.Errorf("%s: %q", name, s.state.View().Steps[0].Why)
		}
	}
}

// A search that is out is withdrawn when the device comes by itself, and when the plan is over; else there is none to withdraw.
func TestASearchIsWithdrawnOnce(t *testing.T) {
	stops := func(s *sim) (n int) {
		for _, c := range s.all {
			if _, ok := c.(plan.StopAwaiting); ok {
				n++
			}
		}
		return n
	}
	s := newSim(t, threeSteps())
	route := s.route()
	s.take(plan.DeviceChange{Route: &route})
	if n := stops(s); n != 1 || s.state.Device.Awaiting || s.state.Device.Since != 0 || request[plan.Submit](s) < 0 {
		t.Errorf("the device is here: %d withdrawn, %+v", n, s.state.Device)
	}
	s.take(plan.DeviceChange{Route: &route})
	s.settle()
	if n := stops(s); n != 1 {
		t.Errorf("%d withdrawn, there was one", n)
	}
	s = newSim(t, threeSteps())
	s.take(plan.CancelRequest{By: "kim"})
	if n := stops(s); n != 1 || s.state.Device.Awaiting || s.finish == nil {
		t.Errorf("over: %d withdrawn, %+v", n, s.state.Device)
	}
	if _, last := s.all[len(s.all)-1].(plan.Finish); !last {
		t.Errorf("the last command is %T", s.all[len(s.all)-1])
	}
}

// A device that is away and is to stop something is looked for.
func TestLaw15AStopLooksForTheDevice(t *testing.T) {
	for name, stop := range map[string]func(*sim){
		"replanned": func(s *sim) { s.decide(replan(spec("home", "dock", nil, nil))) },
		"withdrawn": func(s *sim) {
			s.take(plan.Answer{})
			s.decide(plan.Decided{Decision: plan.DecideAsk})
			s.take(more("more", "dock"))
			s.take(plan.CancelStep{StepID: "move"})
		},
		"cancelled": func(s *sim) { s.take(plan.CancelRequest{By: "kim"}) },
	} {
		s := decidedSim(t)
		s.happens(plan.EventBlocked, 80, "ASK_ME", true)
		s.take(plan.DeviceChange{Gone: s.device.connection})
		stop(s)
		if request[plan.AwaitDevice](s) < 0 || request[plan.CancelTask](s) >= 0 {
			t.Fatalf("%s: out are %v", name, s.out)
		}
		s.device.connect()
		s.answer(request[plan.AwaitDevice](s), fine)
		cancel := out[plan.CancelTask](s)
		if cancel.OperationID != "p-1/move/1" || cancel.TaskID != "t1" {
			t.Errorf("%s: asked to stop %+v", name, cancel)
		}
		s.take(plan.DeviceChange{Gone: s.device.connection}) // its answer is still to come: that will tell
		if request[plan.AwaitDevice](s) >= 0 {
			t.Errorf("%s: looked for while the cancel is out", name)
		}
	}
}

// The device is told why it is to stop.
func TestAStopSaysWhy(t *testing.T) {
	for want, stop := range map[string]func(*sim){
		"too loud":                    func(s *sim) { s.take(plan.CancelRequest{By: "kim", Why: "too loud"}) },
		"cancelled by kim":            func(s *sim) { s.take(plan.CancelRequest{By: "kim"}) },
		"MOVE_POLICY_NOT_ALLOWED":     func(s *sim) { s.happens(plan.EventBlocked, 80, "MOVE_POLICY_NOT_ALLOWED", true) },
		"the plan goes on without it": func(s *sim) { s.happens(plan.EventBlocked, 80, "PASSES", false) },
	} {
		s := runningMove(t)
		stop(s)
		if got := out[plan.CancelTask](s).Reason; got != want {
			t.Errorf("says %q, want %q", got, want)
		}
	}
}

// The quarter of an hour is over only after its last millisecond, and only for a plan that was on its way.
func TestAWaitIsLateAfterAQuarterOfAnHour(t *testing.T) {
	for name, c := range map[string]struct {
		wait  int64
		asked int
	}{"just not": {15 * 60_000, 0}, "just": {15*60_000 + 1, 1}} {
		s := newSim(t, threeSteps())
		s.until("move completed", func() bool { return s.phase("move") == plan.StepCompleted })
		s.device.online = false
		s.answer(request[plan.Submit](s), notSent)
		s.now += c.wait
		s.device.connect()
		s.answer(request[plan.AwaitDevice](s), fine)
		if len(s.asked) != c.asked || s.state.Device.Late {
			t.Errorf("%s: %d questions", name, len(s.asked))
			continue
		}
		if c.asked == 1 && (s.asked[0].Kind != "proceed_late" || s.asked[0].OperationID != "p-1/purify/1" || s.state.View().Steps[1].Why != "not delivered: ") {
			t.Errorf("%s: asked %+v; purify: %q", name, s.asked[0], s.state.View().Steps[1].Why)
		}
	}
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: askedAt, StartByMs: 60 * 60_000, Document: threeSteps(), Slice: testSlice()})
	s.take(plan.Begin{})
	s.tick(30 * 60_000)
	s.answer(request[plan.AwaitDevice](s), fine)
	if len(s.asked) != 0 || s.submits["p-1/move/1"] != 1 {
		t.Errorf("what has not begun is not late, start_by bounds it: %d questions, sent %v", len(s.asked), s.submits)
	}
}

// What went on while the device was away is no old intention: the next step follows as it would have.
func TestATaskThatWentOnMeanwhileIsNotAskedAbout(t *testing.T) {
	s := runningMove(t)
	s.take(plan.DeviceChange{Gone: s.device.connection})
	s.now += 20 * 60_000
	s.work()
	s.device.connect()
	s.answer(request[plan.AwaitDevice](s), fine)
	if o := s.settle(); o.State != plan.Completed || len(s.asked) != 0 {
		t.Errorf("%s with %d questions", o.State, len(s.asked))
	}
}

// A plan that takes up another run looks for the device, and is woken, as it would have been.
func TestANewRunGivesAgainWhatStands(t *testing.T) {
	s := newSim(t, threeSteps())
	got := plan.Outstanding(s.state)
	if len(got) != 2 || got[0] != plan.Command(plan.AwaitDevice{DeviceID: testDevice}) || got[1] != plan.Command(plan.SetDeadline{At: s.state.Wake}) {
		t.Errorf("waiting for its device: %+v", got)
	}
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	if got := plan.Outstanding(s.state); len(got) != 1 || got[0] != plan.Command(plan.SetDeadline{At: s.state.Wake}) {
		t.Errorf("running: %+v", got)
	}
	if got := plan.Outstanding(plan.New(plan.Start{PlanID: testPlan})); len(got) != 0 {
		t.Errorf("before it begins: %+v", got)
	}
}
