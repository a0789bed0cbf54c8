package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/coder/websocket"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// serveSocket is one socket from its first byte to its last.
func (g *Gateway) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		http.Error(w, "the gateway is shutting down: try again", http.StatusServiceUnavailable)
		return
	}
	kept := false
	defer func() {
		if !kept {
			g.sockets.Done()
		}
	}()
	leave, ok := g.flood.enter()
	if !ok {
		g.counters.handshakes.WithLabelValues("turned_away").Inc()
		tooMany("too many sockets have not connected yet", g.flood.spread()).write(w)
		return
	}
	defer leave()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		g.log.Debug("not a WebSocket", "from", r.RemoteAddr, "error", err) // Accept answered
		return
	}
	conn.SetReadLimit(wire.MaxFrameBeforeConnect)
	sock := socket{conn: conn, timeout: g.opts.WriteTimeout}
	s, err := g.handshake(g.quit, sock)
	if err != nil {
		_ = conn.CloseNow() // it was closed, or it is of no use
		g.counters.handshakes.WithLabelValues("refused").Inc()
		g.log.Info("a device was turned away", "from", r.RemoteAddr, "error", err)
		return
	}
	g.counters.handshakes.WithLabelValues("accepted").Inc()
	conn.SetReadLimit(wire.MaxPayload)
	kept = true
	go g.keep(s, sock)
}

// keep serves a session until it ends. It has a goroutine of its own: what net/http holds of the request goes with the handler, and so does the
// stack that checking a device has made large. Of idle sockets there are many.
func (g *Gateway) keep(s *session, sock socket) {
	defer g.sockets.Done()
	defer func() { _ = sock.conn.CloseNow() }() // after a clean close there is nothing left to fail
	s.serve(sock)
}

// handshake challenges the device, checks its answer and opens a session. A refusal is answered and the socket closed.
func (g *Gateway) handshake(ctx context.Context, sock socket) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, g.opts.HandshakeTimeout)
	defer cancel()
	challenge := wire.Challenge{Nonce: g.newID(), TS: g.opts.Now().UnixMilli()}
	frame, err := wire.NewEvent(wire.EventChallenge, challenge)
	if err == nil {
		err = sock.write(frame)
	}
	if err != nil {
		return nil, fmt.Errorf("send the challenge: %w", err)
	}
	request, err := sock.read(ctx)
	if bad := (*wire.BadFrame)(nil); err != nil && !errors.As(err, &bad) {
		return nil, fmt.Errorf("await connect: %w", err)
	} else if bad != nil {
		return nil, turnAway(sock, bad.ID, refuse(wire.CodeInvalidRequest, detailBadConnect, bad.Error()))
	}
	if request.Type != wire.TypeReq || request.Method != wire.MethodConnect {
		return nil, turnAway(sock, request.ID, refuse(wire.CodeInvalidRequest, detailNotAConnect, "the first frame must be the request connect"))
	}
	connect, err := wire.ParseConnect(request.Params)
	if err != nil {
		return nil, turnAway(sock, request.ID, badConnect(err))
	}
	if retry, ok := g.flood.admit(ctx); !ok {
		return nil, turnAway(sock, request.ID, busy(retry))
	}
	s, refused := g.open(ctx, sock, connect, challenge)
	if refused != nil {
		return nil, turnAway(sock, request.ID, refused)
	}
	if err := s.welcome(request.ID); err != nil {
		return nil, err
	}
	return s, nil
}

// turnAway answers with the refusal and closes.
func turnAway(sock socket, requestID string, r *refusal) error {
	var err error
	if requestID != "" {
		err = sock.write(wire.NewError(requestID, r.answer))
	}
	return errors.Join(r, err, sock.conn.Close(r.close, "connect failed"))
}

// open turns an accepted connect into the device's one session: checked, recorded under a new epoch, and in the place of
// the one before.
func (g *Gateway) open(ctx context.Context, sock socket, c wire.Connect, challenge wire.Challenge) (*session, *refusal) {
	shown, refused := g.prove(ctx, c, challenge)
	var device registry.Device
	if refused == nil {
		device, refused = g.admit(ctx, c, shown)
	}
	if refused != nil {
		return nil, refused
	}
	s := newSession(g, sock, c)
	s.approve(device.ApprovedCommands)
	if fresh := device.Unapproved(); len(fresh) > 0 {
		s.log.Warn("the device advertises commands that nobody approved: they are not asked of it until it is approved again", "commands", fresh)
	}
	if err := g.record(ctx, s, c, shown.deviceToken); errors.Is(err, registry.ErrBootOrder) {
		g.log.Error("a device contradicts the recorded order of its boots", "device", s.deviceID, "error", err)
		return nil, refuse(wire.CodeInvalidRequest, detailBootOrder, err.Error())
	} else if err != nil {
		g.log.Error("a connection could not be recorded", "device", s.deviceID, "error", err)
		return nil, unavailable(detailUnavailable, "the registry does not answer: try again")
	}
	if !g.place(s) {
		return nil, unavailable(detailDraining, "the gateway is shutting down, or a newer connection of this device was quicker")
	}
	return s, nil
}

// place makes s the device's one session, in the place of the one before. If it may not be that, it is released.
func (g *Gateway) place(s *session) bool {
	replaced, ok := g.table.put(s)
	if !ok {
		s.release()
		return false
	}
	if replaced != nil {
		replaced.log.Info("replaced by a newer connection of the same device", "epoch", s.epoch)
		go replaced.end(closeReplaced, "replaced by a newer connection of this device")
	}
	return true
}

// record gives the session its epochs and its token, all from the registry.
func (g *Gateway) record(ctx context.Context, s *session, c wire.Connect, deviceToken string) (err error) {
	conn := registry.Connection{DeviceID: s.deviceID, GatewayID: g.id}
	if e := c.Errand; e != nil {
		if s.boots, err = g.opts.Registry.Boots(ctx, s.deviceID, e.Boots); err != nil {
			return err
		}
		conn.BootID = e.Boots[len(e.Boots)-1]
		conn.BootEpoch = s.boots[conn.BootID]
	}
	if s.token = deviceToken; s.token == "" {
		if s.token, err = g.opts.Registry.IssueToken(ctx, s.deviceID); err != nil {
			return err
		}
	}
	if s.epoch, err = g.opts.Registry.Connect(ctx, conn, g.opts.LeaseTTL); err != nil {
		return err
	}
	s.bootID, s.bootEpoch = conn.BootID, conn.BootEpoch
	if conn.BootID == "" {
		s.bootEpoch = s.epoch // a plain node's boot is its connection
	}
	s.log = s.log.With("epoch", s.epoch)
	return nil
}

// welcome answers hello-ok; from then on the session may be used.
func (s *session) welcome(requestID string) error {
	now := s.g.opts.Now()
	frame, err := wire.NewRes(requestID, wire.Hello{
		Type: "hello-ok", Protocol: wire.ProtocolVersion,
		Server: wire.HelloServer{Version: s.g.opts.Version, ConnID: s.id},
		Features: wire.Features{
			Methods: []string{wire.MethodInvokeResult, wire.MethodInvokeHeld, wire.MethodNodeEvent},
			Events:  []string{wire.EventTick, wire.EventShutdown, wire.EventInvoke, wire.EventCancel, wire.EventCertificate},
		},
		Snapshot: wire.Snapshot{Presence: []any{}, Health: map[string]any{}, UptimeMs: max(0, now.Sub(s.g.born).Milliseconds())},
		Auth:     wire.HelloAuth{Role: wire.RoleNode, Scopes: []string{}, DeviceToken: s.token, IssuedAtMs: now.UnixMilli()},
		Policy: wire.Policy{MaxPayload: wire.MaxPayload, MaxBufferedBytes: wire.MaxBuffered,
			TickIntervalMs: s.g.opts.TickInterval.Milliseconds()},
	})
	if err == nil {
		err = s.line.write(frame)
	}
	if err != nil {
		s.end(closeUnreachable, "hello could not be sent")
		s.release()
		return fmt.Errorf("send hello: %w", err)
	}
	s.announce()
	return nil
}

// announce opens the session to commands, and tells whoever waits for the device.
func (s *session) announce() {
	s.log.Info("connected", "name", s.name, "commands", len(s.commands))
	close(s.open)
	if n := s.g.certificate.get(); n.Fingerprint != "" {
		s.tellCertificate(n)
	}
	if _, stopped := s.g.stops.of(s.deviceID); stopped {
		go s.halt()
	}
	s.g.news.add(s.deviceID, plan.DeviceChange{Route: s.route()})
}
