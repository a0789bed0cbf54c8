package activities

import (
	"fmt"
	"testing"

	"errand/catalog"
	"errand/plan"
)

// alarmsAt is a context with one alarm at a revision, and the security mode.
func alarmsAt(revision, security string) map[string]any {
	return map[string]any{"alarms": map[string]any{"available": true, "items": []any{map[string]any{"id": "a", "time": "07:00", "revision": revision}}},
		"security": map[string]any{"state": security}, "freshness": map[string]any{"alarms": map[string]any{"policy": "on_change", "usable": true}}}
}

func staleAlarms() map[string]any {
	seen := alarmsAt("1", "off")
	seen["freshness"] = map[string]any{"alarms": map[string]any{"policy": "on_change", "usable": false}}
	return seen
}

func without(area string) map[string]any {
	seen := alarmsAt("1", "off")
	delete(seen, area)
	return seen
}

func TestLaw17PrepareTellsWhatIsThereAndNeverGuesses(t *testing.T) {
	object := &catalog.Object{Area: "alarms", Match: map[string]string{"time": "time"}, Choice: catalog.Text{Ko: "{time}"}}
	for name, c := range map[string]struct {
		contexts   []map[string]any
		err        error
		arguments  map[string]any
		conditions []string
		candidates int
		code       string
		unseen     bool
	}{
		"all told":                    {contexts: []map[string]any{alarmsAt("1", "off")}, candidates: 1},
		"none fits":                   {contexts: []map[string]any{alarmsAt("1", "off")}, arguments: map[string]any{"time": "08:00"}},
		"stale, and fresh at once":    {contexts: []map[string]any{staleAlarms(), alarmsAt("1", "off")}, candidates: 1},
		"stale":                       {contexts: []map[string]any{staleAlarms()}, code: "STATE_UNKNOWN"},
		"no such area":                {contexts: []map[string]any{without("alarms")}, code: "STATE_UNKNOWN"},
		"what it is bound to is not":  {contexts: []map[string]any{without("security")}, code: "STATE_UNKNOWN", candidates: 1},
		"a precondition is false":     {contexts: []map[string]any{alarmsAt("1", "off")}, conditions: []string{`context.security.state == "started"`}, code: "PRECONDITION_FAILED", candidates: 1},
		"a precondition is not known": {contexts: []map[string]any{alarmsAt("1", "off")}, conditions: []string{`context.battery.level > 20`}, code: "PRECONDITION_FAILED", candidates: 1},
		"a precondition is none":      {contexts: []map[string]any{alarmsAt("1", "off")}, conditions: []string{`context.`}, code: "PRECONDITION_FAILED", candidates: 1},
		"the device is not there":     {err: fmt.Errorf("gone: %w", ErrNotConnected), unseen: true},
		"the device does not tell":    {err: fmt.Errorf("it says UNKNOWN_COMMAND"), code: "STATE_UNKNOWN"},
	} {
		t.Run(name, func(t *testing.T) {
			link := &fakeLink{contexts: c.contexts, err: c.err}
			got, err := device(link).Prepare(t.Context(), plan.Prepare{OperationID: "p/a/1", CapabilityID: "x", Object: object, Arguments: c.arguments,
				Binds: []string{"context.security.state"}, Preconditions: c.conditions})
			code := ""
			if got.Report != nil {
				code = got.Report.Code
			}
			if err != nil || code != c.code || len(got.Candidates) != c.candidates || got.Unseen != c.unseen || (code == "" && !c.unseen && got.StateVersion == "") {
				t.Errorf("%+v (%+v), %v", got, got.Report, err)
			}
		})
	}
}

// Law 16: what was confirmed is looked at again right before it is sent. Anything else than that is not sent.
func TestLaw16SubmitLooksOnceMore(t *testing.T) {
	version, _ := plan.BoundState(alarmsAt("1", "off"), []string{"context.security.state"})
	for name, c := range map[string]struct {
		seen map[string]any
		code string
	}{
		"as it was":             {alarmsAt("1", "off"), ""},
		"another revision":      {alarmsAt("2", "off"), "STATE_CHANGED"},
		"another state":         {alarmsAt("1", "started"), "STATE_CHANGED"},
		"gone":                  {map[string]any{"alarms": map[string]any{"items": []any{}}, "security": map[string]any{"state": "off"}}, "TARGET_NOT_FOUND"},
		"nobody tells":          {staleAlarms(), "STATE_UNKNOWN"},
		"nobody tells of state": {without("security"), "STATE_UNKNOWN"},
	} {
		link := &fakeLink{contexts: []map[string]any{c.seen}, submit: func(s plan.Submit) (plan.Submitted, error) {
			return plan.Submitted{OperationID: s.OperationID, Delivery: plan.DeliveryAccepted}, nil
		}}
		got, err := device(link).Submit(t.Context(), plan.Submit{OperationID: "p/a/1", CapabilityID: "x", Expect: &plan.Expect{Area: "alarms", Target: &plan.Target{ID: "a", Revision: "1"},
			Binds: []string{"context.security.state"}, StateVersion: version}})
		code := ""
		if got.Report != nil {
			code = got.Report.Code
		}
		if err != nil || code != c.code || (link.sent == 1) != (c.code == "") || (c.code != "" && !got.Unasked) {
			t.Errorf("%s: sent %d times, %+v (%s), %v", name, link.sent, got, code, err)
		}
	}
}
