package plan

import "errand/catalog"

// Phase is where a plan stands, as told to people and planners (design §4).
type Phase string

// The phases of a plan; the last five are its closes.
const (
	Planning      Phase = "planning"
	Running       Phase = "running"
	WaitingDevice Phase = "waiting_device"
	WaitingUser   Phase = "waiting_user"
	WaitingReplan Phase = "waiting_replan"
	Paused        Phase = "paused"
	Cancelling    Phase = "cancelling"

	Completed Phase = "completed"
	Returned  Phase = "returned"
	Cancelled Phase = "cancelled"
	Failed    Phase = "failed"
	// NotAsExpected is done, but not as the device said: neither a success nor a plain failure.
	NotAsExpected Phase = "not_as_expected"
	Unresolved    Phase = "unresolved" // the deadline passed and the truth about an operation could not be had
)

// Closed reports whether a plan in this phase is over.
func (p Phase) Closed() bool {
	switch p {
	case Completed, Returned, Cancelled, Failed, NotAsExpected, Unresolved:
		return true
	default:
		return false
	}
}

// waits reports whether a plan in this phase stands still until something comes from outside, or time passes.
func (p Phase) waits() bool {
	switch p {
	case WaitingDevice, WaitingUser, WaitingReplan, Paused, Cancelling:
		return true
	default:
		return false
	}
}

// StepPhase is where a step stands.
type StepPhase string

// The phases of a step.
const (
	StepPending    StepPhase = "pending"
	StepReady      StepPhase = "ready"
	StepConfirming StepPhase = "confirming"
	StepSubmitting StepPhase = "submitting"
	StepAccepted   StepPhase = "accepted"
	StepRunning    StepPhase = "running"
	StepBlocked    StepPhase = "blocked"
	StepVerifying  StepPhase = "verifying"
	StepCompleted  StepPhase = "completed"
	StepFailed     StepPhase = "failed"
	StepCancelled  StepPhase = "cancelled"
	// StepContradicted is done, but not as expected: the device said so, and what was seen says otherwise.
	StepContradicted StepPhase = "contradicted"
	StepSkipped      StepPhase = "skipped"
	StepUnknown      StepPhase = "unknown" // contact was lost or a deadline passed: not a failure (law 9)
)

// Terminal reports whether nothing more can happen to a step in this phase.
func (p StepPhase) Terminal() bool {
	switch p {
	case StepCompleted, StepFailed, StepContradicted, StepCancelled, StepSkipped:
		return true
	default:
		return false
	}
}

// State is all a plan knows. It is JSON: it crosses continue-as-new and answers queries.
// Step is the only function that makes a new one. Times are Unix milliseconds.
type State struct {
	Version int   `json:"version"`
	Start   Start `json:"start"`
	// At is the time of the last input; it never goes back.
	At int64 `json:"at"`

	// Begun says that the Begin input was taken. Deadline and StartBy are absolute.
	Begun    bool  `json:"begun"`
	Deadline int64 `json:"deadline"`
	StartBy  int64 `json:"start_by"`

	Document *Document      `json:"document,omitempty"`
	Revision int            `json:"plan_revision"`
	Slice    *catalog.Slice `json:"slice,omitempty"`
	Steps    []StepState    `json:"steps,omitempty"`
	// Planner holds what planning is waiting for.
	Planner PlannerState `json:"planner"`
	// FollowUps wait to be planned, oldest first.
	FollowUps []FollowUp `json:"follow_ups,omitempty"`

	Device   DeviceState `json:"device"`
	Lease    LeaseState  `json:"lease"`
	Held     bool        `json:"held,omitempty"`     // see Hold
	Cancel   *Latch      `json:"cancel,omitempty"`   // a person's: closes the run as Canceled
	Ending   *Ending     `json:"ending,omitempty"`   // a decision's or a deadline's: stops what moves, then closes
	Pauses   []string    `json:"pauses,omitempty"`   // tokens; empty means not paused
	Question *Question   `json:"question,omitempty"` // the one open question
	Asked    int         `json:"asked"`              // questions so far; numbers their ids
	Answers  []Answered  `json:"answers,omitempty"`  // the last ones
	Boundary *Boundary   `json:"boundary,omitempty"` // a decision is due
	Decided  int         `json:"decided"`            // decisions spent
	// Returning says why the rest was given up: the safe return runs, and the plan ends as returned.
	Returning *Report `json:"returning,omitempty"`
	// Proposals are the fingerprints of plans that a decider proposed (law 13).
	Proposals []string `json:"proposals,omitempty"`
	Deciding  bool     `json:"deciding,omitempty"` // a Decide command is out: one at a time
	Looking   bool     `json:"looking,omitempty"`  // a FetchContext for the decider is out
	// Taken is the decision that was taken last, for people.
	Taken *ReplanDecision `json:"replan_decision,omitempty"`

	Seen []SeenEpoch `json:"seen,omitempty"`
	// Wake is the absolute time the shell was last asked to wake us at; 0 means none.
	Wake int64 `json:"wake,omitempty"`

	// Journal is the tail of what happened, oldest first; Entries counts all there ever were.
	Journal  []Entry  `json:"journal,omitempty"`
	Entries  int      `json:"entries"`
	LLMCalls int      `json:"llm_calls"`
	Outcome  *Outcome `json:"outcome,omitempty"`
}

// PlannerState is the part of the state about making the plan.
type PlannerState struct {
	// Context is what may decide something of the device's context (law 17).
	Context map[string]any `json:"context,omitempty"`
	// Fetching and Asked say that a FetchContext or a Plan command is out.
	Fetching bool `json:"fetching,omitempty"`
	Asked    bool `json:"asked,omitempty"`
	Tries    int  `json:"tries,omitempty"`
	// Sentence is the planner's word to the person when it found no plan.
	Sentence string `json:"sentence,omitempty"`
}

// DeviceState is the part of the state about reaching the device.
type DeviceState struct {
	// Route is how to reach it; nil means nobody knows, and it must be found before anything is sent.
	Route *Route `json:"route,omitempty"`
	// Awaiting says that an AwaitDevice command is out, Since when.
	Awaiting bool  `json:"awaiting,omitempty"`
	Since    int64 `json:"since,omitempty"`
	// Refuted is the connection epoch that turned out to be gone: AwaitDevice must find a newer one.
	Refuted int64 `json:"refuted,omitempty"`
	// Late says that the device was away for long: ask before a plan that was on its way moves it again.
	Late bool `json:"late,omitempty"`
}

// Route is where a device can be reached now, and what it declared in its handshake.
type Route struct {
	GatewayID string `json:"gateway_id"`
	// TaskQueue is the queue of the gateway process that holds the socket.
	TaskQueue string `json:"task_queue"`
	// ConnectionEpoch grows with each connection of the device, across gateways.
	ConnectionEpoch int64 `json:"connection_epoch"`
	// BootEpoch is the registry's number for the device's current boot.
	BootEpoch int64 `json:"boot_epoch"`
	// StoreID names the device's dedupe store: "" for a plain node. RetentionMs is how long it remembers.
	StoreID     string  `json:"store_id,omitempty"`
	RetentionMs int64   `json:"retention_ms,omitempty"`
	Profile     Profile `json:"profile"`
}

// Profile is what a device can be relied on for (design §1).
type Profile struct {
	Status bool `json:"status"` // answers for an operation id
	Dedupe bool `json:"dedupe"` // the same operation id again moves nothing
	Outbox bool `json:"outbox"` // events survive a lost connection
}

// StepState is one step's part of the state. Phase is derived from the rest at the end of every Step.
type StepState struct {
	ID    string      `json:"id"`
	Phase StepPhase   `json:"phase"`
	Ops   []Operation `json:"ops,omitempty"` // one for each generation; the last is the live one
	// Result holds the listed fields of the result (law 4), once completed.
	Result map[string]any `json:"result,omitempty"`
	// Arguments are the slots as submitted: the document's with bound values; Bound names the bound ones with their paths.
	Arguments map[string]any    `json:"arguments,omitempty"`
	Bound     map[string]string `json:"bound,omitempty"`
	// Verifying says that a Verify command is out; VerifyBy when we stop waiting for a verdict.
	Verifying bool     `json:"verifying,omitempty"`
	VerifyBy  int64    `json:"verify_by,omitempty"`
	Receipt   *Receipt `json:"receipt,omitempty"`
	Reason    *Report  `json:"reason,omitempty"` // why it failed or is blocked
	// Recovered counts by reason code what the reason table's recovery tried (see recovery.go).
	Recovered map[string]int `json:"recovered,omitempty"`
	// WaitUntil is when a blocked task has had its time to go on by itself.
	WaitUntil int64 `json:"wait_until,omitempty"`
	// Then says what follows once the live operation, which we are stopping, is dead.
	Then Then `json:"then,omitempty"`
	// Excused says why the plan goes on without this step; "" means that it counts.
	Excused Excuse `json:"excused,omitempty"`
	// FromModel says that a model put the step in the plan (law 14).
	FromModel bool `json:"from_model,omitempty"`
	// Preparing says that a Prepare command is out, Prep what it found; Prepared counts how often that was no longer so when
	// it mattered. Target is the object that was chosen.
	Preparing bool         `json:"preparing,omitempty"`
	Prep      *Preparation `json:"preparation,omitempty"`
	Prepared  int          `json:"prepared,omitempty"`
	Target    *Target      `json:"target,omitempty"`
	// Confirming says that a person is asked about it before it is sent; Confirmation is the consent that was given.
	Confirming   bool          `json:"confirming,omitempty"`
	Confirmation *Confirmation `json:"confirmation,omitempty"`
	// Closed is how the step ended without an operation saying so: skipped or cancelled before it was submitted.
	Closed StepPhase `json:"closed,omitempty"`
}

// Then is what follows an operation that is stopped while its plan goes on.
type Then string

// What can follow.
const (
	ThenRetry    Then = "retry"    // a new generation
	ThenReplace  Then = "replace"  // other steps took its place
	ThenWithdraw Then = "withdraw" // a person wants it no more
)

// Excuse is why a plan goes on without a step that is not completed.
type Excuse string

// The excuses.
const (
	ExcuseReplaced  Excuse = "replaced"  // by other steps
	ExcuseSkipped   Excuse = "skipped"   // the plan allows it, or what it depends on is missing
	ExcuseWithdrawn Excuse = "withdrawn" // by a person
)

// Latch records a request to cancel. The first one stands; later ones change nothing.
type Latch struct {
	By     string `json:"by"` // who: a token's owner, "temporal-ui", "device"
	Why    string `json:"why"`
	Source string `json:"source"` // api, temporal
	At     int64  `json:"at"`
	// GiveUpAt is when we stop waiting for the device to speak and close unresolved.
	GiveUpAt int64 `json:"give_up_at"`
}

// Ending records that the plan is on its way to a close that no person asked for.
type Ending struct {
	As       Phase   `json:"as"` // failed, returned or unresolved
	Report   *Report `json:"report,omitempty"`
	At       int64   `json:"at"`
	GiveUpAt int64   `json:"give_up_at"`
}

// Question is what we asked the person, with what happens if nobody answers.
type Question struct {
	ID     string `json:"question_id"`
	Kind   string `json:"kind"` // proceed_late, proceed_unverified, select, confirm, decision, declare_dead
	StepID string `json:"step_id,omitempty"`
	// OperationID is set where the question stands or falls with one operation.
	OperationID string   `json:"operation_id,omitempty"`
	Text        string   `json:"text"`
	Choices     []string `json:"choices"`
	// Options are the objects to choose from, in the order of their choices (select). Consent is the hash of what a yes is
	// for (confirm).
	Options   []Target `json:"options,omitempty"`
	Consent   string   `json:"consent,omitempty"`
	ExpiresAt int64    `json:"expires_at"`
}

// Boundary is the point where meaning changed and a decision is needed (design §1).
type Boundary struct {
	StepID      string `json:"step_id"`
	OperationID string `json:"operation_id,omitempty"`
	Report      Report `json:"report"`
	At          int64  `json:"at"`
	Asked       bool   `json:"asked"` // the Decide command that is out is about this one
	// Observed is what the device saw, where that raised it; the step is the one that was under way, or next, then.
	Observed *Observation `json:"observed,omitempty"`
	// Looked says that the device's context was asked for, so that the decider gets it fresh; Unseen why it could not be had.
	Looked bool   `json:"looked,omitempty"`
	Unseen string `json:"unseen,omitempty"`
	// Refused says what was wrong with the plan that the decider proposed here; it may try once more.
	Refused string `json:"refused,omitempty"`
}

// SeenEpoch remembers the events of one boot: a high-water mark and a window below it (law 7).
type SeenEpoch struct {
	Epoch int64   `json:"epoch"`
	High  int64   `json:"high"`
	Seqs  []int64 `json:"seqs"` // sorted, at most seenWindow of them
}

// Entry is one line of the journal: what `watch` prints.
type Entry struct {
	N    int    `json:"n"` // from 1
	At   int64  `json:"at"`
	Kind string `json:"kind"` // plan, step, event, command, note
	Step string `json:"step,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Text string `json:"text,omitempty"`
	// Until is when the wait that begins here ends by itself, where a plan waits.
	Until int64 `json:"until,omitempty"`
}
