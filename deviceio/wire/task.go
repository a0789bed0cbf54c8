package wire

// Trace follows a task through its whole life and comes back in every event (contract.md §3).
type Trace struct {
	CloudWorkflowID string `json:"cloud_workflow_id,omitempty"`
	CloudPlanID     string `json:"cloud_plan_id,omitempty"`
	CloudStepID     string `json:"cloud_step_id,omitempty"`
	CloudOutputKey  string `json:"cloud_output_key,omitempty"`
	OperationID     string `json:"operation_id,omitempty"`
	PlanRevision    int    `json:"plan_revision,omitempty"`
	Traceparent     string `json:"traceparent,omitempty"`
}

// Task is the params of submitTask.
type Task struct {
	TaskMethod       string         `json:"taskMethod"`
	Params           map[string]any `json:"params"`
	Source           string         `json:"source"` // "cloud"
	CompletionTarget string         `json:"completionTarget"`
	// TimeoutMs bounds the run from its start; the device ends the task itself with TIMED_OUT.
	TimeoutMs int64 `json:"timeoutMs"`
	// TTLMs bounds the wait from receipt to start; whoever holds the task subtracts the time held.
	TTLMs            int64  `json:"ttlMs"`
	ExpectedRevision string `json:"expected_revision,omitempty"`
	Trace
}

// Reason is the structured reason of contract.md §4, part of every answer and event that is not a success.
type Reason struct {
	ReasonCode            string         `json:"reason_code,omitempty"`
	ReasonParams          map[string]any `json:"reason_params,omitempty"`
	RequiresCloudDecision *bool          `json:"requires_cloud_decision,omitempty"`
	Recoverability        string         `json:"recoverability,omitempty"`
	SuggestedAction       string         `json:"suggested_action,omitempty"`
}

// SubmitAnswer answers submitTask. A repeated operation id gets the same task id, and the stored terminal event if there is one.
type SubmitAnswer struct {
	Accepted   bool   `json:"accepted"`
	TaskID     string `json:"taskId,omitempty"`
	TaskState  string `json:"taskState,omitempty"`
	TaskMethod string `json:"taskMethod,omitempty"`
	StoreID    string `json:"store_id,omitempty"`
	// PreStateRevision names the device's state before the task, for the receipt.
	PreStateRevision string     `json:"pre_state_revision,omitempty"`
	TerminalEvent    *TaskEvent `json:"terminal_event,omitempty"`
	Reason
}

// StatusQuery is the params of getTaskStatus: one of the two.
type StatusQuery struct {
	TaskID      string `json:"taskId,omitempty"`
	OperationID string `json:"operation_id,omitempty"`
}

// StatusAnswer answers getTaskStatus. It ranks like an event at (boot, as_of_seq).
type StatusAnswer struct {
	Found      bool    `json:"found"`
	TaskID     string  `json:"taskId,omitempty"`
	Status     string  `json:"status,omitempty"` // QUEUED, RUNNING, BLOCKED, a terminal event name, or UNKNOWN: nobody can tell
	Progress   float64 `json:"progress,omitempty"`
	Stage      string  `json:"stage,omitempty"`
	TaskMethod string  `json:"taskMethod,omitempty"`
	StoreID    string  `json:"store_id,omitempty"`
	BootID     string  `json:"boot_id,omitempty"`
	// AsOfSeq is the last sequence number given to an event when the answer was made.
	AsOfSeq       int64      `json:"as_of_seq,omitempty"`
	TerminalEvent *TaskEvent `json:"terminal_event,omitempty"`
	Reason
	Trace
}

// CancelQuery is the params of cancelTask: one of the two ids, and why.
type CancelQuery struct {
	TaskID      string `json:"taskId,omitempty"`
	OperationID string `json:"operation_id,omitempty"`
	Reason      string `json:"reason"`
}

// Cases of a CancelAnswer.
const (
	CaseCancelled         = "cancelled"
	CaseCancelling        = "cancelling"
	CaseAlreadyCompleted  = "already_completed"
	CaseAlreadyFailed     = "already_failed"
	CaseAlreadyCancelled  = "already_cancelled"
	CaseUnknownTombstoned = "unknown_tombstoned"
	CaseRefused           = "refused"
)

// CancelAnswer answers cancelTask.
type CancelAnswer struct {
	Accepted      bool       `json:"accepted"`
	State         string     `json:"state"`
	Case          string     `json:"case"`
	TaskID        string     `json:"taskId,omitempty"`
	OperationID   string     `json:"operation_id,omitempty"`
	StoreID       string     `json:"store_id,omitempty"`
	TerminalEvent *TaskEvent `json:"terminal_event,omitempty"`
	Reason
}

// Say is the params of assistant.say.
type Say struct {
	Text   string `json:"text"`
	Locale string `json:"locale,omitempty"`
}

// Ask is the params of assistant.ask.
type Ask struct {
	QuestionID string   `json:"question_id"`
	Text       string   `json:"text"`
	Choices    []string `json:"choices"`
	// Labels are the choices in words, in their order, where a choice is the id of an object: a person is shown these.
	Labels    []string `json:"labels,omitempty"`
	ExpiresAt int64    `json:"expires_at"` // Unix ms
}

// AnswerEvent is the payload of the event assistant.answer.
type AnswerEvent struct {
	Envelope
	QuestionID      string `json:"question_id"`
	Choice          string `json:"choice"`
	OperationID     string `json:"operation_id,omitempty"`
	CloudWorkflowID string `json:"cloud_workflow_id,omitempty"`
	// SpeakerID is how the device calls the voice that answered, as the registry knows the users of its home; "" for one that it
	// does not know.
	SpeakerID string `json:"speaker_id,omitempty"`
}
