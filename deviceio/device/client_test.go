package device

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// Law 19: what a process had emitted before it died is sent by the next one, first, and from its own boot.
func TestLaw19EventsOfAnEarlierBootGoFirst(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	before, err := Open(o) // never connects
	require.NoError(t, err)
	old := emit(t, before, wire.TaskCompleted, "p/s/1")
	require.NoError(t, before.Close())

	c, _ := open(t, o)
	require.Equal(t, before.DeviceID(), c.DeviceID(), "the key stays")
	fresh := emit(t, c, wire.TaskStarted, "p/s/2")
	p := g.connected()
	require.Equal(t, []string{before.BootID(), c.BootID()}, p.connect.Errand.Boots)
	for _, want := range []string{old, fresh} {
		req, e := p.taskEvent()
		require.Equal(t, want, e.EventID)
		p.ack(req, want)
	}
	require.Equal(t, int64(1), c.LastSeq())
}

// An acknowledgement that is not "applied" is an acknowledgement: a refused event must not block the ones behind it.
func TestEveryKindOfAcknowledgementIsFinal(t *testing.T) {
	g := newGateway(t)
	c, _ := open(t, options(t, g))
	p := g.connected()
	for i, ack := range []string{wire.AckApplied, wire.AckLate, wire.AckUnmatched, wire.AckRefused} {
		want := emit(t, c, wire.TaskFailed, fmt.Sprintf("p/s/%d", i+1))
		req, e := p.taskEvent()
		require.Equal(t, want, e.EventID)
		p.result(req, wire.EventAck{EventID: want, Ack: ack})
	}
	require.Eventually(t, func() bool { return c.OutboxStats().Pending == 0 }, patience, time.Millisecond)
}

func TestSilentGatewayGetsTheEventAgain(t *testing.T) {
	g := newGateway(t)
	o := options(t, g)
	o.AckTimeout = 5 * time.Millisecond
	c, _ := open(t, o)
	id := emit(t, c, wire.TaskCompleted, "p/s/1")
	p := g.connected()
	for range 3 {
		_, e := p.taskEvent()
		require.Equal(t, id, e.EventID)
	}
}

func TestEmitRefusesWhatTheCloudWould(t *testing.T) {
	g := newGateway(t)
	c, _ := open(t, options(t, g))
	for name, e := range map[string]wire.TaskEvent{
		"a name outside the contract": {EventName: "DONE"},
		"progress in per cent":        {EventName: wire.TaskProgress, Progress: 42},
		"a result too large":          {EventName: wire.TaskCompleted, Result: map[string]any{"a": strings.Repeat("x", wire.MaxTaskResult)}},
	} {
		_, err := c.Emit(t.Context(), TaskEvent(e))
		var refused *wire.RefusedEvent
		require.ErrorAs(t, err, &refused, name)
	}
	_, err := c.Emit(t.Context(), Observation(map[string]any{"facts": strings.Repeat("x", wire.MaxTaskEvent)}))
	require.Error(t, err)
	require.Zero(t, c.OutboxStats().Pending)
}

func TestAnswersAndObservationsCarryTheEnvelope(t *testing.T) {
	g := newGateway(t)
	c, _ := open(t, options(t, g))
	first, err := c.Emit(t.Context(), Answer(wire.AnswerEvent{QuestionID: "q-1", Choice: "예"}))
	require.NoError(t, err)
	again, err := c.Emit(t.Context(), Answer(wire.AnswerEvent{QuestionID: "q-1", Choice: "아니요"}))
	require.NoError(t, err)
	require.Equal(t, first, again, "a question has one answer")
	_, err = c.Emit(t.Context(), Observation(map[string]any{"kind": "smoke", "confidence": 0.9, "event_id": "forged"}))
	require.NoError(t, err)

	p := g.connected()
	f := p.next()
	n, err := wire.ParseNodeEvent(f.Params)
	require.NoError(t, err)
	require.Equal(t, wire.NodeAnswer, n.Event)
	a, err := wire.ParseAnswerEvent(n.Body())
	require.NoError(t, err)
	require.Equal(t, wire.AnswerEvent{Envelope: wire.Envelope{EventID: first, BootID: c.BootID(), Seq: 1}, QuestionID: "q-1", Choice: "예"}, a)
	p.ack(f.ID, first)
	f = p.next()
	n, err = wire.ParseNodeEvent(f.Params)
	require.NoError(t, err)
	require.Equal(t, wire.NodeObservation, n.Event)
	require.JSONEq(t, fmt.Sprintf(`{"kind":"smoke","confidence":0.9,"event_id":"%[1]s-2","boot_id":%[1]q,"seq":2}`, c.BootID()), string(n.Body()))
}
