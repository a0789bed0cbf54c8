package plan_test

import (
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// told is a plan with a step in the cloud in its middle: it takes what the move gave, and the last step takes what it said.
func told(impact catalog.Impact) (*plan.Document, *catalog.Slice) {
	slice := testSlice()
	slice.Capabilities = append(slice.Capabilities, catalog.Capability{ID: "tell", Operations: []string{"start"}, TaskMethod: "do_tell",
		Slots: []catalog.Slot{{Name: "area_id", Schema: text(), Required: true}}, Impact: impact, Enabled: true,
		Targets: []string{plan.TargetCloud}, Timeouts: catalog.Timeouts{QueueMs: 5_000, RunMs: 7_000},
		Say: map[string]catalog.Text{"done": {En: "{tts_response}!"}}})
	tell := spec("tell", "tell", []string{"move"}, map[string]string{"area_id": "move.result.area_id"})
	tell.ExecutionTarget = plan.TargetCloud
	return &plan.Document{Steps: []plan.StepSpec{spec("move", "move", nil, nil), tell,
		spec("clean", "clean", []string{"tell"}, map[string]string{"note": "tell.result"})}}, slice
}

// atCloud takes the plan to its step in the cloud.
func atCloud(t *testing.T, impact catalog.Impact) (*sim, plan.Perform) {
	t.Helper()
	doc, slice := told(impact)
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt, Document: doc, Slice: slice})
	s.take(plan.Begin{})
	s.until("the step in the cloud", func() bool { return request[plan.Perform](s) >= 0 })
	c := s.cloudCall(t)
	return s, c
}

// cloudCall takes the request for the step in the cloud out of line.
func (s *sim) cloudCall(t *testing.T) plan.Perform {
	t.Helper()
	i := request[plan.Perform](s)
	if i < 0 {
		t.Fatalf("no step in the cloud is asked for: %s", describe(s.state))
	}
	c, _ := s.out[i].(plan.Perform)
	s.out = append(s.out[:i:i], s.out[i+1:]...)
	return c
}

func TestAStepInTheCloudBindsItsOneSentence(t *testing.T) {
	s, c := atCloud(t, catalog.ReadOnly)
	if c.OperationID != "p-1/tell/1" || c.Arguments["area_id"] != "6" || c.QueueMs != 5_000 || c.TimeoutMs != 7_000 || c.Again {
		t.Errorf("asked for %+v", c)
	}
	if s.phase("tell") != plan.StepRunning || s.phase("clean") != plan.StepPending {
		t.Errorf("tell is %s, clean %s", s.phase("tell"), s.phase("clean"))
	}
	s.take(plan.Performed{OperationID: c.OperationID, Result: map[string]any{"tts_response": "It is fine.", "secret": "raw"}})
	o := s.settle()
	if o.State != plan.Completed || !strings.Contains(o.TTSResponse, "It is fine.!") {
		t.Fatalf("%s, said %q", o.State, o.TTSResponse)
	}
	if got := s.state.Steps[2].Arguments["note"]; got != "It is fine." {
		t.Errorf("note is bound to %v, want the sentence: the bare result of such a step is a name for it", got)
	}
	if len(o.Steps[1].Result) != 1 || o.Steps[1].Receipt != nil {
		t.Errorf("Law04: %+v, want the one field that may leave it, and no receipt of a device", o.Steps[1])
	}
	if len(s.device.effects) != 2 {
		t.Errorf("effects %v: the device carries out its own two", s.device.effects)
	}
}

func TestLaw03AStepInTheCloudWithoutItsSentenceBindsNothing(t *testing.T) {
	s, c := atCloud(t, catalog.ReadOnly)
	s.take(plan.Performed{OperationID: c.OperationID, Result: map[string]any{"secret": "raw"}})
	if o := s.settle(); o.State != plan.Failed || o.Reason.Code != "STEP_RESULT_BINDING_FAILED" {
		t.Errorf("%s (%+v)", o.State, o.Reason)
	}
}

func TestLaw06TheDeviceSaysNothingAboutAStepInTheCloud(t *testing.T) {
	s, c := atCloud(t, catalog.ReadOnly)
	for _, in := range []plan.Input{
		plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 90, Name: plan.EventCompleted, OperationID: c.OperationID},
		plan.Event{EventID: "y", DeviceID: testDevice, Epoch: 1, Seq: 91, Name: plan.EventFailed, WorkflowID: testPlan, StepID: "tell"},
		plan.Doubt{DeviceID: testDevice, OperationID: c.OperationID},
		plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused},
		plan.DeviceChange{Gone: 1},
	} {
		if s.take(in); s.phase("tell") != plan.StepRunning {
			t.Fatalf("%T made it %s", in, s.phase("tell"))
		}
	}
}

func TestLaw09SilenceAboutWhatOnlyReadsIsARepetition(t *testing.T) {
	s, c := atCloud(t, catalog.ReadOnly)
	for range 2 {
		s.take(plan.Performed{OperationID: c.OperationID, Unknown: true, Detail: "no answer in time"})
		s.until("the repetition", func() bool { return request[plan.Perform](s) >= 0 })
		if again := s.cloudCall(t); again.OperationID != c.OperationID || !again.Again {
			t.Fatalf("asked for %+v, want the same operation again", again)
		}
	}
	s.take(plan.Performed{OperationID: c.OperationID, Unknown: true})
	if o := s.settle(); o.State != plan.Failed || o.Steps[1].EventName != "TIMED_OUT" {
		t.Errorf("%s, the step's event %q: a third silence is its end", o.State, o.Steps[1].EventName)
	}
}

func TestLaw11WhatMayHaveBeenDoneInTheCloudIsNotDoneAgain(t *testing.T) {
	s, c := atCloud(t, catalog.Reversible)
	s.take(plan.Performed{OperationID: c.OperationID, Unknown: true, Detail: "no answer in time"})
	o := s.settle()
	if o.State != plan.Unresolved || o.Reason.Code != "OPERATION_UNRESOLVED" || o.Steps[1].Phase != plan.StepUnknown || o.Steps[2].Phase != plan.StepSkipped {
		t.Errorf("%s (%+v), steps %+v", o.State, o.Reason, o.Steps)
	}
	if s.released == nil || len(s.released.Unsettled) > 0 {
		t.Errorf("the device is given back with %+v: nothing of this can move it", s.released)
	}
}

func TestLaw15ACancelReachesAStepInTheCloud(t *testing.T) {
	for name, answer := range map[string]plan.Performed{"stopped": {Stopped: true}, "faster": {Result: map[string]any{"tts_response": "Done."}}} {
		t.Run(name, func(t *testing.T) {
			s, c := atCloud(t, catalog.ReadOnly)
			s.take(plan.CancelRequest{By: "kim", Source: "api"})
			stops := 0
			for _, command := range s.all {
				if stop, ok := command.(plan.StopPerforming); ok && stop.OperationID == c.OperationID {
					stops++
				}
			}
			if stops != 1 || s.state.Outcome != nil {
				t.Fatalf("%d stops, outcome %v: what happened is awaited", stops, s.state.Outcome)
			}
			answer.OperationID = c.OperationID
			s.take(answer)
			want := plan.StepCancelled
			if name == "faster" {
				want = plan.StepCompleted
			}
			if o := s.settle(); o.State != plan.Cancelled || o.Steps[1].Phase != want || s.submits["p-1/clean/1"] > 0 {
				t.Errorf("%s, the step %s, want %s", o.State, o.Steps[1].Phase, want)
			}
		})
	}
}

func TestAFailedStepInTheCloudIsTheReasonTables(t *testing.T) {
	s, c := atCloud(t, catalog.Reversible)
	s.take(plan.Performed{OperationID: c.OperationID, Report: &plan.Report{Code: "TRY_AGAIN"}})
	if again := s.cloudCall(t); again.OperationID != "p-1/tell/2" {
		t.Fatalf("asked for %+v, want a second try: the first is dead", again)
	}
}

func TestLaw21AStepInTheCloudNeedsNoTurn(t *testing.T) {
	doc, slice := told(catalog.ReadOnly)
	tell := doc.Steps[1]
	tell.DependsOn, tell.InputFrom, tell.Action.Arguments = nil, nil, map[string]any{"area_id": "6"}
	s := &sim{t: t, now: askedAt, device: newModel(), submits: map[string]int{}, leases: true}
	s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, Locale: "en", AskedAt: askedAt,
		Document: &plan.Document{Steps: []plan.StepSpec{tell}}, Slice: slice})
	s.take(plan.Begin{})
	c := s.cloudCall(t)
	if s.state.Lease.Asked || s.state.Device.Awaiting {
		t.Errorf("lease %+v, device %+v: neither is needed", s.state.Lease, s.state.Device)
	}
	s.take(plan.Performed{OperationID: c.OperationID, Result: map[string]any{"tts_response": "Hello."}})
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s", o.State)
	}
}

// A stop waits for a worker's word as long as the step may take to begin and to run, and a minute.
func TestLaw18AStopOfAStepInTheCloudGivesUp(t *testing.T) {
	s, c := atCloud(t, catalog.ReadOnly)
	s.take(plan.CancelRequest{By: "kim", Source: "api"})
	over := s.now + c.QueueMs + c.TimeoutMs + 60_000
	s.now = over - 1
	if s.take(plan.DeadlinePassed{}); s.state.Outcome != nil {
		t.Fatalf("%s before its time", s.state.Outcome.State)
	}
	s.now = over
	if s.take(plan.DeadlinePassed{}); s.state.Outcome == nil || s.state.Outcome.State != plan.Unresolved {
		t.Errorf("%+v, want unresolved: nobody told how it ended", s.state.Outcome)
	}
}
