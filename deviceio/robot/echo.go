package robot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"errand/deviceio/wire"
)

// echo is on the way to the gateway, on which an answer can go out twice. The client that answers each request once knows
// nothing of it: the copy is made of the bytes on the wire.
type echo struct {
	mu     sync.Mutex
	wanted [][]byte // answers of which the next frame is to be sent twice
}

// on puts the echo on the way.
func (e *echo) on(way *http.Transport) http.RoundTripper { return echoingWay{way, e} }

// echoingWay is a way to the gateway with the echo on it.
type echoingWay struct {
	way  *http.Transport
	echo *echo
}

// RoundTrip dials: the body of the answer to an upgrade is the connection.
func (w echoingWay) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.way.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	if conn, ok := resp.Body.(io.ReadWriteCloser); ok {
		resp.Body = &echoing{ReadWriteCloser: conn, echo: w.echo}
	}
	return resp, nil
}

// takes reports whether a frame's payload is an answer to be sent twice, and forgets it if so.
func (e *echo) takes(payload func() []byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.wanted) == 0 {
		return false
	}
	text := payload()
	i := slices.IndexFunc(e.wanted, func(answer []byte) bool { return bytes.Contains(text, answer) })
	if i < 0 || !bytes.Contains(text, []byte(wire.MethodInvokeResult)) {
		return false
	}
	e.wanted = slices.Delete(e.wanted, i, i+1)
	return true
}

// echoing is one connection. It follows the WebSocket frames that are written (RFC 6455 §5.2), each as a whole.
type echoing struct {
	io.ReadWriteCloser
	echo  *echo
	frame []byte // what was written of the current frame
}

// Write passes everything on, and repeats a frame that is to go out twice right after it.
func (c *echoing) Write(p []byte) (int, error) {
	written := 0
	for i := 0; i < len(p); {
		n := 1 // until the header is complete
		if _, size := frameSize(c.frame); size > 0 {
			n = min(len(p)-i, size-len(c.frame))
		}
		c.frame = append(c.frame, p[i:i+n]...)
		i += n
		frame := c.complete()
		if frame == nil {
			continue
		}
		n, err := c.ReadWriteCloser.Write(p[written:i])
		if written += n; err != nil {
			return written, err
		}
		if _, err := c.ReadWriteCloser.Write(frame); err != nil {
			return written, fmt.Errorf("send an answer for the second time: %w", err)
		}
	}
	n, err := c.ReadWriteCloser.Write(p[written:])
	return written + n, err
}

// complete ends the current frame if that is all of it, and returns it if it is to go out twice.
func (c *echoing) complete() []byte {
	header, size := frameSize(c.frame)
	if size == 0 || len(c.frame) < size {
		return nil
	}
	frame := c.frame
	c.frame = nil
	if !c.echo.takes(func() []byte { return unmask(frame, header) }) {
		return nil
	}
	return frame
}

// frameSize reads the lengths of a frame's header and of all of it from its first bytes; 0 while they do not tell yet.
func frameSize(b []byte) (header, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	header, payload := 2, int(b[1]&0x7f)
	switch {
	case payload == 126 && len(b) >= 4:
		header, payload = 4, int(binary.BigEndian.Uint16(b[2:]))
	case payload == 127 && len(b) >= 10:
		header, payload = 10, int(binary.BigEndian.Uint64(b[2:])) //nolint:gosec // our own client wrote it
	case payload > 125:
		return 0, 0
	}
	if b[1]&0x80 != 0 {
		header += 4 // the mask
	}
	return header, header + payload
}

// unmask reads a frame's payload. Everything a client sends is masked.
func unmask(frame []byte, header int) []byte {
	text := slices.Clone(frame[header:])
	for i := range text {
		text[i] ^= frame[header-4+i%4]
	}
	return text
}
