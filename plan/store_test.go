package plan_test

import (
	"testing"

	"errand/plan"
)

// The tests here are about a submit that may have arrived, or surely did not, when the device's link or store changes.

func TestLaw11ASubmitThatMayHaveArrivedIsNotSentAgainToAnotherStore(t *testing.T) {
	s := lostSubmit(t)                              // held up on its way
	s.take(s.reply(out[plan.QueryStatus](s), fine)) // not there yet: sent again
	again := out[plan.Submit](s)
	s.arrive(0)
	s.work() // and it moves
	s.device.wipe()
	s.take(s.reply(again, fine)) // surely not delivered: that link is gone
	s.answer(request[plan.AwaitDevice](s), fine)
	if s.submits["p-1/move/1"] != 2 || s.phase("move") != plan.StepUnknown || request[plan.QueryStatus](s) < 0 {
		t.Fatalf("sent %d times, %s; want it unknown and asked about: the new store would take it for a new wish",
			s.submits["p-1/move/1"], describe(s.state))
	}
	if o := s.settle(); o.State != plan.Unresolved {
		t.Errorf("%s, want unresolved", o.State)
	}
}

func TestASubmitThatSurelyNeverLeftMayGoToAnotherStore(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	s.device.wipe()
	if o := s.settle(); o.State != plan.Completed || s.submits["p-1/move/1"] != 2 {
		t.Errorf("%s, sent %d times", o.State, s.submits["p-1/move/1"])
	}
}

func TestLaw09ASubmitThatWasNotDeliveredIsNotUnknown(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	submit := out[plan.Submit](s)
	s.take(plan.DeviceChange{Gone: s.device.connection}) // the link's end is told before the answer
	s.take(plan.Pause{Token: "x"})
	s.device.connect()
	s.take(s.reply(submit, notSent))
	if s.phase("move") != plan.StepReady {
		t.Errorf("move is %s: %s; it surely was not sent", s.phase("move"), describe(s.state))
	}
	s.take(plan.Resume{Token: "x"})
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s", o.State)
	}
}
