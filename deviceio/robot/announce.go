package robot

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/wire"
)

// announcement is an event of a task on its way to the outbox. A stored one (N > 0) was written with the change it
// tells of; it is told after that commit, at the latest by the next start, and never twice: its key sees to that.
type announcement struct {
	N         int64
	Key       string
	Operation string
	Method    string
	RoomID    string
	Event     wire.TaskEvent
	// heldBy is the fault that keeps it back: until the fault is released or, if due is set, until then.
	heldBy *Fault
	due    int64
}

// announce adds an event to the next commit. The key is the operation id and the event's name; what may happen
// more than once carries a mark besides.
func (r *Robot) announce(t *Task, e wire.TaskEvent, mark string) {
	a := announcement{Key: t.Spec.OperationID + "#" + e.EventName + mark, Operation: t.Spec.OperationID,
		Method: t.Spec.TaskMethod, RoomID: t.RoomID, Event: e}
	r.note(func(ctx context.Context, tx *sql.Tx) error {
		payload, err := json.Marshal(a.Event)
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, `INSERT INTO events (key, operation_id, event_name, at, payload) VALUES (?, ?, ?, ?, ?) RETURNING n`,
			a.Key, a.Operation, a.Event.EventName, a.Event.Timestamp, string(payload)).Scan(&a.N)
		if err == nil {
			r.pending = append(r.pending, a)
		}
		return err
	})
}

// mention tells an event that may be lost: progress. It is not stored with the world.
func (r *Robot) mention(t *Task, e wire.TaskEvent) {
	r.told = append(r.told, announcement{Operation: t.Spec.OperationID, Method: t.Spec.TaskMethod, RoomID: t.RoomID, Event: e})
}

// pending returns the stored events that the outbox has not taken, oldest first.
func (s *store) pending(ctx context.Context) ([]announcement, error) {
	return collect(ctx, s.db, func(rows *sql.Rows, a *announcement) error {
		var payload string
		if err := rows.Scan(&a.N, &a.Key, &a.Operation, &payload); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(payload), &a.Event); err != nil {
			return err
		}
		a.Method = a.Event.TaskMethod
		return nil
	}, `SELECT n, key, operation_id, payload FROM events WHERE event_id IS NULL ORDER BY n`)
}

// tell gives the outbox what is pending, in order. If the outbox cannot take it, it stays and is told later:
// that is an error of the outbox, not of the caller.
func (r *Robot) tell(ctx context.Context) error {
	if r.outbox == nil {
		return nil
	}
	// The caller may hang up, the event still goes out; a full outbox may refuse it, and then it goes out later.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), emitPatience)
	defer stop()
	if err := r.tellAnswers(ctx); err != nil {
		r.broken = fmt.Errorf("%w: %w", ErrBroken, err)
		return r.broken
	}
	if len(r.pending) == 0 && len(r.told) == 0 {
		return nil
	}
	for i := 0; i < len(r.pending); {
		a := &r.pending[i]
		verdict := r.faults.onEvent(a, r.now())
		if verdict == eventHeld {
			i++
			continue
		}
		id, err := r.emit(ctx, *a, verdict)
		if err != nil {
			r.jam(a.Event.EventName+" of "+a.Operation, err)
			return nil
		}
		if err := exec(context.WithoutCancel(ctx), r.store.db, `UPDATE events SET event_id = ? WHERE n = ?`, id, a.N); err != nil {
			r.broken = fmt.Errorf("%w: %w", ErrBroken, err)
			return r.broken
		}
		r.stuck = false
		r.pending = append(r.pending[:i], r.pending[i+1:]...)
		if r.faults.overtaken(r.pending) {
			i = 0 // what was kept back until now follows
		}
	}
	for _, a := range r.told {
		if r.faults.onEvent(&a, r.now()) == eventPlain {
			if _, err := r.outbox.Emit(ctx, device.TaskEvent(a.Event)); err != nil {
				r.jam("progress of "+a.Operation, err)
			}
		}
	}
	r.told = nil
	r.wake()
	return nil
}

// emitPatience is how long a full outbox may hold the robot up.
const emitPatience = 2 * time.Second

// What stands in place of an event id: the fault drop_event swallowed the event, or the outbox will never take it.
const (
	droppedID    = "dropped"
	unwritableID = "unwritable"
)

func (r *Robot) emit(ctx context.Context, a announcement, verdict eventVerdict) (string, error) {
	if verdict == eventDropped {
		return droppedID, nil
	}
	e := device.TaskEvent(a.Event)
	e.Key = a.Key
	id, err := r.outbox.Emit(ctx, e)
	if _, refused := errors.AsType[*wire.RefusedEvent](err); refused {
		r.say(fmt.Sprintf("cannot tell %s of %s; its status tells it: %v", a.Event.EventName, a.Operation, err))
		return unwritableID, nil
	}
	if err == nil && verdict == eventTwice {
		e.Key += "#copy"
		_, err = r.outbox.Emit(ctx, e)
	}
	return id, err
}

// jam says once that the outbox takes nothing. What is pending stays, and goes out with a later tick.
func (r *Robot) jam(what string, err error) {
	if !r.stuck {
		r.say(fmt.Sprintf("cannot put %s into its outbox, and tells it later: %v", what, err))
	}
	r.stuck = true
}

// event builds an event of a task, with its whole trace.
func (r *Robot) event(t *Task, name string) wire.TaskEvent {
	return wire.TaskEvent{EventName: name, TaskID: t.ID, TaskMethod: t.Spec.TaskMethod, Trace: t.Spec.Trace,
		Progress: t.progress(), Stage: t.stage(), Timestamp: r.deviceTime(), ExecutorRevision: ExecutorRevision}
}

// terminal returns a task's stored terminal event as answers carry it: under the identity it was told with. One that
// was not told yet ranks like the answer itself.
func (r *Robot) terminal(ctx context.Context, t *Task) (*wire.TaskEvent, error) {
	if t.Terminal == nil {
		return nil, nil
	}
	e := *t.Terminal
	var id sql.NullString
	err := r.store.db.QueryRowContext(ctx, `SELECT event_id FROM events WHERE key = ?`, t.Spec.OperationID+"#"+e.EventName).Scan(&id)
	if err != nil {
		return nil, fmt.Errorf("the stored event of %s: %w", t.Spec.OperationID, err)
	}
	if boot, seq, ok := splitEventID(id.String); ok {
		e.Envelope = wire.Envelope{EventID: id.String, BootID: boot, Seq: seq}
	} else {
		e.Envelope = wire.Envelope{EventID: "stored-" + t.ID, BootID: r.outbox.BootID(), Seq: max(1, r.outbox.LastSeq())}
	}
	return &e, nil
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
