package load_test

import (
	"bytes"
	"strings"
	"testing"

	"errand/catalog/load"
)

// What a plain node cannot do, a catalog cannot ask of it, and the fault says where.
func TestLintOfNodeCommands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, says string }{
		"a context":         {"node_command: location.get\n", "node_command: location.get\n    verify: context.location.room_name == \"a\"\n", "no context"},
		"another method":    {"node_command: location.get\n", "node_command: location.get\n    task_method: other\n", "leave it out"},
		"the cloud":         {"node_command: location.get\n", "node_command: location.get\n    targets: [cloud]\n", "runs in the cloud"},
		"no such slot":      {"read_back_with: {query: displayName}", "read_back_with: {nothing: displayName}", "is no slot of contacts_search"},
		"from no slot":      {"read_back_with: {query: displayName}", "read_back_with: {query: nothing}", "is no slot of contacts_add"},
		"a robot's reader":  {"read_back: contacts_search", "read_back: device_status", "both must be a node_command"},
		"no such condition": {"read_back_shows: result.reminders", "read_back_shows: nothing.reminders", "read_back_shows"},
		"a stored number":   {"name: photo_ref, schema: {type: string, maxLength: 128}", "name: photo_ref, schema: {type: number}", "is a reference"},
		"a whole list":      {"name: steps, schema: {type: integer, minimum: 0}", "name: steps, schema: {type: array}", "lists a whole list"},
	} {
		text := load.BuiltinFile()
		if !bytes.Contains(text, []byte(c.from)) {
			t.Errorf("%s: %q is not in the catalog", name, c.from)
			continue
		}
		_, err := load.Parse("mine.yaml", bytes.Replace(text, []byte(c.from), []byte(c.to), 1))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
