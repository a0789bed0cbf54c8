package plan_test

import (
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// Every phase a plan can be in when its time runs out, or when a person stops it, and nothing answers any more.
var stuck = map[string]func(t *testing.T) *sim{
	"waiting for the device": func(t *testing.T) *sim { return newSim(t, threeSteps()) },
	"submit out": func(t *testing.T) *sim {
		s := newSim(t, threeSteps())
		s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
		return s
	},
	"unknown": lostSubmit,
	"to be sent again": func(t *testing.T) *sim {
		s := lostSubmit(t)
		query := out[plan.QueryStatus](s)
		s.take(plan.Pause{Token: "x"})
		s.take(s.reply(query, fine))
		return s
	},
	"running": decidedSim,
	"deciding": func(t *testing.T) *sim {
		s := decidedSim(t)
		s.happens(plan.EventBlocked, 80, "ASK_ME", true)
		return s
	},
	"asking": func(t *testing.T) *sim {
		s := newSim(t, threeSteps())
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.happens(plan.EventBlocked, 80, "ASK_ME", true)
		return s
	},
	"verifying": func(t *testing.T) *sim {
		s := newSim(t, threeSteps())
		s.until("verifying", func() bool { return s.phase("purify") == plan.StepVerifying })
		return s
	},
	"paused between steps": func(t *testing.T) *sim {
		s := newSim(t, threeSteps())
		s.take(plan.Pause{Token: "x"})
		s.until("move completed", func() bool { return s.phase("move") == plan.StepCompleted || s.now > askedAt+200_000 })
		return s
	},
	"planning": func(t *testing.T) *sim {
		s := newSim(t, threeSteps())
		s.out, s.finish = nil, nil
		s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: s.now, Utterance: &plan.Utterance{DeviceContext: map[string]any{}}})
		s.take(plan.Begin{})
		return s
	},
	"reading the context": func(t *testing.T) *sim {
		s := newSim(t, threeSteps())
		s.out, s.finish = nil, nil
		s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: s.now, Utterance: &plan.Utterance{}})
		s.take(plan.Begin{})
		s.answer(request[plan.AwaitDevice](s), fine)
		return s
	},
}

func TestLaw18EveryPhaseEndsThoughNothingAnswers(t *testing.T) {
	for name, reach := range stuck {
		for _, cancelled := range []bool{false, true} {
			s := reach(t)
			began := s.now
			if cancelled {
				s.take(plan.CancelRequest{By: "kim"})
			}
			wakes := 0
			for ; s.finish == nil && wakes < 500; wakes++ {
				s.tick(s.state.Wake - s.now)
			}
			longest := int64(60+4) * 60_000 // the plan's deadline, the task's own times, a grace
			if cancelled {
				longest = 4*60_000 + 1000
			}
			if s.finish == nil || s.now-began > longest {
				t.Errorf("%s (cancelled %v): after %d minutes and %d wakes %s", name, cancelled, (s.now-began)/60_000, wakes, describe(s.state))
				continue
			}
			if s.finish.State == plan.Completed || (cancelled && s.finish.State != plan.Cancelled && s.finish.State != plan.Unresolved) {
				t.Errorf("%s (cancelled %v): %s", name, cancelled, s.finish.State)
			}
		}
	}
}

func TestLaw19EveryStepHasItsEndInTheOutcome(t *testing.T) {
	for name, reach := range stuck {
		s := reach(t)
		s.take(plan.CancelRequest{By: "kim"})
		for range 500 {
			if s.finish == nil {
				s.tick(s.state.Wake - s.now)
			}
		}
		for i, step := range s.finish.Steps {
			if sent := s.submits["p-1/"+step.ID+"/1"] > 0; sent != (step.OperationID != "") {
				t.Errorf("%s: %s was sent: %v, its operation in the outcome is %q", name, step.ID, sent, step.OperationID)
			}
			switch step.Phase {
			case plan.StepCompleted, plan.StepFailed, plan.StepCancelled, plan.StepSkipped, plan.StepUnknown:
			default:
				t.Errorf("%s: %s ends as %s", name, step.ID, step.Phase)
			}
			if step.Phase != s.state.Steps[i].Phase {
				t.Errorf("%s: %s is %s in the outcome and %s in the view", name, step.ID, step.Phase, s.state.Steps[i].Phase)
			}
		}
	}
}

func TestLaw19ACompletionAtTheLastMomentHasAnEnd(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("purify running", func() bool { return s.phase("purify") == plan.StepRunning })
	s.device.stubborn = true
	s.take(plan.CancelRequest{By: "kim"})
	s.now = s.state.Cancel.GiveUpAt - 1000
	s.device.work()
	s.collect()
	s.deliver(0, false)
	out[plan.Verify](s) // never answered
	s.tick(1000)
	if s.finish == nil || s.finish.Steps[1].Phase != plan.StepCompleted || s.finish.Steps[1].Receipt == nil || s.finish.Steps[1].Receipt.Verdict != plan.Unverified {
		t.Errorf("outcome %+v, want purify completed, unverified", s.finish)
	}
}

func TestLaw20WhatIsSaidFollowsFromWhatIsSo(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*sim)
		state   plan.Phase
		said    string
	}{
		"all done":         {func(*sim) {}, plan.Completed, "Done. Done. Done. All done."},
		"nobody could see": {func(s *sim) { s.device.verdict = plan.Unverified }, plan.Completed, "Done. Probably done. Done. Not all confirmed."},
		"one not so":       {func(s *sim) { s.device.verdict = plan.Contradicted }, plan.NotAsExpected, "Done. Not so: purify. It is not as expected."},
		"the second fails": {func(s *sim) { s.device.fail["purify"] = &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED"} }, plan.Failed, "Done. Could not. Not the rest. Moving is not allowed."},
		"the first fails":  {func(s *sim) { s.device.fail["move"] = &plan.Report{Code: "MOVE_POLICY_NOT_ALLOWED"} }, plan.Failed, "Could not. Moving is not allowed."},
	} {
		s := newSim(t, threeSteps())
		c.prepare(s)
		o := s.settle()
		if o.State != c.state || !strings.HasPrefix(o.TTSResponse, c.said) || len(s.told) != 1 || s.told[0] != o.TTSResponse {
			t.Errorf("%s: %s, says %q and told %q; want %s, %q", name, o.State, o.TTSResponse, s.told, c.state, c.said)
		}
	}
}

func TestLaw20TheSentenceHasTheSlotsAndTheListedResults(t *testing.T) {
	s := newSim(t, threeSteps())
	slice := testSlice()
	slice.Capabilities[0].Say = map[string]catalog.Text{"done": {En: "At {room}, area {area_id}."}}
	s.out, s.finish = nil, nil
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: s.now,
		Document: &plan.Document{Steps: []plan.StepSpec{spec("move", "move", nil, nil)}}, Slice: slice})
	s.take(plan.Begin{})
	if o := s.settle(); !strings.HasPrefix(o.TTSResponse, "At 안방, area 6.") {
		t.Errorf("says %q", o.TTSResponse)
	}
}

func TestLaw15APersonsCancelDuringAnEndingIsOnRecord(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.happens(plan.EventBlocked, 80, "MOVE_POLICY_NOT_ALLOWED", true) // the table's cancel
	s.take(plan.CancelRequest{By: "kim"})
	if n := len(s.out); n != 1 {
		t.Errorf("%d requests are out, want the one cancel", n)
	}
	o := s.settle()
	if o.State != plan.Cancelled || o.Cancel == nil || o.Reason == nil || o.Reason.Code != "MOVE_POLICY_NOT_ALLOWED" {
		t.Errorf("%s by %+v for %+v, want cancelled by kim, the policy on record", o.State, o.Cancel, o.Reason)
	}
}
