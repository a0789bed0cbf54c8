package fresh_test

import (
	"reflect"
	"testing"

	"errand/catalog/fresh"
)

type object = map[string]any

const now = int64(1_000_000)

func TestLaw17WhatMayNotDecideIsLeftOut(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		area, source any
		kept         bool
	}{
		"no freshness":                  {object{"level": 41.0}, nil, true},
		"available":                     {object{"available": true}, object{"usable": true, "stale": false}, true},
		"unavailable":                   {object{"available": false}, object{"usable": true}, false},
		"not usable":                    {object{}, object{"usable": false}, false},
		"stale":                         {object{}, object{"stale": true}, false},
		"both flags good but expired":   {object{}, object{"policy": "periodic", "usable": true, "stale": false, "expires_at": float64(now)}, false},
		"periodic, not expired":         {object{}, object{"policy": "periodic", "expires_at": float64(now + 1)}, true},
		"periodic without expiry":       {object{}, object{"policy": "periodic", "stale": false}, false},
		"periodic, said to be usable":   {object{}, object{"policy": "periodic", "usable": true}, true},
		"on change, old (case c09)":     {object{}, object{"policy": "on_change", "usable": true, "observed_at": 1.0, "expires_at": 2.0}, true},
		"on change, channel dead":       {object{}, object{"policy": "on_change", "usable": false, "stale": true}, false},
		"flag of another type":          {object{}, object{"usable": "yes"}, false},
		"stale of another type":         {object{}, object{"stale": 0.0}, false},
		"expiry of another type":        {object{}, object{"expires_at": "tomorrow"}, false},
		"expiry as Go wrote it":         {object{}, object{"policy": "periodic", "expires_at": now + 1}, true},
		"no policy but expired":         {object{}, object{"expires_at": 5.0}, false},
		"an entry that cannot be read":  {object{}, "fresh", false},
		"null area":                     {nil, object{"usable": true}, false},
		"null source says nothing":      {object{}, nil, true},
		"a value that is no object":     {"device_context.v1", nil, true},
		"unavailable, however it fresh": {object{"available": false, "level": 9.0}, nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			context := object{"battery": tt.area, "snapshot_ts": 5.0, "freshness": object{"battery": tt.source, "voice": object{"stale": true}}}
			got := fresh.Context(context, now)
			if _, kept := got["battery"]; kept != tt.kept {
				t.Errorf("kept is %v, want %v", kept, tt.kept)
			}
			if got["snapshot_ts"] != 5.0 || got["freshness"] == nil {
				t.Errorf("lost what is no area: %v", got)
			}
		})
	}
}

func TestTheInputIsLeftAlone(t *testing.T) {
	t.Parallel()
	build := func() object {
		return object{"battery": object{"available": false, "level": nil}, "location": object{"room": nil, "x": 1.0},
			"freshness": object{"location": object{"usable": true, "expires_at": nil}}}
	}
	context := build()
	copied := fresh.Context(context, now)
	if !reflect.DeepEqual(context, build()) {
		t.Errorf("the input became %v", context)
	}
	location, ok := copied["location"].(object)
	if !ok {
		t.Fatalf("the location became %v", copied["location"])
	}
	location["x"] = 2.0
	if !reflect.DeepEqual(context, build()) {
		t.Error("the copy shares a map with the input")
	}
	if got := fresh.Context(nil, now); len(got) != 0 || got == nil {
		t.Errorf("of nil got %v, want an empty map", got)
	}
}

// Expiries are of the device's clock: the time it says it is there counts, and ours where it does not say.
func TestLaw17ADeviceIsFreshByItsOwnClock(t *testing.T) {
	t.Parallel()
	seen := func(snapshot any) object {
		return object{"snapshot_ts": snapshot, "battery": object{"level": 41.0},
			"freshness": object{"battery": object{"policy": "periodic", "expires_at": 5_000.0}}}
	}
	for name, c := range map[string]struct {
		snapshot any
		kept     bool
	}{
		"its clock is behind ours": {4_000.0, true}, "its own time is up": {5_000.0, false}, "it does not say, and ours is later": {nil, false},
	} {
		if _, kept := fresh.AsTold(seen(c.snapshot), now)["battery"]; kept != c.kept {
			t.Errorf("%s: kept is %v, want %v", name, kept, c.kept)
		}
	}
}
