package plan

// OpPhase is where one operation stands. Ranks order them (design §6).
type OpPhase string

// The phases of an operation, in rising rank.
const (
	OpUnsent    OpPhase = "unsent"    // chosen, or surely not delivered: to be sent under the same id
	OpSent      OpPhase = "sent"      // a submit is out or was, no word yet
	OpAccepted  OpPhase = "accepted"  // rank 1: admitted or queued
	OpRunning   OpPhase = "running"   // rank 2
	OpBlocked   OpPhase = "blocked"   // rank 2
	OpCompleted OpPhase = "completed" // rank 3, as the rest
	OpFailed    OpPhase = "failed"
	OpCancelled OpPhase = "cancelled"
	OpTimedOut  OpPhase = "timed_out"
	OpRefused   OpPhase = "refused" // never admitted: the generation is dead
)

// Operation is one generation of a step: one physical effect at most.
type Operation struct {
	ID         string  `json:"id"`
	Generation int     `json:"generation"`
	Phase      OpPhase `json:"phase"`
	// Lost says that we do not know how it stands now: a question to the device, not a failure.
	Lost bool   `json:"lost,omitempty"`
	Why  string `json:"why,omitempty"` // why it is lost or waits
	// Sending, Asking and Cancelling say that a command for it is out.
	Sending    bool `json:"sending,omitempty"`
	Asking     bool `json:"asking,omitempty"`
	Cancelling bool `json:"cancelling,omitempty"`
	// Loose says that nobody heard what became of a submit: it may still be on its way, whatever the device says now.
	Loose bool `json:"loose,omitempty"`
	// StartBy is when the last submit is too old to start; LooseUntil the same of those that nobody heard of. A device that does
	// not know the operation after that will never take it.
	StartBy    int64 `json:"start_by,omitempty"`
	LooseUntil int64 `json:"loose_until,omitempty"`
	// Untold says that nobody will ever tell what came of it, unless a report is still on its way: a person is asked.
	Untold bool `json:"untold,omitempty"`
	// Cloud says that a worker carries it out, not the device.
	Cloud bool `json:"cloud,omitempty"`
	// Unasked says that it was refused by us, not by the device.
	Unasked bool `json:"unasked,omitempty"`
	// Sends counts submits under this id; CancelSent says that a cancel reached the device's door.
	Sends      int    `json:"sends"`
	CancelSent string `json:"cancel_sent,omitempty"` // the device's answer: a CancelCase
	TaskID     string `json:"task_id,omitempty"`
	// StoreID is the device's store when it was first sent: not_found means "never ran" only from that store.
	StoreID     string `json:"store_id,omitempty"`
	RetentionMs int64  `json:"retention_ms,omitempty"`
	SentAt      int64  `json:"sent_at,omitempty"`
	// CheckAt is when we ask about it next; while it is unsent, when it may be sent again.
	CheckAt int64 `json:"check_at,omitempty"`
	Asks    int   `json:"asks,omitempty"`
	// Epoch and Seq are those of the last event applied at the current rank.
	Epoch    int64     `json:"epoch,omitempty"`
	Seq      int64     `json:"seq,omitempty"`
	Terminal *Event    `json:"terminal,omitempty"` // without its raw result
	Pre      string    `json:"pre_state_revision,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
}

// Progress is how far a task is, for people.
type Progress struct {
	Fraction float64 `json:"fraction"`
	Stage    string  `json:"stage,omitempty"`
}

// Report is a structured reason (contract.md §4): why something did not succeed.
type Report struct {
	Code             string         `json:"reason_code"`
	Params           map[string]any `json:"reason_params,omitempty"`
	RequiresDecision bool           `json:"requires_cloud_decision"`
	Recoverability   string         `json:"recoverability,omitempty"`
	SuggestedAction  string         `json:"suggested_action,omitempty"`
	// Detail is for engineers: what failed, where.
	Detail string `json:"detail,omitempty"`
}

// is reports whether a report has a code; nil has none.
func (r *Report) is(code string) bool { return r != nil && r.Code == code }
