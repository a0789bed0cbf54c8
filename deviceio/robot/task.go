package robot

import (
	"errors"
	"strconv"
	"strings"

	"errand/deviceio/wire"
)

// State is where a task stands. The terminal ones are the names of their events.
type State string

// States of a task: it waits, it moves or cannot move, it is over.
const (
	Queued    State = "QUEUED"
	Running   State = "RUNNING"
	Blocked   State = "BLOCKED" // alive, but cannot go on
	Completed State = "COMPLETED"
	Failed    State = "FAILED"
	Cancelled State = "CANCELLED"
	TimedOut  State = "TIMED_OUT"
)

// Terminal reports whether a task in this state is over.
func (s State) Terminal() bool {
	return s == Completed || s == Failed || s == Cancelled || s == TimedOut
}

// Task is one admitted operation, from its receipt to its stored terminal event. Times are Unix ms of the device's clock.
type Task struct {
	ID string `json:"task_id"`
	// Arrival numbers tasks in the order they were admitted: the queue is first in, first out.
	Arrival    int64     `json:"arrival"`
	Spec       wire.Task `json:"spec"`
	State      State     `json:"state"`
	ReceivedAt int64     `json:"received_at"`
	StartedAt  int64     `json:"started_at,omitempty"`
	EndedAt    int64     `json:"ended_at,omitempty"`
	// PreRevision is the world's revision at admission, for the receipt.
	PreRevision string `json:"pre_state_revision"`
	// RoomID is where it happens, as grounded at admission; "" where the robot stands.
	RoomID string `json:"room_id,omitempty"`
	// TargetID is the object it acts on or has made (objects.go), Object that object as the effect found or left it.
	TargetID string         `json:"target_id,omitempty"`
	Object   map[string]any `json:"object,omitempty"`
	Run      *run           `json:"run,omitempty"`
	// Ending is the state a stopping task is on its way to; "" while nobody asked it to stop.
	Ending   State           `json:"ending,omitempty"`
	Why      string          `json:"why,omitempty"` // of the cancel
	Terminal *wire.TaskEvent `json:"terminal,omitempty"`
	// Reason is why it is BLOCKED.
	Reason *wire.Reason `json:"reason,omitempty"`
}

// run is how far the body has come with a task. It is stored, so that a restarted robot carries on from there.
type run struct {
	Phases []phase `json:"phases"`
	At     int     `json:"at"`
	// Braking counts down the seconds the robot still rolls after it was told to stop.
	Braking float64 `json:"braking,omitempty"`
	// Told is the progress last reported, ToldAt when.
	Told   float64 `json:"told,omitempty"`
	ToldAt int64   `json:"told_at,omitempty"`
}

// phase is one thing the body does on the way to a task's effect.
type phase struct {
	Kind   phaseKind `json:"kind"`
	Stage  string    `json:"stage"` // as told in events
	RoomID string    `json:"room_id,omitempty"`
	X      float64   `json:"x,omitempty"`
	Y      float64   `json:"y,omitempty"`
	// Seconds is how long a dwell lasts, and what any phase weighs in the progress.
	Seconds float64 `json:"seconds"`
	// Total is the distance of a drive; From the air a purification began with. Set when the phase begins.
	Total float64 `json:"total,omitempty"`
	From  float64 `json:"from,omitempty"`
	// Spent is how much of Seconds is done: by time for a dwell, by distance for a drive, by air for a purification.
	Spent float64 `json:"spent,omitempty"`
	Begun bool    `json:"begun,omitempty"`
	// Gate is checked when the phase begins; a reason code if it does not open.
	Gate string `json:"gate,omitempty"`
}

// phaseKind says what ends a phase: being there, clean air, or time.
type phaseKind string

const (
	phaseDrive  phaseKind = "drive"
	phasePurify phaseKind = "purify"
	phaseDwell  phaseKind = "dwell"
)

// stage is what the task is doing, for people.
func (t *Task) stage() string {
	switch {
	case t.Ending != "" && !t.State.Terminal():
		return "stopping"
	case t.Run == nil || t.Run.At >= len(t.Run.Phases):
		return ""
	}
	return t.Run.Phases[t.Run.At].Stage
}

// progress goes from 0 to 1, each phase weighing its expected seconds.
func (t *Task) progress() float64 {
	if t.State == Completed {
		return 1
	}
	if t.Run == nil {
		return 0
	}
	var done, all float64
	for i, p := range t.Run.Phases {
		all += p.Seconds
		switch {
		case i < t.Run.At:
			done += p.Seconds
		case i == t.Run.At:
			done += p.Seconds * p.share()
		}
	}
	if all == 0 {
		return 0
	}
	return done / all
}

// share is how far one phase is, from 0 to 1.
func (p phase) share() float64 {
	if p.Seconds == 0 {
		return 0
	}
	return min(1, p.Spent/p.Seconds)
}

// errOperationID is returned for text that names no generation of no step.
var errOperationID = errors.New("operation_id: want <plan>/<step>/<generation>")

// splitOperation reads an operation id: which step of which plan, and which try at it.
// A device needs no more of it than that, to tell an old try from a new one.
func splitOperation(id string) (step string, generation int, err error) {
	i := strings.LastIndexByte(id, '/')
	if i <= 0 || strings.Count(id, "/") != 2 || strings.HasPrefix(id, "/") || strings.Contains(id, "//") {
		return "", 0, errOperationID
	}
	generation, err = strconv.Atoi(id[i+1:])
	if err != nil || generation < 1 || strconv.Itoa(generation) != id[i+1:] {
		return "", 0, errOperationID
	}
	return id[:i], generation, nil
}
