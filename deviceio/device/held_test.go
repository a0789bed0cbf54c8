package device

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"errand/deviceio/wire"
)

// telling answers hello as a gateway that tells how old a command is.
func telling(p *peer) {
	p.result(p.request.ID, wire.Hello{Type: "hello-ok", Protocol: wire.ProtocolVersion, Auth: wire.HelloAuth{Role: wire.RoleNode},
		Features: wire.Features{Methods: []string{wire.MethodInvokeHeld}, Events: []string{}},
		Snapshot: wire.Snapshot{Presence: []any{}, Health: map[string]any{}},
		Policy:   wire.Policy{MaxPayload: wire.MaxPayload, MaxBufferedBytes: wire.MaxBuffered, TickIntervalMs: time.Hour.Milliseconds()}})
}

// asks lets a command ask how old it is, and returns the question and what came of it.
func asks(t *testing.T, p *peer, calls <-chan call, id string) (question wire.Frame, held <-chan time.Duration, failed <-chan error) {
	t.Helper()
	p.invoke(wire.InvokeRequest{ID: id, Command: "light.set", TimeoutMs: 60_000})
	c := receive(t, calls, "the command")
	h, e := make(chan time.Duration, 1), make(chan error, 1)
	go func() {
		d, err := Held(c.ctx)
		h <- d
		e <- err
		c.end <- outcome{}
	}()
	question = p.next()
	require.Equal(t, wire.MethodInvokeHeld, question.Method)
	asked, err := wire.ParseInvokeCancel(question.Params)
	require.NoError(t, err)
	require.Equal(t, id, asked.InvokeID)
	return question, h, e
}

// Old intentions do not move robots (law 18): only the gateway can tell how long a command lay in the socket.
func TestLaw18ACommandLearnsHowOldItIs(t *testing.T) {
	g, _, _, calls := openScripted(t)
	p := g.next()
	telling(p)
	question, held, failed := asks(t, p, calls, "i-1")
	p.result(question.ID, wire.InvokeHeld{Awaited: true, HeldMs: 7_500})
	require.NoError(t, receive(t, failed, "the answer"))
	require.Equal(t, 7_500*time.Millisecond, <-held)
	p.invokeResult()

	question, _, failed = asks(t, p, calls, "i-2")
	p.result(question.ID, wire.InvokeHeld{Awaited: false})
	require.ErrorIs(t, receive(t, failed, "the answer"), ErrUnawaited)
	p.invokeResult()

	question, _, failed = asks(t, p, calls, "i-3")
	p.result(question.ID, map[string]any{"awaited": "perhaps"})
	require.Error(t, receive(t, failed, "the answer"))
	p.invokeResult()

	_, _, failed = asks(t, p, calls, "i-4")
	p.drop()
	require.Error(t, receive(t, failed, "the answer"), "a command must not be begun whose age nobody can tell")
}

// A gateway that has no such answer is not asked, and a call outside of a command is as new as any.
func TestAGatewayThatCannotTellIsNotAsked(t *testing.T) {
	g, _, _, calls := openScripted(t)
	p := g.connected()
	p.invoke(wire.InvokeRequest{ID: "i-1", Command: "light.set"})
	c := receive(t, calls, "the command")
	for _, ctx := range []context.Context{c.ctx, t.Context()} {
		held, err := Held(ctx)
		require.NoError(t, err)
		require.Zero(t, held)
	}
	c.end <- outcome{}
	p.invokeResult()
}
