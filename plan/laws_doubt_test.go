package plan_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
)

// Whichever way the device's word gets lost, the step is unknown and not failed, and the next thing that is done about it
// is to ask the device about that operation: nothing is sent, nothing decided, nobody asked before it has answered.
func TestLaw09WhatIsUnknownIsAskedAboutFirst(t *testing.T) {
	lost := map[string]func(*sim){
		"no acknowledgement": func(s *sim) {
			s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
			s.answer(request[plan.Submit](s), ackLost)
		},
		"never answered": func(s *sim) {
			s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
			s.answer(request[plan.Submit](s), vanish)
		},
		"overdue": func(s *sim) {
			s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
			s.tick(s.state.Wake - s.now)
		},
		"the link is gone": func(s *sim) {
			s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
			s.take(plan.DeviceChange{Gone: s.device.connection})
			s.device.connect()
		},
		"an unreadable event": func(s *sim) {
			s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
			s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1", Why: "unreadable"})
		},
		"an event without a name for it": func(s *sim) {
			s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
			s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 70, Name: plan.EventCompleted, WorkflowID: testPlan, StepID: "move", TaskID: "t9"})
		},
	}
	for name, lose := range lost {
		s := newSim(t, threeSteps())
		lose(s)
		sends, began := s.submits["p-1/move/1"], len(s.all)
		for range 4 { // nothing but a route may be looked for first
			if i := request[plan.AwaitDevice](s); i >= 0 {
				s.answer(i, fine)
			}
		}
		i := request[plan.QueryStatus](s)
		if s.phase("move") != plan.StepUnknown || i < 0 || len(s.out) != 1 {
			t.Errorf("%s: move is %s, out are %v; want it unknown and asked about", name, s.phase("move"), s.out)
			continue
		}
		if q, _ := s.out[i].(plan.QueryStatus); q.OperationID != "p-1/move/1" {
			t.Errorf("%s: asked about %s", name, q.OperationID)
		}
		s.tick(60_000) // however long the answer takes
		for _, c := range s.all[began:] {
			switch c.(type) {
			case plan.Submit, plan.Ask, plan.Decide, plan.Verify, plan.Finish:
				t.Errorf("%s: %T before the device answered", name, c)
			}
		}
		if o := s.settle(); o.State != plan.Completed || len(s.device.effects) != 3 || s.submits["p-1/move/1"] > sends+1 {
			t.Errorf("%s: %s with effects %v after %v", name, o.State, s.device.effects, s.submits)
		}
	}
}

// A completion that comes when it was no longer looked for counts, by whichever way, if its attempt still stands. The next
// step starts once, however often it is told.
func TestLaw10LateTruthCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		s.work() // it is done; nobody knows
		event := s.events[len(s.events)-1]
		s.device.online = false
		s.tick(s.state.Wake - s.now)
		s.answer(request[plan.QueryStatus](s), fine) // unreachable
		s.tick(rapid.Int64Range(0, 10).Draw(t, "minutes") * 60_000)
		s.device.connect()
		told := 0
		for _, way := range rapid.SliceOfN(rapid.SampledFrom([]string{"event", "renumbered", "status"}), 1, 4).Draw(t, "ways") {
			switch way {
			case "event":
				s.take(event)
				told++
			case "renumbered":
				again := event
				again.Seq += 50
				s.take(again)
				told++
			default:
				if i := request[plan.AwaitDevice](s); i >= 0 {
					s.answer(i, fine)
				}
				if i := request[plan.QueryStatus](s); i >= 0 {
					s.answer(i, fine)
					told++
				}
			}
			if told > 0 && (s.phase("move") != plan.StepCompleted || s.state.Steps[0].Result["area_id"] != "6") {
				t.Fatalf("told by %s, move is %s with %v", way, s.phase("move"), s.state.Steps[0].Result)
			}
		}
		s.settle()
		if s.submits["p-1/purify/1"] != 1 || len(s.order) != 3 {
			t.Fatalf("sent %v", s.submits)
		}
	})
}

// Once something was built on an end, no other end that is told later turns it round: it is on record.
func TestLaw10WhatWasBuiltOnStands(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.epoch = 2
	s.until("purify running", func() bool { return s.phase("purify") == plan.StepRunning })
	contradiction := s.event(1, 5, plan.EventFailed, "p-1/move/1") // of the boot before
	contradiction.Report = &plan.Report{Code: "TRY_AGAIN"}
	s.take(contradiction)
	if s.phase("move") != plan.StepCompleted || s.submits["p-1/move/2"] != 0 || !journalHas(s, "note", "contradiction") {
		t.Errorf("move is %s, sent %v: purify was built on its completion", s.phase("move"), s.submits)
	}
}

// Whenever a try is sent, the device has nothing of an earlier one that can still move, and each try that is sent again is
// sent under the id it had.
func TestLaw11TheDeviceIsDoneWithATryBeforeTheNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		for range rapid.IntRange(10, 80).Draw(t, "moves") {
			before := len(s.all)
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				s.device.fail["move"] = &plan.Report{Code: rapid.SampledFrom([]string{"TRY_AGAIN", "PASSES"}).Draw(t, "code")}
			case 1:
				s.device.block(&plan.Report{Code: rapid.SampledFrom([]string{"TRY_AGAIN", "PASSES", "WAIT_FOR_IT"}).Draw(t, "code")})
				s.collect()
			default:
				s.jumble(t, 1)
			}
			for i := before; i < len(s.all); i++ {
				submit, ok := s.all[i].(plan.Submit)
				if !ok {
					continue
				}
				id, err := plan.ParseOperationID(submit.OperationID)
				if err != nil {
					t.Fatal(err)
				}
				for id.Generation--; id.Generation > 0; id.Generation-- {
					if task := s.device.tasks[id.String()]; task != nil && !task.phase.Dead() {
						t.Fatalf("%s sent while %s is %s on the device", submit.OperationID, id, task.phase)
					}
				}
				if known := slices.ContainsFunc(s.all[:i], func(c plan.Command) bool {
					old, ok := c.(plan.Submit)
					return ok && old.OperationID == submit.OperationID
				}); known != submit.Again {
					t.Fatalf("%s sent, again: %v; it was sent before: %v", submit.OperationID, submit.Again, known)
				}
			}
		}
	})
}

// A submit that may or may not have come is sent again under the same id, and only after the device said that it never came.
func TestLaw11SentAgainUnderTheSameID(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	s.answer(request[plan.Submit](s), vanish)
	if n := len(s.submits); n != 1 || s.submits["p-1/move/1"] != 1 {
		t.Fatalf("sent %v before the device was asked", s.submits)
	}
	s.answer(request[plan.QueryStatus](s), fine)
	if s.submits["p-1/move/1"] != 2 || len(s.submits) != 1 {
		t.Errorf("sent %v; want the same id once more", s.submits)
	}
	if o := s.settle(); o.State != plan.Completed || !slices.Equal(s.device.effects, []string{"p-1/move/1", "p-1/purify/1", "p-1/dock/1"}) {
		t.Errorf("%s with %v", o.State, s.device.effects)
	}
}
