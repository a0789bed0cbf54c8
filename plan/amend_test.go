package plan_test

import (
	"testing"

	"errand/catalog"
	"errand/plan"
)

func more(id, capability string, depends ...string) plan.Amend {
	return plan.Amend{By: "kim", Steps: []plan.StepSpec{spec(id, capability, depends, nil)}}
}

func TestAnAmendmentIsCarriedOutAfterWhatItNeeds(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	wave := testSlice().Capabilities[4]
	wave.ID = "wave"
	in := more("more", "wave", "dock")
	in.Slice = &catalog.Slice{Capabilities: []catalog.Capability{wave}}
	s.take(in)
	o := s.settle()
	if o.State != plan.Completed || len(o.Steps) != 4 || o.Revision != 2 || s.order[3] != "more" || len(s.device.effects) != 4 {
		t.Errorf("%s, steps %d, revision %d, order %v", o.State, len(o.Steps), o.Revision, s.order)
	}
}

func TestAnAmendmentThatDoesNotPassTheGateChangesNothing(t *testing.T) {
	for name, in := range map[string]plan.Amend{
		"an id that is taken": more("move", "dock"), "unknown capability": more("more", "nosuch"),
		"unknown step": more("more", "dock", "nosuch"), "a cycle": more("more", "dock", "more"),
	} {
		s := newSim(t, threeSteps())
		s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
		if len(s.state.AmendFaults(in)) == 0 {
			t.Errorf("%s: no faults", name)
		}
		s.take(in)
		if len(s.state.Steps) != 3 || s.state.Revision != 1 || !journalHas(s, "note", "amendment refused") {
			t.Errorf("%s: %d steps, revision %d", name, len(s.state.Steps), s.state.Revision)
		}
	}
}

func TestAPlanThatIsBeingStoppedTakesNoAmendment(t *testing.T) {
	in := more("more", "dock")
	s := decidedSim(t)
	if faults := s.state.AmendFaults(in); len(faults) > 0 {
		t.Fatalf("%v", faults)
	}
	s.take(plan.CancelRequest{By: "kim"})
	if len(s.state.AmendFaults(in)) == 0 {
		t.Error("amendable while cancelling")
	}
	s.take(in)
	if o := s.settle(); len(o.Steps) != 3 {
		t.Errorf("%d steps", len(o.Steps))
	}
	if len(s.state.AmendFaults(in)) == 0 {
		t.Error("amendable when over")
	}
	s = newSim(t, threeSteps())
	s.until("running", func() bool { return s.phase("move") == plan.StepRunning })
	s.happens(plan.EventBlocked, 80, "MOVE_POLICY_NOT_ALLOWED", true)
	if len(s.state.AmendFaults(in)) == 0 {
		t.Error("amendable while ending")
	}
	if s = asked(t, map[string]any{}); len(s.state.AmendFaults(in)) == 0 {
		t.Error("amendable before there is a plan")
	}
}
