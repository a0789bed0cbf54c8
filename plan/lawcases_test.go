package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
	if o := s.settle(); o.State != plan.Completed || s.submits["p-1/move/2"] != 1 || s.state.Steps[0].Ops[0].Phase != plan.OpCancelled {
		t.Errorf("%s, submits %v; want the first cancelled, then a second", o.State, s.submits)
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
