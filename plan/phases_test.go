package plan_test

import (
	"strings"
	"testing"

	"errand/catalog"
	"errand/plan"
)

func TestWhichPhasesAreTheEnd(t *testing.T) {
	for phase, closed := range map[plan.Phase]bool{
		plan.Planning: false, plan.Running: false, plan.WaitingDevice: false, plan.WaitingUser: false, plan.WaitingReplan: false,
		plan.Paused: false, plan.Cancelling: false,
		plan.Completed: true, plan.Returned: true, plan.Cancelled: true, plan.Failed: true, plan.Unresolved: true,
	} {
		if phase.Closed() != closed {
			t.Errorf("%s closed: %t", phase, !closed)
		}
	}
	for phase, terminal := range map[plan.StepPhase]bool{
		plan.StepPending: false, plan.StepReady: false, plan.StepConfirming: false, plan.StepSubmitting: false, plan.StepAccepted: false,
		plan.StepRunning: false, plan.StepBlocked: false, plan.StepVerifying: false, plan.StepUnknown: false,
		plan.StepCompleted: true, plan.StepFailed: true, plan.StepCancelled: true, plan.StepSkipped: true,
	} {
		if phase.Terminal() != terminal {
			t.Errorf("%s terminal: %t", phase, !terminal)
		}
	}
	if id := plan.DeviceWorkflowID("robot-1"); id != "device:robot-1" {
		t.Errorf("the lease of robot-1 is %q", id)
	}
}

func TestDecodeSaysWhatIsNoDocument(t *testing.T) {
	if _, err := plan.Decode([]byte("steps")); err == nil {
		t.Error("what is not JSON was read")
	}
	if _, err := plan.Decode([]byte(`{"steps":1}`)); err == nil || !strings.Contains(err.Error(), "steps") {
		t.Errorf("steps that are no list: %v", err)
	}
	doc, err := plan.Decode([]byte(`{"steps":[{"id":"a","optional":true,"action":{"capability_id":"move","operation_id":"start"}}]}`))
	if err != nil || len(doc.Steps) != 1 || !doc.Steps[0].Optional {
		t.Errorf("%+v, %v", doc, err)
	}
}

func TestFaultsNameAllThereIs(t *testing.T) {
	step := spec("a", "move", nil, nil)
	step.Action.Arguments = map[string]any{"room": "창고", "speed": "1", "colour": "2"}
	faults := plan.Validate(plan.Document{Steps: []plan.StepSpec{step}}, testSlice(),
		plan.Grounding{Rooms: []catalog.Room{{ID: "1", Name: "거실"}, {ID: "2", Name: "안방"}}})
	text := faults.Error()
	for _, want := range []string{`no slot "speed"`, `no slot "colour"`, "(거실, 안방)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the faults lack %s: %s", want, text)
		}
	}
}

func TestAStepInTheCloudIsNeverSentToADeviceInstead(t *testing.T) {
	slice := testSlice()
	slice.Capabilities[4].Targets = []string{"device", "cloud"}
	step := spec("a", "dock", nil, nil)
	step.ExecutionTarget = "cloud"
	if faults := plan.Validate(plan.Document{Steps: []plan.StepSpec{step}}, slice, plan.Grounding{}); len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
	slice.Capabilities[4].Targets = []string{"device"}
	faults := plan.Validate(plan.Document{Steps: []plan.StepSpec{step}}, slice, plan.Grounding{})
	if len(faults) != 1 || faults[0].Code != "wrong_target" || faults[0].Path != "steps[0].execution_target" {
		t.Errorf("faults %v", faults)
	}
}
