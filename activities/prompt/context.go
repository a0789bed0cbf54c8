package prompt

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"errand/catalog"
	"errand/catalog/fresh"
)

// The bounds of a context as it is told.
const (
	maxContext = 8 << 10 // bytes of JSON
	maxText    = 100     // characters of one text
	maxItems   = 64      // of one list, or fields of one object
	maxDepth   = 6
	// maxLeftOut bounds the record of what was left out.
	maxLeftOut = 40
)

// LeftOut is something that the model is not told, or may not use.
type LeftOut struct {
	// What is a path in the context ("air_quality", "battery.token"), or the id of a capability.
	What string `json:"what"`
	Why  string `json:"why"`
}

// areas are those of contract.md §6. The capabilities decide what is offered, and are not told again.
var areas = []string{"battery", "map", "location", "cleaning", "movement", "task_manager", "air_quality"}

// envelope is what a context says of itself.
var envelope = []string{"schema_version", "snapshot_ts", "updated_at_ms", "freshness", "capabilities"}

// teller copies what may be told, and records the rest.
type teller struct{ left []LeftOut }

// leave records something once: of a list, or of many under their ids, the first stands for all.
func (t *teller) leave(what, format string, args ...any) {
	left := LeftOut{What: short(what), Why: fmt.Sprintf(format, args...)}
	switch {
	case slices.Contains(t.left, left) || len(t.left) > maxLeftOut:
	case len(t.left) == maxLeftOut:
		t.left = append(t.left, LeftOut{What: "more", Why: "the record is full"})
	default:
		t.left = append(t.left, left)
	}
}

// context returns what of a device_context.v1 may be told. read lists the areas that the catalog's conditions read.
func (t *teller) context(seen map[string]any, nowMs int64, read []string) map[string]any {
	usable := fresh.AsTold(seen, nowMs)
	t.unusable(seen, usable)
	told := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(usable)) {
		switch {
		case slices.Contains(envelope, name), name == "boot_id":
		case name == "map": // only its rooms: see Setting
		case !slices.Contains(areas, name) && !slices.Contains(read, name):
			t.leave(name, "an area that neither the contract nor the catalog names")
		default:
			if value, ok := t.value(name, usable[name], 1); ok {
				told[name] = value
			}
		}
	}
	return t.bounded(told)
}

// unusable records the areas that are missing, with the reason that the context itself gives.
func (t *teller) unusable(seen, usable map[string]any) {
	sources, _ := seen["freshness"].(map[string]any)
	names := slices.Concat(areas, slices.Collect(maps.Keys(sources)))
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if _, there := usable[name]; there {
			continue
		}
		area, known := seen[name].(map[string]any)
		switch _, tracked := sources[name]; {
		case known && area["available"] == false:
			t.leave(name, "not available")
		case tracked:
			t.leave(name, "stale or not usable")
		case !known:
			t.leave(name, "the device did not tell it")
		}
	}
}

// The names of fields that are never told, and why.
var unspoken = []struct {
	name *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|cookie|authori|api_?key|private_?key|certificate|ssid|wifi`), "a credential"},
	{regexp.MustCompile(`(?i)frame|image|photo|picture|thumbnail|jpe?g|png|video|audio|camera|point_?cloud|lidar|raster|grid|bitmap`), "a frame"},
	{regexp.MustCompile(`(?i)(^|_)(logs?|traces?|traceback|stack|debug|dump|stdout|stderr)($|_)|Logs?$`), "a log"},
	{regexp.MustCompile(`(_at|_ts|_ms|_time|timestamp|At|Ts|Ms|Timestamp)$`), "a time: a model has no clock"},
	{regexp.MustCompile(`(?i)^(last_|running_|current_)?(task|operation|workflow|plan|boot|event|store|session|trace|device|serial)_?(id|number|no)s?$`), "an id"},
	{regexp.MustCompile(`^(x|y|z|theta|yaw|heading|pose|coordinates|latitude|longitude|lat|lng|lon)$`), "a coordinate"},
}

// coded is a text that is data rather than words.
var coded = regexp.MustCompile(`^data:|^[A-Za-z0-9+/_=-]{48,}$`)

// value copies one value; ok is false where it may not be told.
func (t *teller) value(path string, v any, depth int) (told any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		if depth > maxDepth {
			t.leave(path, "too deep")
			return nil, false
		}
		return t.object(path, v, depth), true
	case []any:
		if depth > maxDepth {
			t.leave(path, "too deep")
			return nil, false
		}
		return t.list(path, v, depth), true
	case string:
		switch n := len([]rune(v)); {
		case coded.MatchString(v):
			t.leave(path, "data, not words")
			return nil, false
		case n > maxText:
			t.leave(path, "a text of %d characters", n)
			return nil, false
		}
		return v, true
	case float64:
		return rounded(v), true
	case int64:
		return rounded(float64(v)), true
	case bool:
		return v, true
	case nil:
		return nil, false // it says nothing
	}
	t.leave(path, "no value that JSON has")
	return nil, false
}

func (t *teller) object(path string, fields map[string]any, depth int) map[string]any {
	told := make(map[string]any, len(fields))
	many := keyed(fields)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := path + "." + name
		if many {
			field = path + ".*"
		}
		if name == "available" {
			continue // it is there
		}
		if why := whyUnspoken(name); why != "" {
			t.leave(field, "%s", why)
			continue
		}
		if len(told) == maxItems {
			t.leave(path, "fields beyond the first %d", maxItems)
			break
		}
		if value, ok := t.value(field, fields[name], depth+1); ok {
			told[name] = value
		}
	}
	return told
}

// keyed reports whether an object is a list of objects under their ids rather than a thing with fields.
func keyed(fields map[string]any) bool {
	for _, value := range fields {
		if _, ok := value.(map[string]any); !ok {
			return false
		}
	}
	return len(fields) > 1
}

func (t *teller) list(path string, items []any, depth int) []any {
	if len(items) > maxItems {
		t.leave(path, "items beyond the first %d", maxItems)
		items = items[:maxItems]
	}
	told := make([]any, 0, len(items))
	for _, item := range items {
		if value, ok := t.value(path+"[]", item, depth+1); ok {
			told = append(told, value)
		}
	}
	return told
}

func whyUnspoken(name string) string {
	if len([]rune(name)) > maxText {
		return "a name too long"
	}
	for _, u := range unspoken {
		if u.name.MatchString(name) {
			return u.why
		}
	}
	return ""
}

// rounded keeps two digits that count: what is measured changes at each look, and the question should not.
func rounded(n float64) float64 {
	if n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(n)))-1)
	return math.Round(n/min(unit, 1)) * min(unit, 1)
}

// bounded leaves out whole areas, the largest first, until the rest fits.
func (t *teller) bounded(told map[string]any) map[string]any {
	for {
		if len(encode(told)) <= maxContext {
			return told
		}
		largest, most := "", 0
		for _, name := range slices.Sorted(maps.Keys(told)) {
			if size := len(encode(told[name])); size > most {
				largest, most = name, size
			}
		}
		t.leave(largest, "%d bytes of a context that has too many", most)
		delete(told, largest)
	}
}

// read finds the areas of the context that a catalog's conditions name.
func read(capabilities []catalog.Capability) []string {
	var names []string
	for _, c := range capabilities {
		conditions := append(slices.Clone(c.Preconditions), c.Verify)
		if c.Confirm != nil {
			conditions = append(conditions, c.Confirm.Binds...)
		}
		for _, found := range condition.FindAllStringSubmatch(strings.Join(conditions, " "), -1) {
			names = append(names, found[1])
		}
	}
	return names
}

var condition = regexp.MustCompile(`\bcontext\.([A-Za-z_]\w*)`)

// encode writes a value that came from JSON, or is ours.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("prompt: %T is no JSON: %v", v, err))
	}
	return string(text)
}

// short bounds a name that others chose, for a record that people read.
func short(name string) string { return shortTo(name, maxText) }

func shortTo(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
