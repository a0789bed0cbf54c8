package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"errand/deviceio/wire"
)

// Law 19: a result that nobody waits for is on record before it is acknowledged, once, and with nothing of what is in it (law 4).
func TestLaw19AResultOfNoKnownInvokeIsOnRecord(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	n := h.robot(nil)
	result := wire.InvokeResult{ID: "never-asked", NodeID: n.id, OK: true, Payload: json.RawMessage(`{"secret":"hunter2"}`)}
	for range 2 {
		if f := n.request(wire.MethodInvokeResult, result); !*f.OK || !strings.Contains(string(f.Payload), `"ignored":true`) {
			t.Errorf("answered %s, %v", f.Payload, f.Error)
		}
	}
	strays := h.strays(n)
	if len(strays) != 1 || strays[0].EventID != "invoke-never-asked" || strays[0].Ack != wire.AckUnmatched || strings.Contains(string(strays[0].Body), "hunter2") ||
		!strings.Contains(string(strays[0].Body), `"ok":true`) {
		t.Errorf("on record %+v", strays)
	}
	failed := wire.InvokeResult{ID: "another", NodeID: n.id, Error: &wire.InvokeError{Code: "TIMEOUT", Message: "hunter2"}}
	n.request(wire.MethodInvokeResult, failed)
	if strays := h.strays(n); len(strays) != 2 || !strings.Contains(string(strays[0].Body), `"code":"TIMEOUT"`) || strings.Contains(string(strays[0].Body), "hunter2") {
		t.Errorf("on record %+v", strays)
	}
	h.registry.fail(errDown)
	failed.ID = "a-third"
	if f := n.request(wire.MethodInvokeResult, failed); *f.OK || !f.Error.Retryable {
		t.Errorf("unrecorded, it is answered %s", f.Payload)
	}
	h.registry.fail(nil)
}

// The same over HTTP.
func TestLaw19AResponseToNothingIsOnRecord(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	c := h.caller()
	status, text := c.call(http.MethodPost, "/v1/devices/"+c.id+"/responses", `{"request_id":"never-asked","ok":true,"payload":{"secret":"hunter2"}}`, nil)
	if status != http.StatusOK || !strings.Contains(text, `"ignored":true`) {
		t.Errorf("%d %s", status, text)
	}
	all, err := h.registry.StrayEvents(t.Context(), c.id, 10)
	if err != nil || len(all) != 1 || all[0].EventID != "invoke-never-asked" || strings.Contains(string(all[0].Body), "hunter2") {
		t.Errorf("on record %+v, %v", all, err)
	}
}
