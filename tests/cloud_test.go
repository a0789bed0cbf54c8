package tests

import (
	"os"
	"strings"
	"testing"

	"errand/plan"
	"errand/tests/stack"
)

// A step in the cloud stands between two of the device: it takes what was measured, and the device says what it made of it.
func TestAStepInTheCloudBetweenTwoOfTheDevice(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.Robot(t)
	document, err := os.ReadFile("testdata/cloud-plan.json")
	if err != nil {
		t.Fatal(err)
	}
	p := s.Submit(t, r, string(document))
	o := wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "spoken")
	said, _ := o.Steps[2].Result["tts_response"].(string)
	if !strings.HasPrefix(said, "초미세먼지 농도는 ") || len(o.Steps[2].Result) != 1 {
		t.Errorf("Law04: the step in the cloud gave %v, want its sentence alone", o.Steps[2].Result)
	}
	if got := p.View(t).Steps[3].Arguments["text"]; got != said {
		t.Errorf("Law03: the device was to say %v, want %q", got, said)
	}
	if !strings.Contains(o.TTSResponse, said) || o.LLMCalls != 0 {
		t.Errorf("Law20: the person hears %q; %d model calls", o.TTSResponse, o.LLMCalls)
	}
}
