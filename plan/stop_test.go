package plan_test

import (
	"testing"

	"errand/plan"
)

// stopped is a gateway's word that the device was stopped then.
func stopped(at int64) plan.Observation {
	return plan.Observation{EventID: "stop/1", DeviceID: testDevice, Kind: plan.KindEmergencyStop, RequiresDecision: true, ObservedAt: at,
		Facts: map[string]any{"by": "mina", "why": "the cat"}}
}

// An emergency stop ends the plan, whatever it was at: what runs is stopped on the device, nothing more is sent, and no model has
// a say in it.
func TestAnEmergencyStopEndsThePlan(t *testing.T) {
	for name, at := range map[string]func(*sim) bool{
		"before anything was sent": func(*sim) bool { return true },
		"while a step runs":        func(s *sim) bool { return s.phase("move") == plan.StepRunning },
		"between steps":            func(s *sim) bool { return s.phase("move") == plan.StepCompleted },
	} {
		s := decidedSim(t)
		s.until(name, func() bool { return at(s) })
		s.take(stopped(s.state.At))
		o := s.settle()
		if o.State != plan.Failed || o.Reason.Code != plan.EmergencyStop || o.LLMCalls != 0 || s.decides != 0 {
			t.Errorf("%s: %s because of %+v, with %d calls", name, o.State, o.Reason, o.LLMCalls)
		}
		for _, step := range o.Steps {
			if step.Phase == plan.StepUnknown {
				t.Errorf("%s: %+v", name, step)
			}
		}
	}
}

// A stop that was made, and perhaps released, before the plan was asked for is not about it.
func TestAnEmergencyStopBeforeThePlanIsOnRecord(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.take(stopped(s.state.Start.AskedAt - 1))
	if !journalHas(s, "note", "before this plan was asked for") {
		t.Error("it is not on record")
	}
	if o := s.settle(); o.State != plan.Completed {
		t.Errorf("%s", o.State)
	}
}

// A refusal because of the stop ends the plan as well, even one of a step that it could do without: the next one would be refused too.
func TestARefusalByTheEmergencyStopEndsThePlan(t *testing.T) {
	doc := threeSteps()
	doc.Steps[0].Optional = true
	s := newSim(t, doc)
	s.until("the submit", func() bool { return request[plan.Submit](s) >= 0 })
	c := out[plan.Submit](s)
	s.take(plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Unasked: true, Report: &plan.Report{Code: plan.EmergencyStop}})
	if o := s.settle(); o.State != plan.Failed || o.Reason.Code != plan.EmergencyStop {
		t.Errorf("%s because of %+v", o.State, o.Reason)
	}
}
