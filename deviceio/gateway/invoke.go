package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"errand/deviceio/wire"
	"errand/plan"
)

// invoke sends one command and waits for its result. Each has an id of its own: reusing one in flight kills the first run.
//
// The error is plan.ErrNotConnected if surely nothing was sent, or if the device says that it ran nothing and may be asked
// again; a *DeviceError if the device gave one; else ErrSocketLost or ErrNoAnswer, and the device may have the command.
func (s *session) invoke(ctx context.Context, command string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience(ctx))
	defer cancel()
	if err := s.awaitOpen(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	frame, id, err := s.request(ctx, command, params)
	if err != nil {
		return nil, err
	}
	result, err := s.expect(id, moves(command))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	defer s.forget(id)
	if err := s.line.write(frame); err != nil {
		s.drop()
		return nil, fmt.Errorf("%s: %w: %w", command, ErrSocketLost, err)
	}
	return s.await(ctx, command, id, result)
}

// await waits for a result. One that was read counts, even if the socket or the time ended in the same moment: to be told
// "no answer" about work that was answered is how commands get repeated (openclaw#116363).
func (s *session) await(ctx context.Context, command, id string, result <-chan wire.InvokeResult) (json.RawMessage, error) {
	var failure error
	select {
	case r := <-result:
		return outcome(command, r)
	case <-s.ctx.Done():
		failure = ErrSocketLost
	case <-ctx.Done():
		failure = errors.Join(ErrNoAnswer, context.Cause(ctx))
	}
	s.forget(id) // from here on a result is late
	select {
	case r := <-result:
		return outcome(command, r)
	default:
	}
	if s.ctx.Err() == nil {
		s.send(wire.EventCancel, wire.InvokeCancel{InvokeID: id, NodeID: s.deviceID})
	}
	return nil, fmt.Errorf("%s: %w", command, failure)
}

// patience is how long an invoke may take: the caller's deadline, else the default.
func (s *session) patience(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline)
	}
	return s.g.opts.InvokeTimeout
}

// awaitOpen waits for hello: a device just connected is about to be ready. Until then nothing was sent.
func (s *session) awaitOpen(ctx context.Context) error {
	select {
	case <-s.open:
	case <-s.ctx.Done():
	case <-ctx.Done():
	}
	if s.ctx.Err() != nil {
		return plan.ErrNotConnected
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", plan.ErrNotConnected, context.Cause(ctx))
	}
	return nil
}

func (s *session) request(ctx context.Context, command string, params any) (wire.Frame, string, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return wire.Frame{}, "", fmt.Errorf("%s: write its parameters: %w", command, err)
	}
	id := s.g.newID()
	deadline, _ := ctx.Deadline()
	frame, err := wire.NewEvent(wire.EventInvoke, wire.InvokeRequest{ID: id, NodeID: s.deviceID, Command: command,
		ParamsJSON: string(text), TimeoutMs: max(1, time.Until(deadline).Milliseconds()), IdempotencyKey: id})
	return frame, id, err
}

// expect notes that a result is to come.
func (s *session) expect(id string, moves bool) (<-chan wire.InvokeResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, plan.ErrNotConnected
	}
	result := make(chan wire.InvokeResult, 1)
	s.pending[id] = pendingInvoke{result: result, since: time.Now(), moves: moves}
	return result, nil
}

func (s *session) forget(id string) {
	s.mu.Lock()
	delete(s.pending, id)
	s.mu.Unlock()
	s.quieter()
}

// takeResult hands a result to whoever waits for it. A late or unknown one is put on record in its turn among the events, and acknowledged
// as ignored then: it is sent once only, and the plan asks the device instead.
func (s *session) takeResult(f wire.Frame) {
	r, err := wire.ParseInvokeResult(f.Params)
	if err != nil {
		s.answer(wire.NewError(f.ID, wire.FrameError{Code: wire.CodeInvalidRequest, Message: "node.invoke.result: " + err.Error()}))
		return
	}
	if s.takeCommandResult(f.ID, r) {
		return
	}
	if !s.deliver(r) {
		s.enqueue(f)
		return
	}
	s.reply(f.ID, map[string]any{"ok": true})
	s.acknowledged()
}

// unawaited puts a result on record that nobody waits for (law 19): that it came, and how it ended, but nothing of what is in it (law 4).
func (s *session) unawaited(ctx context.Context, r wire.InvokeResult, raw json.RawMessage) error {
	body := map[string]any{"invoke_id": r.ID, "ok": r.OK, "_bytes": len(raw)}
	if r.Error != nil {
		body["code"] = clipped(r.Error.Code)
	}
	_, err := s.stray(ctx, stray{id: identity{Envelope: wire.Envelope{EventID: "invoke-" + r.ID}}, epoch: s.bootEpoch,
		ack: wire.AckUnmatched, reason: "a result that nobody waits for", raw: raw, body: body})
	return err
}

// deliver hands a result over under the lock, so that forget divides the results in time from the late ones. Until acknowledged the session
// is not idle: a gateway that ends acknowledges what it took.
func (s *session) deliver(r wire.InvokeResult) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting, ok := s.pending[r.ID]
	delete(s.pending, r.ID)
	if ok {
		s.waiting++
		waiting.result <- r // has room for the one result there is
	}
	return ok
}

// acknowledged says that a result which was handed over is acknowledged.
func (s *session) acknowledged() {
	s.mu.Lock()
	s.waiting--
	s.mu.Unlock()
	s.quieter()
}

// pendingInvoke is a command whose answer is awaited.
type pendingInvoke struct {
	result chan wire.InvokeResult
	since  time.Time
	moves  bool
}

// moves tells whether a command does by itself what it is asked for, as a plain node's do. A task of ours has a cancel of its own.
func moves(command string) bool {
	return !strings.HasPrefix(command, "taskmanager.") && !strings.HasPrefix(command, "assistant.")
}

// tellHeld answers how old a command is: the device cannot know how long it lay in a socket. One that nobody waits for any
// more was answered, was given up, or is of an earlier connection.
func (s *session) tellHeld(f wire.Frame) {
	q, err := wire.ParseInvokeCancel(f.Params)
	if err != nil {
		s.answer(wire.NewError(f.ID, wire.FrameError{Code: wire.CodeInvalidRequest, Message: wire.MethodInvokeHeld + ": " + err.Error()}))
		return
	}
	s.mu.Lock()
	waiting, ok := s.pending[q.InvokeID]
	s.mu.Unlock()
	held := wire.InvokeHeld{Awaited: ok}
	if ok {
		held.HeldMs = time.Since(waiting.since).Milliseconds()
	}
	s.reply(f.ID, held)
}

// outcome reads a result. Codes that come before execution mean that nothing ran (reference: OpenClaw, measured 7).
func outcome(command string, r wire.InvokeResult) (json.RawMessage, error) {
	if r.OK {
		return r.Body(), nil
	}
	failure := &DeviceError{Command: command, Code: "UNKNOWN", Message: "it did not run, and gave no reason"}
	if r.Error != nil {
		failure.Code, failure.Message = r.Error.Code, r.Error.Message
	}
	// A node says UNAVAILABLE of a command that it does not have, too: that will not pass.
	if failure.Code == wire.InvokeUnavailable && strings.Contains(failure.Message, "not supported") {
		failure.Code = wire.InvokeUnknownCommand
	}
	if failure.Code == wire.InvokeUnavailable || failure.Code == wire.InvokeNotReady {
		return nil, errors.Join(plan.ErrNotConnected, failure)
	}
	return nil, failure
}
