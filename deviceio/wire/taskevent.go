package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"errand/internal/border"
)

// Limits of a task event, in bytes of compact JSON.
const (
	MaxTaskEvent  = 256 << 10
	MaxTaskResult = 64 << 10
)

// eventLimits bound an event. A long list inside a result is the result's business, within its bytes.
var eventLimits = border.Limits{Bytes: MaxTaskEvent, Depth: 32, StringRunes: 65_536, List: 10_000, Keys: 1_000}

var taskEventDoc = newDocument("task_event", eventLimits, taskEventAliases)

// RefusedEvent says why a payload is no task event, with as much of its identity as could be read: with the event id
// the gateway can acknowledge it as refused, and with the operation id the plan asks the device (design §6).
type RefusedEvent struct {
	EventID     string
	OperationID string
	BootID      string
	Seq         int64 // 0 where it could not be read
	Faults      border.Faults
}

func (r *RefusedEvent) Error() string {
	if r.EventID == "" {
		return "refused event: " + r.Faults.Error()
	}
	return "refused event " + r.EventID + ": " + r.Faults.Error()
}

// Unwrap gives the faults to errors.As.
func (r *RefusedEvent) Unwrap() error { return r.Faults }

// ParseTaskEvent reads the payload of taskmanager.onTaskEvent (contract.md §4).
//
// Every field is read in snake_case and camelCase; two spellings that disagree are refused. `status` counts as the
// event's name only where none is given. Inside result nothing is renamed. The timestamp may be Unix milliseconds, as
// a number or as a string, or RFC 3339. Every failure is a *RefusedEvent.
func ParseTaskEvent(raw json.RawMessage) (TaskEvent, error) {
	object, faults, err := taskEventDoc.object(raw)
	if err != nil {
		return TaskEvent{}, refuse(raw, err)
	}
	e, err := taskEvent(object, faults)
	if err != nil {
		return TaskEvent{}, refuse(raw, err)
	}
	return e, nil
}

// taskEvent reads an event that is already one spelling.
func taskEvent(object map[string]any, faults border.Faults) (TaskEvent, error) {
	fallback(object, "status", "event_name")
	if v, ok := object["timestamp"]; ok {
		ms, why := unixMs(v)
		if why != "" {
			faults = append(faults, border.Fault{Path: "timestamp", Code: "bad_timestamp", Message: why})
		}
		object["timestamp"] = float64(ms)
	}
	if n := compactSize(object["result"]); n > MaxTaskResult {
		faults = append(faults, border.Fault{Path: "result", Code: "too_large", Message: fmt.Sprintf(
			"has %d bytes as JSON, may have %d: send a reference to what is large", n, MaxTaskResult)})
	}
	var e TaskEvent
	err := taskEventDoc.finish(object, faults, &e)
	return e, err
}

// lastMs is the end of the year 9999: the last moment that RFC 3339 can write.
const lastMs = 253402300799999

// unixMs reads a timestamp, or says what is wrong with it.
func unixMs(v any) (int64, string) {
	ms, ok := v.(float64)
	if text, isText := v.(string); isText {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			ms, ok = float64(t.UnixMilli()), true
		} else if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			ms, ok = float64(n), true
		}
	}
	switch {
	case !ok:
		return 0, "must be Unix milliseconds, or RFC 3339 such as 2026-11-30T09:00:00+09:00"
	case ms < 0 || ms > lastMs || ms != math.Trunc(ms):
		return 0, "must be whole Unix milliseconds, from 1970 to 9999"
	}
	return int64(ms), ""
}

func compactSize(v any) int {
	if v == nil {
		return 0
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // counted as a device would write it
	if err := enc.Encode(v); err != nil {
		return math.MaxInt // cannot happen with what border read; then it does not pass
	}
	return text.Len() - 1 // without Encode's newline
}

// What ids look like. A boot id is also part of file names and log lines.
var (
	bootIDForm  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	eventIDForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)
)

// ValidBootID reports whether s may be a boot id.
func ValidBootID(s string) bool { return bootIDForm.MatchString(s) }

// ValidEventID reports whether s may be an event id.
func ValidEventID(s string) bool { return eventIDForm.MatchString(s) }

// refuse reads what identity a bad event has, even where its JSON breaks off later.
func refuse(raw []byte, err error) *RefusedEvent {
	r := &RefusedEvent{}
	if !errors.As(err, &r.Faults) {
		r.Faults = border.Faults{{Code: "bad_value", Message: err.Error()}}
	}
	fields, _ := members(raw)
	if id := readable(fields, "event_id", "eventId"); ValidEventID(id) {
		r.EventID = id
	}
	if id := readable(fields, "boot_id", "bootId"); ValidBootID(id) {
		r.BootID = id
	}
	if id := readable(fields, "operation_id", "operationId"); len(id) <= maxName {
		r.OperationID = id
	}
	if json.Unmarshal(fields["seq"], &r.Seq) != nil || r.Seq < 1 {
		r.Seq = 0
	}
	return r
}

// readable returns a text field in whichever spelling it came; where the two disagree it is not readable.
func readable(fields map[string]json.RawMessage, name, also string) string {
	a, b := text(fields[name]), text(fields[also])
	if a != "" && b != "" && a != b {
		return ""
	}
	if a == "" {
		return b
	}
	return a
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
