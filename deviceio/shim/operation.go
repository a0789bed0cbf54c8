package shim

import (
	"errors"
	"strconv"
	"strings"

	"errand/deviceio/wire"
)

// phase is how much the shim knows of an operation.
type phase string

const (
	// sending: the intention is on disk, and the vendor may have the task. Without a call in flight, that is a doubt.
	sending phase = "sending"
	// taken: the vendor has it and it is not over, as far as anybody told.
	taken phase = "taken"
	// unknown: it was sent, and nobody can tell how it stands. A word of the vendor still ends that.
	unknown phase = "unknown"
	// over: its terminal event is stored.
	over phase = "over"
)

// operation is one submit. Times are Unix ms of this machine's clock.
type operation struct {
	ID string `json:"operation_id"`
	// TaskID is what the cloud knows it by. It is the shim's own: a vendor's ids may begin anew when it restarts.
	TaskID string `json:"task_id"`
	// VendorID is the vendor's task id; "" until the vendor said it.
	VendorID  string     `json:"vendor_task_id,omitempty"`
	Method    string     `json:"task_method"`
	Trace     wire.Trace `json:"trace"`
	TimeoutMs int64      `json:"timeout_ms,omitempty"`
	Phase     phase      `json:"phase"`
	// SentAt is when the intention was written. ExpiresAt is when it is too old to begin, 0 for never.
	SentAt    int64 `json:"sent_at"`
	ExpiresAt int64 `json:"expires_at,omitempty"`
	StartedAt int64 `json:"started_at,omitempty"`
	EndedAt   int64 `json:"ended_at,omitempty"`
	// DoubtAt is when it came into doubt, from which the look for it counts.
	DoubtAt int64 `json:"doubt_at,omitempty"`
	// Told is the last event about it that is no terminal, Tells how many there were: their keys count them.
	Told  *wire.TaskEvent `json:"told,omitempty"`
	Tells int             `json:"tells,omitempty"`
	// Terminal is the stored terminal event; its envelope is empty until the outbox has it.
	Terminal *wire.TaskEvent `json:"terminal,omitempty"`
	// EndedAs is the vendor's own word for the end, by which it is known again: a task that was stopped for its ttl ends as
	// CANCELLED for the vendor, and as FAILED for the cloud.
	EndedAs string `json:"ended_as,omitempty"`
	// Reason is why it is unknown.
	Reason *wire.Reason `json:"reason,omitempty"`
	// StopFor is the reason code for which it is to end, "" while nobody wants that; StopWhy are the words of whoever does.
	// StopSent says that the vendor was told.
	StopFor  string `json:"stop_for,omitempty"`
	StopWhy  string `json:"stop_why,omitempty"`
	StopSent bool   `json:"stop_sent,omitempty"`
}

// state is the word for how it stands, as answers carry it.
func (o *operation) state() string {
	switch {
	case o.Phase == over:
		return o.Terminal.EventName
	case o.Phase != taken:
		return wire.TaskUnknown // it may run, and may not
	case o.Told != nil:
		return o.Told.EventName
	}
	return wire.TaskQueued
}

// standing classes what an event's name says of a task that goes on: 1 it waits, 2 it runs, 3 it stands still; 0 nothing was said.
func standing(name string) int {
	switch name {
	case wire.TaskQueued:
		return 1
	case wire.TaskStarted, wire.TaskRunning, wire.TaskProgress, wire.StepStarted:
		return 2
	case wire.TaskBlocked:
		return 3
	}
	return 0
}

// toldStanding is the class of what was told last.
func (o *operation) toldStanding() int {
	if o.Told == nil {
		return 0
	}
	return standing(o.Told.EventName)
}

// agrees reports whether what a vendor says of a task can be about this operation, by as much of the trace as it gives.
func (o *operation) agrees(t wire.Trace) bool {
	for _, field := range [][2]string{
		{t.OperationID, o.ID}, {t.CloudWorkflowID, o.Trace.CloudWorkflowID}, {t.CloudPlanID, o.Trace.CloudPlanID},
		{t.CloudStepID, o.Trace.CloudStepID}, {t.CloudOutputKey, o.Trace.CloudOutputKey},
	} {
		if field[0] != "" && field[0] != field[1] {
			return false
		}
	}
	return true
}

// named reports whether a trace says enough to find an operation by it: its id, or its plan and its step.
func named(t wire.Trace) bool {
	return t.OperationID != "" || t.CloudStepID != "" && (t.CloudPlanID != "" || t.CloudWorkflowID != "")
}

// errOperationID is returned for text that names no generation of no step.
var errOperationID = errors.New("operation_id: want <plan>/<step>/<generation>")

// splitOperation reads an operation id: which step of which plan, and which try at it.
func splitOperation(id string) (step string, generation int, err error) {
	parts := strings.Split(id, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		return "", 0, errOperationID
	}
	generation, err = strconv.Atoi(parts[2])
	if err != nil || generation < 1 || strconv.Itoa(generation) != parts[2] {
		return "", 0, errOperationID
	}
	return parts[0] + "/" + parts[1], generation, nil
}
