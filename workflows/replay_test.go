package workflows_test

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"

	"errand/workflows"
)

// TestRecordedHistoriesReplay holds the workflow against histories of earlier builds: a plan that is under way when a
// worker is replaced must go on as it began. `make replay-record` records them anew; do that only together with a
// change that is meant to break running plans.
func TestRecordedHistoriesReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 8 {
		t.Fatalf("%d recorded histories, want all of them: run `make replay-record`", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			workflows.Register(replayer)
			workflows.RegisterDevice(replayer)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
				t.Errorf("does not replay: %v", err)
			}
		})
	}
}
