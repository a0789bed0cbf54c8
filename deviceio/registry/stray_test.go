package registry_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"errand/deviceio/registry"
)

// Law 7 and 19: a stray event is one row however often it is sent, and its first acknowledgement stands.
func TestLaw19AStrayEventIsOneRow(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	event := registry.StrayEvent{DeviceID: "robot", EventID: "b1-4", BodyHash: "aa", BootID: "b1", Seq: 4, Epoch: 9, Ack: "late",
		Reason: "the plan is over", Body: json.RawMessage(`{"event_name":"COMPLETED"}`)}
	first, err := r.KeepStray(t.Context(), event)
	must(t, err)
	c.pass(time.Minute)
	again := event
	again.Ack, again.Reason = "unmatched", "no such plan"
	kept, err := r.KeepStray(t.Context(), again)
	must(t, err)
	if kept.Ack != "late" || kept.Reason != first.Reason || !kept.ReceivedAt.Equal(first.ReceivedAt) {
		t.Errorf("kept %+v, want the first row %+v", kept, first)
	}
	other := event
	other.BodyHash, other.Ack = "bb", "refused"
	_, err = r.KeepStray(t.Context(), other)
	must(t, err)
	all, err := r.StrayEvents(t.Context(), "robot", 10)
	must(t, err)
	if len(all) != 2 || all[0].BodyHash != "bb" || string(all[1].Body) != string(event.Body) || all[1].Epoch != 9 {
		t.Errorf("StrayEvents = %+v", all)
	}
	if few, err := r.StrayEvents(t.Context(), "robot", 1); err != nil || len(few) != 1 {
		t.Errorf("StrayEvents with limit 1 = %d rows, %v", len(few), err)
	}
}

func TestStrayEventsNeedAKnownDeviceAndAck(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	for _, e := range []registry.StrayEvent{{DeviceID: "nobody", Ack: "late"}, {DeviceID: "robot", Ack: "applied"}} {
		if _, err := r.KeepStray(t.Context(), e); err == nil {
			t.Errorf("KeepStray(%+v) succeeded", e)
		}
	}
}

func TestRememberedRequests(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	first, err := r.Remember(t.Context(), "robot/u-1", "hash-1", "wf-1", c.now())
	if err != nil || first.Existing || first.WorkflowID != "wf-1" {
		t.Fatalf("Remember = %+v, %v", first, err)
	}
	again, err := r.Remember(t.Context(), "robot/u-1", "hash-1", "wf-2", c.now().Add(time.Hour))
	if err != nil || !again.Existing || again.WorkflowID != "wf-1" || !again.At.Equal(c.now()) {
		t.Errorf("the same request = %+v, %v, want the first workflow", again, err)
	}
	other, err := r.Remember(t.Context(), "robot/u-1", "hash-2", "wf-3", c.now())
	if !errors.Is(err, registry.ErrDifferentBody) || other.WorkflowID != "wf-1" {
		t.Errorf("another body = %+v, %v, want ErrDifferentBody and the first workflow", other, err)
	}
	kept, err := r.Remember(t.Context(), "robot/u-1", "hash-1", "wf-4", c.now().Add(registry.RememberedFor-time.Second))
	if err != nil || !kept.Existing {
		t.Errorf("a second before it is forgotten = %+v, %v", kept, err)
	}
	forgotten, err := r.Remember(t.Context(), "robot/u-1", "hash-5", "wf-5", c.now().Add(registry.RememberedFor))
	if err != nil || forgotten.Existing || forgotten.WorkflowID != "wf-5" {
		t.Errorf("after 30 days = %+v, %v, want a new row", forgotten, err)
	}
}

// Pages have sharp ends: nothing twice, nothing left out, also among events of one instant, and while new ones come.
func TestStrayPagesLoseNothing(t *testing.T) {
	t.Parallel()
	r, c := newRegistry(t)
	keep := func(id, hash string, seq int64) {
		_, err := r.KeepStray(t.Context(), registry.StrayEvent{DeviceID: "robot", EventID: id, BodyHash: hash, Seq: seq, Ack: "late", Body: json.RawMessage(`{}`)})
		must(t, err)
	}
	keep("b1-1", "aa", 1)
	c.pass(time.Second)
	keep("", "aa", 0) // three of one instant, two of them without an id or a number
	keep("", "bb", 0)
	keep("b1-2", "aa", 2)
	var got []string
	for token, n := "", 0; ; n++ {
		page, next, err := r.StrayPage(t.Context(), "robot", 2, token)
		must(t, err)
		for _, e := range page {
			got = append(got, e.EventID+"/"+e.BodyHash)
		}
		if n == 0 {
			c.pass(time.Second)
			keep("b1-9", "aa", 9) // newer than the page that was read: on none of the next
		}
		if token = next; token == "" || n > 5 {
			break
		}
	}
	if want := []string{"b1-2/aa", "/bb", "/aa", "b1-1/aa"}; !slices.Equal(got, want) {
		t.Errorf("the pages list %q, want %q", got, want)
	}
	for _, token := range []string{"!", "e30", "bm90IEpTT04"} {
		if _, _, err := r.StrayPage(t.Context(), "robot", 2, token); !errors.Is(err, registry.ErrPageToken) {
			t.Errorf("StrayPage with token %q = %v", token, err)
		}
	}
	if page, next, err := r.StrayPage(t.Context(), "nobody", 2, ""); err != nil || len(page) != 0 || next != "" {
		t.Errorf("StrayPage of no device = %v, %q, %v", page, next, err)
	}
}

// A device may send any text, U+0000 too: what it sends is recorded, or its outbox would stand still for ever (law 19).
func TestLaw19AnyTextIsRecorded(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t)
	_, err := r.Declare(t.Context(), registry.Declaration{ID: "odd", PublicKey: "key", DisplayName: "a\x00b", Commands: []string{"c\x00d"}})
	must(t, err)
	event := registry.StrayEvent{DeviceID: "odd", EventID: "e\x00", BodyHash: "h", Ack: "late", Reason: "\x00", Body: []byte(`{"a":"\u0000"}`)}
	first, err := r.KeepStray(t.Context(), event)
	must(t, err)
	again, err := r.KeepStray(t.Context(), event)
	if must(t, err); again.EventID != first.EventID || !again.ReceivedAt.Equal(first.ReceivedAt) {
		t.Errorf("sent again it is another row: %+v, %+v", first, again)
	}
}
