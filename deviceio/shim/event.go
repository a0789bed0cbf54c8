package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"errand/deviceio/wire"
	"errand/internal/border"
)

// Receipt says what became of a vendor's event.
type Receipt struct {
	// Recorded is true: it is on disk, and need not be sent again.
	Recorded bool `json:"recorded"`
	// OperationID is what the event is about; "" for a task that the cloud did not submit, or that is not known yet.
	OperationID string `json:"operation_id,omitempty"`
	// Note says what else there is to know: it was told before, it came too late, nobody submitted the task.
	Note string `json:"note,omitempty"`
}

// Notes of a Receipt.
const (
	noteDuplicate = "duplicate"  // told before: it changes nothing
	noteLate      = "late"       // its task is over: only another terminal event would be told
	noteForeign   = "not_ours"   // no operation of the cloud: told as an event of no plan
	noteHeld      = "held"       // a submit is under way that it may be about
	notePassing   = "not_stored" // progress, which may be lost
)

// eventLimits bound what a vendor sends.
var eventLimits = border.Limits{Bytes: wire.MaxTaskEvent, Depth: 32, StringRunes: 65_536, List: 10_000, Keys: 1_000}

// Event takes one event of the vendor: the payload of onTaskEvent (contract.md §4), without the envelope. It may come before the
// answer to its submit, twice, late, or about a task that a person started on the device. When Event returns nil, the event
// is on disk. An event that cannot be read is a *wire.RefusedEvent and recorded nowhere.
func (s *Shim) Event(ctx context.Context, raw json.RawMessage) (Receipt, error) {
	e, err := parseEvent(raw)
	if err != nil {
		return Receipt{}, err
	}
	got, passing, err := s.record(e)
	if err != nil {
		return Receipt{}, err
	}
	if passing != nil {
		s.mention(ctx, *passing, e)
	}
	return got, s.tell(ctx)
}

// parseEvent reads an event as the gateway will, with an envelope in the place of the one that the outbox gives it.
func parseEvent(raw json.RawMessage) (wire.TaskEvent, error) {
	tree, err := border.Parse(raw, eventLimits)
	if err != nil {
		return wire.TaskEvent{}, refused(err)
	}
	fields, ok := tree.(map[string]any)
	if !ok {
		return wire.TaskEvent{}, refused(border.Faults{{Code: "wrong_type", Message: "must be a JSON object"}})
	}
	for _, name := range []string{"event_id", "eventId", "boot_id", "bootId", "seq"} {
		delete(fields, name)
	}
	fields["event_id"], fields["boot_id"], fields["seq"] = "vendor-1", "vendor", 1
	text, err := json.Marshal(fields)
	if err != nil {
		return wire.TaskEvent{}, fmt.Errorf("read an event: %w", err)
	}
	e, err := wire.ParseTaskEvent(text)
	e.Envelope = wire.Envelope{}
	if err == nil && e.EventName == wire.TaskUnknown {
		err = refused(border.Faults{{Path: "event_name", Code: "bad_value", Message: "is the shim's own word: say what is so, or nothing"}})
	}
	return e, err
}

func refused(err error) error {
	r := &wire.RefusedEvent{}
	if !errors.As(err, &r.Faults) {
		r.Faults = border.Faults{{Code: "bad_value", Message: err.Error()}}
	}
	return r
}

// record keeps an event. passing is the operation of an event that is told without being kept.
func (s *Shim) record(e wire.TaskEvent) (got Receipt, passing *operation, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return Receipt{}, nil, s.broken
	}
	got = Receipt{Recorded: true}
	op, hold := s.match(e)
	switch {
	case op != nil:
		got.OperationID = op.ID
		got.Note, passing = s.apply(op, e)
	case hold:
		got.Note = noteHeld
		s.hold(e)
	default:
		got.Note = noteForeign
		s.foreign(e)
	}
	return got, passing, s.commit()
}

// maxEarly bounds the events that wait for an answer; beyond it the oldest count as nobody's.
const maxEarly = 256

func (s *Shim) hold(e wire.TaskEvent) {
	s.note(record{Early: &earlyEvent{N: s.memory.number + 1, At: s.now(), Event: e}})
	if len(s.memory.early) > maxEarly {
		s.release(s.memory.early[0])
	}
}

func (s *Shim) release(early *earlyEvent) {
	s.note(record{Match: early.N})
	s.foreign(early.Event)
}

// matchEarly looks again at the events that came before an answer.
func (s *Shim) matchEarly() {
	for _, early := range slices.Clone(s.memory.early) {
		op, hold := s.match(early.Event)
		switch {
		case op != nil:
			s.note(record{Match: early.N})
			s.apply(op, early.Event)
		case !hold:
			s.release(early)
		}
	}
}

// foreign tells an event of a task that the cloud did not submit, such as one that a person started with a button. It names no
// operation, so that no plan takes it for its own; the cloud keeps it on record. Progress of such a task is nobody's.
func (s *Shim) foreign(e wire.TaskEvent) {
	s.log.Info("shim: an event of a task that the cloud did not submit", "event", e.EventName, "vendor_task_id", e.TaskID, "method", e.TaskMethod)
	if e.EventName == wire.TaskProgress {
		return
	}
	e.Trace = wire.Trace{}
	if e.Timestamp == 0 {
		e.Timestamp = s.now()
	}
	s.note(record{Tell: &announcement{N: s.memory.number + 1, Event: e}})
}

// apply lets an event change its operation: once (law 7), in any order (law 8), and a first end stands (law 10).
func (s *Shim) apply(op *operation, e wire.TaskEvent) (note string, passing *operation) {
	e.Trace = op.Trace
	end := wire.Terminal(e.EventName)
	switch {
	case op.Phase == over:
		return s.afterwards(op, e, end), nil
	case e.TaskID != "" && op.VendorID != e.TaskID, op.Phase != taken:
		s.take(op, orString(e.TaskID, op.VendorID)) // its answer was lost, or the vendor was thought to have lost it
	}
	delete(s.odd, op.ID)
	switch {
	case end:
		s.end(op, e)
		return "", nil
	case e.EventName == wire.TaskProgress:
		s.started(op)
		return notePassing, s.progress(op)
	case standing(e.EventName) == 1 && op.toldStanding() > 1:
		return noteLate, nil
	case op.Told != nil && same(*op.Told, e):
		return noteDuplicate, nil
	}
	if standing(e.EventName) > 1 {
		s.started(op)
	}
	op.Tells++
	op.Told = &e
	s.save(op)
	s.announce(op, e, mark(op.Tells))
	return "", nil
}

func orString(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

func mark(n int) string { return "#" + strconv.Itoa(n) }

// afterwards takes an event of a task that is over. A second, different end is told: the cloud has it on record and asks.
func (s *Shim) afterwards(op *operation, e wire.TaskEvent, end bool) string {
	switch {
	case end && sameEnd(e.EventName, op.EndedAs):
		return noteDuplicate
	case end:
		s.announce(op, e, "")
	}
	return noteLate
}

// sameEnd reports whether two names mean one end.
func sameEnd(a, b string) bool {
	done := []string{wire.TaskCompleted, wire.StepCompleted, wire.WorkflowCompleted}
	return a == b || slices.Contains(done, a) && slices.Contains(done, b)
}

// same reports whether two events that are no end say the same. The clock does not count.
func same(a, b wire.TaskEvent) bool {
	return a.EventName == b.EventName && a.Stage == b.Stage && a.ReasonCode == b.ReasonCode && maps.EqualFunc(a.ReasonParams, b.ReasonParams,
		func(x, y any) bool { return fmt.Sprint(x) == fmt.Sprint(y) })
}

// started notes when a task began, from which its timeout counts.
func (s *Shim) started(op *operation) {
	if op.StartedAt == 0 {
		op.StartedAt = s.now()
		s.save(op)
	}
}

// tellEvery is the least time between two events of progress of one task.
const tellEvery = 500 // milliseconds

func (s *Shim) progress(op *operation) *operation {
	now := s.now()
	if now-s.chats[op.ID] < tellEvery {
		return nil
	}
	s.chats[op.ID] = now
	twin := *op
	return &twin
}

// end stores a terminal event. One that the shim itself brought about says why.
func (s *Shim) end(op *operation, e wire.TaskEvent) {
	op.EndedAs = e.EventName
	if e.EventName == wire.TaskCancelled && op.StopFor != "" {
		switch {
		case op.StopFor == ReasonTaskTimedOut:
			e.EventName, e.Reason = wire.TaskTimedOut, *because(op.StopFor, map[string]any{"timeoutMs": op.TimeoutMs})
		case op.StopFor == ReasonTaskExpired:
			e.EventName, e.Reason = wire.TaskFailed, *because(op.StopFor, nil)
		case e.ReasonCode == "":
			e.Reason = *because(op.StopFor, map[string]any{"reason": op.StopWhy})
		}
	}
	e.TaskID, e.TaskMethod, e.Trace = op.TaskID, op.Method, op.Trace
	if e.Timestamp == 0 {
		e.Timestamp = s.now()
	}
	op.Phase, op.EndedAt, op.Terminal, op.Reason = over, s.now(), &e, nil
	delete(s.chats, op.ID)
	s.save(op)
	s.announce(op, e, "")
}
