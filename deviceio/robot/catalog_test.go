package robot_test

import (
	"slices"
	"testing"

	"errand/catalog/load"
	"errand/deviceio/robot"
)

// The built-in catalog and this robot speak of the same methods: what the one offers, the other does.
func TestBuiltInCatalogFitsTheRobot(t *testing.T) {
	t.Parallel()
	c := load.Builtin()
	var offered []string
	for _, capability := range c.Capabilities {
		if capability.RunsOn("device") && capability.NodeCommand == "" {
			offered = append(offered, capability.TaskMethod)
			if !slices.Contains(robot.Methods(), capability.TaskMethod) {
				t.Errorf("the catalog offers %s as %s, which the robot does not know", capability.ID, capability.TaskMethod)
			}
		}
	}
	for _, name := range robot.Methods() {
		if !slices.Contains(offered, name) {
			t.Errorf("the robot can %s, which no capability of the catalog offers", name)
		}
	}
	whole := c.Whole()
	for _, code := range robot.ReasonCodes() {
		if row := whole.Reason(code); row.Class == "unknown" {
			t.Errorf("the robot gives the reason %s, which the catalog does not know", code)
		}
	}
}

// Every field that the catalog lets a plan bind is in the robot's results, with a value of its type.
func TestResultsHoldWhatTheCatalogLists(t *testing.T) {
	t.Parallel()
	for _, capability := range load.Builtin().Capabilities {
		if !capability.RunsOn("device") || capability.NodeCommand != "" {
			continue
		}
		result := robot.RunOnce(t, capability.TaskMethod, capability.Sent(map[string]any{"position_name": "안방", "area_id": "6", "roomName": "안방",
			"text": "안녕", "commandType": "come", "rolloutStage": "1", "speakerId": "owner", "time": "07:00", "label": "출근", "due": "2026-12-02T09:00",
			"alarm_id": "alarm-1", "reminder_id": "reminder-1", "light_id": "light-1", "door_id": "door-1"}))
		for _, field := range capability.ResultContract.BindableResultFields {
			if fault := field.Schema.Check(result[field.Name]); fault != "" {
				t.Errorf("%s: result.%s: %s", capability.TaskMethod, field.Name, fault)
			}
		}
	}
}
