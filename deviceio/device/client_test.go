package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"errand/deviceio/wire"
)

func emit(t *testing.T, c *Client, name, operation string) string {
	t.Helper()
	id, err := c.Emit(t.Context(), TaskEvent(wire.TaskEvent{EventName: name, Trace: wire.Trace{OperationID: operation}}))
	require.NoError(t, err)
	return id
}

func TestConnectDeclaresTheDevice(t *testing.T) {
	g := newGateway(t)
	c, _ := open(t, options(t, g))
	p := g.connected()
	require.Equal(t, c.DeviceID(), p.connect.Device.ID)
	require.Equal(t, []string{"light.set", "light.get"}, p.connect.Commands)
	require.Equal(t, &wire.Errand{Profile: wire.Profile{Status: true, Dedupe: true, Outbox: true},
		Boots: []string{c.BootID()}, StoreID: "s-1", RetentionS: 3600}, p.connect.Errand)
}

// Law 19: an event whose acknowledgement is lost is sent again, the same event, until it is on record.
func TestLaw19LostAcknowledgementIsSentAgainUnderTheSameID(t *testing.T) {
	g := newGateway(t)
	c, _ := open(t, options(t, g))
	id := emit(t, c, wire.TaskCompleted, "p/s/1")
	for range 3 {
		p := g.connected()
		_, e := p.taskEvent()
		require.Equal(t, id, e.EventID)
		p.drop()
	}
	p := g.connected()
	req, e := p.taskEvent()
	require.Equal(t, id, e.EventID)
	p.ack(req, e.EventID)
	require.Eventually(t, func() bool { return c.OutboxStats().Pending == 0 }, patience, time.Millisecond)
	second := emit(t, c, wire.TaskStarted, "p/s/2")
	_, e = p.taskEvent()
	require.Equal(t, second, e.EventID, "what is acknowledged is not sent again")
}

// Law 8: whatever is answered, the order stays: nothing overtakes an event that is not on record.
func TestLaw08OrderHoldsThroughRefusalsAndReconnects(t *testing.T) {
	g := newGateway(t)
	c, _ := open(t, options(t, g))
	var sent []string
	for i := range 5 {
		sent = append(sent, emit(t, c, wire.TaskStarted, fmt.Sprintf("p/s/%d", i+1)))
	}
	p := g.connected()
	reconnect := func() { p.drop(); p = g.connected() }
	// Every event meets every wrong answer before the right one.
	for _, want := range sent {
		next := func() (req string) {
			req, e := p.taskEvent()
			require.Equal(t, want, e.EventID)
			return req
		}
		p.write(wire.NewError(next(), wire.FrameError{Code: wire.CodeUnavailable, Message: "not recorded"}))
		p.ack(next(), "another-1")
		p.result(next(), map[string]any{"ok": true, "handled": true})
		next()
		p.ack("9999", want) // answers no request of this connection
		reconnect()
		next()
		reconnect()
		p.ack(next(), want)
	}
	require.Eventually(t, func() bool { return c.OutboxStats().Pending == 0 }, patience, time.Millisecond)
}

var _ = []any{context.Background, json.Marshal, errors.New, os.Open, filepath.Join, slices.Sort[[]int], strings.Cut, atomic.AddInt32, websocket.Accept}
