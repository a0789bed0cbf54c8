package shim

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// announcement is an event on its way to the outbox: on disk with the change it tells of, told after it, at the latest by the
// next life, and never twice: its key sees to that.
type announcement struct {
	N     int64          `json:"n"`
	Key   string         `json:"key,omitempty"`
	Event wire.TaskEvent `json:"event"`
}

// emitPatience is how long a full outbox may hold a caller up.
const emitPatience = 2 * time.Second

// announce adds an event of an operation to the next commit. The key is the operation id and the event's name; what may
// happen more than once carries a mark besides.
func (s *Shim) announce(op *operation, e wire.TaskEvent, mark string) {
	e.Envelope = wire.Envelope{}
	e.TaskID, e.TaskMethod, e.Trace = op.TaskID, op.Method, op.Trace
	if e.Timestamp == 0 {
		e.Timestamp = s.now()
	}
	s.note(record{Tell: &announcement{N: s.memory.number + 1, Key: op.ID + "#" + e.EventName + mark, Event: e}})
}

// tell gives the outbox what is pending, in order. What it cannot take stays, and is told later: that is no error of the caller.
func (s *Shim) tell(ctx context.Context) error {
	s.telling.Lock()
	defer s.telling.Unlock()
	// The caller may hang up, the event still goes out.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), emitPatience)
	defer stop()
	for {
		s.mu.Lock()
		outbox, broken := s.outbox, s.broken
		var next *announcement
		if len(s.memory.pending) > 0 {
			next = s.memory.pending[0]
		}
		s.mu.Unlock()
		if broken != nil || outbox == nil || next == nil {
			return broken
		}
		e := device.TaskEvent(next.Event)
		e.Key = next.Key
		id, err := outbox.Emit(ctx, e)
		if refused := (*wire.RefusedEvent)(nil); errors.As(err, &refused) {
			s.log.Error("shim: an event cannot be told; the operation's status tells it", "event", next.Key, "err", err)
			err = nil
		}
		if err != nil {
			s.log.Warn("shim: the outbox takes nothing: told later", "event", next.Key, "err", err)
			return nil
		}
		if err := s.told(next, id); err != nil {
			return err
		}
	}
}

// told notes that the outbox has an event, under which id.
func (s *Shim) told(a *announcement, eventID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(record{Told: a.N})
	op := s.memory.operations[a.Event.OperationID]
	if boot, seq, ok := splitEventID(eventID); ok && op != nil && op.Terminal != nil && op.Terminal.EventID == "" &&
		op.Terminal.EventName == a.Event.EventName {
		op.Terminal.Envelope = wire.Envelope{EventID: eventID, BootID: boot, Seq: seq}
		s.save(op)
	}
	return s.commit()
}

// mention tells an event that may be lost: progress.
func (s *Shim) mention(ctx context.Context, op operation, e wire.TaskEvent) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.mu.Lock()
	outbox := s.outbox
	s.mu.Unlock()
	if outbox == nil {
		return
	}
	e.TaskID, e.TaskMethod, e.Trace = op.TaskID, op.Method, op.Trace
	if _, err := outbox.Emit(ctx, device.TaskEvent(e)); err != nil {
		s.log.Info("shim: progress is not told", "operation", op.ID, "err", err)
	}
}

// stored returns an operation's terminal event as answers carry it: under the identity it was told with. One that was not told
// yet ranks like the answer itself. Called with the lock.
func (s *Shim) stored(op *operation) *wire.TaskEvent {
	if op.Terminal == nil {
		return nil
	}
	e := *op.Terminal
	if e.EventID == "" {
		e.Envelope = wire.Envelope{EventID: "stored-" + op.TaskID, BootID: s.outbox.BootID(), Seq: max(1, s.outbox.LastSeq())}
	}
	return &e
}

// splitEventID reads "<boot id>-<seq>".
func splitEventID(id string) (boot string, seq int64, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i <= 0 {
		return "", 0, false
	}
	seq, err := strconv.ParseInt(id[i+1:], 10, 64)
	return id[:i], seq, err == nil && seq > 0
}
