package plan

// Receipt is what was really done (contract.md §8).
type Receipt struct {
	OperationID       string         `json:"operation_id"`
	LogicalAction     string         `json:"logical_action"` // capability.operation
	TargetRef         string         `json:"target_ref,omitempty"`
	PreStateRevision  string         `json:"pre_state_revision,omitempty"`
	Confirmation      *Confirmation  `json:"confirmation,omitempty"` // the person's consent it was done under
	EffectCount       *int           `json:"effect_count"`           // as the device reports it, else null
	ObservedPostState map[string]any `json:"observed_post_state,omitempty"`
	ExecutorRevision  string         `json:"executor_revision,omitempty"`
	VerifiedBy        string         `json:"verified_by,omitempty"`
	Verdict           Verdict        `json:"verdict"`
}

// Verdict is what an independent look at the device said.
type Verdict string

// The verdicts: seen to be so, not to be told, seen to be otherwise.
const (
	Verified     Verdict = "verified"
	Unverified   Verdict = "unverified"
	Contradicted Verdict = "contradicted"
)

// Outcome is the result of a plan's workflow.
type Outcome struct {
	PlanID   string        `json:"plan_id"`
	State    Phase         `json:"state"`
	Steps    []StepOutcome `json:"steps"`
	Verified int           `json:"verified_steps"`
	LLMCalls int           `json:"llm_calls"`
	// TTSResponse is what the person is told; it follows from the rest (law 20).
	TTSResponse string  `json:"tts_response"`
	Reason      *Report `json:"reason,omitempty"`
	Cancel      *Latch  `json:"cancel,omitempty"`
	Revision    int     `json:"plan_revision"`
	StartedAt   int64   `json:"started_at"`
	EndedAt     int64   `json:"ended_at"`
}

// StepOutcome is how one step ended. Phase "unknown" says that nobody could tell.
type StepOutcome struct {
	ID          string         `json:"id"`
	Phase       StepPhase      `json:"state"`
	Excused     Excuse         `json:"excused,omitempty"` // why the plan went on without it
	OperationID string         `json:"operation_id,omitempty"`
	EventName   string         `json:"event_name,omitempty"`
	TaskMethod  string         `json:"task_method,omitempty"`
	Result      map[string]any `json:"result,omitempty"`
	Receipt     *Receipt       `json:"receipt,omitempty"`
	Reason      *Report        `json:"reason,omitempty"`
}
