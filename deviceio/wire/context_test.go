package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"errand/internal/border"
)

const seen = `{"schema_version":"device_context.v1","snapshot_ts":1796029570062,"updated_at_ms":1796029570062,
	"battery":{"percent":80,"freshness":{"observed_at":1,"policy":"periodic","usable":true,"stale":false}},
	"map":{"rooms":[{"id":"6","name":"안방"}]},"location":{"room_id":"6"},"cleaning":{"available":false},
	"movement":{"state":"idle"},"task_manager":{"queue":[]},"capabilities":["move_to_room"],
	"aws_iot":{"connected":true}}`

func TestContract6DeviceContext(t *testing.T) {
	c, err := ParseDeviceContext(json.RawMessage(seen))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"connected": true}, c["aws_iot"], "a device's own areas are kept")
	require.Equal(t, map[string]any{"available": false}, c["cleaning"])

	c, err = ParseDeviceContext(json.RawMessage(strings.NewReplacer(`"map":{"rooms":[{"id":"6","name":"안방"}]}`, `"map":{"available":false}`,
		"schema_version", "schemaVersion", "snapshot_ts\":1796029570062", "snapshotTs\":\"2026-11-30T09:00:00Z\"").Replace(seen)))
	require.NoError(t, err)
	require.Equal(t, ContextSchema, c["schema_version"])
}

// Case c14: the room catalog of a device that spells in loose jamo is the catalog of the same rooms.
func TestCaseC14RoomsComeInNFC(t *testing.T) {
	c, err := ParseDeviceContext(json.RawMessage(strings.Replace(seen, "안방", "\u110b\u1161\u11ab\u1107\u1161\u11bc", 1)))
	require.NoError(t, err)
	rooms, err := json.Marshal(c["map"])
	require.NoError(t, err)
	require.JSONEq(t, `{"rooms":[{"id":"6","name":"안방"}]}`, string(rooms))
}

// Law 17: what is not usable must say so in a way that nobody can misread.
func TestLaw17ContextRefusesHiddenStates(t *testing.T) {
	for replace, path := range map[[2]string]string{
		{`device_context.v1`, `device_context.v2`}:         "schema_version",
		{`"snapshot_ts":1796029570062,`, ``}:               "snapshot_ts",
		{`"updated_at_ms":1796029570062,`, ``}:             "updated_at_ms",
		{`"movement":{"state":"idle"},`, ``}:               "movement",
		{`"movement":{"state":"idle"}`, `"movement":null`}: "movement",
		{`"room_id":"6"`, `"room_id":null`}:                "location.room_id",
		{`"queue":[]`, `"queue":[null]`}:                   "task_manager.queue[0]",
		{`"usable":true`, `"usable":"true"`}:               "battery.freshness.usable",
		{`"stale":false`, `"stale":0`}:                     "battery.freshness.stale",
		{`"available":false`, `"available":"no"`}:          "cleaning.available",
		{`"rooms":[{"id":"6","name":"안방"}]`, `"zones":[]`}: "map.rooms",
		{`{"id":"6","name":"안방"}`, `{"id":6,"name":"안방"}`}: "map.rooms[0].id",
		{`{"id":"6","name":"안방"}`, `{"id":"6"}`}:           "map.rooms[0].name",
		{`"battery":{"percent":80,`, `"battery":80,"x":{`}: "battery",
		{`"location":{`, `"location":{},"location":{`}:     "location",
	} {
		text := strings.Replace(seen, replace[0], replace[1], 1)
		require.NotEqual(t, seen, text)
		_, err := ParseDeviceContext(json.RawMessage(text))
		var faults border.Faults
		require.ErrorAs(t, err, &faults, text)
		require.Equal(t, path, faults[0].Path, "%v", faults)
	}
	_, err := ParseDeviceContext(json.RawMessage(`"later"`))
	require.Error(t, err)
}
