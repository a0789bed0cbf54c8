package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

func TestLaw04OnlyListedFieldsLeaveAnEvent(t *testing.T) {
	s := newSim(t, threeSteps())
	o := s.settle() // the device's result has raw_pose: secret
	var commands strings.Builder
	for _, c := range s.all {
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		commands.Write(raw)
	}
	outcome, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"the commands": commands.String(), "the outcome": string(outcome), "the view": fmt.Sprint(s.state.View())} {
		if strings.Contains(text, "secret") || strings.Contains(text, "raw_pose") {
			t.Errorf("an unlisted field is in %s", where)
		}
	}
	if got := o.Steps[0].Result; len(got) != 2 || got["area_id"] != "6" {
		t.Errorf("the move's result is %v, want the two listed fields", got)
	}
}

func TestLaw07AnEventCountsOnceWhereverItIsTold(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("move completed", func() bool { return s.phase("move") == plan.StepCompleted })
	told := *s.device.tasks["p-1/move/1"].terminal
	entries := s.state.Entries
	s.take(told) // seen before
	if s.state.Entries != entries {
		t.Error("a copy of an event left a trace")
	}
	for seq := int64(1000); seq < 1100; seq++ { // more than is remembered
		s.take(plan.Event{EventID: "n", DeviceID: testDevice, Epoch: told.Epoch, Seq: seq, Name: plan.EventQueued, OperationID: "p-1/dock/9"})
	}
	for epoch := told.Epoch + 1; epoch < told.Epoch+9; epoch++ {
		s.take(plan.Event{EventID: "n", DeviceID: testDevice, Epoch: epoch, Seq: 1, Name: plan.EventQueued, OperationID: "p-1/dock/9"})
	}
	before := s.state.Steps[0]
	s.take(told) // below what is remembered: the operation's own state decides
	if s.state.Steps[0].Phase != before.Phase || s.state.Steps[0].Ops[0].Seq != before.Ops[0].Seq || s.submits["p-1/purify/1"] != 1 {
		t.Errorf("a forgotten copy changed move from %+v to %+v", before, s.state.Steps[0])
	}
	other := told
	other.Epoch, other.Name = told.Epoch+3, plan.EventFailed // the same number in another boot is another event
	entries = s.state.Entries
	s.take(other)
	if s.state.Entries == entries {
		t.Error("another boot's event was taken for a copy")
	}
}

func TestLaw07TheWindowRemembersTheLast64OfABoot(t *testing.T) {
	s := newSim(t, threeSteps())
	unmatched := func(seq int64) int {
		before := s.state.Entries
		s.take(plan.Event{EventID: "n", DeviceID: testDevice, Epoch: 5, Seq: seq, Name: plan.EventQueued, OperationID: "p-1/dock/9"})
		return s.state.Entries - before
	}
	for seq := int64(200); seq > 200-64; seq-- { // the wrong way round
		if unmatched(seq) != 1 {
			t.Fatalf("event %d was taken for a copy", seq)
		}
	}
	for seq := int64(200); seq > 200-64; seq-- {
		if unmatched(seq) != 0 {
			t.Fatalf("a copy of event %d was taken", seq)
		}
	}
}

func TestLaw10LateTruthWins(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1", Why: "unreadable"})
	if s.phase("move") != plan.StepUnknown {
		t.Fatalf("move is %s, want unknown", s.phase("move"))
	}
	s.happens(plan.EventCompleted, 90, "", false)
	if s.phase("move") != plan.StepCompleted {
		t.Errorf("a late completion of the standing attempt was not applied: %s", s.phase("move"))
	}

	s = newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.happens(plan.EventFailed, 90, "TRY_AGAIN", false)
	if s.submits["p-1/move/2"] != 1 {
		t.Fatalf("no second try: %s", describe(s.state))
	}
	s.happens(plan.EventCompleted, 91, "", false) // of the first
	if s.phase("move") == plan.StepCompleted || s.submits["p-1/purify/1"] != 0 {
		t.Error("a completion of a superseded attempt was applied")
	}
	if !journalHas(s, "note", "superseded operation p-1/move/1") {
		t.Error("it is not on record")
	}
}

func TestLaw10AnEarlierTerminalReplacesALaterOneNothingWasBuiltOn(t *testing.T) {
	running := func() *sim {
		s := newSim(t, threeSteps())
		s.device.epoch = 2
		s.until("purify running", func() bool { return s.phase("purify") == plan.StepRunning })
		return s
	}
	event := func(epoch, seq int64, name plan.EventName, code string) plan.Event {
		return plan.Event{EventID: "x", DeviceID: testDevice, Epoch: epoch, Seq: seq, Name: name, OperationID: "p-1/purify/1", Report: &plan.Report{Code: code}}
	}
	s := running()
	s.take(event(3, 5, plan.EventCompleted, ""))
	verify := out[plan.Verify](s)
	s.take(event(3, 4, plan.EventFailed, "ASK_ME"))
	if s.phase("purify") != plan.StepFailed || len(s.asked) != 1 {
		t.Errorf("purify is %s with %d questions, want the earlier FAILED to stand", s.phase("purify"), len(s.asked))
	}
	s.take(s.reply(verify, fine)) // about what does not stand
	if s.phase("purify") != plan.StepFailed || s.state.Steps[1].Receipt != nil {
		t.Errorf("an old verdict made purify %s", s.phase("purify"))
	}
	s.take(event(3, 3, plan.EventCompleted, "")) // and one earlier still
	if s.state.Question != nil || request[plan.Verify](s) < 0 {
		t.Errorf("purify is %s, question %v; want it verified", s.phase("purify"), s.state.Question)
	}
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s", o.State)
	}

	s = running()
	s.take(event(3, 5, plan.EventFailed, "ASK_ME"))
	s.take(plan.CancelRequest{By: "kim"})
	if s.finish == nil || s.finish.Steps[1].Phase != plan.StepFailed {
		t.Errorf("outcome %+v", s.finish)
	}

	s = running()
	s.take(event(3, 5, plan.EventCompleted, ""))
	s.take(plan.CancelRequest{By: "kim"})
	s.take(event(3, 4, plan.EventFailed, "ASK_ME"))
	if o := s.settle(); o.State != plan.Cancelled || o.Steps[1].Phase != plan.StepCompleted {
		t.Errorf("%s, purify %s: a plan that is being stopped is not turned round", o.State, o.Steps[1].Phase)
	}
}

func TestLaw11AnotherTryOnlyAfterTheLastIsDead(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.happens(plan.EventBlocked, 80, "TRY_AGAIN", true) // the table says retry, and it is alive
	if s.submits["p-1/move/2"] != 0 || request[plan.CancelTask](s) < 0 {
		t.Errorf("submits %v; want the blocked one stopped, no second beside it", s.submits)
	}
	if o := s.settle(); o.State != plan.Failed || o.Steps[0].Phase != plan.StepCancelled {
		t.Errorf("%s, move %s", o.State, o.Steps[0].Phase)
	}
}

func TestLaw09TheStoreForgetsAfterItsRetention(t *testing.T) {
	s := newSim(t, threeSteps())
	s.retention = 60_000
	s.take(plan.DeviceChange{Gone: 1})
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	s.answer(request[plan.Submit](s), vanish)
	query := out[plan.QueryStatus](s)
	s.tick(60_000)
	s.take(s.reply(query, fine))
	if s.phase("move") != plan.StepUnknown || s.submits["p-1/move/1"] != 1 {
		t.Errorf("move is %s, sent %d times: past the retention not_found proves nothing", s.phase("move"), s.submits["p-1/move/1"])
	}
}

func TestLaw15ATombstoneInAnotherStoreIsNoProof(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.device.forgetful, s.device.silent = true, true
	s.take(plan.CancelRequest{By: "kim"})
	s.answer(request[plan.CancelTask](s), fine)
	if s.finish != nil {
		t.Fatalf("closed as %s on the word of a store that knows nothing", s.finish.State)
	}
	if o := s.settle(); o.State != plan.Unresolved || o.Cancel == nil {
		t.Errorf("%s", o.State)
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

func TestLaw20WhatIsSaidFollowsFromWhatIsSo(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*sim)
		state   plan.Phase
		said    string
	}{
		"all done":         {func(*sim) {}, plan.Completed, "Done. Done. Done. All done."},
		"nobody could see": {func(s *sim) { s.device.verdict = plan.Unverified }, plan.Completed, "Done. Probably done. Done. Not all confirmed."},
		"one not so":       {func(s *sim) { s.device.verdict = plan.Contradicted }, plan.Failed, "Done. Could not. Not the rest."},
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
