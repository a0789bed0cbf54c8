package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
)

// Close codes of ours.
const (
	closeReplaced    = websocket.StatusPolicyViolation
	closeRefused     = websocket.StatusPolicyViolation
	closeTryLater    = websocket.StatusTryAgainLater
	closeUnreadable  = websocket.StatusUnsupportedData
	closeUnreachable = websocket.StatusGoingAway
)

// errBinary means that a device sent a binary message: the protocol is text.
var errBinary = errors.New("a binary message: the protocol is JSON in text messages")

// line is how frames reach a device: its WebSocket, or the mailbox of one that holds none. Writing is safe from many goroutines.
type line interface {
	// write takes one frame. After an error nobody knows how much of it the device got.
	write(f wire.Frame) error
	// close ends the line and says why; cut ends it without a word.
	close(code websocket.StatusCode, reason string) error
	cut() error
}

var (
	_ line = socket{}
	_ line = (*mailbox)(nil)
)

// socket carries frames. Writing is safe from many goroutines; one reads.
type socket struct {
	conn *websocket.Conn
	// timeout bounds one write. A write that is cut off breaks the socket, so it never depends on a caller's patience.
	timeout time.Duration
}

// read returns the next frame. A *wire.BadFrame leaves the socket usable; any other error ends it.
func (s socket) read(ctx context.Context) (wire.Frame, error) {
	kind, data, err := s.conn.Read(ctx)
	if err != nil {
		return wire.Frame{}, err
	}
	if kind != websocket.MessageText {
		return wire.Frame{}, errBinary
	}
	return wire.ParseFrame(data)
}

func (s socket) close(code websocket.StatusCode, reason string) error {
	return s.conn.Close(code, reason)
}

func (s socket) cut() error { return s.conn.CloseNow() }

func (s socket) write(f wire.Frame) error {
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write a frame: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, data)
}
