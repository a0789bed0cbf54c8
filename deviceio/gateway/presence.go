package gateway

import (
	"context"
	"sync"
)

// table says which socket is a device's. A newer connection epoch takes the place of an older one, never the reverse.
type table struct {
	mu       sync.Mutex
	byDevice map[string]*session
	closed   bool // draining: nobody may come any more
}

// put makes s the device's socket and returns the one it replaced. ok is false if s may not stay: the table is closed,
// or a newer connection of the device was quicker.
func (t *table) put(s *session) (replaced *session, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	replaced = t.byDevice[s.deviceID]
	if t.closed || (replaced != nil && replaced.epoch > s.epoch) {
		return nil, false
	}
	if t.byDevice == nil {
		t.byDevice = make(map[string]*session)
	}
	t.byDevice[s.deviceID] = s
	return replaced, true
}

// remove forgets s, unless another took its place already; then it returns false.
func (t *table) remove(s *session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byDevice[s.deviceID] != s {
		return false
	}
	delete(t.byDevice, s.deviceID)
	return true
}

// get returns the device's socket, or nil. A closed table has none: nothing new is sent while draining.
func (t *table) get(deviceID string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	return t.byDevice[deviceID]
}

// held lists the devices and their connection epochs, for the heartbeat.
func (t *table) held() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	held := make(map[string]int64, len(t.byDevice))
	for id, s := range t.byDevice {
		held[id] = s.epoch
	}
	return held
}

// close lets nobody in any more and returns who is there.
func (t *table) close() []*session {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	var open []*session
	for _, s := range t.byDevice {
		open = append(open, s)
	}
	return open
}

// lanes let only one event of a device be handled at a time, even while an old socket of it is still being wound up.
type lanes struct {
	mu   sync.Mutex
	each map[string]chan struct{}
}

// enter waits for the device's turn and returns how to give it back.
func (l *lanes) enter(ctx context.Context, deviceID string) (leave func(), err error) {
	l.mu.Lock()
	lane, ok := l.each[deviceID]
	if !ok {
		if l.each == nil {
			l.each = make(map[string]chan struct{})
		}
		lane = make(chan struct{}, 1)
		l.each[deviceID] = lane
	}
	l.mu.Unlock()
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
