// Command speaker is a whole device in two files: it says what it is told to, on its standard output. docs/connect-a-device.md
// goes through it. It is meant to be copied.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "speaker:", err)
		os.Exit(1) //nolint:gocritic // nothing is left that stop would end
	}
}

// run connects, and stays connected until ctx ends.
func run(ctx context.Context) error {
	const dir = "speaker-state" // the key, the device token, the outbox, and what it has done
	tasks, err := openStore(dir)
	if err != nil {
		return err
	}
	s := &speaker{tasks: tasks}
	s.client, err = device.Open(device.Options{
		SetupCode: os.Getenv("ERRAND_SETUP_CODE"), // from errand device invite; after the first time nobody needs it
		URL:       os.Getenv("ERRAND_GATEWAY_URL"),
		StateDir:  dir,
		Client:    wire.Client{ID: "speaker", DisplayName: "speaker", Version: "1"},
		Commands:  []string{wire.CommandSubmitTask, wire.CommandTaskStatus, wire.CommandCancelTask},
		Profile:   wire.Profile{Status: true, Dedupe: true}, // what it can be relied on for; the outbox is the library's
		StoreID:   tasks.ID, RetentionS: 30 * 24 * 3600,
		Handler: s,
		Logger:  slog.New(slog.NewTextHandler(os.Stderr, nil)),
		OnState: func(state device.State) {
			if state.Connected {
				fmt.Println("connected")
			}
		},
	})
	if err != nil {
		return err
	}
	defer func() { _ = s.client.Close() }() // the process ends: the outbox is on disk
	if err := s.recall(ctx); err != nil {
		return err
	}
	fmt.Println("device", s.client.DeviceID())
	return s.client.Run(ctx)
}

// speaker answers the cloud's commands.
type speaker struct {
	client *device.Client
	mu     sync.Mutex // one task at a time
	tasks  *store
}

// Invoke carries out one command. An answer that says no is an answer; an error means that nothing was done.
func (s *speaker) Invoke(ctx context.Context, command string, params json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch command {
	case wire.CommandSubmitTask:
		t, err := wire.ParseTask(params)
		if err != nil {
			return nil, &wire.InvokeError{Code: wire.InvokeInvalidRequest, Message: err.Error()}
		}
		return s.submit(ctx, t)
	case wire.CommandTaskStatus:
		q, err := wire.ParseStatusQuery(params)
		if err != nil {
			return nil, &wire.InvokeError{Code: wire.InvokeInvalidRequest, Message: err.Error()}
		}
		return s.status(q), nil
	case wire.CommandCancelTask:
		q, err := wire.ParseCancelQuery(params)
		if err != nil {
			return nil, &wire.InvokeError{Code: wire.InvokeInvalidRequest, Message: err.Error()}
		}
		return s.cancel(q)
	}
	return nil, &wire.InvokeError{Code: wire.InvokeUnknownCommand, Message: command}
}

// submit takes a task. The same operation id again answers the same, and says nothing twice.
func (s *speaker) submit(ctx context.Context, t wire.Task) (any, error) {
	answer := wire.SubmitAnswer{TaskMethod: t.TaskMethod, StoreID: s.tasks.ID}
	if known, ok := s.tasks.Known[t.OperationID]; ok {
		if known.Tombstone {
			answer.Reason = wire.Reason{ReasonCode: "TOMBSTONED"}
			return answer, nil
		}
		answer.Accepted, answer.TaskID, answer.TerminalEvent = true, t.OperationID, known.Terminal
		return answer, nil
	}
	text, _ := t.Params["text"].(string)
	if t.TaskMethod != "speak" || text == "" || t.OperationID == "" {
		answer.Reason = wire.Reason{ReasonCode: "UNSUPPORTED_METHOD", RequiresCloudDecision: new(true)}
		return answer, nil
	}
	held, err := device.Held(ctx) // an old intention moves nothing: ttlMs counts from when it was sent
	if err != nil {
		return nil, err
	}
	if t.TTLMs > 0 && held.Milliseconds() >= t.TTLMs {
		answer.Reason = wire.Reason{ReasonCode: "TASK_EXPIRED"}
		return answer, nil
	}
	// First the intention, then the deed, then the outcome: after a crash it is known that it began, and it is not done again.
	done := record{Method: t.TaskMethod, Trace: t.Trace}
	if err := s.tasks.put(t.OperationID, done); err != nil {
		return nil, err
	}
	fmt.Println("says:", text)
	answer.Accepted, answer.TaskID = true, t.OperationID
	return answer, s.finish(ctx, t.OperationID, done, wire.TaskCompleted, wire.Reason{})
}

// finish keeps a task's terminal event, and tells it: from then on it reaches the cloud, whatever happens here.
func (s *speaker) finish(ctx context.Context, operationID string, r record, as string, why wire.Reason) error {
	r.Terminal = &wire.TaskEvent{EventName: as, TaskID: operationID, TaskMethod: r.Method, Trace: r.Trace, Timestamp: time.Now().UnixMilli(), Reason: why}
	if err := s.tasks.put(operationID, r); err != nil {
		return err
	}
	return s.tell(ctx, *r.Terminal)
}

// tell emits a terminal event once: its key sees to that, across restarts too.
func (s *speaker) tell(ctx context.Context, e wire.TaskEvent) error {
	told := device.TaskEvent(e)
	told.Key = e.OperationID + "/" + e.EventName
	_, err := s.client.Emit(ctx, told)
	return err
}

// recall settles what an earlier life left: an end that was not told is told; of what has no end nobody knows whether it was heard.
func (s *speaker) recall(ctx context.Context) error {
	for id, r := range s.tasks.Known {
		var err error
		switch {
		case r.Terminal != nil:
			err = s.tell(ctx, *r.Terminal)
		case !r.Tombstone:
			err = s.finish(ctx, id, r, wire.TaskFailed, wire.Reason{ReasonCode: "EXECUTOR_FAULT", RequiresCloudDecision: new(true)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// status tells how an operation stands, with its stored terminal event.
func (s *speaker) status(q wire.StatusQuery) wire.StatusAnswer {
	answer := wire.StatusAnswer{StoreID: s.tasks.ID, BootID: s.client.BootID(), AsOfSeq: s.client.LastSeq()}
	if r, ok := s.tasks.Known[q.OperationID]; ok && r.Terminal != nil {
		answer.Found, answer.TaskID, answer.Status, answer.TerminalEvent = true, q.OperationID, r.Terminal.EventName, r.Terminal
		answer.Trace = r.Trace
	}
	return answer
}

// cancel leaves a tombstone for what it does not know, so that a submit that comes later is refused.
func (s *speaker) cancel(q wire.CancelQuery) (any, error) {
	answer := wire.CancelAnswer{OperationID: q.OperationID, StoreID: s.tasks.ID, State: "TOMBSTONED", Case: wire.CaseUnknownTombstoned, Accepted: true}
	if r, ok := s.tasks.Known[q.OperationID]; ok && r.Terminal != nil {
		answer.State, answer.Case, answer.Accepted, answer.TerminalEvent = r.Terminal.EventName, wire.CaseAlreadyCompleted, false, r.Terminal
		return answer, nil
	}
	return answer, s.tasks.put(q.OperationID, record{Tombstone: true})
}
