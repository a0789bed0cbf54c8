package shim

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// slow answers a submit only when it is let.
type slow struct {
	let     chan struct{}
	submits atomic.Int64
}

func (v *slow) SubmitTask(context.Context, wire.Task) (wire.SubmitAnswer, error) {
	n := v.submits.Add(1)
	<-v.let
	return wire.SubmitAnswer{Accepted: true, TaskID: fmt.Sprint("t", n)}, nil
}

func (v *slow) GetTaskStatus(context.Context, string) (VendorStatus, error) {
	return VendorStatus{StatusAnswer: wire.StatusAnswer{Found: true, Status: wire.TaskRunning}}, nil
}

func (v *slow) CancelTask(context.Context, string, string) (VendorCancel, error) {
	return VendorCancel{Accepted: true}, nil
}

func (v *slow) GetDevicePlanningContext(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"task_manager":{"tasks":[]}}`), nil
}

// Laws 7 and 11: copies of a submit, questions, cancels and events, all at one time, while the vendor takes its time. It is told
// once, every copy gets one answer, and each event is told once.
func TestLaw07And11EverythingAtOnce(t *testing.T) {
	t.Parallel()
	v := &slow{let: make(chan struct{})}
	quiet := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	s, err := Open(Options{StateDir: dir, Vendor: v, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	client, err := device.Open(device.Options{URL: "ws://127.0.0.1:1/", StateDir: dir, Handler: s, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Attach(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	const copies = 8
	answers := make(chan wire.SubmitAnswer, copies)
	var all sync.WaitGroup
	for range copies {
		all.Go(func() {
			a, err := s.Submit(t.Context(), task("p/move/1"))
			if err != nil {
				t.Error(err)
			}
			answers <- a
		})
		all.Go(func() { _, _ = s.Status(t.Context(), wire.StatusQuery{OperationID: "p/move/1"}) }) // while it is under way there is none
		all.Go(func() {
			if _, err := s.Event(t.Context(), json.RawMessage(`{"event_name":"STARTED","task_id":"t1"}`)); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	close(v.let)
	all.Wait()
	if n := v.submits.Load(); n != 1 {
		t.Errorf("the vendor was told %d times", n)
	}
	first := <-answers
	for range copies - 1 {
		if a := <-answers; a.TaskID != first.TaskID || !a.Accepted {
			t.Errorf("%+v, %+v", first, a)
		}
	}
	for range copies {
		all.Go(func() {
			if _, err := s.Event(t.Context(), json.RawMessage(`{"event_name":"COMPLETED","task_id":"t1"}`)); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := s.Cancel(t.Context(), wire.CancelQuery{OperationID: "p/move/1", Reason: "r"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	a, err := s.Status(t.Context(), wire.StatusQuery{OperationID: "p/move/1"})
	if err != nil || a.Status != wire.TaskCompleted || a.TerminalEvent == nil || a.TerminalEvent.EventID == "" {
		t.Errorf("%+v, %v", a, err)
	}
}
