package shim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"errand/deviceio/wire"
)

// Law 11: of a submit it is always known whether it surely was not taken. Everything else may have been.
func TestLaw11WhatSurelyWasNotDelivered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int
		body      string
		accepted  bool
		undone    bool // ErrNotDelivered
		uncertain bool
	}{
		"accepted":            {status: 200, body: `{"accepted":true,"taskId":"t1","status":"QUEUED"}`, accepted: true},
		"refused":             {status: 200, body: `{"accepted":false,"reasonCode":"BATTERY_LOW"}`},
		"refused by status":   {status: 422, body: `{"accepted":false,"reason_code":"BATTERY_LOW"}`},
		"a wrong token":       {status: 401, undone: true},
		"no such method":      {status: 404, undone: true},
		"busy":                {status: 503, undone: true},
		"an error":            {status: 500, body: "oops", uncertain: true},
		"yes by a status no":  {status: 500, body: `{"accepted":true,"taskId":"t1"}`, uncertain: true},
		"sent somewhere else": {status: 307, uncertain: true},
		"not JSON":            {status: 200, body: "<html>", uncertain: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				if r.URL.Path != "/submitTask" || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("%s with %q", r.URL, r.Header.Get("Authorization"))
				}
				w.Header().Set("Location", "/submitTask")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body) // the client sees what there is
			}))
			defer server.Close()
			a, err := NewHTTPVendor(server.URL, "secret").SubmitTask(t.Context(), task("p/move/1"))
			if a.Accepted != c.accepted || errors.Is(err, ErrNotDelivered) != c.undone || (err != nil && !errors.Is(err, ErrNotDelivered)) != c.uncertain {
				t.Errorf("%+v, %v", a, err)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
	if _, err := NewHTTPVendor("http://127.0.0.1:1", "secret").SubmitTask(t.Context(), task("p/move/1")); !errors.Is(err, ErrNotDelivered) {
		t.Errorf("nobody listens: %v", err)
	}
}

// A TaskManager that takes the submit and dies, or says nothing in time, may have it.
func TestLaw09ASubmitThatIsCutOffIsUncertain(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]http.HandlerFunc{
		"dies":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the client left
				handle(w, r)
			}))
			defer server.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if _, err := NewHTTPVendor(server.URL, "secret").SubmitTask(ctx, task("p/move/1")); err == nil || errors.Is(err, ErrNotDelivered) {
				t.Errorf("%v", err)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

func TestVendorsAnswersToQuestions(t *testing.T) {
	t.Parallel()
	status, body := 200, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	v := NewHTTPVendor(server.URL, "secret")
	status, body = 404, ""
	if a, err := v.GetTaskStatus(t.Context(), "t1"); err != nil || a.Found {
		t.Errorf("404: %+v, %v", a, err)
	}
	if c, err := v.CancelTask(t.Context(), "t1", "r"); err != nil || !c.NotFound {
		t.Errorf("404: %+v, %v", c, err)
	}
	status, body = 200, `{"status":"COMPLETED","taskId":"t1","cloudStepId":"move","result":{"area_id":"6"}}`
	if a, err := v.GetTaskStatus(t.Context(), "t1"); err != nil || !a.Found || a.Status != "COMPLETED" || a.CloudStepID != "move" || a.Result["area_id"] != "6" {
		t.Errorf("%+v, %v", a, err)
	}
	body = `{"found":false}`
	if a, err := v.GetTaskStatus(t.Context(), "t1"); err != nil || a.Found {
		t.Errorf("%+v, %v", a, err)
	}
	for _, body = range []string{`{"status":"DANCING"}`, `[]`, `{}`} {
		if a, err := v.GetTaskStatus(t.Context(), "t1"); err == nil {
			t.Errorf("%s: %+v", body, a)
		}
	}
	body = `{"accepted":false,"status":"COMPLETED","reason_code":"CANCEL_NOT_POSSIBLE"}`
	if c, err := v.CancelTask(t.Context(), "t1", "r"); err != nil || c.Accepted || c.State != "COMPLETED" || c.ReasonCode != "CANCEL_NOT_POSSIBLE" {
		t.Errorf("%+v, %v", c, err)
	}
	body = `{}`
	if c, err := v.CancelTask(t.Context(), "t1", "r"); err == nil {
		t.Errorf("%+v", c)
	}
	status = 500
	if raw, err := v.GetDevicePlanningContext(t.Context()); err == nil {
		t.Errorf("%s", raw)
	}
}

func TestEventsOverHTTP(t *testing.T) {
	t.Parallel()
	b := fresh(t)
	b.accept("p/move/1")
	ctx, cancel := context.WithCancel(t.Context())
	server, err := listenEvents(ctx, b.Shim, "127.0.0.1:0", "secret")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.serve(ctx) }()
	post := func(token, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL(), bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	for _, c := range []struct {
		token, body string
		status      int
		says        string
	}{
		{"wrong", `{"eventName":"STARTED","task_id":"t1"}`, 401, "Authorization"},
		{"secret", `{"eventName":"FLYING","task_id":"t1"}`, 400, `"path":"event_name"`},
		{"secret", `{"eventName":"STARTED","task_id":"t1","text":"` + strings.Repeat("x", wire.MaxTaskEvent) + `"}`, 400, "error"},
		{"secret", `{"eventName":"STARTED","task_id":"t1"}`, 200, `"operation_id":"p/move/1"`},
		{"secret", `{"eventName":"STARTED","task_id":"t1"}`, 200, noteDuplicate},
	} {
		if status, text := post(c.token, c.body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%.60s: %d %s, want %d %s", c.body, status, text, c.status, c.says)
		}
	}
	b.wantTold("p/move/1", "STARTED")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if status, text := post("secret", `{"eventName":"COMPLETED","task_id":"t1"}`); status != 503 || !strings.Contains(text, "send it again") {
		t.Errorf("%d %s", status, text)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := listenEvents(t.Context(), b.Shim, "0.0.0.0:0", "secret"); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("%v", err)
	}
}
