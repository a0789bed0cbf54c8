package load_test

import (
	"strings"
	"testing"

	"errand/catalog"
	"errand/catalog/load"
)

// What is wrong with an object's declaration is found before anybody is asked to choose one.
func TestLintOfObjects(t *testing.T) {
	t.Parallel()
	for code, breaks := range map[string]func(*catalog.Object, *catalog.Capability){
		"bad_sentence": func(o *catalog.Object, _ *catalog.Capability) { o.Choice.Ko = "{time:을} 알람" },
		"unknown_name": func(o *catalog.Object, _ *catalog.Capability) { o.Match = map[string]string{"alarm_id": "id"} },
		"bad_path": func(_ *catalog.Object, c *catalog.Capability) {
			c.Confirm = &catalog.Confirm{Policy: catalog.ConfirmAlways, Binds: []string{"context.alarms.items[0]"}}
		},
		"unconfirmed": func(_ *catalog.Object, c *catalog.Capability) {
			c.Impact, c.Confirm = catalog.Irreversible, &catalog.Confirm{Policy: catalog.ConfirmNever}
		},
	} {
		c := load.Builtin()
		for i := range c.Capabilities {
			if c.Capabilities[i].ID == "alarm_delete" {
				breaks(c.Capabilities[i].ObjectSlot().Object, &c.Capabilities[i])
			}
		}
		if faults := load.Lint(c); len(faults) != 1 || faults[0].Code != code || !strings.HasPrefix(faults[0].Path, "capabilities[") {
			t.Errorf("%s: %v", code, faults)
		}
	}
}

// What cannot be taken back never happens without a person, whatever a catalog says of its impact.
func TestLintOfImpacts(t *testing.T) {
	t.Parallel()
	for path, policy := range map[string]catalog.Policy{
		"impacts.irreversible.confirm": {Confirm: catalog.ConfirmNever, Start: []string{catalog.StartedByPerson}},
		"impacts.irreversible.start":   {Confirm: catalog.ConfirmAlways, Start: []string{catalog.StartedByWatch}},
	} {
		c := load.Builtin()
		c.Impacts[catalog.Irreversible] = policy
		if faults := load.Lint(c); len(faults) != 1 || faults[0].Path != path {
			t.Errorf("%s: %v", path, faults)
		}
	}
}
