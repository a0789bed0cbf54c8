package robot

import (
	"cmp"
	"encoding/json"
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

// Faults of a request on its way to the robot, by its Command (default submitTask).
const (
	FaultLoseRequest FaultKind = "lose_request"   // it never arrives: nothing is done and nothing answered (case c05)
	FaultLateRequest FaultKind = "late_request"   // it arrives DelayMs late (default 1000), and is carried out, as far as its ttl and whoever sent it still allow
	FaultCopyRequest FaultKind = "copied_request" // a copy of it arrives DelayMs after it (default 1000) (case c04)
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

// Faults of the answer to a request. Whatever is answered, the work asked for is done.
const (
	FaultDropAnswer   FaultKind = "drop_answer"     // the answer to Command (default submitTask) is never sent (case c01)
	FaultDelayAnswer  FaultKind = "delay_answer"    // the submit's answer waits until Event (default COMPLETED) is in the outbox (case c03)
	FaultDoubleAnswer FaultKind = "double_answer"   // the answer to Command (default submitTask) is sent twice, as two equal frames
	FaultNonsense     FaultKind = "nonsense_answer" // the answer to Command (default submitTask) is Answer, any JSON at all (default a text)
	FaultMixUp        FaultKind = "mixed_up_answer" // the answer to Command (default getTaskStatus) is about the last other task that is over, id and terminal; it strikes only if there is one
	FaultLieStatus    FaultKind = "lie_status"      // getTaskStatus says Status (default RUNNING; any word) of a task it knows, and gives no stored terminal
)

// FaultSlow makes the answers to Command (default all) and the events (Event, default all) come DelayMs late (default 1000).
const FaultSlow FaultKind = "slow"

// Faults of an event. To be silent, drop every event: no Event, Times -1. The outbox is ordered and numbers what it takes, so these act before it: a copy is a second event
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
	FaultClock   FaultKind = "clock"   // what it tells of time (timestamps, freshness) is off by OffsetMs until released; with a moment the clock steps then
	FaultCrash   FaultKind = "crash"   // the process dies at once, as if the power was cut; needs a moment

	// FaultDropTask is a crash after which the running task is gone: the robot is idle, tells nothing of it and knows it no
	// more, although the memory (store_id) is the same. It needs At: forgetting what is done already would break the
	// promise that store_id makes, and no cloud could tell.
	FaultDropTask FaultKind = "drop_task"
	// FaultLoseStore is a crash after which the robot has a new store_id and no memory of any task, refusal or generation.
	// The world and its ledger stay, since they are physical. It needs a moment.
	FaultLoseStore FaultKind = "lose_store"

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
	// Command is the request that it strikes, or whose answer.
	Command    string `json:"command,omitempty"`
	Source     string `json:"source,omitempty"`
	ReasonCode string `json:"reason_code,omitempty"`
	// Answer is what nonsense_answer says, Status what lie_status says.
	Answer json.RawMessage `json:"answer,omitempty"`
	Status string          `json:"status,omitempty"`
	// DelayMs is how late slow, late_request and copied_request are, on the clock. OffsetMs is how far the clock is off: above 0 it is fast. It never tells a time before 1970.
	DelayMs  int64 `json:"delay_ms,omitempty"`
	OffsetMs int64 `json:"offset_ms,omitempty"`
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

// faultDefaults holds every kind, with what it means where its fields are empty.
var faultDefaults = map[FaultKind]Fault{
	FaultRefuse:      {ReasonCode: ReasonMovePolicy},
	FaultLoseRequest: {Command: wire.CommandSubmitTask}, FaultLateRequest: {Command: wire.CommandSubmitTask, DelayMs: 1000},
	FaultCopyRequest: {Command: wire.CommandSubmitTask, DelayMs: 1000},
	FaultHold:        {}, FaultHang: {}, FaultBlock: {ReasonCode: ReasonPathBlocked}, FaultFail: {ReasonCode: ReasonExecutorFault},
	FaultBoast: {}, FaultDeaf: {}, FaultOmitResult: {},
	FaultDropAnswer: {Command: wire.CommandSubmitTask}, FaultDelayAnswer: {Command: wire.CommandSubmitTask, Event: string(Completed)},
	FaultDoubleAnswer: {Command: wire.CommandSubmitTask},
	FaultNonsense:     {Command: wire.CommandSubmitTask, Answer: json.RawMessage(`"yes"`)},
	FaultMixUp:        {Command: wire.CommandTaskStatus},
	FaultLieStatus:    {Command: wire.CommandTaskStatus, Status: string(Running)},
	FaultSlow:         {DelayMs: 1000},
	FaultDropEvent:    {}, FaultDuplicateEvent: {}, FaultReorderEvent: {}, FaultHoldEvent: {},
	FaultOffline: {}, FaultClock: {}, FaultCrash: {}, FaultDropTask: {}, FaultLoseStore: {}, FaultSilence: {},
}

// check says what is wrong with a fault, and fills its defaults.
func (f *Fault) check() error {
	d, known := faultDefaults[f.Kind]
	switch {
	case !known:
		return fmt.Errorf("%w: kind: %q is none of those in the documentation", ErrFault, f.Kind)
	case f.At != nil && (*f.At < 0 || *f.At > 1):
		return fmt.Errorf("%w: at: %v is not between 0 and 1", ErrFault, *f.At)
	case (f.Kind == FaultCrash || f.Kind == FaultLoseStore) && !f.hasMoment():
		return fmt.Errorf("%w: %s needs a moment: give at or event", ErrFault, f.Kind)
	case f.Kind == FaultDropTask && (f.At == nil || f.Event != ""):
		return fmt.Errorf("%w: drop_task needs at, and takes no event", ErrFault)
	case f.Kind == FaultClock && f.OffsetMs == 0:
		return fmt.Errorf("%w: offset_ms: a clock that is off by nothing is right", ErrFault)
	case f.DelayMs < 0:
		return fmt.Errorf("%w: delay_ms: %d is less than nothing", ErrFault, f.DelayMs)
	case f.Kind == FaultSilence && f.Source != sourceBattery && f.Source != sourceAir:
		return fmt.Errorf("%w: source: want battery or air_quality", ErrFault)
	}
	f.ReasonCode, f.Event, f.Command, f.Status = cmp.Or(f.ReasonCode, d.ReasonCode), cmp.Or(f.Event, d.Event), cmp.Or(f.Command, d.Command), cmp.Or(f.Status, d.Status)
	f.Times, f.DelayMs = cmp.Or(f.Times, 1), cmp.Or(f.DelayMs, d.DelayMs)
	if len(f.Answer) == 0 {
		f.Answer = d.Answer
	}
	f.Hits, f.StruckAt, f.Released, f.grip = 0, 0, false, nil
	return nil
}

// hasMoment reports whether it waits for a moment: a task's progress, or an event.
func (f *Fault) hasMoment() bool { return f.At != nil || f.Event != "" }

// wholeRobot reports whether it is a fault of the whole robot, that a moment can set off.
func (f *Fault) wholeRobot() bool {
	return slices.Contains([]FaultKind{FaultOffline, FaultClock, FaultCrash, FaultDropTask, FaultLoseStore}, f.Kind)
}

// answers reports whether it is about the answer to a command.
func (f *Fault) answers(command string) bool { return f.Command == "" || f.Command == command }

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
