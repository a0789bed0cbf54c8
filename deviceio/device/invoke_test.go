package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"errand/deviceio/wire"
)

// call is one command as the handler sees it; the test says how it ends.
type call struct {
	ctx     context.Context
	command string
	params  string
	end     chan<- outcome
}

type outcome struct {
	body any
	err  error
}

// scripted returns a handler whose calls arrive on a channel.
func scripted() (Handler, <-chan call) {
	calls := make(chan call, 128)
	return handlerFunc(func(ctx context.Context, command string, params json.RawMessage) (any, error) {
		end := make(chan outcome, 1)
		calls <- call{ctx, command, string(params), end}
		o := <-end
		return o.body, o.err
	}), calls
}

func openScripted(t *testing.T) (*fakeGateway, *Client, func() error, <-chan call) {
	g := newGateway(t)
	o := options(t, g)
	h, calls := scripted()
	o.Handler = h
	c, stop := open(t, o)
	return g, c, stop, calls
}

func TestInvokeAnswers(t *testing.T) {
	g, c, _, calls := openScripted(t)
	p := g.connected()
	for name, test := range map[string]struct {
		params string
		given  string
		end    outcome
		want   wire.InvokeResult
	}{
		"a body":        {`{"on":true}`, `{"on":true}`, outcome{map[string]any{"lit": true}, nil}, wire.InvokeResult{OK: true, Payload: json.RawMessage(`{"lit":true}`)}},
		"no params":     {"", "{}", outcome{nil, nil}, wire.InvokeResult{OK: true}},
		"a coded error": {"", "{}", outcome{nil, fmt.Errorf("light: %w", &wire.InvokeError{Code: "BULB", Message: "gone"})}, wire.InvokeResult{Error: &wire.InvokeError{Code: "BULB", Message: "gone"}}},
		"a plain error": {"", "{}", outcome{nil, errors.New("dark")}, wire.InvokeResult{Error: &wire.InvokeError{Code: wire.InvokeFailed, Message: "dark"}}},
	} {
		p.invoke(wire.InvokeRequest{ID: name, NodeID: c.DeviceID(), Command: "light.set", ParamsJSON: test.params})
		call := receive(t, calls, "the command")
		require.Equal(t, "light.set", call.command)
		require.Equal(t, test.given, call.params)
		call.end <- test.end
		test.want.ID, test.want.NodeID = name, c.DeviceID()
		require.Equal(t, test.want, p.invokeResult(), name)
	}
	p.invoke(wire.InvokeRequest{ID: "not json", NodeID: c.DeviceID(), Command: "light.get"})
	receive(t, calls, "the command").end <- outcome{func() {}, nil}
	require.Equal(t, wire.InvokeFailed, p.invokeResult().Error.Code, "an answer that is no JSON")
}

// What is refused has not run.
func TestInvokeRefusals(t *testing.T) {
	g, c, _, calls := openScripted(t)
	p := g.connected()
	for name, r := range map[string]wire.InvokeRequest{
		wire.InvokeUnknownCommand: {ID: "1", NodeID: c.DeviceID(), Command: "door.open"},
		wire.InvokeInvalidRequest: {ID: "2", NodeID: "another", Command: "light.set"},
	} {
		p.invoke(r)
		require.Equal(t, name, p.invokeResult().Error.Code)
	}
	p.invoke(wire.InvokeRequest{ID: "3", NodeID: c.DeviceID(), Command: "light.set", ParamsJSON: "{"})
	answer := p.invokeResult()
	require.Equal(t, "3", answer.ID)
	require.Equal(t, wire.InvokeInvalidRequest, answer.Error.Code)

	var running []call
	for i := range maxInFlight {
		p.invoke(wire.InvokeRequest{ID: fmt.Sprintf("many-%d", i), NodeID: c.DeviceID(), Command: "light.set"})
		running = append(running, receive(t, calls, "the command"))
	}
	p.invoke(wire.InvokeRequest{ID: "one too many", NodeID: c.DeviceID(), Command: "light.set"})
	require.Equal(t, wire.InvokeUnavailable, p.invokeResult().Error.Code)
	for _, call := range running {
		call.end <- outcome{}
		require.True(t, p.invokeResult().OK)
	}
	require.Empty(t, calls)
}

// Law 11: a request that comes twice runs once: while it runs, after it ended, and on another connection.
func TestLaw11DoubledRequestRunsOnce(t *testing.T) {
	g, c, _, calls := openScripted(t)
	p := g.connected()
	r := wire.InvokeRequest{ID: "i-1", NodeID: c.DeviceID(), Command: "light.set", IdempotencyKey: "p/s/1"}
	p.invoke(r)
	first := receive(t, calls, "the command")
	p.invoke(r)
	p.drop()
	p = g.connected()
	p.invoke(r) // still running: the answer comes to this connection
	other := wire.InvokeRequest{ID: "i-2", NodeID: c.DeviceID(), Command: "light.get"}
	p.invoke(other)
	next := receive(t, calls, "the other command")
	require.Equal(t, "light.get", next.command, "frames are taken in order, so i-1 was seen")
	next.end <- outcome{}
	require.Equal(t, "i-2", p.invokeResult().ID)
	first.end <- outcome{"done", nil}
	require.Equal(t, "i-1", p.invokeResult().ID)
	p.invoke(r)
	again := p.invokeResult()
	require.Equal(t, json.RawMessage(`"done"`), again.Payload)
	require.Empty(t, calls, "it ran once")
}

// A large answer is not kept, but that it ran is.
func TestLaw11DoubledRequestWithALargeAnswer(t *testing.T) {
	g, c, _, calls := openScripted(t)
	p := g.connected()
	r := wire.InvokeRequest{ID: "i-1", NodeID: c.DeviceID(), Command: "light.get"}
	p.invoke(r)
	receive(t, calls, "the command").end <- outcome{strings.Repeat("x", keptBytes), nil}
	require.True(t, p.invokeResult().OK)
	p.invoke(r)
	require.Equal(t, wire.InvokeDuplicate, p.invokeResult().Error.Code)
	for i := range keptAnswers { // memory has an end
		p.invoke(wire.InvokeRequest{ID: fmt.Sprintf("x-%d", i), NodeID: c.DeviceID(), Command: "light.get"})
		receive(t, calls, "the command").end <- outcome{}
		p.invokeResult()
	}
	c.invokes.mu.Lock()
	defer c.invokes.mu.Unlock()
	require.Len(t, c.invokes.answers, keptAnswers)
}

// A cancelled command ends, and no answer follows.
func TestInvokeCancel(t *testing.T) {
	g, c, _, calls := openScripted(t)
	p := g.connected()
	p.invoke(wire.InvokeRequest{ID: "i-1", NodeID: c.DeviceID(), Command: "light.set"})
	call := receive(t, calls, "the command")
	p.event(wire.EventCancel, wire.InvokeCancel{InvokeID: "unknown"})
	p.event(wire.EventCancel, wire.InvokeCancel{InvokeID: "i-1"})
	receive(t, closed(call.ctx.Done()), "the cancellation")
	call.end <- outcome{nil, call.ctx.Err()}
	p.invoke(wire.InvokeRequest{ID: "i-2", NodeID: c.DeviceID(), Command: "light.get"})
	receive(t, calls, "the next command").end <- outcome{}
	require.Equal(t, "i-2", p.invokeResult().ID, "the cancelled one has no answer")
}

func TestInvokeTimeout(t *testing.T) {
	g, c, _, calls := openScripted(t)
	p := g.connected()
	p.invoke(wire.InvokeRequest{ID: "i-1", NodeID: c.DeviceID(), Command: "light.set", TimeoutMs: 5})
	call := receive(t, calls, "the command")
	receive(t, closed(call.ctx.Done()), "the timeout")
	call.end <- outcome{nil, call.ctx.Err()}
	require.Equal(t, wire.InvokeTimeout, p.invokeResult().Error.Code)
}

// A lost connection stops no command: what it moves is moving, and its events go through the outbox.
func TestLostConnectionStopsNoCommand(t *testing.T) {
	g, c, stop, calls := openScripted(t)
	p := g.connected()
	p.invoke(wire.InvokeRequest{ID: "i-1", NodeID: c.DeviceID(), Command: "light.set"})
	call := receive(t, calls, "the command")
	p.drop()
	p = g.connected()
	require.NoError(t, call.ctx.Err())
	call.end <- outcome{} // its answer has no connection any more, and is dropped
	p.invoke(wire.InvokeRequest{ID: "i-2", NodeID: c.DeviceID(), Command: "light.get"})
	last := receive(t, calls, "the next command")
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	receive(t, closed(last.ctx.Done()), "the end of the command's context with Run")
	require.Empty(t, ended, "Run waits for its commands")
	last.end <- outcome{}
	require.ErrorIs(t, receive(t, ended, "the end"), context.Canceled)
}

func TestInvokePanicIsAnAnswer(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	o.Handler = handlerFunc(func(context.Context, string, json.RawMessage) (any, error) { panic("bulb") })
	c, _ := open(t, o)
	p := g.connected()
	p.invoke(wire.InvokeRequest{ID: "i-1", NodeID: c.DeviceID(), Command: "light.set"})
	answer := p.invokeResult()
	require.Equal(t, wire.InvokeFailed, answer.Error.Code)
	require.Contains(t, answer.Error.Message, "bulb")
}

// closed turns the end of a context into something to receive.
func closed(done <-chan struct{}) <-chan bool {
	ended := make(chan bool, 1)
	go func() { <-done; ended <- true }()
	return ended
}
