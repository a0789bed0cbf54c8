package gateway

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"errand/deviceio/wire"
)

// A gateway bounds what it takes: sockets that have not connected, handshakes, frames and events. Where it takes no more for now it says
// when to come again; a device that sends regardless is not read, so that the pressure reaches its socket.

// Limits bound what a gateway takes at once. Zero fields get their defaults.
type Limits struct {
	// Handshakes is how many connects are checked per second; the rest of a storm is told when to come again. Default 500.
	Handshakes int
	// Connecting is how many sockets may be open that have not connected. More are turned away before they are sockets. Default 1,024.
	Connecting int
	// DeviceEvents is how many events per second one device may send, and four times that in a burst. Default 50.
	DeviceEvents int
	// Events is how many events per second are taken of all devices together. Default 2,000.
	Events int
}

func (l Limits) withDefaults() Limits {
	for field, value := range map[*int]int{&l.Handshakes: 500, &l.Connecting: 1024, &l.DeviceEvents: 50, &l.Events: 2000} {
		if *field <= 0 {
			*field = value
		}
	}
	return l
}

const (
	// burst is how many seconds' worth of events or frames may come at once.
	burst = 4
	// framesPerEvent is how many frames of any kind a device may send for each event it may.
	framesPerEvent = 4
	// admitWait is how long a handshake or an event may be kept waiting for its turn; for longer, the device is told to come again.
	admitWait = time.Second
	// comeAgain is the least wait that is asked for, and comeAgainMost the most. In between, those who wait are spread at random.
	comeAgain     = 500 * time.Millisecond
	comeAgainMost = time.Minute
)

// flood is the state of the limits.
type flood struct {
	limits     Limits
	connecting atomic.Int64
	handshakes *rate.Limiter
	events     *rate.Limiter

	mu       sync.Mutex
	since    time.Time // when turned was set to zero last
	turned   int       // handshakes turned away since: how many will come again
	byDevice map[string]*rate.Limiter
}

func newFlood(l Limits) *flood {
	return &flood{limits: l, handshakes: rate.NewLimiter(rate.Limit(l.Handshakes), l.Handshakes),
		events: rate.NewLimiter(rate.Limit(l.Events), burst*l.Events), byDevice: make(map[string]*rate.Limiter)}
}

// enter counts in a socket that has not connected; false if there are too many. leave counts it out, once.
func (f *flood) enter() (leave func(), ok bool) {
	if f.connecting.Add(1) > int64(f.limits.Connecting) {
		f.connecting.Add(-1)
		return nil, false
	}
	return sync.OnceFunc(func() { f.connecting.Add(-1) }), true
}

// admit waits for a handshake's turn. If that would take too long it says when to come again: the more were turned away, the wider are
// they spread.
func (f *flood) admit(ctx context.Context) (retry time.Duration, ok bool) {
	if _, ok := turn(ctx, f.handshakes.Reserve()); !ok {
		return f.spread(), false
	}
	return 0, true
}

// turn waits for the turns that were taken, all of them. If that would take too long they are given back, and ok is false.
func turn(ctx context.Context, taken ...*rate.Reservation) (delay time.Duration, ok bool) {
	for _, r := range taken {
		delay = max(delay, r.Delay())
	}
	ok = delay <= admitWait
	if ok && delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			ok = false
		}
	}
	if !ok {
		for _, r := range taken {
			r.Cancel()
		}
	}
	return delay, ok
}

// spread is a wait, at random, within the time that those who were turned away need.
func (f *flood) spread() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.since) > comeAgainMost {
		f.since, f.turned = now, 0
	}
	f.turned++
	need := time.Duration(f.turned) * time.Second / time.Duration(f.limits.Handshakes)
	return min(comeAgain+rand.N(2*time.Second+need), comeAgainMost)
}

// event waits until a device may send n more events. Over a socket nothing more is read of it meanwhile, so that the pressure reaches the
// device. If that would take too long it says when to send them again.
func (f *flood) event(ctx context.Context, deviceID string, n int) (retry time.Duration, ok bool) {
	now := time.Now()
	delay, ok := turn(ctx, f.device(deviceID).ReserveN(now, n), f.events.ReserveN(now, n))
	if !ok {
		retry = min(delay, comeAgainMost) + rand.N(comeAgain)
	}
	return retry, ok
}

// device is the device's own limit. It is kept over its connections, so that to reconnect is no way around it.
func (f *flood) device(deviceID string) *rate.Limiter {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.byDevice[deviceID]
	if own == nil {
		own = rate.NewLimiter(rate.Limit(f.limits.DeviceEvents), max(burst*f.limits.DeviceEvents, wire.MaxBatchEvents))
		f.byDevice[deviceID] = own
	}
	return own
}

// tidy forgets the limits of devices that sent nothing for a while.
func (f *flood) tidy() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, own := range f.byDevice {
		if own.Tokens() >= float64(own.Burst()) {
			delete(f.byDevice, id)
		}
	}
}

// frames is the limit of what is read of one socket.
func (f *flood) frames() *rate.Limiter {
	per := framesPerEvent * f.limits.DeviceEvents
	return rate.NewLimiter(rate.Limit(per), burst*per)
}

// busy refuses a connect for now, and says when to come again.
func busy(retry time.Duration) *refusal {
	r := unavailable(detailBusy, fmt.Sprintf("many devices connect at once: try again in %s", retry.Round(time.Millisecond)))
	r.answer.RetryAfterMs = retry.Milliseconds()
	return r
}

// tooMany answers an HTTP request for now.
func tooMany(what string, retry time.Duration) *problem {
	return later(http.StatusTooManyRequests, "busy", what+": try again in "+retry.Round(time.Millisecond).String(), retry)
}
