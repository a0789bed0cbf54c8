package plan

// View is a plan as told to planners, the API and `errand plan show` (contract.md §2, plan_state).
type View struct {
	PlanID   string     `json:"plan_id"`
	DeviceID string     `json:"device_id"`
	State    Phase      `json:"state"`
	Plan     PlanState  `json:"plan_state"`
	Steps    []StepView `json:"steps"`
	Question *Question  `json:"question,omitempty"`
	Cancel   *Latch     `json:"cancel,omitempty"`
	Deadline int64      `json:"deadline"`
	LLMCalls int        `json:"llm_calls"`
	// Journal is the tail of what happened; Entries counts all of it.
	Journal []Entry  `json:"journal,omitempty"`
	Entries int      `json:"entries"`
	Outcome *Outcome `json:"outcome,omitempty"`
}

// PlanState is the contract's plan_state.
type PlanState struct {
	CompletedStepIDs []string              `json:"completed_step_ids"`
	StepResults      map[string]StepResult `json:"step_results"`
	PlanRevision     int                   `json:"plan_revision"`
	WaitingFor       string                `json:"waiting_for"`
}

// StepResult is one entry of step_results. EventName is the device's own word, kept for monitoring.
type StepResult struct {
	Status     string         `json:"status"`
	EventName  string         `json:"event_name"`
	TaskMethod string         `json:"task_method"`
	Result     map[string]any `json:"result"`
}

// StepView is one step for people: where it stands, why it waits and until when.
type StepView struct {
	ID           string `json:"id"`
	CapabilityID string `json:"capability_id"`
	// OutputKey is the step's other name in paths, so that a reader of Bound finds the step a value came from.
	OutputKey   string            `json:"output_key,omitempty"`
	State       StepPhase         `json:"state"`
	OperationID string            `json:"operation_id,omitempty"`
	TaskID      string            `json:"task_id,omitempty"`
	Arguments   map[string]any    `json:"arguments,omitempty"`
	Bound       map[string]string `json:"bound,omitempty"` // slot → the path its value came from
	Why         string            `json:"why,omitempty"`
	Until       int64             `json:"until,omitempty"`
	Reason      *Report           `json:"reason,omitempty"`
	Verdict     Verdict           `json:"verdict,omitempty"`
	Progress    *Progress         `json:"progress,omitempty"`
}
