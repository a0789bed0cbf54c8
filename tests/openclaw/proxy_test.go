package openclaw_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
)

// proxy stands between the node and its gateway, and can spoil what goes through: the node itself cannot be told to.
type proxy struct {
	gateway string
	url     string
	// doubles sends each result of the node twice; deaf keeps cancels from it.
	doubles, deaf atomic.Bool
	doubled       atomic.Int64
	closed        atomic.Int64 // the code of the last close by the gateway
	ignored       atomic.Int64 // results that the gateway acknowledged as ignored
}

func newProxy(t *testing.T, gateway string) *proxy {
	t.Helper()
	p := &proxy{gateway: gateway}
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	node, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gateway, _, err := websocket.Dial(ctx, p.gateway, nil) //nolint:bodyclose // never needed, says Dial
	if err != nil {
		_ = node.Close(websocket.StatusServiceRestart, "no gateway") // the node tries again
		return
	}
	node.SetReadLimit(wire.MaxPayload)
	gateway.SetReadLimit(wire.MaxPayload)
	up := make(chan struct{})
	go func() {
		defer close(up)
		_ = p.pass(ctx, node, gateway, p.fromNode) // how the node's socket ended tells nothing
		_ = gateway.CloseNow()                     // it may be closed already
	}()
	err = p.pass(ctx, gateway, node, p.fromGateway)
	if code := websocket.CloseStatus(err); code > 0 {
		p.closed.Store(int64(code))
		_ = node.Close(code, "as the gateway") // it may be gone
	}
	_ = node.CloseNow()
	cancel()
	<-up
}

// pass hands on what change makes of each message.
func (p *proxy) pass(ctx context.Context, from, to *websocket.Conn, change func(wire.Frame, []byte) [][]byte) error {
	for {
		_, data, err := from.Read(ctx)
		if err != nil {
			return err
		}
		var f wire.Frame
		_ = json.Unmarshal(data, &f) // what is no frame goes through as it is
		for _, message := range change(f, data) {
			if err := to.Write(ctx, websocket.MessageText, message); err != nil {
				return err
			}
		}
	}
}

func (p *proxy) fromNode(f wire.Frame, data []byte) [][]byte {
	if f.Method != wire.MethodInvokeResult || !p.doubles.Load() {
		return [][]byte{data}
	}
	p.doubled.Add(1)
	second := f
	second.ID += "-again"
	copied, _ := json.Marshal(second) // it came from JSON
	return [][]byte{data, copied}
}

func (p *proxy) fromGateway(f wire.Frame, data []byte) [][]byte {
	switch {
	case f.Event == wire.EventCancel && p.deaf.Load():
		return nil
	case f.Type == wire.TypeRes && strings.Contains(string(f.Payload), `"ignored":true`):
		p.ignored.Add(1)
	}
	if strings.HasSuffix(f.ID, "-again") {
		return nil // the node asked nothing of that name
	}
	return [][]byte{data}
}
