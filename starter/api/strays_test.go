package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"errand/deviceio/registry"
	"errand/starter/api"
)

// keep puts a stray event of a device on record, a second after the last.
func (h *house) keep(e registry.StrayEvent) {
	h.t.Helper()
	h.later(time.Second)
	if e.BodyHash == "" {
		e.BodyHash = "hash-of-" + e.EventID
	}
	if _, err := h.registry.KeepStray(h.t.Context(), e); err != nil {
		h.t.Fatal(err)
	}
}

// Law 19: what entered no plan's history can be looked up, with what was done about it and why.
func TestLaw19StraysAreListedNewestFirst(t *testing.T) {
	h := newHouse(t, "robot", "other")
	h.keep(registry.StrayEvent{DeviceID: "id-robot", EventID: "b1-4", BootID: "b1", Seq: 4, Epoch: 2, Ack: "late", Reason: "plan p-1 is over",
		Body: json.RawMessage(`{"event_id":"b1-4","event_name":"COMPLETED","operation_id":"p-1/move/1","result":{"area_id":"6"}}`)})
	h.keep(registry.StrayEvent{DeviceID: "id-other", EventID: "b9-1", Ack: "late", Reason: "of another device", Body: json.RawMessage(`{}`)})
	h.keep(registry.StrayEvent{DeviceID: "id-robot", EventID: "b1-5", Ack: "refused", Reason: "seq: is missing",
		Body: json.RawMessage(`{"_bytes":90,"eventName":"FAILED","operationId":"p-1/move/2"}`)})
	h.keep(registry.StrayEvent{DeviceID: "id-robot", EventID: "b1-6", Ack: "unmatched", Reason: "no watch takes it",
		Body: json.RawMessage(`{"_bytes":80,"kind":"person"}`)})
	h.keep(registry.StrayEvent{DeviceID: "id-robot", EventID: "b1-7", Ack: "late", Reason: "plan p-1 is over",
		Body: json.RawMessage(`{"question_id":"p-1.1","choice":"yes"}`)})
	h.keep(registry.StrayEvent{DeviceID: "id-robot", BodyHash: "ff", Ack: "refused", Reason: "it is not JSON", Body: json.RawMessage(`{"_bytes":7}`)})

	var list api.StrayList
	h.ask("GET", "/v1/devices/robot/strays", "").into(t, &list)
	var got []string
	for _, e := range list.Events {
		got = append(got, strings.Join([]string{e.EventID, e.EventName, e.OperationID, e.Ack, e.Reason}, "|"))
	}
	want := []string{
		"|||refused|it is not JSON",
		"b1-7|assistant.answer||late|plan p-1 is over",
		"b1-6|semantic.observation||unmatched|no watch takes it",
		"b1-5|FAILED|p-1/move/2|refused|seq: is missing",
		"b1-4|COMPLETED|p-1/move/1|late|plan p-1 is over",
	}
	if list.DeviceID != "id-robot" || list.Next != "" || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("device %s, next %q, events\n%s\nwant\n%s", list.DeviceID, list.Next, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	last := list.Events[4]
	if last.Seq != 4 || last.Epoch != 2 || last.BootID != "b1" || last.ReceivedAt.UnixMilli() != 1_790_000_001_000 ||
		fmt.Sprint(last.Body) != "map[event_id:b1-4 event_name:COMPLETED operation_id:p-1/move/1 result:map[area_id:6]]" {
		t.Errorf("the late completion is shown as %+v", last)
	}
}

func TestStraysComeInPages(t *testing.T) {
	h := newHouse(t, "robot")
	for n := range 5 {
		h.keep(registry.StrayEvent{DeviceID: "id-robot", EventID: fmt.Sprint("b1-", n), Ack: "late", Body: json.RawMessage(`{}`)})
	}
	var got []string
	pages, page := 0, ""
	for {
		var list api.StrayList
		h.ask("GET", "/v1/devices/id-robot/strays?size=2&page="+page, "").into(t, &list)
		for _, e := range list.Events {
			got = append(got, e.EventID)
		}
		pages++
		if page = list.Next; page == "" || pages > 5 {
			break
		}
	}
	if pages != 3 || strings.Join(got, " ") != "b1-4 b1-3 b1-2 b1-1 b1-0" {
		t.Errorf("%d pages with %v", pages, got)
	}
}

func TestStraysOfADeviceThatIsNotApprovedAndRefusals(t *testing.T) {
	h := newHouse(t, "robot")
	h.add("stranger", false)
	for _, name := range []string{"id-stranger", "stranger"} {
		if got := h.ask("GET", "/v1/devices/"+name+"/strays", ""); got.status != 200 || !strings.Contains(got.text, `"events":[]`) {
			t.Errorf("of a device that is not approved: %d %s", got.status, got.text)
		}
	}
	for _, c := range []struct {
		path, code string
		status     int
	}{
		{"/v1/devices/nobody/strays", "unknown_device", 404},
		{"/v1/devices/robot/strays?size=0", "bad_parameter", 422},
		{"/v1/devices/robot/strays?size=201", "bad_parameter", 422},
		{"/v1/devices/robot/strays?page=nonsense", "bad_parameter", 422},
	} {
		got := h.ask("GET", c.path, "")
		if p := got.problem(t); got.status != c.status || p.Code != c.code {
			t.Errorf("GET %s: %d %s, want %d %s", c.path, got.status, p.Code, c.status, c.code)
		}
	}
}
