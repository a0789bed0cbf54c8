package plan

// What is known of the device once it was called: the answers to Submit, QueryStatus, CancelTask, FetchContext and Verify.

// Delivery says what became of a submit.
type Delivery string

// The ways a submit can end.
const (
	DeliveryAccepted    Delivery = "accepted"
	DeliveryRefused     Delivery = "refused"     // the device answered no: the generation is dead
	DeliveryUndelivered Delivery = "undelivered" // surely never sent: the route is wrong
	DeliveryUnknown     Delivery = "unknown"     // sent, or perhaps sent, and no answer
)

// Submitted answers Submit (the design's "accepted").
type Submitted struct {
	OperationID      string   `json:"operation_id"`
	Delivery         Delivery `json:"delivery"`
	TaskID           string   `json:"task_id,omitempty"`
	TaskState        string   `json:"task_state,omitempty"`
	StoreID          string   `json:"store_id,omitempty"`
	PreStateRevision string   `json:"pre_state_revision,omitempty"`
	Terminal         *Event   `json:"terminal,omitempty"` // stored by the device: the submit was a repeat
	Report           *Report  `json:"report,omitempty"`
	// Unasked says that a refusal is our own, such as an unmet precondition: the device was not asked.
	Unasked bool `json:"unasked,omitempty"`
	// ConnectionEpoch is the route that was tried; an undelivered submit refutes it.
	ConnectionEpoch int64  `json:"connection_epoch,omitempty"`
	Detail          string `json:"detail,omitempty"`
}

// Finding says what a status question brought.
type Finding string

// The findings of a status question.
const (
	StatusFound       Finding = "found"
	StatusNotFound    Finding = "not_found"
	StatusUnreachable Finding = "unreachable" // no answer: ask again
	StatusUnsupported Finding = "unsupported" // the device cannot answer for operation ids
	// StatusForgotten says that nobody will ever tell: a plain node keeps nothing of what it did, and it is at work no more.
	StatusForgotten Finding = "forgotten"
	// StatusNeverRan says that it left nothing behind, by what was read back: it may be sent under its own id.
	StatusNeverRan Finding = "never_ran"
)

// StatusReported answers QueryStatus. It ranks like an event at (Epoch, AsOfSeq).
type StatusReported struct {
	OperationID     string  `json:"operation_id"`
	Finding         Finding `json:"finding"`
	TaskID          string  `json:"task_id,omitempty"`
	Status          OpPhase `json:"status,omitempty"` // accepted, running, blocked or a terminal
	Epoch           int64   `json:"epoch,omitempty"`
	AsOfSeq         int64   `json:"as_of_seq,omitempty"`
	StoreID         string  `json:"store_id,omitempty"`
	Progress        float64 `json:"progress,omitempty"`
	Stage           string  `json:"stage,omitempty"`
	Terminal        *Event  `json:"terminal,omitempty"`
	ConnectionEpoch int64   `json:"connection_epoch,omitempty"`
	Detail          string  `json:"detail,omitempty"`
}

// CancelCase is the device's word on a cancel (contract.md §3), or "unreachable".
type CancelCase string

// The cases of a cancel's answer.
const (
	CancelDone             CancelCase = "cancelled"
	CancelStopping         CancelCase = "cancelling"
	CancelAlreadyCompleted CancelCase = "already_completed"
	CancelAlreadyFailed    CancelCase = "already_failed"
	CancelAlreadyCancelled CancelCase = "already_cancelled"
	CancelTombstoned       CancelCase = "unknown_tombstoned" // never seen, and will be refused if it comes
	CancelRefused          CancelCase = "refused"
	CancelUnreachable      CancelCase = "unreachable"
)

// CancelAnswered answers CancelTask. Only a terminal, or a tombstone in the store it was sent to, closes an operation.
type CancelAnswered struct {
	OperationID     string     `json:"operation_id"`
	Case            CancelCase `json:"case"`
	StoreID         string     `json:"store_id,omitempty"`
	Terminal        *Event     `json:"terminal,omitempty"`
	ConnectionEpoch int64      `json:"connection_epoch,omitempty"`
	Detail          string     `json:"detail,omitempty"`
}

// ContextFetched answers FetchContext with a device_context.v1, or nothing and why.
type ContextFetched struct {
	Context         map[string]any `json:"context,omitempty"`
	ConnectionEpoch int64          `json:"connection_epoch,omitempty"`
	Detail          string         `json:"detail,omitempty"`
}

// VerifiedResult answers Verify.
type VerifiedResult struct {
	OperationID string         `json:"operation_id"`
	Verdict     Verdict        `json:"verdict"`
	Observed    map[string]any `json:"observed_post_state,omitempty"`
	VerifiedBy  string         `json:"verified_by,omitempty"`
	// Unseen says that nobody looked, or that it cannot be told: no verdict, and another look is due. ConnectionEpoch is that of
	// a route that turned out to be gone, if so.
	Unseen          bool   `json:"unseen,omitempty"`
	ConnectionEpoch int64  `json:"connection_epoch,omitempty"`
	Detail          string `json:"detail,omitempty"`
}
