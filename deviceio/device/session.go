package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
)

// writeTimeout bounds one write: a peer that takes nothing for so long is gone.
const writeTimeout = 20 * time.Second

// errSessionEnded says that the connection was lost while an answer was awaited.
var errSessionEnded = errors.New("the connection ended before the answer came")

// session is one connection.
type session struct {
	conn  *websocket.Conn
	log   *slog.Logger
	ended <-chan struct{}

	methods []string // what the gateway answers, from its hello
	shown   string   // fingerprint of the certificate that this connection is under; "" without TLS
	direct  bool     // it is the gateway's own: the gateway named it

	mu    sync.Mutex
	last  int                        // number of the last request
	calls map[string]chan wire.Frame // requests that wait for their answer
}

// serve reads frames until the connection is lost, and says why it was.
func (c *Client) serve(ctx context.Context, s *session, policy wire.Policy) error {
	silence := 2 * time.Duration(policy.TickIntervalMs) * time.Millisecond
	watchdog := time.AfterFunc(silence, func() {
		s.log.Warn("device: no tick: the gateway is gone", "silence", silence)
		_ = s.conn.Close(wire.CloseTickTimeout, "tick timeout") // a peer that is gone cannot be told, and that is no error
	})
	defer watchdog.Stop()
	for {
		f, err := s.read(ctx)
		if err != nil {
			return err
		}
		switch {
		case f.Type == wire.TypeRes:
			s.answer(f)
		case f.Event == wire.EventTick:
			watchdog.Reset(silence)
		case f.Event == wire.EventInvoke:
			c.invoke(ctx, s, f.Payload)
		case f.Event == wire.EventCancel:
			c.cancelInvoke(f.Payload)
		case f.Event == wire.EventCertificate:
			c.takeCertificate(s, f.Payload)
		case f.Event == wire.EventShutdown:
			s.log.Info("device: the gateway announces a restart", "payload", string(f.Payload))
		}
	}
}

// read returns the next frame. A message that is none is logged and passed over: what it was meant to answer is
// asked again in its own time.
func (s *session) read(ctx context.Context) (wire.Frame, error) {
	for {
		kind, data, err := s.conn.Read(ctx)
		if err != nil {
			return wire.Frame{}, err
		}
		if kind != websocket.MessageText {
			s.log.Warn("device: a binary message is not part of the protocol", "bytes", len(data))
			continue
		}
		f, err := wire.ParseFrame(data)
		if err == nil {
			return f, nil
		}
		s.log.Warn("device: unreadable frame", "err", err)
	}
}

func (s *session) write(ctx context.Context, f wire.Frame) error {
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write a frame: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, text)
}

// request sends a request and returns its id.
func (s *session) request(ctx context.Context, method string, params any) (string, error) {
	s.mu.Lock()
	s.last++
	id := strconv.Itoa(s.last)
	s.mu.Unlock()
	f, err := wire.NewReq(id, method, params)
	if err != nil {
		return "", err
	}
	return id, s.write(ctx, f)
}

// call sends a request and waits for its answer, which may be ok:false.
func (s *session) call(ctx context.Context, method string, params any, timeout time.Duration) (wire.Frame, error) {
	answer := make(chan wire.Frame, 1)
	s.mu.Lock()
	s.last++
	id := strconv.Itoa(s.last)
	s.calls[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.calls, id)
	}()
	f, err := wire.NewReq(id, method, params)
	if err != nil {
		return wire.Frame{}, err
	}
	if err := s.write(ctx, f); err != nil {
		return wire.Frame{}, err
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case f := <-answer:
		return f, nil
	case <-late.C:
		return wire.Frame{}, fmt.Errorf("no answer to %s within %v", method, timeout)
	case <-s.ended:
		return wire.Frame{}, errSessionEnded
	}
}

// answer hands a res to whoever waits for it. Nobody waits for the answer to an invoke result.
func (s *session) answer(f wire.Frame) {
	s.mu.Lock()
	waiting, ok := s.calls[f.ID]
	delete(s.calls, f.ID) // so that a second answer to the same id cannot block
	s.mu.Unlock()
	if ok {
		waiting <- f
	}
}
