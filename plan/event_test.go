package plan_test

import (
	"slices"
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// Each name that a device may report means one thing for the operation it carries; any other name means nothing.
func TestLaw05EachEventNameMeansOneThing(t *testing.T) {
	for name, want := range map[plan.EventName]plan.OpPhase{
		plan.EventQueued: plan.OpAccepted, plan.EventStarted: plan.OpRunning, plan.EventRunning: plan.OpRunning, plan.EventProgress: plan.OpRunning,
		plan.EventStepStarted: plan.OpRunning, plan.EventBlocked: plan.OpBlocked, plan.EventCompleted: plan.OpCompleted, plan.EventStepCompleted: plan.OpCompleted,
		plan.EventFailed: plan.OpFailed, plan.EventStepFailed: plan.OpFailed, plan.EventCancelled: plan.OpCancelled, plan.EventTimedOut: plan.OpTimedOut,
		plan.EventWorkflowCompleted: plan.OpSent, plan.EventWorkflowFailed: plan.OpSent, plan.EventWorkflowCancelled: plan.OpSent, "move.done": plan.OpSent,
	} {
		s := stuck["submit out"](t)
		out[plan.Submit](s)
		s.take(s.event(1, 50, name, "p-1/move/1"))
		if got := s.state.Steps[0].Ops[0].Phase; got != want {
			t.Errorf("%s makes it %s, want %s", name, got, want)
		}
		terminal := want == plan.OpCompleted || want == plan.OpFailed || want == plan.OpCancelled || want == plan.OpTimedOut
		if name.Terminal() != terminal || want.Dead() != terminal {
			t.Errorf("%s is the end: %v, want %v", name, name.Terminal(), terminal)
		}
	}
}

// An event without a number is no copy of another without one.
func TestLaw07OnlyNumbersTellCopies(t *testing.T) {
	s := stuck["submit out"](t)
	s.take(s.event(1, 0, plan.EventQueued, "p-1/move/1"))
	s.take(s.event(1, 0, plan.EventStarted, "p-1/move/1"))
	if s.phase("move") != plan.StepRunning {
		t.Errorf("move is %s", s.phase("move"))
	}
}

// The last four boots are remembered, each with its highest number.
func TestLaw07FourBootsAreRemembered(t *testing.T) {
	s := newSim(t, threeSteps())
	recorded := func(epoch, seq int64) bool {
		before := s.state.Entries
		s.take(plan.Event{EventID: "n", DeviceID: testDevice, Epoch: epoch, Seq: seq, Name: plan.EventQueued, OperationID: "p-1/dock/9"})
		return s.state.Entries > before
	}
	for epoch := int64(1); epoch <= 4; epoch++ {
		for _, seq := range []int64{5, 9, 7} {
			if !recorded(epoch, seq) {
				t.Fatalf("boot %d: %d was taken for a copy", epoch, seq)
			}
		}
	}
	for epoch := int64(1); epoch <= 4; epoch++ {
		if recorded(epoch, 7) {
			t.Fatalf("boot %d is forgotten", epoch)
		}
	}
	for _, boot := range s.state.Seen {
		if boot.High != 9 {
			t.Errorf("the highest of boot %d is %d", boot.Epoch, boot.High)
		}
	}
	recorded(5, 1)
	if !recorded(1, 7) {
		t.Error("a fifth boot is remembered")
	}
}

// An event that names no operation is the live one's only if plan, step and task are its own; of a task that is there, the
// device is asked.
func TestLaw06AnEventWithoutAnOperationMustMatchInAll(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Event)
		want   plan.StepPhase
	}{
		"all":          {func(*plan.Event) {}, plan.StepCompleted},
		"another plan": {func(e *plan.Event) { e.WorkflowID = "p-2" }, plan.StepRunning},
		"another step": {func(e *plan.Event) { e.StepID = "dock" }, plan.StepRunning},
		"no such step": {func(e *plan.Event) { e.StepID = "nosuch" }, plan.StepRunning},
		"another task": {func(e *plan.Event) { e.TaskID = "t9" }, plan.StepUnknown},
		"no task":      {func(e *plan.Event) { e.TaskID = "" }, plan.StepUnknown},
	} {
		s := runningMove(t)
		e := s.event(1, 80, plan.EventCompleted, "")
		e.WorkflowID, e.StepID, e.TaskID = testPlan, "move", "t1"
		c.change(&e)
		s.take(e)
		if s.phase("move") != c.want || journalHas(s, "note", "matches no operation") != (name != "all") {
			t.Errorf("%s: move is %s, want %s", name, s.phase("move"), c.want)
		}
	}
	for name, reach := range map[string]func() *sim{
		"never sent": func() *sim {
			s := stuck["submit out"](t)
			s.answer(request[plan.Submit](s), notSent)
			return s
		},
		"over": func() *sim {
			s := runningMove(t)
			s.happens(plan.EventFailed, 80, "ASK_ME", false)
			return s
		},
	} {
		s := reach()
		before := s.state.Steps[0].Ops[0]
		e := s.event(1, 81, plan.EventCompleted, "")
		e.WorkflowID, e.StepID, e.TaskID = testPlan, "move", before.TaskID
		s.take(e)
		if got := s.state.Steps[0].Ops[0]; got.Phase != before.Phase || got.Lost {
			t.Errorf("%s: it went from %+v to %+v", name, before, got)
		}
	}
}

func TestLaw19AnEventBeforeThePlanIsOnRecord(t *testing.T) {
	s := asked(t, map[string]any{})
	s.take(s.event(1, 1, plan.EventCompleted, "p-1/move/1"))
	if !journalHas(s, "note", "event b1-1 ignored: there is no plan yet") {
		t.Errorf("on record: %+v", s.state.Journal)
	}
}

// Somebody else's doubt, and one about what is over or was never sent, is none.
func TestADoubtIsAboutWhatIsUnderWay(t *testing.T) {
	doubt := plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1", Why: "unreadable"}
	s := runningMove(t)
	s.take(plan.Doubt{DeviceID: "robot-2", OperationID: "p-1/move/1"})
	s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/2"})
	if s.phase("move") != plan.StepRunning {
		t.Errorf("move is %s", s.phase("move"))
	}
	s.happens(plan.EventFailed, 80, "ASK_ME", false)
	s.take(doubt)
	if op := s.state.Steps[0].Ops[0]; op.Lost {
		t.Errorf("over, and in doubt: %+v", op)
	}
	s = stuck["submit out"](t)
	s.answer(request[plan.Submit](s), notSent)
	s.take(doubt)
	if op := s.state.Steps[0].Ops[0]; op.Lost {
		t.Errorf("never sent, and in doubt: %+v", op)
	}
}

// What a device leaves out is the table's: whether a decision is needed too. It then asks the decider (law 12).
func TestLaw12AFailureWithoutAReasonIsTheTables(t *testing.T) {
	for name, report := range map[string]*plan.Report{"no reason": nil, "an empty one": {}} {
		s := decidedSim(t)
		e := s.event(1, 80, plan.EventFailed, "p-1/move/1")
		e.Report = report
		s.take(e)
		if s.decides != 1 || s.state.Boundary.Report.Code != "UNKNOWN" || !s.state.Boundary.Report.RequiresDecision {
			t.Errorf("%s: asked %d times, about %+v", name, s.decides, s.state.Boundary)
		}
	}
}

// A second end that is told without a boot's number never replaces the first.
func TestLaw10AnEndWithoutABootReplacesNothing(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.epoch = 2
	s.until("purify running", func() bool { return s.phase("purify") == plan.StepRunning })
	s.take(s.event(3, 5, plan.EventCompleted, "p-1/purify/1"))
	s.take(s.event(0, 4, plan.EventFailed, "p-1/purify/1"))
	if s.phase("purify") != plan.StepVerifying || !journalHas(s, "note", "contradiction: event b0-4 says FAILED, completed stood before") {
		t.Errorf("purify is %s; on record: %+v", s.phase("purify"), s.state.Journal[len(s.state.Journal)-1])
	}
	before := s.state.Entries
	s.take(s.event(3, 6, plan.EventStepCompleted, "p-1/purify/1")) // the same end again is no contradiction
	s.take(s.event(3, 7, plan.EventRunning, "p-1/purify/1"))
	if s.state.Entries != before {
		t.Errorf("on record: %+v", s.state.Journal[len(s.state.Journal)-1])
	}
}

// A status answer ranks like an event: of the same rank the later number counts.
func TestLaw08AStatusRanksLikeAnEvent(t *testing.T) {
	for seq, want := range map[int64]plan.StepPhase{79: plan.StepBlocked, 80: plan.StepBlocked, 81: plan.StepRunning} {
		s := runningMove(t)
		s.happens(plan.EventBlocked, 80, "PASSES_BY", false)
		s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1"})
		out[plan.QueryStatus](s)
		s.take(plan.StatusReported{OperationID: "p-1/move/1", Finding: plan.StatusFound, Status: plan.OpRunning, Epoch: 1, AsOfSeq: seq})
		if s.phase("move") != want || (s.state.Steps[0].Reason == nil) != (want == plan.StepRunning) {
			t.Errorf("as of %d: move is %s for %+v, want %s", seq, s.phase("move"), s.state.Steps[0].Reason, want)
		}
	}
}

// A device without a store cannot know that something never ran.
func TestLaw09ADeviceWithoutAStoreProvesNothing(t *testing.T) {
	s := newSim(t, threeSteps())
	s.device.store = ""
	s.until("submit out", func() bool { return request[plan.Submit](s) >= 0 })
	s.answer(request[plan.Submit](s), vanish)
	s.answer(request[plan.QueryStatus](s), fine)
	if v := s.state.View().Steps[0]; v.State != plan.StepUnknown || v.Why != "the device does not know it, and cannot know whether it ran" || s.submits["p-1/move/1"] != 1 {
		t.Errorf("move is %s (%s), sent %v", v.State, v.Why, s.submits)
	}
}

// The receipt names what the device said of the state before, once, and what it counted.
func TestAReceiptHasTheStateBefore(t *testing.T) {
	s := stuck["submit out"](t)
	out[plan.Submit](s)
	s.take(plan.Submitted{OperationID: "p-1/move/1", Delivery: plan.DeliveryAccepted, TaskID: "t7", PreStateRevision: "rev-3", StoreID: storeA})
	if op := s.state.Steps[0].Ops[0]; op.TaskID != "t7" || op.Pre != "rev-3" {
		t.Errorf("taken as %+v", op)
	}
	n := 2
	e := s.event(1, 80, plan.EventCompleted, "p-1/move/1")
	e.EffectCount, e.ExecutorRevision = &n, "fw-9"
	s.take(e)
	if r := s.state.Steps[0].Receipt; r == nil || r.PreStateRevision != "rev-3" || r.EffectCount == nil || *r.EffectCount != 2 || r.ExecutorRevision != "fw-9" {
		t.Errorf("receipt %+v", r)
	}
}

// A refusal that gives no report has the answer's own words.
func TestARefusalWithoutAReportKeepsItsDetail(t *testing.T) {
	s := stuck["submit out"](t)
	out[plan.Submit](s)
	s.take(plan.Submitted{OperationID: "p-1/move/1", Delivery: plan.DeliveryRefused, Detail: "queue full"})
	if r := s.state.Steps[0].Reason; r == nil || r.Code != "UNKNOWN" || r.Detail != "queue full" {
		t.Errorf("the reason is %+v", r)
	}
}

// Numbers and truth values of a result are said as well as texts.
func TestLaw20ASentenceHasNumbersAndTruths(t *testing.T) {
	s := newScan(t, "level")
	for i, c := range s.state.Slice.Capabilities {
		if c.ID == "use" {
			s.state.Slice.Capabilities[i].Slots = slices.Concat(c.Slots, []catalog.Slot{{Name: "fast", Schema: catalog.SlotSchema{Type: "boolean"}}})
			s.state.Slice.Capabilities[i].Say = map[string]catalog.Text{"done": {Ko: "{level}, {fast}."}}
		}
	}
	s.state.Document.Steps[1].Action.Arguments = map[string]any{"fast": true}
	s.device.result = map[string]any{"level": 7.5}
	if o := s.settle(); o.State != plan.Completed || !strings.Contains(o.TTSResponse, "7.5, 예.") {
		t.Errorf("%s, says %q", o.State, o.TTSResponse)
	}
}

// That a submit was taken makes the step accepted, and takes nothing back that the device said since.
func TestLaw08AnAnswerTakesNothingBack(t *testing.T) {
	taken := plan.Submitted{OperationID: "p-1/move/1", Delivery: plan.DeliveryAccepted, TaskID: "t1", StoreID: storeA}
	for want, before := range map[plan.StepPhase][]plan.EventName{
		plan.StepAccepted: {}, plan.StepRunning: {plan.EventStarted}, plan.StepBlocked: {plan.EventStarted, plan.EventBlocked},
	} {
		s := stuck["submit out"](t)
		out[plan.Submit](s)
		for i, name := range before {
			s.take(s.event(1, int64(50+i), name, "p-1/move/1"))
		}
		s.take(taken)
		if op := s.state.Steps[0].Ops[0]; s.phase("move") != want || op.Lost || op.CheckAt <= s.now {
			t.Errorf("after %v move is %s: %+v", before, s.phase("move"), op)
		}
	}
	s := stuck["submit out"](t) // a doubt that came meanwhile stands, with its reason
	out[plan.Submit](s)
	s.take(plan.Doubt{DeviceID: testDevice, OperationID: "p-1/move/1", Why: "unreadable"})
	s.take(taken)
	if v := s.state.View().Steps[0]; v.State != plan.StepUnknown || v.Why != "unreadable" || request[plan.QueryStatus](s) < 0 {
		t.Errorf("move is %s: %q", v.State, v.Why)
	}
}
