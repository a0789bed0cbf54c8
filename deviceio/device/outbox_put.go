package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"errand/deviceio/wire"
)

// Why a Put fails. Of a failed Put nothing is known to be kept: put the event again, with its key.
var (
	// ErrOutboxFull says that the context ended before there was room.
	ErrOutboxFull = errors.New("the outbox is full of events that must not be dropped: wait for a connection")
	// ErrDropped says that a droppable event found no room.
	ErrDropped = errors.New("the outbox is full: the droppable event was dropped")
	// ErrOutboxClosed says that Close was called.
	ErrOutboxClosed = errors.New("the outbox is closed")
)

// Entry is one event to keep until the cloud has recorded it.
type Entry struct {
	// Event is the node event, e.g. wire.NodeTaskEvent.
	Event string
	// Key makes the Put idempotent, across restarts too: the same key again gives the first event and adds nothing,
	// while it is pending and for the next KeepKeys acknowledged keys. "" means no such memory.
	Key string
	// Droppable events make room, oldest first, when the outbox is full. Never set it on a terminal event.
	Droppable bool
	// Urgent events are handed out by NextUrgent too, ahead of those before them, and find room in a full outbox. They are few:
	// an emergency stop, and nothing that others wait for in order.
	Urgent bool
	// Payload makes the event's payload with its envelope inside. It is called with the outbox locked: do not call back.
	Payload func(wire.Envelope) (any, error)
}

// Pending is an event that waits for its acknowledgement.
type Pending struct {
	wire.Envelope
	Event   string
	Payload json.RawMessage
}

// Put keeps an event and returns its envelope once it is on disk. When the outbox is full, the oldest droppable events
// make room; where there are none, a droppable event is dropped (ErrDropped) and any other waits for room until ctx
// ends (ErrOutboxFull).
func (o *Outbox) Put(ctx context.Context, e Entry) (wire.Envelope, error) {
	env, g, err := o.reserve(ctx, e)
	if err != nil || g == nil {
		return env, err
	}
	// Not ctx: the event is on its way to the disk, and giving up now would leave the caller not knowing.
	<-g.done
	if g.err != nil {
		return wire.Envelope{}, g.err
	}
	return env, nil
}

// reserve adds the event to the next write. A nil group means that it is durable already.
func (o *Outbox) reserve(ctx context.Context, e Entry) (wire.Envelope, *group, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if o.failed != nil {
			return wire.Envelope{}, nil, o.failed
		}
		if env, g, ok := o.known(e.Key); ok {
			return env, g, nil
		}
		if o.room() || e.Urgent {
			return o.append(e)
		}
		if e.Droppable {
			o.countDrop(e.Event)
			return wire.Envelope{}, nil, ErrDropped
		}
		if err := o.wait(ctx); err != nil {
			return wire.Envelope{}, nil, fmt.Errorf("%w: %w", ErrOutboxFull, err)
		}
	}
}

// known finds the event that a key was given to.
func (o *Outbox) known(key string) (wire.Envelope, *group, bool) {
	id, ok := o.keys[key]
	if key == "" || !ok {
		return wire.Envelope{}, nil, false
	}
	for _, p := range o.pending {
		if p.put.EventID == id {
			return p.put.Envelope, p.group, true
		}
	}
	return envelopeOf(id), nil, true
}

// room tells whether one more event fits, dropping what may be dropped. The head is in flight: it stays.
func (o *Outbox) room() bool {
	full := func() bool { return len(o.pending) >= o.opts.MaxPending || o.bytes >= o.opts.MaxBytes }
	for i := 1; i < len(o.pending) && full(); {
		p := o.pending[i]
		if !p.put.Droppable || !p.durable {
			i++
			continue
		}
		o.remove(i)
		delete(o.keys, p.put.Key)
		o.enqueue(nil, record{Drop: p.put.EventID})
		o.countDrop(p.put.Event)
	}
	return !full()
}

func (o *Outbox) countDrop(event string) {
	o.dropped++
	o.opts.Logger.Warn("outbox: full: a droppable event was dropped", "event", event, "dropped", o.dropped)
}

// append gives the event its number. Under the lock, so that the order of numbers is the order in the file.
func (o *Outbox) append(e Entry) (wire.Envelope, *group, error) {
	boot := o.boots[len(o.boots)-1]
	env := wire.Envelope{EventID: eventID(boot.ID, boot.Seq+1), BootID: boot.ID, Seq: boot.Seq + 1}
	body, err := e.Payload(env)
	if err != nil {
		return wire.Envelope{}, nil, err
	}
	payload, err := json.Marshal(body)
	if err != nil {
		return wire.Envelope{}, nil, fmt.Errorf("write the payload of %s: %w", e.Event, err)
	}
	boot.Seq++
	p := &entry{put: &putRecord{Event: e.Event, Envelope: env, Key: e.Key, Droppable: e.Droppable, Urgent: e.Urgent, Payload: payload}}
	o.add(p)
	p.group = o.enqueue(p, record{Put: p.put})
	return env, p.group, nil
}

func (o *Outbox) add(p *entry) {
	o.pending = append(o.pending, p)
	o.bytes += int64(len(p.put.Payload))
	if p.put.Key != "" {
		o.keys[p.put.Key] = p.put.EventID
	}
}

func (o *Outbox) remove(i int) {
	o.bytes -= int64(len(o.pending[i].put.Payload))
	o.pending = slices.Delete(o.pending, i, i+1)
	o.wake()
}

// Next returns the oldest event that is not acknowledged, waiting for one until ctx ends.
func (o *Outbox) Next(ctx context.Context) (Pending, error) {
	return o.next(ctx, func() *entry {
		if len(o.pending) == 0 {
			return nil
		}
		return o.pending[0]
	})
}

// NextUrgent returns the oldest urgent event that is not acknowledged, whatever is in front of it, waiting for one until ctx ends.
func (o *Outbox) NextUrgent(ctx context.Context) (Pending, error) {
	return o.next(ctx, func() *entry {
		if i := slices.IndexFunc(o.pending, func(p *entry) bool { return p.put.Urgent }); i >= 0 {
			return o.pending[i]
		}
		return nil
	})
}

func (o *Outbox) next(ctx context.Context, find func() *entry) (Pending, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if o.failed != nil {
			return Pending{}, o.failed
		}
		if e := find(); e != nil && e.durable {
			p := e.put
			return Pending{Envelope: p.Envelope, Event: p.Event, Payload: p.Payload}, nil
		}
		if err := o.wait(ctx); err != nil {
			return Pending{}, err
		}
	}
}

// Ack removes an event that the cloud has recorded. An id that is not pending changes nothing.
// Should a crash undo it, the event is sent once more.
func (o *Outbox) Ack(id string) error {
	o.mu.Lock()
	if o.failed != nil {
		defer o.mu.Unlock()
		return o.failed
	}
	i := slices.IndexFunc(o.pending, func(p *entry) bool { return p.put.EventID == id && p.durable })
	if i < 0 {
		o.mu.Unlock()
		return nil
	}
	if key := o.pending[i].put.Key; key != "" {
		o.done = append(o.done, doneRecord{key, id})
		o.trimDone()
	}
	o.remove(i)
	g := o.enqueue(nil, record{Ack: id})
	o.mu.Unlock()
	<-g.done
	return g.err
}

// trimDone forgets the oldest keys beyond KeepKeys.
func (o *Outbox) trimDone() {
	for len(o.done) > o.opts.KeepKeys {
		if o.keys[o.done[0].Key] == o.done[0].EventID {
			delete(o.keys, o.done[0].Key)
		}
		o.done = o.done[1:]
	}
}

// wait sleeps until pending changes. Called with the lock, returns with it.
func (o *Outbox) wait(ctx context.Context) error {
	changed := o.changed
	o.mu.Unlock()
	defer o.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (o *Outbox) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
}
