// Package fresh leaves out of a device_context.v1 what may decide nothing and be told to nobody (law 17): a value that is
// absent, unavailable, unusable or stale. It reads no clock.
//
// Where a context crosses a border it is stamped with the receiver's time (Receive), and ages by that. Sources tells how old
// each source is, for people.
package fresh

import "maps"

// Context returns a copy of a device_context.v1 with only what may decide something (law 17, contract.md §6).
// Left out are the areas that say `available: false`, and those whose freshness entry says usable=false or stale=true,
// or, for a periodic source, whose expires_at is not after nowMs (Unix ms, on the clock that set expires_at).
// An on-change source stays fresh while it is usable, however old its value (case c09). Nulls are left out too.
//
// An entry that cannot be read leaves its area out: what may be stale counts as stale.
func Context(context map[string]any, nowMs int64) map[string]any {
	fresh := WithoutNulls(context)
	for name, area := range fresh {
		if object, ok := area.(map[string]any); ok && isFalse(object["available"]) {
			delete(fresh, name)
		}
	}
	sources, _ := fresh["freshness"].(map[string]any)
	for name, source := range sources {
		if !usable(source, nowMs) {
			delete(fresh, name)
		}
	}
	return fresh
}

// AsTold is Context on the device's clock, since expiries are of that and ours may be off by minutes. A context that somebody
// received (see Receive) has aged since, by the receiver's clock; of any other it is the time it was assembled (snapshot_ts),
// which is a moment ago. Of one that does not say when that was, it is nowMs.
func AsTold(context map[string]any, nowMs int64) map[string]any {
	return Context(context, deviceTime(context, nowMs))
}

// deviceTime is what the device's clock shows at nowMs of the receiver's.
func deviceTime(context map[string]any, nowMs int64) int64 {
	assembled, told := milliseconds(context["snapshot_ts"])
	if !told {
		return nowMs
	}
	if received, ok := milliseconds(context[receivedAt]); ok {
		return assembled + max(0, nowMs-received)
	}
	return assembled
}

// receivedAt is where the receiver notes its own time.
const receivedAt = "received_at"

// Receive notes on a copy of a context when it came, on the receiver's clock (Unix ms): from then on it ages by that, however
// wrong the device's clock is. What the device itself says about it is overwritten.
func Receive(context map[string]any, nowMs int64) map[string]any {
	if context == nil {
		return nil
	}
	received := maps.Clone(context)
	received[receivedAt] = float64(nowMs)
	return received
}

func isFalse(v any) bool { return v == false }

// usable judges one source. Absent flags say nothing; present ones must be the good value.
func usable(source any, nowMs int64) bool {
	entry, ok := source.(map[string]any)
	if !ok {
		return false
	}
	if flag, ok := entry["usable"]; ok && flag != true {
		return false
	}
	if flag, ok := entry["stale"]; ok && flag != false {
		return false
	}
	if entry["policy"] == "on_change" {
		return true
	}
	expires, given := entry["expires_at"]
	if reported, ok := milliseconds(entry["reported_at"]); ok && !given && entry["policy"] == "periodic" {
		return nowMs < reported+silence // by the last report, not by the last change (case c09)
	}
	if !given {
		// A periodic source that tells neither when it expires nor that it is usable says nothing about its age.
		return entry["policy"] != "periodic" || entry["usable"] == true
	}
	at, ok := milliseconds(expires)
	return ok && nowMs < at
}

// silence is how long a periodic source may say nothing that does not say itself when it expires.
const silence = int64(5 * 60_000)

// milliseconds reads a time that came from JSON, or was put into a context by Go code.
func milliseconds(v any) (int64, bool) {
	switch n := v.(type) {
	case float64:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

// WithoutNulls copies a tree without its nulls, which say nothing. nil becomes an empty map.
func WithoutNulls(tree map[string]any) map[string]any {
	kept := make(map[string]any, len(tree))
	for key, value := range tree {
		switch value := value.(type) {
		case nil:
		case map[string]any:
			kept[key] = WithoutNulls(value)
		default:
			kept[key] = value
		}
	}
	return kept
}
