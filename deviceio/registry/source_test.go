package registry_test

import (
	"testing"
	"time"
)

func TestSourcesAgeAndKeepNothingOfWhatTheySay(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	if sources, at, err := r.Sources(t.Context(), "robot", c.now()); err != nil || len(sources) != 0 || !at.IsZero() {
		t.Fatalf("before it told anything: %v at %v, %v", sources, at, err)
	}
	told := map[string]any{"snapshot_ts": 1_000_000.0, "battery": map[string]any{"available": true, "level": 41.0},
		"freshness": map[string]any{"battery": map[string]any{"policy": "periodic", "reported_at": 999_000.0, "expires_at": 1_005_000.0}}}
	must(t, r.SetSources(t.Context(), "robot", told, c.now()))
	must(t, r.SetSources(t.Context(), "robot", told, c.now())) // again is no other row
	for after, usable := range map[time.Duration]bool{0: true, 4 * time.Second: true, 5 * time.Second: false} {
		sources, at, err := r.Sources(t.Context(), "robot", c.now().Add(after))
		if err != nil || len(sources) != 1 || sources[0].Usable != usable || sources[0].ReportedAgo != 1000+after.Milliseconds() || !at.Equal(c.now()) {
			t.Errorf("after %v: %+v at %v, %v", after, sources, at, err)
		}
	}
}
