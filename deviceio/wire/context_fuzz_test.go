package wire

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"errand/internal/border"
)

// What is read as a device's context has no null and no flag that is not a boolean, and reads the same again.
func FuzzParseDeviceContext(f *testing.F) {
	files, err := filepath.Glob("testdata/*context*")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Add([]byte(`{"schema_version":"device_context.v1","snapshot_ts":1,"battery":{"available":false},"freshness":{"battery":{"usable":"false"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		seen, err := ParseDeviceContext(raw)
		if err != nil {
			var faults border.Faults
			if !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("a failure must be faults, is %#v", err)
			}
			return
		}
		again, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) > 1<<20 {
			return // escaped by encoding/json beyond the limit
		}
		if _, err := ParseDeviceContext(again); err != nil {
			t.Fatalf("read once, refused the second time: %v", err)
		}
	})
}
