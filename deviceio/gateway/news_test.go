package gateway_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"errand/deviceio/gateway"
	"errand/deviceio/wire"
	"errand/plan"
)

// bulletins is a lease that keeps what it hears, or fails as told.
type bulletins struct {
	heard chan bulletin
	mu    sync.Mutex
	err   error
	tries int
}

type bulletin struct {
	device string
	change plan.DeviceChange
}

func (b *bulletins) Link(_ context.Context, deviceID string, change plan.DeviceChange) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tries++
	if b.err == nil {
		b.heard <- bulletin{deviceID, change}
	}
	return b.err
}

func (b *bulletins) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *bulletins) tried() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tries
}

func newsHome(t *testing.T, every time.Duration) (*home, *bulletins) {
	t.Helper()
	b := &bulletins{heard: make(chan bulletin, 100)}
	return newHome(t, func(o *gateway.Options) { o.Leases, o.NewsInterval = b, every }), b
}

func TestTheLeaseHearsThatADeviceComesAndGoes(t *testing.T) {
	t.Parallel()
	h, b := newsHome(t, time.Millisecond)
	n := h.robot(nil)
	got := await(t, b.heard, "the news of the connection")
	if want := h.route(n); got.device != n.id || got.change.Route == nil || *got.change.Route != want {
		t.Errorf("heard %+v %+v, want the registry's route %+v", got, got.change.Route, want)
	}
	must(t, n.conn.CloseNow())
	if gone := await(t, b.heard, "the news of the end"); gone.change.Route != nil || gone.change.Gone != got.change.Route.ConnectionEpoch {
		t.Errorf("heard %+v, want the end of connection %d", gone.change, got.change.Route.ConnectionEpoch)
	}
	plain := h.robot(func(c *wire.Connect) { c.Errand = nil })
	if got := await(t, b.heard, "the news of a plain node"); *got.change.Route != h.route(plain) {
		t.Errorf("heard %+v, want the registry's route %+v", got.change.Route, h.route(plain))
	}
}

// A device that flaps is told about once, with the latest; what an old socket's end says after a newer one came is no news.
func TestAFlappingDeviceFloodsNobody(t *testing.T) {
	t.Parallel()
	h, b := newsHome(t, time.Hour)
	key := h.approved(newKey(t))
	first := h.join(key, nil)
	before := await(t, b.heard, "the first connection")
	for range 5 {
		n := h.join(key, nil)
		must(t, n.conn.CloseNow())
	}
	latest := h.join(key, nil)
	latest.request("node.skills.update", nil) // it is answered once the connection was announced
	last := h.route(latest).ConnectionEpoch
	first.end()
	if len(b.heard) != 0 {
		t.Errorf("%d words within the hour", len(b.heard))
	}
	h.stop() // the hour is over: what is untold is told
	for {
		got := await(t, b.heard, "the end of the last connection").change
		if got.Gone == last {
			break
		}
		if got.Route == nil || got.Route.ConnectionEpoch != last || last == before.change.Route.ConnectionEpoch {
			t.Errorf("heard %+v, want the last connection %d and its end", got, last)
		}
	}
}

func TestNewsThatCouldNotBeToldIsToldAgain(t *testing.T) {
	t.Parallel()
	h, b := newsHome(t, time.Millisecond)
	b.fail(errDown)
	n := h.robot(nil)
	eventually(t, "it was tried twice", func() bool { return b.tried() > 1 })
	b.fail(nil)
	if got := await(t, b.heard, "the news"); got.device != n.id || got.change.Route == nil {
		t.Errorf("heard %+v", got)
	}
	b.fail(gateway.ErrSignalRefused)
	tried := b.tried()
	must(t, n.conn.CloseNow())
	eventually(t, "the end was tried", func() bool { return b.tried() > tried })
	h.robot(nil)
	eventually(t, "another one was tried", func() bool { return b.tried() > tried+1 })
	if got := b.tried(); got != tried+2 {
		t.Errorf("what is refused for good was tried %d times more", got-tried-2)
	}
}
