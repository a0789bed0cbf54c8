package wire

import (
	"encoding/json"
	"maps"
	"slices"

	"errand/internal/border"
)

// ContextSchema is the only schema_version of a device context we read.
const ContextSchema = "device_context.v1"

var contextDoc = newDocument("device_context",
	border.Limits{Bytes: 1 << 20, Depth: 24, StringRunes: 10_000, List: 4_096, Keys: 1_000},
	[]alias{{"schema_version", "schemaVersion"}, {"snapshot_ts", "snapshotTs"}, {"updated_at_ms", "updatedAtMs"}})

// ParseDeviceContext reads the answer to getDevicePlanningContext (contract.md §6). Every area must be there; one
// that the device cannot give says available=false. Areas of a device's own are kept.
//
// Nothing is null, and available, usable and stale are booleans wherever they stand: "false" as a text would read as
// true in too many languages, and law 17 hangs on it.
func ParseDeviceContext(raw json.RawMessage) (map[string]any, error) {
	tree, err := border.Parse(raw, contextDoc.limits)
	if err != nil {
		return nil, err
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, border.Faults{{Code: "wrong_type", Message: "must be a JSON object"}}
	}
	faults := plainFlags("", object)
	faults = append(faults, fold(object, contextDoc.aliases)...)
	if faults = append(faults, contextDoc.schema.Check(object)...); len(faults) > 0 {
		return nil, faults
	}
	return object, nil
}

// plainFlags faults every null, and every freshness flag that is no boolean.
func plainFlags(path string, v any) border.Faults {
	var faults border.Faults
	switch node := v.(type) {
	case nil:
		return border.Faults{{Path: path, Code: "bare_null",
			Message: "is null: say available=false, or leave it out"}}
	case []any:
		for i, item := range node {
			faults = append(faults, plainFlags(border.Index(path, i), item)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			field := border.Field(path, name)
			faults = append(faults, plainFlags(field, node[name])...)
			if _, ok := node[name].(bool); flags[name] && !ok && node[name] != nil {
				faults = append(faults, border.Fault{Path: field, Code: "wrong_type", Message: "must be true or false"})
			}
		}
	}
	return faults
}

var flags = map[string]bool{"available": true, "usable": true, "stale": true}
