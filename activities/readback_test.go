package activities

import (
	"testing"

	"errand/plan"
)

// Law 9: what nobody remembers is looked for before anybody is asked. Only what was seen counts.
func TestLaw09AForgottenOperationIsReadBack(t *testing.T) {
	contacts := func(names ...string) map[string]any {
		list := []any{}
		for _, name := range names {
			list = append(list, map[string]any{"displayName": name})
		}
		return map[string]any{"contacts": list}
	}
	ask := plan.QueryStatus{DeviceID: "phone", OperationID: "p/a/1", TaskID: "i-1", NodeCommand: "contacts.add", Route: plan.Route{BootEpoch: 7},
		ReadBack: &plan.ReadBack{NodeCommand: "contacts.search", Shows: "result.contacts.exists(c, c.displayName == args.displayName)",
			Arguments: map[string]any{"displayName": "김철수"}}}
	for name, c := range map[string]struct {
		read map[string]any
		want plan.Finding
	}{
		"it is there":                   {contacts("이영희", "김철수"), plan.StatusFound},
		"it is not there":               {contacts("이영희"), plan.StatusNeverRan},
		"nothing is there":              {contacts(), plan.StatusNeverRan},
		"the answer says nothing of it": {map[string]any{}, plan.StatusForgotten},
	} {
		got, err := device(&fakeLink{status: plan.StatusForgotten, read: c.read}).Status(t.Context(), ask)
		if err != nil || got.Finding != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
		}
		if c.want == plan.StatusFound && (got.Terminal == nil || got.Terminal.Name != plan.EventCompleted || got.Terminal.OperationID != "p/a/1" || got.Terminal.Epoch != 7) {
			t.Errorf("%s: its end is %+v", name, got.Terminal)
		}
	}
	ask.ReadBack = nil
	if got, err := device(&fakeLink{status: plan.StatusForgotten}).Status(t.Context(), ask); err != nil || got.Finding != plan.StatusForgotten {
		t.Errorf("without a way to read back: %+v, %v", got, err)
	}
}
