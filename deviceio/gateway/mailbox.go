package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"errand/deviceio/wire"
)

// mailbox is the line of a device that holds no socket: a command waits in it until the device asks, and is told again until it is
// answered, or until whoever sent it waits no more.
type mailbox struct {
	again time.Duration // how soon an unanswered command is told again
	now   func() time.Time

	mu      sync.Mutex
	letters []*letter     // unanswered, the oldest first
	changed chan struct{} // closed, and made anew, when there is something to look at
	over    bool
}

// letter is one command in a mailbox.
type letter struct {
	request wire.InvokeRequest
	since   time.Time // when it was put in
	told    time.Time // when it was told last; the zero time: never
}

func newMailbox(again time.Duration, now func() time.Time) *mailbox {
	return &mailbox{again: again, now: now, changed: make(chan struct{})}
}

// write takes a command, or takes one back. The rest of what a socket carries, such as ticks, means nothing without one.
func (m *mailbox) write(f wire.Frame) error {
	switch f.Event {
	case wire.EventInvoke:
		r, err := wire.ParseInvokeRequest(f.Payload)
		if err != nil {
			return fmt.Errorf("put a command into the mailbox: %w", err)
		}
		return m.put(r)
	case wire.EventCancel:
		c, err := wire.ParseInvokeCancel(f.Payload)
		if err != nil {
			return fmt.Errorf("take a command out of the mailbox: %w", err)
		}
		m.remove(c.InvokeID)
	}
	return nil
}

func (m *mailbox) put(r wire.InvokeRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return ErrSocketLost
	}
	m.letters = append(m.letters, &letter{request: r, since: m.now()})
	m.wake()
	return nil
}

// wake lets everybody look who waits for a change. The caller holds the lock.
func (m *mailbox) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// remove takes a command out: it is answered, or nobody waits for it.
func (m *mailbox) remove(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, l := range m.letters {
		if l.request.ID == id {
			m.letters = append(m.letters[:i:i], m.letters[i+1:]...)
			return
		}
	}
}

// close ends the mailbox; whoever waits at it is let go.
func (m *mailbox) close(websocket.StatusCode, string) error { return m.cut() }

func (m *mailbox) cut() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		m.over = true
		m.wake()
	}
	return nil
}

// collect waits until a command must be told, and returns all that are unanswered, the oldest first. It returns none when ctx ends or
// the mailbox does.
func (m *mailbox) collect(ctx context.Context) []letter {
	for {
		due, changed, soonest := m.due()
		if len(due) > 0 || ctx.Err() != nil {
			return due
		}
		if changed == nil {
			return nil
		}
		timer := time.NewTimer(soonest)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// due is what must be told now: everything unanswered, if any of it was never told or not for a while. Otherwise it says what to wait
// for, and how long at most; changed is nil if the mailbox is over.
func (m *mailbox) due() (letters []letter, changed <-chan struct{}, soonest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return nil, nil, 0
	}
	now, soonest := m.now(), m.again
	ready := false
	for _, l := range m.letters {
		left := m.again - now.Sub(l.told)
		ready = ready || l.told.IsZero() || left <= 0
		soonest = min(soonest, left)
	}
	if !ready {
		return nil, m.changed, max(soonest, time.Millisecond)
	}
	for _, l := range m.letters {
		letters = append(letters, *l)
		l.told = now
	}
	return letters, m.changed, 0
}

// params is the command's parameters as the device gets them after the time that it lay here: whoever holds a task takes that off its
// ttl (design §6, old intentions do not move robots). ok is false for one that is too old to be told.
func (l letter) params(now time.Time) (params json.RawMessage, ok bool) {
	params = json.RawMessage(l.request.ParamsJSON)
	if l.request.Command != wire.CommandSubmitTask {
		return params, true
	}
	task, err := wire.ParseTask(params)
	if err != nil {
		return nil, false // cannot happen: it is ours
	}
	if task.TTLMs -= now.Sub(l.since).Milliseconds(); task.TTLMs <= 0 {
		return nil, false
	}
	params, err = json.Marshal(task)
	return params, err == nil
}
