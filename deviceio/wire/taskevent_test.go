package wire

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"errand/internal/border"
)

var update = flag.Bool("update", false, "write what was read into the golden files")

// TestContract4EventGoldens reads every event of testdata/events. Each file's first line says which rule it holds.
func TestContract4EventGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/events/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			golden, err := os.ReadFile(file)
			require.NoError(t, err)
			head, read, ok := strings.Cut(string(golden), "-- read --\n")
			require.True(t, ok, "the file needs a section -- read --")
			_, event, ok := strings.Cut(head, "-- event.json --\n")
			require.True(t, ok, "the file needs a section -- event.json --")

			got := describe(ParseTaskEvent(json.RawMessage(event)))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(head+"-- read --\n"+got), 0o644))
				return
			}
			if diff := cmp.Diff(read, got); diff != "" {
				t.Errorf("-want +got (after a look, go test -update writes it):\n%s", diff)
			}
		})
	}
}

func describe(e TaskEvent, err error) string {
	var refused *RefusedEvent
	if errors.As(err, &refused) {
		return fmt.Sprintf("refused event_id=%q boot_id=%q seq=%d operation_id=%q\n%s\n",
			refused.EventID, refused.BootID, refused.Seq, refused.OperationID, refused.Faults)
	}
	out, _ := json.MarshalIndent(e, "", " ")
	return string(out) + "\n"
}

// TestContract4EveryFieldHasBothSpellings keeps the alias table and the schema from drifting apart.
func TestContract4EveryFieldHasBothSpellings(t *testing.T) {
	for name, aliases := range map[string][]alias{
		"task_event": taskEventAliases, "submit_answer": submitAnswerAliases, "status_answer": statusAnswerAliases,
		"cancel_answer": cancelAnswerAliases, "task": taskAliases, "status_query": queryAliases, "cancel_query": queryAliases,
		"ask": askAliases, "answer_event": answerEventAliases, "observation": observationAliases, "device_context": contextDoc.aliases, "event_ack": eventAckDoc.aliases,
	} {
		text, err := schemaFiles.ReadFile("schema/" + name + ".json")
		require.NoError(t, err)
		var schema struct {
			Properties map[string]any `json:"properties"`
		}
		require.NoError(t, json.Unmarshal(text, &schema))
		for field := range schema.Properties {
			other := camel(field)
			if other == field {
				other = snake(field)
			}
			if other == field || name == "device_context" && field == "air_quality" || field == "task_manager" {
				continue // areas of a context are names, not spellings
			}
			require.True(t, slices.Contains(aliases, alias{field, other}), "%s: %s has no second spelling %s", name, field, other)
		}
	}
}

func camel(snake string) string {
	words := strings.Split(snake, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

func snake(camel string) string {
	var out strings.Builder
	for i, r := range camel {
		// A run of capitals is one word: ttlMs is ttl_ms.
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

func TestTaskEventLimits(t *testing.T) {
	event := func(result string) json.RawMessage {
		return json.RawMessage(`{"event_id":"b1-1","boot_id":"b1","seq":1,"event_name":"COMPLETED","operation_id":"p/s/1","result":` + result + `}`)
	}
	fill := func(n int) string { return `{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}` }

	_, err := ParseTaskEvent(event(fill(MaxTaskResult)))
	require.NoError(t, err, "a result of exactly the limit passes")

	for name, raw := range map[string]json.RawMessage{
		"a byte more":          event(fill(MaxTaskResult + 1)),
		"a list as large":      event(`{"a":[` + strings.Repeat("1,", MaxTaskResult/2) + `1]}`),
		"an event too large":   append(event(`{}`), []byte(strings.Repeat(" ", MaxTaskEvent))...),
		"a result too deep":    event(strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)),
		"a result not object":  event(`[1]`),
		"an id of wrong form":  []byte(`{"event_id":"b1-1","boot_id":"b 1","seq":1,"event_name":"COMPLETED","operation_id":"p/s/1"}`),
		"a number without end": event(`{"a":1e999}`),
	} {
		_, err := ParseTaskEvent(raw)
		var refused *RefusedEvent
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, "b1-1", refused.EventID, name)
		require.Equal(t, "p/s/1", refused.OperationID, name)
		var faults border.Faults
		require.ErrorAs(t, err, &faults, name)
		require.NotEmpty(t, faults, name)
	}
}

// What we write, we read back the same.
func TestTaskEventRoundTrip(t *testing.T) {
	for _, name := range EventNames() {
		e := TaskEvent{Envelope: Envelope{EventID: "b1-1", BootID: "b1", Seq: 1}, EventName: name, TaskID: "t", TaskMethod: "setMoveTo",
			Trace:    Trace{CloudWorkflowID: "p", OperationID: "p/s/1", PlanRevision: 1},
			Progress: 0.5, Timestamp: 1796029570062, Result: map[string]any{"area_id": "6"},
			Reason: Reason{ReasonCode: "X", RequiresCloudDecision: new(false)}, EffectCount: new(0)}
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		got, err := ParseTaskEvent(raw)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(e, got))
	}
}

func FuzzParseTaskEvent(f *testing.F) {
	files, err := filepath.Glob("testdata/events/*.txt")
	require.NoError(f, err)
	for _, file := range files {
		golden, err := os.ReadFile(file)
		require.NoError(f, err)
		_, event, _ := strings.Cut(string(golden), "-- event.json --\n")
		event, _, _ = strings.Cut(event, "-- read --\n")
		f.Add([]byte(event))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := ParseTaskEvent(raw)
		if err != nil {
			var refused *RefusedEvent
			if !errors.As(err, &refused) || len(refused.Faults) == 0 {
				t.Fatalf("a failure must be a RefusedEvent with faults, is %#v", err)
			}
			return
		}
		if !ValidEventID(e.EventID) || !ValidBootID(e.BootID) || e.Seq < 1 || !slices.Contains(EventNames(), e.EventName) {
			t.Fatalf("passed without an identity: %+v", e)
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) > MaxTaskEvent {
			return // escaped by encoding/json beyond the limit
		}
		back, err := ParseTaskEvent(again)
		if err != nil || !cmp.Equal(e, back, cmpopts.EquateEmpty()) {
			t.Fatalf("read back as %+v, %v; was %+v", back, err, e)
		}
	})
}
