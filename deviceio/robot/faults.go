package robot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"errand/deviceio/wire"
)

// FaultKind is a way in which a robot, its person or its network goes wrong.
type FaultKind string

// Faults of admission.
const (
	FaultRefuse FaultKind = "refuse" // the submit is refused with ReasonCode (default MOVE_POLICY_NOT_ALLOWED)
)

// Faults of a running task, once its progress reaches At.
const (
	FaultHold       FaultKind = "hold"        // stands still until released; a cancel and the run timeout still end it
	FaultHang       FaultKind = "hang"        // as hold, and deaf to cancel: only the run timeout ends it
	FaultBlock      FaultKind = "block"       // BLOCKED with ReasonCode (default PATH_BLOCKED) until released, then RUNNING
	FaultFail       FaultKind = "fail"        // FAILED with ReasonCode (default EXECUTOR_FAULT)
	FaultBoast      FaultKind = "boast"       // COMPLETED with a result as if it were so, and nothing was done: the ledger has no effect
	FaultDeaf       FaultKind = "deaf"        // a cancel is answered "cancelling" and the task goes on to its end (case c06)
	FaultOmitResult FaultKind = "omit_result" // COMPLETED without the fields of its result
)

// Faults of the answer to a request.
const (
	FaultDropAnswer  FaultKind = "drop_answer"  // the work is done, the answer to Command (default submitTask) never sent (case c01)
	FaultDelayAnswer FaultKind = "delay_answer" // the submit's answer waits until Event (default COMPLETED) is in the outbox (case c03)
)

// Faults of an event. The outbox is ordered and numbers what it takes, so these act before it: a copy is a second event
// with an id and number of its own, an overtaken event gets the higher number. Copies of one event id come from
// the connection: cut it (FaultOffline) before an acknowledgement, and the outbox sends the same event again.
const (
	FaultDropEvent      FaultKind = "drop_event"      // never told: only asking brings it to light (case c08)
	FaultDuplicateEvent FaultKind = "duplicate_event" // told twice
	FaultReorderEvent   FaultKind = "reorder_event"   // told only after the next one
	FaultHoldEvent      FaultKind = "hold_event"      // told only when released; later events overtake it
)

// Faults of the whole robot: now, or at a moment, when progress reaches At, or just before Event goes to the outbox.
const (
	FaultOffline FaultKind = "offline" // the socket is closed; the robot works on until released
	FaultCrash   FaultKind = "crash"   // the process dies at once, as if the power was cut; needs a moment

	// FaultSilence stops the sensor Source (battery or air_quality) until released (case c09).
	FaultSilence FaultKind = "silence"
)

// Fault is one scripted fault. Filters that are empty match everything.
type Fault struct {
	ID          string    `json:"id,omitempty"` // given when it is added
	Kind        FaultKind `json:"kind"`
	Method      string    `json:"method,omitempty"`
	RoomID      string    `json:"room_id,omitempty"`
	OperationID string    `json:"operation_id,omitempty"`
	// At is the progress, 0 to 1, at which a fault of a running task strikes; absent means 0.
	At *float64 `json:"at,omitempty"`
	// Event is the name of the event that it strikes.
	Event string `json:"event,omitempty"`
	// Command is the request whose answer is dropped.
	Command    string `json:"command,omitempty"`
	Source     string `json:"source,omitempty"`
	ReasonCode string `json:"reason_code,omitempty"`
	// Times is how many tasks, answers or events it strikes: default 1, -1 without end.
	Times int `json:"times,omitempty"`
	// DurationMs releases it by itself that long after it first struck (wall clock); 0 means only by hand.
	DurationMs int64 `json:"duration_ms,omitempty"`

	// Hits counts how often it struck, StruckAt when first. Released says that it strikes no more.
	Hits     int   `json:"hits"`
	StruckAt int64 `json:"struck_at,omitempty"`
	Released bool  `json:"released"`

	grip []string // operations it holds
}

// ErrFault is wrapped by every complaint about a fault.
var ErrFault = errors.New("not a fault this robot can have")

// check says what is wrong with a fault, and fills its defaults.
func (f *Fault) check() error {
	defaults := map[FaultKind]struct{ reason, event, command string }{
		FaultRefuse: {reason: ReasonMovePolicy}, FaultHold: {}, FaultHang: {}, FaultBlock: {reason: ReasonPathBlocked},
		FaultFail: {reason: ReasonExecutorFault}, FaultBoast: {}, FaultDeaf: {}, FaultOmitResult: {}, FaultDropAnswer: {command: wire.CommandSubmitTask},
		FaultDelayAnswer: {event: string(Completed)}, FaultDropEvent: {}, FaultDuplicateEvent: {}, FaultReorderEvent: {},
		FaultHoldEvent: {}, FaultOffline: {}, FaultCrash: {}, FaultSilence: {},
	}
	d, known := defaults[f.Kind]
	switch {
	case !known:
		return fmt.Errorf("%w: kind: %q is none of those in the documentation", ErrFault, f.Kind)
	case f.At != nil && (*f.At < 0 || *f.At > 1):
		return fmt.Errorf("%w: at: %v is not between 0 and 1", ErrFault, *f.At)
	case f.Kind == FaultCrash && f.At == nil && f.Event == "":
		return fmt.Errorf("%w: crash needs a moment: give at or event", ErrFault)
	case f.Kind == FaultSilence && f.Source != sourceBattery && f.Source != sourceAir:
		return fmt.Errorf("%w: source: want battery or air_quality", ErrFault)
	}
	fill := func(v *string, fallback string) {
		if *v == "" {
			*v = fallback
		}
	}
	fill(&f.ReasonCode, d.reason)
	fill(&f.Event, d.event)
	fill(&f.Command, d.command)
	if f.Times == 0 {
		f.Times = 1
	}
	f.Hits, f.StruckAt, f.Released, f.grip = 0, 0, false, nil
	return nil
}

// matches asks the filters only.
func (f *Fault) matches(operation, method, room string) bool {
	return (f.Method == "" || f.Method == method) && (f.RoomID == "" || f.RoomID == room) &&
		(f.OperationID == "" || f.OperationID == operation)
}

// armed reports whether it can strike once more.
func (f *Fault) armed() bool { return !f.Released && (f.Times < 0 || f.Hits < f.Times) }

func (f *Fault) strike(now int64) {
	f.Hits++
	if f.StruckAt == 0 {
		f.StruckAt = now
	}
}

func (f *Fault) holds(operation string) bool {
	return !f.Released && slices.Contains(f.grip, operation)
}

// AddFault scripts a fault and returns its id.
func (r *Robot) AddFault(f Fault) (id string, err error) {
	if err := f.check(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults.added++
	f.ID = fmt.Sprintf("f%d", r.faults.added)
	r.faults.list = append(r.faults.list, &f)
	if f.Kind == FaultOffline && f.At == nil && f.Event == "" || f.Kind == FaultSilence {
		f.strike(r.now())
	}
	r.faults.cutIfOffline()
	r.wake()
	return f.ID, nil
}

// ReleaseFault ends a fault: what it held goes on at the next tick.
func (r *Robot) ReleaseFault(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.faults.list {
		if f.ID == id {
			f.Released = true
			r.wake()
			return nil
		}
	}
	return fmt.Errorf("%w: there is none with the id %q", ErrFault, id)
}

// ClearFaults ends and forgets every fault.
func (r *Robot) ClearFaults() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.faults.list {
		f.Released = true
	}
	r.faults.list = nil
	r.wake()
}

// Faults lists the faults as they stand.
func (r *Robot) Faults() []Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Fault, len(r.faults.list))
	for i, f := range r.faults.list {
		list[i] = *f
	}
	return list
}

// AwaitFault waits until a fault has struck that often, and returns it.
func (r *Robot) AwaitFault(ctx context.Context, id string, hits int) (Fault, error) {
	var found Fault
	err := r.await(ctx, func() bool {
		for _, f := range r.faults.list {
			if f.ID == id {
				found = *f
			}
		}
		return found.ID == "" || found.Hits >= hits
	})
	if err == nil && found.ID == "" {
		err = fmt.Errorf("%w: there is none with the id %q", ErrFault, id)
	}
	return found, err
}
