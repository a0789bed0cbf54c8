package wire

// Envelope identifies one event of one device. The device id comes from the connection's credential.
type Envelope struct {
	// EventID is unique per device: the outbox makes it "<boot_id>-<seq>".
	EventID string `json:"event_id"`
	BootID  string `json:"boot_id"`
	// Seq counts from 1 within a boot, in the order the outbox took the events.
	Seq int64 `json:"seq"`
}

// TaskEvent is the payload of taskmanager.onTaskEvent (contract.md §4), in its snake_case form.
// ParseTaskEvent reads it with every alias.
type TaskEvent struct {
	Envelope
	EventName  string `json:"event_name"`
	TaskID     string `json:"task_id,omitempty"`
	TaskMethod string `json:"task_method,omitempty"`
	Trace
	Progress float64 `json:"progress,omitempty"` // 0 to 1
	Stage    string  `json:"stage,omitempty"`
	// Timestamp is the device's clock, Unix ms.
	Timestamp int64          `json:"timestamp,omitempty"`
	Result    map[string]any `json:"result,omitempty"`
	Reason
	// EffectCount and ExecutorRevision go into the receipt, where the device reports them.
	EffectCount      *int   `json:"effect_count,omitempty"`
	ExecutorRevision string `json:"executor_revision,omitempty"`
}

// Acknowledgements of an event. All four are durable before they are sent.
const (
	AckApplied   = "applied"   // in the plan's history; not the machine's verdict
	AckLate      = "late"      // the plan is over
	AckUnmatched = "unmatched" // no plan it could belong to
	AckRefused   = "refused"   // not readable as an event
)

// EventAck is the payload of the answer to an event. ok:false instead means unrecorded: send again.
type EventAck struct {
	EventID string `json:"event_id"`
	Ack     string `json:"ack"`
	Reason  string `json:"reason,omitempty"`
}

// Names of a task event (contract.md §4).
const (
	TaskQueued    = "QUEUED"
	TaskStarted   = "STARTED"
	TaskRunning   = "RUNNING"
	TaskProgress  = "PROGRESS"
	TaskCompleted = "COMPLETED"
	TaskFailed    = "FAILED"
	TaskBlocked   = "BLOCKED" // alive, and waiting
	TaskCancelled = "CANCELLED"
	TaskTimedOut  = "TIMED_OUT"
	// TaskUnknown is no end and no progress: the device has sent the task on and cannot tell any more how it stands. It is a
	// status too. A plan asks, and takes neither "it runs" nor "it failed" from it (law 9).
	TaskUnknown = "UNKNOWN"

	StepStarted       = "WORKFLOW_STEP_STARTED"
	StepCompleted     = "WORKFLOW_STEP_COMPLETED" // the step is complete, like TaskCompleted
	StepFailed        = "WORKFLOW_STEP_FAILED"
	WorkflowCompleted = "WORKFLOW_COMPLETED"
	WorkflowFailed    = "WORKFLOW_FAILED"
	WorkflowCancelled = "WORKFLOW_CANCELLED"
)

// EventNames lists every name a task event may have.
func EventNames() []string {
	return []string{TaskQueued, TaskStarted, TaskRunning, TaskProgress, TaskCompleted, TaskFailed, TaskBlocked, TaskCancelled,
		TaskTimedOut, TaskUnknown, StepStarted, StepCompleted, StepFailed, WorkflowCompleted, WorkflowFailed, WorkflowCancelled}
}

// Terminal reports whether nothing more happens to the task or the workflow after an event of this name.
func Terminal(eventName string) bool {
	switch eventName {
	case TaskCompleted, TaskFailed, TaskCancelled, TaskTimedOut, StepCompleted, StepFailed,
		WorkflowCompleted, WorkflowFailed, WorkflowCancelled:
		return true
	}
	return false
}
