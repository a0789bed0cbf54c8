package plan_test

import (
	"testing"

	"errand/plan"
)

func TestTheLinksEndIsAQuestionAboutWhatRuns(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.DeviceChange{Gone: 7}) // another connection's end
	if s.state.Device.Route == nil || s.phase("move") != plan.StepRunning {
		t.Fatalf("another connection's end: move is %s", s.phase("move"))
	}
	s.take(plan.DeviceChange{Gone: 1})
	if s.phase("move") != plan.StepUnknown || request[plan.AwaitDevice](s) < 0 {
		t.Fatalf("move is %s, want unknown and the device looked for", s.phase("move"))
	}
	if c := out[plan.AwaitDevice](s); c.Newer != 1 || c.DeviceID != testDevice {
		t.Errorf("looks for %+v, want one newer than 1", c)
	}
	s.take(plan.DeviceChange{Gone: 1})
	s.device.connect()
	fresh := s.route()
	s.take(plan.DeviceChange{Route: &fresh})
	if request[plan.QueryStatus](s) < 0 || s.state.Device.Awaiting {
		t.Error("the device is back and was not asked")
	}
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s", o.State)
	}
}

func TestTheLinksEndLeavesWhatIsDoneAndWhatIsUnsent(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("verifying", func() bool { return s.phase("purify") == plan.StepVerifying })
	s.take(plan.DeviceChange{Gone: 1})
	if s.phase("purify") != plan.StepVerifying || s.state.Steps[1].Ops[0].Lost {
		t.Errorf("purify is %s", s.phase("purify"))
	}
	s = newSim(t, threeSteps())
	s.take(plan.Pause{Token: "x"})
	s.answer(request[plan.AwaitDevice](s), fine)
	s.take(plan.DeviceChange{Gone: 1})
	if s.phase("move") == plan.StepUnknown {
		t.Error("a step that was never sent is unknown")
	}
}

// A completion that nobody could look at, since the way to the device was gone, is looked at once there is a way again, and
// for as long as a verdict may take.
func TestLaw20WhatNobodySawIsLookedAtAgain(t *testing.T) {
	for name, back := range map[string]bool{"the device is back": true, "it stays away": false} {
		s := newSim(t, threeSteps())
		s.until("verifying", func() bool { return s.phase("purify") == plan.StepVerifying && request[plan.Verify](s) >= 0 })
		s.answer(request[plan.Verify](s), notSent)
		if s.phase("purify") != plan.StepVerifying || out[plan.AwaitDevice](s).Newer != 1 {
			t.Fatalf("%s: purify is %s, want it still to be seen, by a newer connection", name, s.phase("purify"))
		}
		want := plan.Unverified
		if back {
			want = plan.Verified
			s.device.connect()
			s.take(plan.DeviceFound{Route: s.route()})
			s.answer(request[plan.Verify](s), fine)
		} else {
			s.tick(20_000)
		}
		if r := s.state.Steps[1].Receipt; s.phase("purify") != plan.StepCompleted || r == nil || r.Verdict != want {
			t.Errorf("%s: purify is %s with %+v, want completed and %s", name, s.phase("purify"), r, want)
		}
	}
}

func TestAnOldRouteDoesNotReplaceANewOne(t *testing.T) {
	s := newSim(t, threeSteps())
	s.answer(request[plan.AwaitDevice](s), fine)
	old := s.route()
	s.device.connect()
	fresh := s.route()
	s.take(plan.DeviceChange{Route: &fresh})
	s.take(plan.DeviceFound{Route: old})
	if s.state.Device.Route.ConnectionEpoch != fresh.ConnectionEpoch {
		t.Error("the old connection is taken for the newer")
	}
}

func TestWaitingUpToAQuarterOfAnHourAsksNothing(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("move completed", func() bool { return s.phase("move") == plan.StepCompleted })
	s.device.online = false
	s.answer(request[plan.Submit](s), notSent)
	s.now += 15 * 60_000
	s.device.connect()
	s.answer(request[plan.AwaitDevice](s), fine)
	if len(s.asked) != 0 || s.submits["p-1/purify/1"] != 2 {
		t.Errorf("%d questions, purify sent %d times", len(s.asked), s.submits["p-1/purify/1"])
	}
}

func TestOldIntentionsDoNotMoveRobotsByAResendEither(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("purify out", func() bool { i := request[plan.Submit](s); return i >= 0 && s.submits["p-1/purify/1"] == 1 })
	s.answer(request[plan.Submit](s), vanish)
	s.device.online = false
	s.answer(request[plan.QueryStatus](s), fine)
	s.tick(16 * 60_000)
	s.device.connect()
	s.answer(request[plan.AwaitDevice](s), fine)
	s.answer(request[plan.QueryStatus](s), fine) // never arrived
	if len(s.asked) != 1 || s.submits["p-1/purify/1"] != 1 {
		t.Fatalf("%d questions, purify sent %d times; want it to ask first", len(s.asked), s.submits["p-1/purify/1"])
	}
	s.take(plan.Answer{QuestionID: s.asked[0].ID, Choice: "continue", By: "kim"})
	if o := s.settle(); o.State != plan.Completed || len(s.asked) != 1 {
		t.Errorf("%s after the yes, with %d questions", o.State, len(s.asked))
	}
}

func TestALateQuestionGoesWhenItsOperationResolves(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("purify out", func() bool { i := request[plan.Submit](s); return i >= 0 && s.submits["p-1/purify/1"] == 1 })
	s.answer(request[plan.Submit](s), late)
	s.answer(request[plan.QueryStatus](s), fine) // not found: out again
	s.device.online = false
	s.answer(request[plan.Submit](s), notSent)
	s.tick(10 * 60_000)
	s.tick(6 * 60_000)
	s.delayed[0].until = s.now + 1 // it was held, not dropped
	s.device.connect()
	s.answer(request[plan.AwaitDevice](s), fine)
	if s.state.Phase() != plan.WaitingUser {
		t.Fatalf("plan is %s, want waiting_user", s.state.Phase())
	}
	s.arrive(0)
	s.work()
	s.work()
	for len(s.events) > 0 {
		s.deliver(0, false)
	}
	if s.state.Question != nil {
		t.Errorf("question %s stands, though purify is %s", s.state.Question.Kind, s.phase("purify"))
	}
}

func TestARouteThatWasRefutedIsNotBelievedOnOldWord(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	old := s.route()
	s.answer(request[plan.Submit](s), notSent)
	s.take(plan.DeviceChange{Route: &old})
	if s.state.Device.Route != nil || request[plan.AwaitDevice](s) < 0 {
		t.Errorf("route %+v is believed again, AwaitDevice out: %v", s.state.Device.Route, request[plan.AwaitDevice](s) >= 0)
	}
	fresh := old
	fresh.ConnectionEpoch++
	s.take(plan.DeviceChange{Route: &fresh})
	if s.state.Device.Route == nil || request[plan.AwaitDevice](s) >= 0 {
		t.Error("a newer connection was not taken")
	}
}
