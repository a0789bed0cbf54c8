package fresh_test

import (
	"reflect"
	"testing"

	"errand/catalog/fresh"
)

func TestSourcesTellAgesAndWhyOnesAreOut(t *testing.T) {
	const device, ours = 50_000.0, int64(9_000_000) // the clocks have nothing to do with each other
	context := fresh.Receive(object{"snapshot_ts": device, "battery": object{"level": 41.0}, "location": object{"available": false}, "air_quality": object{"pm25": 9.0},
		"freshness": object{
			"battery":     object{"policy": "periodic", "observed_at": device - 30_000, "reported_at": device - 1_000, "expires_at": device + 4_000, "usable": true, "stale": false},
			"location":    object{"policy": "on_change", "observed_at": 0.0, "usable": true},
			"air_quality": object{"policy": "periodic", "observed_at": device - 30_000, "reported_at": device - 30_000, "expires_at": device - 5_000},
			"voice_llm":   object{"policy": "on_change", "usable": false},
			"cloud_link":  "up"}}, ours)
	left := func(ms int64) *int64 { return &ms }
	want := []fresh.Source{
		{Name: "air_quality", Policy: "periodic", ObservedAgo: 32_000, ReportedAgo: 32_000, ExpiresIn: left(-7_000), Why: "expired"},
		{Name: "battery", Policy: "periodic", ObservedAgo: 32_000, ReportedAgo: 3_000, ExpiresIn: left(2_000), Usable: true},
		{Name: "cloud_link", ObservedAgo: -1, ReportedAgo: -1, Why: "unreadable"},
		{Name: "location", Policy: "on_change", ObservedAgo: -1, ReportedAgo: -1, Why: "unavailable"},
		{Name: "voice_llm", Policy: "on_change", ObservedAgo: -1, ReportedAgo: -1, Why: "unusable"},
	}
	if got := fresh.Sources(context, ours+2_000); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Case c09: a sensor that did not change and one that died look alike; the last report tells them apart, and a context that is
// kept grows old by the clock of whoever keeps it.
func TestLaw17TheLastReportCountsNotTheLastChange(t *testing.T) {
	const ours = int64(9_000_000)
	seen := func(reported float64) map[string]any {
		return fresh.Receive(object{"snapshot_ts": 1_000_000.0, "received_at": 1.0, "battery": object{"level": 41.0}, // the device does not say when it came
			"freshness": object{"battery": object{"policy": "periodic", "observed_at": 1.0, "reported_at": reported}}}, ours)
	}
	for name, c := range map[string]struct {
		reported float64
		after    int64
		kept     bool
	}{
		"unchanged for long, and alive": {999_000, 0, true},
		"dead":                          {1_000_000 - 300_000, 0, false},
		"alive when it came":            {999_000, 298_999, true},
		"kept for too long":             {999_000, 299_000, false},
		"our clock went back":           {999_000, -5_000_000, true},
	} {
		if _, kept := fresh.AsTold(seen(c.reported), ours+c.after)["battery"]; kept != c.kept {
			t.Errorf("%s: kept is %v, want %v", name, kept, c.kept)
		}
	}
}
