package load

import (
	"slices"

	"errand/catalog"
	"errand/catalog/condition"
	"errand/internal/border"
)

// nodeCommand checks what only a plain node's command may have, and what it cannot have: a node has no context to look at.
func (l *linter) nodeCommand(c *catalog.Capability, path string) {
	stored := slices.ContainsFunc(c.ResultContract.BindableResultFields, func(f catalog.ResultField) bool { return f.Stored != "" })
	switch {
	case c.NodeCommand == "" && stored:
		l.fault(border.Field(path, "result_contract"), "contradiction", "stores bytes: only the result of a node_command carries any")
	case c.NodeCommand == "":
	case c.TaskMethod != c.NodeCommand:
		l.fault(border.Field(path, "task_method"), "contradiction", "is %q: that of a node_command is the command itself, leave it out", c.TaskMethod)
	case c.RunsOn("cloud"):
		l.fault(border.Field(path, "targets"), "contradiction", "runs in the cloud: a node_command is a device's")
	case len(c.Preconditions) > 0 || c.Verify != "":
		l.fault(border.Field(path, "node_command"), "contradiction", "a plain node has no context that preconditions or verify could look at: use read_back")
	}
	for i, f := range c.ResultContract.BindableResultFields {
		if f.Stored != "" && f.Schema.Type != "string" {
			l.fault(border.Index(border.Field(path, "result_contract.bindable_result_fields"), i), "contradiction", "is a reference, which is a string")
		}
	}
}

// shows checks how a read-back is asked and judged: its reader's slots, and an expression over them.
func (l *linter) shows(c *catalog.Capability, path string) {
	if c.ReadBackShows == "" && len(c.ReadBackWith) == 0 {
		return
	}
	reader, ok := l.whole.Capability(c.ReadBack)
	if !ok || c.NodeCommand == "" || reader.NodeCommand == "" {
		l.fault(border.Field(path, "read_back"), "contradiction", "is judged by read_back_shows: both must be a node_command")
		return
	}
	with := border.Field(path, "read_back_with")
	for _, name := range sortedKeys(c.ReadBackWith) {
		if _, declared := reader.Slot(name); !declared {
			l.fault(border.Field(with, name), "unknown_slot", "is no slot of %s", reader.ID)
		}
		if _, declared := c.Slot(c.ReadBackWith[name]); !declared {
			l.fault(border.Field(with, name), "unknown_slot", "comes from %q, which is no slot of %s", c.ReadBackWith[name], c.ID)
		}
	}
	if _, err := condition.Compile(c.ReadBackShows); err != nil {
		l.fault(border.Field(path, "read_back_shows"), "bad_condition", "%v", err)
	}
}
