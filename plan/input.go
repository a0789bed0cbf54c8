package plan

import "errand/catalog"

// Input is one thing that can happen to a plan. Step takes any of them in any state.
// Every request command is answered by exactly one input, even when its activity failed; only AwaitDevice, once it is
// withdrawn, is not. An answer to nothing that is out says nothing.
type Input interface{ input() }

// Begin is the first input: take up the plan.
type Begin struct{}

// Planned answers Plan: a document with the catalog slice it uses, or nothing and a sentence why not.
type Planned struct {
	Document *Document      `json:"document,omitempty"`
	Slice    *catalog.Slice `json:"slice,omitempty"`
	// Sentence is what to tell the person when there is no document: an honest "I don't know how".
	Sentence string  `json:"sentence,omitempty"`
	Report   *Report `json:"report,omitempty"`
	// FromModel says that a model wrote the document.
	FromModel bool `json:"from_model,omitempty"`
	// LLMCalls is how many model calls it took.
	LLMCalls int `json:"llm_calls,omitempty"`
	// ForModel says that no routine takes the sentence and a model is to be asked; the rest is for the case that none
	// can be. It is between the two planners: the machine gets the answer of the last one asked.
	ForModel bool `json:"for_model,omitempty"`
	// Notes are for the plan's record: which model was asked, what of its answers was refused, what it was not told.
	Notes []string `json:"notes,omitempty"`
}

// EventName is a name of contract.md §4.
type EventName string

// The names a device may report. COMPLETED and WORKFLOW_STEP_COMPLETED mean the same; the original is kept.
const (
	EventQueued    EventName = "QUEUED"
	EventStarted   EventName = "STARTED"
	EventRunning   EventName = "RUNNING"
	EventProgress  EventName = "PROGRESS"
	EventCompleted EventName = "COMPLETED"
	EventFailed    EventName = "FAILED"
	EventBlocked   EventName = "BLOCKED"
	EventCancelled EventName = "CANCELLED"
	EventTimedOut  EventName = "TIMED_OUT"

	EventStepStarted       EventName = "WORKFLOW_STEP_STARTED"
	EventStepCompleted     EventName = "WORKFLOW_STEP_COMPLETED"
	EventStepFailed        EventName = "WORKFLOW_STEP_FAILED"
	EventWorkflowCompleted EventName = "WORKFLOW_COMPLETED"
	EventWorkflowFailed    EventName = "WORKFLOW_FAILED"
	EventWorkflowCancelled EventName = "WORKFLOW_CANCELLED"
)

// Event is what a device reported about a task, as the gateway passes it on.
// DeviceID comes from the credential, Epoch from the registry's order of the device's boots.
type Event struct {
	EventID     string    `json:"event_id"`
	DeviceID    string    `json:"device_id"`
	Epoch       int64     `json:"epoch"`
	Seq         int64     `json:"seq"`
	Name        EventName `json:"event_name"`
	OperationID string    `json:"operation_id,omitempty"`
	TaskID      string    `json:"task_id,omitempty"`
	TaskMethod  string    `json:"task_method,omitempty"`
	WorkflowID  string    `json:"cloud_workflow_id,omitempty"`
	PlanID      string    `json:"cloud_plan_id,omitempty"`
	StepID      string    `json:"cloud_step_id,omitempty"`
	OutputKey   string    `json:"cloud_output_key,omitempty"`
	Progress    float64   `json:"progress,omitempty"`
	Stage       string    `json:"stage,omitempty"`
	// Timestamp is the device's clock, Unix milliseconds: for people, and to tell observations after it in the same boot.
	Timestamp int64 `json:"timestamp,omitempty"`
	// Result is stripped by the gateway to what some catalog lists, and filtered again by the machine.
	Result           map[string]any `json:"result,omitempty"`
	Report           *Report        `json:"report,omitempty"`
	EffectCount      *int           `json:"effect_count,omitempty"`
	ExecutorRevision string         `json:"executor_revision,omitempty"`
}

// DecisionKind is one of the five (contract.md §7).
type DecisionKind string

// The five decisions.
const (
	DecideRetry  DecisionKind = "retry"
	DecideAsk    DecisionKind = "ask"
	DecideReplan DecisionKind = "replan"
	DecideCancel DecisionKind = "cancel"
	DecideReturn DecisionKind = "return"
)

// Decided answers Decide. An empty or impossible one takes the reason table's default.
type Decided struct {
	Decision    DecisionKind `json:"decision"`
	TTSResponse string       `json:"tts_response,omitempty"`
	// Steps take the place of all that is not frozen (replan); Slice has the capabilities that they use.
	Steps    []StepSpec     `json:"steps,omitempty"`
	Slice    *catalog.Slice `json:"slice,omitempty"`
	Question string         `json:"question,omitempty"`
	Choices  []string       `json:"choices,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	LLMCalls int            `json:"llm_calls,omitempty"`
	// Refused says why Steps are no plan at all, where that was seen before the gate: what the decider wrote could not be read.
	Refused string `json:"refused,omitempty"`
	// Notes are for the plan's record: which model was asked, what it was not told.
	Notes []string `json:"notes,omitempty"`
}

// Observation is what a device saw (contract.md §5). Without RequiresDecision it is recorded, and decides nothing (law 12).
type Observation struct {
	EventID    string  `json:"event_id"`
	DeviceID   string  `json:"device_id"` // from the credential
	Epoch      int64   `json:"epoch,omitempty"`
	Seq        int64   `json:"seq,omitempty"`
	Kind       string  `json:"kind"`
	Confidence float64 `json:"confidence,omitempty"` // 0 to 1; 0 where the device does not say
	Place      string  `json:"place,omitempty"`
	// ObservedAt is the device's clock, Unix milliseconds.
	ObservedAt       int64          `json:"observed_at,omitempty"`
	RequiresDecision bool           `json:"requires_cloud_decision,omitempty"`
	Facts            map[string]any `json:"facts,omitempty"`
}

// Answer is a person's answer to a question.
type Answer struct {
	QuestionID string `json:"question_id"`
	Choice     string `json:"choice"`
	By         string `json:"by"`
	// MayConfirm says that whoever took the answer made sure that the person may consent to what is asked (law 16).
	MayConfirm bool `json:"may_confirm,omitempty"`
}

// CancelRequest is a request to cancel the plan.
type CancelRequest struct {
	By     string `json:"by"`
	Why    string `json:"why,omitempty"`
	Source string `json:"source"` // api, temporal
}

// DeadlinePassed says that the time asked for with SetDeadline has come.
type DeadlinePassed struct{}

// DeviceFound answers AwaitDevice.
type DeviceFound struct {
	Route Route `json:"route"`
}

// DeviceChange tells that the device connected (with a route) or is gone (with the epoch that ended).
type DeviceChange struct {
	Route *Route `json:"route,omitempty"`
	Gone  int64  `json:"gone,omitempty"`
}

// Doubt says that something about an operation arrived that could not be used.
type Doubt struct {
	DeviceID    string `json:"device_id"` // who sent it, from the credential
	OperationID string `json:"operation_id"`
	Why         string `json:"why"`
}

// Pause and Resume hold and release the next submit; a plan resumes when every token is gone.
type Pause struct {
	Token string `json:"token"`
	By    string `json:"by"`
}

// Resume releases one token.
type Resume struct {
	Token string `json:"token"`
	By    string `json:"by"`
}

// Amend appends steps, or with Replace puts them in the place of all that is not frozen.
type Amend struct {
	Steps   []StepSpec     `json:"steps"`
	Slice   *catalog.Slice `json:"slice,omitempty"`
	Replace bool           `json:"replace,omitempty"`
	By      string         `json:"by"`
}

// CancelStep withdraws one step; what depends on it is left out too, the rest goes on.
type CancelStep struct {
	StepID string `json:"step_id"`
	By     string `json:"by"`
	Why    string `json:"why,omitempty"`
}

// Hold keeps the next submit back while a new run of the workflow is about to begin, and lets it go in that run. It is the
// shell's own and nothing that people see: what is out comes back meanwhile.
type Hold struct {
	On bool `json:"on"`
}

func (Hold) input()           {}
func (CancelStep) input()     {}
func (Begin) input()          {}
func (Planned) input()        {}
func (Submitted) input()      {}
func (Event) input()          {}
func (StatusReported) input() {}
func (CancelAnswered) input() {}
func (ContextFetched) input() {}
func (VerifiedResult) input() {}
func (Decided) input()        {}
func (Observation) input()    {}
func (Answer) input()         {}
func (CancelRequest) input()  {}
func (DeadlinePassed) input() {}
func (DeviceFound) input()    {}
func (DeviceChange) input()   {}
func (Doubt) input()          {}
func (Pause) input()          {}
func (Resume) input()         {}
func (Amend) input()          {}
