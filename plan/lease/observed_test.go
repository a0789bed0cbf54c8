package lease_test

import (
	"testing"

	"errand/plan"
	"errand/plan/lease"
)

func TestLaw12WhatTheDeviceSawIsForThePlanThatHoldsItIfItMustDecide(t *testing.T) {
	saw := plan.Observation{EventID: "o", DeviceID: testDevice, Kind: "smoke", RequiresDecision: true}
	idle, foreign := saw, saw
	idle.RequiresDecision, foreign.DeviceID = false, "another"
	for name, test := range map[string]struct {
		plans []string
		seen  plan.Observation
		told  string
	}{
		"the holder":              {[]string{"a", "b"}, saw, "a"},
		"nobody must decide":      {[]string{"a"}, idle, ""},
		"nobody has the device":   {nil, saw, ""},
		"another device's signal": {[]string{"a"}, foreign, ""},
	} {
		w := newWorld(t)
		if test.plans != nil {
			w = in(t, test.plans...)
		}
		w.take(lease.Signal{Observation: &test.seen}.Input())
		told := pending[lease.Tell](w)
		switch {
		case test.told == "" && len(told) != 0:
			t.Errorf("%s: %+v is told", name, told)
		case test.told != "" && (len(told) != 1 || told[0].PlanID != test.told || told[0].Signal.Observation.Kind != "smoke"):
			t.Errorf("%s: told %+v", name, told)
		}
	}
}

// An emergency stop is for those that wait for the device too: none of them begins when it is released.
func TestAnEmergencyStopIsForAllThatWantTheDevice(t *testing.T) {
	w := in(t, "a", "b", "c")
	w.take(lease.Signal{Observation: &plan.Observation{EventID: "stop/1", DeviceID: testDevice, Kind: plan.KindEmergencyStop, RequiresDecision: true}}.Input())
	told := map[string]bool{}
	for _, tell := range pending[lease.Tell](w) {
		if tell.Signal.Observation != nil {
			told[tell.PlanID] = true
		}
	}
	if len(told) != 3 {
		t.Errorf("told %v, want all three", told)
	}
}
