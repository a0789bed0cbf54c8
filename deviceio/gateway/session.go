package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"errand/catalog"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// eventBacklog is how many events of one device may wait their turn, and eventBytes how much they may weigh together. More
// are turned back with ok:false. One by itself may weigh what a frame may, or it could never be refused on record.
const (
	eventBacklog = 256
	eventBytes   = 2 << 20
)

// session is one device's connection, from hello to close.
type session struct {
	g    *Gateway
	line line
	log  *slog.Logger

	id        string // of this connection
	deviceID  string
	name      string
	token     string // the device token told in hello
	epoch     int64  // the connection epoch
	boots     map[string]int64
	bootID    string // the current boot; "" for a plain node
	bootEpoch int64
	commands  []string
	// permissions is what the device said of them; one that it does not name is not known.
	permissions map[string]bool
	declared    *wire.Errand // what it can be relied on for; nil for a plain node

	// open is closed when hello was sent: no command goes out before it.
	open chan struct{}
	// ctx ends when the session does: nothing started for it goes on.
	ctx    context.Context
	cancel context.CancelCauseFunc
	ending sync.Once
	// halting and latching say that the session carries out an emergency stop, and that it records one of the device's own. halts counts how
	// often it was told to halt.
	halting, latching atomic.Bool
	halts             atomic.Int64

	mu        sync.Mutex
	approved  []string                 // the commands that a person approved
	pending   map[string]pendingInvoke // invokes without an answer yet, by their ids
	waiting   int                      // events, and results that were awaited, taken and not yet answered
	buffered  int                      // bytes of them
	idle      chan struct{}            // told when one of the two went down
	rooms     []catalog.Room           // as recorded by this session, once roomsRead
	roomsRead bool
	sourcesAt time.Time    // when the freshness of its sources was recorded last
	inHand    []wire.Frame // events that wait their turn, the oldest first
	handling  bool         // a goroutine takes them one by one
	handlers  sync.WaitGroup

	invoked commands // of a plain node, in flight
}

func newSession(g *Gateway, l line, c wire.Connect) *session {
	s := &session{g: g, line: l, id: rand.Text(), deviceID: c.Device.ID, name: c.Client.DisplayName, commands: c.Commands,
		permissions: c.Permissions, declared: c.Errand,
		open: make(chan struct{}), pending: make(map[string]pendingInvoke), idle: make(chan struct{}, 1)}
	s.log = g.log.With("device", s.deviceID, "connection", s.id)
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// serve reads until the socket ends, and returns when everything started for it has ended too.
func (s *session) serve(sock socket) {
	var all sync.WaitGroup
	all.Go(func() { s.keepAlive(sock) })
	all.Go(s.readRooms)
	err := s.readAll(sock)
	s.log.Info("disconnected", "error", err)
	s.end(closeUnreachable, "")
	s.release()
	all.Wait()
	s.handlers.Wait()
}

// end closes the session once: pending commands fail, the device is told why.
func (s *session) end(code websocket.StatusCode, reason string) {
	s.ending.Do(func() {
		s.cancel(ErrSocketLost)
		if err := s.line.close(code, reason); err != nil {
			s.log.Debug("the socket was not closed cleanly", "error", err)
		}
	})
}

// drop cuts the socket off without a word.
func (s *session) drop() {
	s.cancel(ErrSocketLost)
	if err := s.line.cut(); err != nil {
		s.log.Debug("the socket was already closed", "error", err)
	}
}

// release takes the session out of the table and its connection out of the registry. A registry that does not answer
// lets the lease run out instead.
func (s *session) release() {
	s.invoked.end()
	was := s.g.table.remove(s)
	ctx, cancel := context.WithTimeout(context.Background(), s.g.opts.LeaseTTL)
	defer cancel()
	err := s.g.opts.Registry.Disconnect(ctx, s.deviceID, s.epoch)
	if errors.Is(err, registry.ErrFenced) {
		return // there is a newer connection, here or elsewhere: the end of this one is no news
	}
	if err != nil {
		s.log.Warn("the end of a connection could not be recorded: its lease must run out", "error", err)
	}
	if was {
		s.g.news.add(s.deviceID, plan.DeviceChange{Gone: s.epoch}) // now that the registry knows it too
	}
}

// readAll takes frames until the socket ends. Its own context stays: ending the read by it would cut off the close.
func (s *session) readAll(sock socket) error {
	frames := s.g.flood.frames()
	for {
		// Whoever sends faster than that is not read meanwhile: the pressure reaches its socket. The wait ends with the session, as the read does.
		_ = frames.Wait(s.ctx)
		frame, err := sock.read(context.WithoutCancel(s.ctx))
		bad := (*wire.BadFrame)(nil)
		switch {
		case errors.As(err, &bad) && bad.ID != "":
			s.answer(wire.NewError(bad.ID, wire.FrameError{Code: wire.CodeInvalidRequest, Message: bad.Error()}))
		case errors.As(err, &bad) || errors.Is(err, errBinary):
			s.end(closeUnreadable, "not a frame of the protocol")
			return err
		case err != nil:
			return err
		default:
			s.take(frame)
		}
	}
}

// take handles one frame. Everything here is quick; events wait for their turn elsewhere.
func (s *session) take(f wire.Frame) {
	if f.Type != wire.TypeReq {
		s.log.Debug("a frame that asks nothing was ignored", "type", f.Type, "event", f.Event)
		return
	}
	switch f.Method {
	case wire.MethodInvokeResult:
		s.takeResult(f)
	case wire.MethodInvokeHeld:
		s.tellHeld(f)
	case wire.MethodNodeEvent:
		s.queueEvent(f)
	case "node.runnerInventory.update", "node.skills.update", "node.pluginTools.update":
		s.reply(f.ID, map[string]any{"ok": true}) // every node announces these; nothing here needs them
	default:
		s.answer(wire.NewError(f.ID, wire.FrameError{Code: wire.CodeInvalidRequest, Message: "unknown method " + f.Method}))
	}
}

// keepAlive sends ticks, without which a device hangs up, and pings, by which we notice that it is gone.
func (s *session) keepAlive(sock socket) {
	tick, ping := time.NewTicker(s.g.opts.TickInterval), time.NewTicker(s.g.opts.PingInterval)
	defer tick.Stop()
	defer ping.Stop()
	for {
		select {
		case <-tick.C:
			s.send(wire.EventTick, map[string]any{"ts": s.g.opts.Now().UnixMilli()})
		case <-ping.C:
			ctx, cancel := context.WithTimeout(s.ctx, s.g.opts.WriteTimeout)
			if err := sock.conn.Ping(ctx); err != nil && s.ctx.Err() == nil {
				s.log.Warn("no pong: the device is gone", "error", err)
				s.drop()
			}
			cancel()
		case <-s.ctx.Done():
			return
		}
	}
}

// send sends an event of ours; a socket that cannot take it is over.
func (s *session) send(event string, payload any) {
	frame, err := wire.NewEvent(event, payload)
	if err != nil {
		s.log.Error("an event could not be written", "event", event, "error", err)
		return
	}
	s.answer(frame)
}

// reply answers a request with ok:true.
func (s *session) reply(requestID string, payload any) {
	frame, err := wire.NewRes(requestID, payload)
	if err != nil {
		s.log.Error("an answer could not be written", "error", err)
		return
	}
	s.answer(frame)
}

func (s *session) answer(f wire.Frame) {
	if err := s.line.write(f); err != nil && s.ctx.Err() == nil {
		s.log.Info("the device takes nothing any more", "error", err)
		s.drop()
	}
}

// hold counts an event in, unless too much is in hand already: what a device sends is kept in memory until its turn comes.
func (s *session) hold(f wire.Frame) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting > eventBacklog || s.waiting > 0 && s.buffered+len(f.Params) > eventBytes {
		return false
	}
	s.waiting++
	s.buffered += len(f.Params)
	s.inHand = append(s.inHand, f)
	return true
}

// done counts an event out.
func (s *session) done(f wire.Frame) {
	s.mu.Lock()
	s.waiting--
	s.buffered -= len(f.Params)
	s.mu.Unlock()
	s.quieter()
}

// quieter tells whoever waits for silence to look again.
func (s *session) quieter() {
	select {
	case s.idle <- struct{}{}:
	default:
	}
}

// awaitIdle waits until no command and no event is in hand, the session ends, or ctx does.
func (s *session) awaitIdle(ctx context.Context) {
	for {
		s.mu.Lock()
		busy := len(s.pending) + s.waiting + s.invoked.busy()
		s.mu.Unlock()
		if busy == 0 {
			return
		}
		select {
		case <-s.idle:
		case <-s.ctx.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}
