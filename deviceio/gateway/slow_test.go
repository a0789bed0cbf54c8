package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

// A device that stops reading its socket, while it is told much and while it goes on asking, is cut off when a frame has waited for as long as
// writing may take. Whoever waited for it is told, nothing is kept for it, and the gateway is as small as before. (It runs alone, since it
// measures.)
//
//nolint:paralleltest // see above
func TestASlowReaderIsCutOffAndCostsNothing(t *testing.T) {
	h := newHome(t, func(o *gateway.Options) { o.WriteTimeout = 300 * time.Millisecond })
	key := h.approved(newKey(t))
	before := settled()
	for range 3 {
		n := h.deaf(key)
		told := h.tellUntilCut(n.id)
		if told < 1<<20 {
			t.Errorf("only %d bytes were told: the socket took nothing at all", told)
		}
		must(t, n.conn.CloseNow())
	}
	after := settled()
	t.Logf("before: %d KiB in %d goroutines, after: %d KiB in %d", before.heap>>10, before.goroutines, after.heap>>10, after.goroutines)
	if grown := after.heap - before.heap; grown > 4<<20 {
		t.Errorf("the gateway holds %d KiB more than before", grown>>10)
	}
	if after.goroutines > before.goroutines+10 {
		t.Errorf("%d goroutines more than before", after.goroutines-before.goroutines)
	}
	other := h.robot(nil) // and others are served
	if !*other.request("node.skills.update", map[string]any{}).OK {
		t.Error("another device is not served")
	}
}

// deaf connects the device on a socket that nobody reads after hello.
func (h *home) deaf(key []byte) *node {
	h.t.Helper()
	conn, _, err := websocket.Dial(h.t.Context(), h.url, nil) //nolint:bodyclose // never needed, says Dial
	must(h.t, err)
	conn.SetReadLimit(wire.MaxPayload)
	n := &node{t: h.t, conn: conn, id: idOf(key)}
	next := func() wire.Frame {
		_, data, err := conn.Read(h.t.Context())
		must(h.t, err)
		f, err := wire.ParseFrame(data)
		must(h.t, err)
		return f
	}
	challenge, err := wire.ParseChallenge(next().Payload)
	must(h.t, err)
	f, err := wire.NewReq("r-1", wire.MethodConnect, agent(key, challenge, nil))
	must(h.t, err)
	data, err := json.Marshal(f)
	must(h.t, err)
	must(h.t, conn.Write(h.t.Context(), websocket.MessageText, data))
	if f := next(); f.OK == nil || !*f.OK {
		h.t.Fatalf("connect: %+v", f)
	}
	return n
}

// tellUntilCut has four callers tell the device as much as it takes, until it is not connected any more, and returns how much was told.
func (h *home) tellUntilCut(deviceID string) (told int) {
	h.t.Helper()
	text := strings.Repeat("말", 100_000)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range 4 {
		all.Go(func() {
			for {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond) // nobody answers: each is given up soon
				err := h.gateway.Say(ctx, plan.Say{DeviceID: deviceID, Text: text})
				cancel()
				if errors.Is(err, plan.ErrNotConnected) {
					return
				}
				if err == nil {
					h.t.Error("told, and answered by nobody")
					return
				}
				mu.Lock()
				told += len(text)
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	await(h.t, done, "the slow reader to be cut off")
	eventually(h.t, "its place is free", func() bool {
		_, ok, err := h.registry.Route(h.t.Context(), deviceID)
		return err == nil && !ok
	})
	return told
}

// size is what the process holds.
type size struct{ heap, goroutines int }

// settled is the size once nothing ends any more.
func settled() size {
	last := size{heap: 1 << 60}
	for range 20 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		now := size{heap: int(m.HeapAlloc), goroutines: runtime.NumGoroutine()} //nolint:gosec // far below
		if now.goroutines >= last.goroutines && now.heap >= last.heap-(64<<10) && last.goroutines > 0 {
			return now
		}
		last = now
		pause := time.NewTimer(50 * time.Millisecond) // between two looks at what is ending
		<-pause.C
	}
	return last
}
