package api_test

import (
	"net/http"
	"reflect"
	"testing"

	"errand/plan"
)

func TestPauseAndResumeNameTheirToken(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	for _, c := range []struct {
		path, body string
		want       any
	}{
		{"pause", "", plan.Pause{Token: "tester", By: "tester"}},
		{"pause", `{"token":"door"}`, plan.Pause{Token: "door", By: "tester"}},
		{"resume", `{"token":"door"}`, plan.Resume{Token: "door", By: "tester"}},
		{"resume", "", plan.Resume{Token: "tester", By: "tester"}},
		{"cancel", `{"step_id":"dock","reason":"no"}`, plan.CancelStep{StepID: "dock", By: "tester", Why: "no"}},
	} {
		h.plans.taken = nil
		got := h.ask("POST", "/v1/plans/p-1/"+c.path, c.body)
		if got.status != http.StatusAccepted || len(h.plans.taken) != 1 || !reflect.DeepEqual(h.plans.taken[0], c.want) {
			t.Errorf("%s %s: answered %d, handed on %+v", c.path, c.body, got.status, h.plans.taken)
		}
	}
	if got := h.ask("POST", "/v1/plans/p-1/pause", `{"token":""}`); got.status != 422 {
		t.Errorf("an empty token: %d %s", got.status, got.text)
	}
	if got := h.ask("POST", "/v1/plans/p-none/pause", ""); got.status != 404 {
		t.Errorf("no such plan: %d", got.status)
	}
}

func TestAnAmendmentBringsTheCapabilitiesItUses(t *testing.T) {
	h := newHouse(t, "robot")
	h.plans.devices["p-1"] = "id-robot"
	got := h.ask("POST", "/v1/plans/p-1/amend", `{"replace":true,"steps":[{"id":"home","depends_on":["move"],"action":{"capability_id":"return_to_station","operation_id":"start"}}]}`)
	if got.status != http.StatusAccepted || len(h.plans.taken) != 1 {
		t.Fatalf("answered %d: %s", got.status, got.text)
	}
	a, ok := h.plans.taken[0].(plan.Amend)
	if !ok || !a.Replace || a.By != "tester" || len(a.Steps) != 1 || a.Steps[0].DependsOn[0] != "move" {
		t.Errorf("handed on %+v", h.plans.taken[0])
	}
	if _, found := a.Slice.Capability("return_to_station"); !found {
		t.Errorf("the slice has %d capabilities, not the one that is used", len(a.Slice.Capabilities))
	}
	for name, body := range map[string]string{"no steps": `{"steps":[]}`, "no list": `{"steps":"home"}`, "not json": `home`, "nothing": `{}`} {
		h.plans.taken = nil
		if got := h.ask("POST", "/v1/plans/p-1/amend", body); got.status < 400 || got.status >= 500 || len(h.plans.taken) != 0 {
			t.Errorf("%s: answered %d %s, handed on %v", name, got.status, got.text, h.plans.taken)
		}
	}
}
