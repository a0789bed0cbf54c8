package api_test

import (
	"encoding/json"
	"testing"

	"errand/plan"
	"errand/starter/api"
)

// Whatever is sent as an utterance or a plan is answered: with a plan that started, or with a problem that says what is
// wrong and starts nothing.
func FuzzUtterance(f *testing.F) { fuzzStart(f, "/v1/utterances", said()...) }

func FuzzSubmission(f *testing.F) {
	fuzzStart(f, "/v1/plans", goodPlan, with(`"device_id":"robot","locale":"en","start_by_ms":60000`), `{"steps":[]}`, `{"steps":[{"id":"a"}],"lease_policy":"steal"}`)
}

func said() []string {
	return []string{
		`{"recognized_text":"안방으로 가서 청정하고 복귀해줘"}`,
		`{"recognized_text":"go","device_id":"robot","utterance_id":"u","locale":"en-US","spoken_at":1790000000000,"lease_policy":"reject","priority":3}`,
		`{"recognizedText":"가줘","voiceContext":{"activeWorkflowId":"p-1","history":[1,"x"],"deviceContext":{"schema_version":"device_context.v1"}}}`,
		`{"recognized_text":" "}`, `{"recognized_text":null}`, `[]`, `{`,
	}
}

func fuzzStart(f *testing.F, path string, seeds ...string) {
	h := newHouse(f, "robot")
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		h.t = t
		h.plans.mu.Lock()
		h.plans.started = map[string]plan.Start{}
		h.plans.mu.Unlock()
		got := h.ask("POST", path, string(body))
		switch n := len(h.plans.started); {
		case got.status == 200 || got.status == 202:
			var started api.Started
			if err := json.Unmarshal([]byte(got.text), &started); err != nil || started.PlanID == "" || n > 1 {
				t.Fatalf("answered %d %s, %d plans", got.status, got.text, n)
			}
		case got.status >= 400 && got.status < 500:
			if p := got.problem(t); p.Code == "" || p.Detail == "" || n != 0 {
				t.Fatalf("refused with %+v, and %d plans started", p, n)
			}
		default:
			t.Fatalf("answered %d %s", got.status, got.text)
		}
	})
}
