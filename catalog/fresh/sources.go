package fresh

import (
	"maps"
	"slices"
)

// Source is how one source of a context stands, for people (device-source-freshness.v1). Ages are milliseconds; -1 is unknown.
type Source struct {
	Name   string `json:"name"`
	Policy string `json:"policy,omitempty" doc:"periodic or on_change"`
	// ObservedAgo is since the value was last seen to change, ReportedAgo since the source last said anything.
	ObservedAgo int64 `json:"observed_ago_ms" doc:"since its value was observed, ms; -1 if unknown"`
	ReportedAgo int64 `json:"reported_ago_ms" doc:"since it last reported, ms; -1 if unknown"`
	// ExpiresIn is until it counts as stale; negative once it does. Only a periodic source expires.
	ExpiresIn *int64 `json:"expires_in_ms,omitempty" doc:"until it expires, ms; negative once it has"`
	// Usable says that it may decide something now.
	Usable bool `json:"usable"`
	// Why says why not: unavailable, unusable, stale, expired or unreadable.
	Why string `json:"why,omitempty"`
}

// Sources lists the sources of a context at a time of the receiver's clock (Unix ms), by name.
func Sources(context map[string]any, nowMs int64) []Source {
	now := deviceTime(context, nowMs)
	kept := Context(context, now)
	entries, _ := context["freshness"].(map[string]any)
	sources := make([]Source, 0, len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		entry, readable := entries[name].(map[string]any)
		s := Source{Name: name, ObservedAgo: ago(entry["observed_at"], now), ReportedAgo: ago(entry["reported_at"], now)}
		s.Policy, _ = entry["policy"].(string)
		if at, ok := milliseconds(entry["expires_at"]); ok && s.Policy == "periodic" {
			left := at - now
			s.ExpiresIn = &left
		}
		_, s.Usable = kept[name]
		if _, told := context[name]; !told { // a source without an area of its own, such as the voice model
			s.Usable = readable && usable(entry, now)
		}
		if !s.Usable {
			s.Why = why(context[name], entry, readable)
		}
		sources = append(sources, s)
	}
	return sources
}

func why(area any, entry map[string]any, readable bool) string {
	object, _ := area.(map[string]any)
	switch {
	case !readable:
		return "unreadable"
	case isFalse(object["available"]):
		return "unavailable"
	case entry["usable"] != nil && entry["usable"] != true:
		return "unusable"
	case entry["stale"] != nil && entry["stale"] != false:
		return "stale"
	}
	return "expired"
}

func ago(v any, now int64) int64 {
	at, ok := milliseconds(v)
	if !ok || at == 0 {
		return -1
	}
	return max(0, now-at)
}
