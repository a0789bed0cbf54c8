package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"errand/deviceio/wire"
)

const (
	// maxInFlight bounds the commands that run at once.
	maxInFlight = 64
	// keptAnswers is how many answers are remembered, and keptBytes how large one may be, for a request that
	// comes again because its answer was lost.
	keptAnswers = 256
	keptBytes   = 64 << 10
)

// invokes runs commands, each request id once: a doubled request never runs twice, not even across connections.
type invokes struct {
	nodeID   string
	commands []string
	handler  Handler
	log      *slog.Logger

	mu      sync.Mutex
	running map[string]*running
	answers map[string]wire.InvokeResult
	order   []string // ids in answers, oldest first
	all     sync.WaitGroup
}

// running is one command being carried out.
type running struct {
	to        *session // where the answer goes: the connection on which the request came last
	cancel    context.CancelFunc
	cancelled bool // by the gateway: no answer follows
}

func newInvokes(nodeID string, commands []string, h Handler, log *slog.Logger) *invokes {
	return &invokes{nodeID: nodeID, commands: commands, handler: h, log: log,
		running: make(map[string]*running), answers: make(map[string]wire.InvokeResult)}
}

// start takes up a request, or answers it at once.
func (v *invokes) start(ctx context.Context, s *session, r wire.InvokeRequest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if answer, ok := v.answers[r.ID]; ok {
		v.log.Info("device: the request came again: its answer is repeated", "invoke", r.ID, "command", r.Command)
		go v.send(ctx, s, answer)
		return
	}
	if run, ok := v.running[r.ID]; ok {
		v.log.Info("device: the request came again while it runs", "invoke", r.ID, "command", r.Command)
		run.to = s
		return
	}
	if refusal := v.refuse(r); refusal != nil {
		go v.send(ctx, s, wire.InvokeResult{ID: r.ID, NodeID: v.nodeID, Error: refusal})
		return
	}
	timed, cancel := bounded(withHeld(ctx, s, r.ID, v.nodeID), r.TimeoutMs)
	run := &running{to: s, cancel: cancel}
	v.running[r.ID] = run
	v.all.Go(func() {
		defer cancel()
		v.finish(ctx, r, run, v.run(timed, r))
	})
}

// bounded gives a command its time; 0 means no bound of its own.
func bounded(ctx context.Context, timeoutMs int64) (context.Context, context.CancelFunc) {
	if timeoutMs <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(timeoutMs)*time.Millisecond)
}

// refuse says why a request is not taken up; nothing of it has run.
func (v *invokes) refuse(r wire.InvokeRequest) *wire.InvokeError {
	switch {
	case r.NodeID != "" && r.NodeID != v.nodeID:
		return &wire.InvokeError{Code: wire.InvokeInvalidRequest, Message: "the request is for the node " + r.NodeID}
	case !slices.Contains(v.commands, r.Command):
		return &wire.InvokeError{Code: wire.InvokeUnknownCommand, Message: "this device does not know " + r.Command}
	case len(v.running) >= maxInFlight:
		return &wire.InvokeError{Code: wire.InvokeUnavailable, Message: fmt.Sprintf("%d commands run already: send it again later", maxInFlight)}
	}
	return nil
}

// run carries out one command and makes its answer.
func (v *invokes) run(ctx context.Context, r wire.InvokeRequest) wire.InvokeResult {
	result := wire.InvokeResult{ID: r.ID, NodeID: v.nodeID}
	body, err := v.guarded(ctx, r)
	if err == nil {
		result.Payload, err = json.Marshal(body)
	}
	if err == nil && len(result.Payload) > wire.MaxPayload-maxEnvelope {
		err = &wire.InvokeError{Code: wire.InvokeTooLarge, Message: fmt.Sprintf("the answer has %d bytes", len(result.Payload))}
	}
	if err == nil {
		result.OK = true
		return result
	}
	result.Payload = nil
	result.Error = invokeError(ctx, err)
	return result
}

// maxEnvelope is room for the rest of the frame around a payload.
const maxEnvelope = 4 << 10

func invokeError(ctx context.Context, err error) *wire.InvokeError {
	var coded *wire.InvokeError
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &wire.InvokeError{Code: wire.InvokeTimeout, Message: err.Error()}
	}
	return &wire.InvokeError{Code: wire.InvokeFailed, Message: err.Error()}
}

// guarded keeps one command's panic from taking the device down with it.
func (v *invokes) guarded(ctx context.Context, r wire.InvokeRequest) (body any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v.log.Error("device: the handler panicked", "command", r.Command, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the handler of %s panicked: %v", r.Command, p)
		}
	}()
	params := json.RawMessage(r.ParamsJSON)
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return v.handler.Invoke(ctx, r.Command, params)
}

// finish remembers the answer and sends it, once, to the connection on which the request came last.
func (v *invokes) finish(ctx context.Context, r wire.InvokeRequest, run *running, result wire.InvokeResult) {
	v.mu.Lock()
	delete(v.running, r.ID)
	v.remember(result)
	to, cancelled := run.to, run.cancelled
	v.mu.Unlock()
	if cancelled {
		v.log.Info("device: the command was cancelled: no answer follows", "invoke", r.ID, "command", r.Command)
		return
	}
	v.send(ctx, to, result)
}

// remember keeps an answer in case its request comes again. A large one is only remembered to have been given.
func (v *invokes) remember(result wire.InvokeResult) {
	if len(result.Payload) > keptBytes {
		result = wire.InvokeResult{ID: result.ID, NodeID: result.NodeID, Error: &wire.InvokeError{
			Code: wire.InvokeDuplicate, Message: "it ran before; its answer was too large to keep"}}
	}
	v.answers[result.ID] = result
	if v.order = append(v.order, result.ID); len(v.order) > keptAnswers {
		delete(v.answers, v.order[0])
		v.order = v.order[1:]
	}
}

// send sends an answer. One whose connection is gone is dropped: what happened is in the outbox, and the cloud asks.
func (v *invokes) send(ctx context.Context, s *session, result wire.InvokeResult) {
	if _, err := s.request(ctx, wire.MethodInvokeResult, result); err != nil {
		v.log.Warn("device: the connection is gone: the answer is dropped", "invoke", result.ID, "err", err)
	}
}

// cancel stops a running command; one that is not running is none of our business.
func (v *invokes) cancel(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if run, ok := v.running[id]; ok {
		run.cancelled = true
		run.cancel()
	}
}

// wait returns once no command runs.
func (v *invokes) wait() { v.all.Wait() }

func (c *Client) invoke(ctx context.Context, s *session, payload json.RawMessage) {
	r, err := wire.ParseInvokeRequest(payload)
	if err != nil {
		c.opts.Logger.Warn("device: unreadable command", "invoke", r.ID, "err", err)
		if r.ID != "" {
			go c.invokes.send(ctx, s, wire.InvokeResult{ID: r.ID, NodeID: c.id,
				Error: &wire.InvokeError{Code: wire.InvokeInvalidRequest, Message: err.Error()}})
		}
		return
	}
	c.invokes.start(ctx, s, r)
}

func (c *Client) cancelInvoke(payload json.RawMessage) {
	r, err := wire.ParseInvokeCancel(payload)
	if err != nil {
		c.opts.Logger.Warn("device: unreadable cancel", "err", err)
		return
	}
	c.invokes.cancel(r.InvokeID)
}
