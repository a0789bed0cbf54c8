package plan

import "errand/catalog"

// Command is one thing the machine wants done. The shell carries it out and, for a request, comes back with one input.
type Command interface{ command() }

// MakePlan asks a planner for a document; answered by Planned.
type MakePlan struct {
	PlanID    string         `json:"plan_id"`
	DeviceID  string         `json:"device_id"`
	Locale    string         `json:"locale,omitempty"`
	Utterance Utterance      `json:"utterance"`
	Context   map[string]any `json:"context,omitempty"`
	// Extends is the plan that a follow-up adds to; nil makes a plan of its own.
	Extends *Extending `json:"extends,omitempty"`
}

// AwaitDevice asks for a route to the device, newer than a refuted one; answered by DeviceFound, however long it takes.
type AwaitDevice struct {
	DeviceID string `json:"device_id"`
	// Newer is the connection epoch the route must exceed; 0 takes any.
	Newer int64 `json:"newer,omitempty"`
}

// StopAwaiting withdraws AwaitDevice: nothing needs the device any more.
type StopAwaiting struct{}

// Submit sends one operation to the device; answered by Submitted. One attempt: the machine owns the retries.
type Submit struct {
	Route       Route  `json:"route"`
	DeviceID    string `json:"device_id"`
	HomeID      string `json:"home_id,omitempty"` // the plan's: see Start.HomeID
	OperationID string `json:"operation_id"`
	PlanID      string `json:"plan_id"`
	StepID      string `json:"step_id"`
	OutputKey   string `json:"output_key,omitempty"`
	Revision    int    `json:"plan_revision"`
	// CapabilityID is for people; TaskMethod, CompletionTarget and Arguments are what the device acts on.
	CapabilityID     string         `json:"capability_id"`
	TaskMethod       string         `json:"task_method"`
	CompletionTarget string         `json:"completion_target"`
	Arguments        map[string]any `json:"arguments"`
	// TimeoutMs bounds the run from its start. TTLMs bounds receipt to start: whoever holds it subtracts the time held.
	TimeoutMs int64 `json:"timeout_ms"`
	TTLMs     int64 `json:"ttl_ms"`
	// Again says that this id was sent before.
	Again         bool     `json:"again,omitempty"`
	Preconditions []string `json:"preconditions,omitempty"`
	// NodeCommand is the command of a plain node that carries it out: the gateway invokes it and reports its result.
	NodeCommand string `json:"node_command,omitempty"`
	// Expect is what the step was prepared for: it is looked at again before anything is sent. nil expects nothing.
	Expect *Expect `json:"expect,omitempty"`
}

// CancelTask asks the device to stop an operation; answered by CancelAnswered.
type CancelTask struct {
	Route       Route  `json:"route"`
	DeviceID    string `json:"device_id"`
	OperationID string `json:"operation_id"`
	TaskID      string `json:"task_id,omitempty"`
	NodeCommand string `json:"node_command,omitempty"`
	Reason      string `json:"reason"`
}

// QueryStatus asks the device how an operation stands; answered by StatusReported.
type QueryStatus struct {
	Route       Route  `json:"route"`
	DeviceID    string `json:"device_id"`
	OperationID string `json:"operation_id"`
	TaskID      string `json:"task_id,omitempty"`
	NodeCommand string `json:"node_command,omitempty"`
	// ReadBack is how to see whether it ran, if nobody remembers it; nil where nothing shows that.
	ReadBack *ReadBack `json:"read_back,omitempty"`
}

// ReadBack looks for what an operation would have left behind.
type ReadBack struct {
	NodeCommand string         `json:"node_command"`
	Params      map[string]any `json:"params,omitempty"`
	// Shows is CEL over args (of the operation) and result (of the read): true means that it ran, false that it did not.
	Shows     string         `json:"shows"`
	Arguments map[string]any `json:"arguments,omitempty"`
}

// FetchContext asks for a device_context.v1; answered by ContextFetched.
type FetchContext struct {
	Route    Route  `json:"route"`
	DeviceID string `json:"device_id"`
}

// Verify looks at the device by another path than the executor's word; answered by VerifiedResult.
type Verify struct {
	Route       Route          `json:"route"`
	DeviceID    string         `json:"device_id"`
	OperationID string         `json:"operation_id"`
	Capability  string         `json:"capability_id"`
	Expression  string         `json:"expression"` // CEL over context, args, result
	Arguments   map[string]any `json:"arguments"`
	Result      map[string]any `json:"result,omitempty"`
	// CompletedAt is the device's clock at completion, Epoch its boot: older periodic observations do not count.
	CompletedAt int64 `json:"completed_at,omitempty"`
	Epoch       int64 `json:"epoch,omitempty"`
}

// Ask puts a question to the person, through the device; its answer comes as an Answer.
type Ask struct {
	Route    *Route   `json:"route,omitempty"`
	DeviceID string   `json:"device_id"`
	HomeID   string   `json:"home_id,omitempty"` // the plan's: see Start.HomeID
	Locale   string   `json:"locale,omitempty"`
	Question Question `json:"question"`
}

// WithdrawQuestion says that a question no longer stands.
type WithdrawQuestion struct {
	QuestionID string `json:"question_id"`
}

// Say tells the person something, once, if the device can be reached.
type Say struct {
	Route    *Route `json:"route,omitempty"`
	DeviceID string `json:"device_id"`
	HomeID   string `json:"home_id,omitempty"` // the plan's: see Start.HomeID
	Text     string `json:"text"`
	Locale   string `json:"locale,omitempty"`
}

// Decide asks the plan's decider; answered by Decided.
type Decide struct {
	Decider  string         `json:"decider"` // the plan's, by name
	Boundary Boundary       `json:"boundary"`
	View     View           `json:"view"`
	Slice    *catalog.Slice `json:"slice,omitempty"`
	// Document is the plan as it stands, the steps of earlier revisions included.
	Document *Document `json:"document,omitempty"`
	// Utterance is what the person said; "" where the plan did not come from a sentence.
	Utterance string `json:"utterance,omitempty"`
	Locale    string `json:"locale,omitempty"`
	// Options are the decisions that could be carried out now. Left is how many the plan may still spend, this one included.
	Options []DecisionKind `json:"options"`
	Left    int            `json:"decisions_left"`
	// Context is the device's, read for this decision; nil where it could not be (Boundary.Unseen).
	Context map[string]any `json:"context,omitempty"`
}

// SetDeadline asks to be woken at a time (Unix ms); it replaces the last one. 0 means no need.
type SetDeadline struct {
	At int64 `json:"at"`
	// Move is what the plan does then, if nothing comes before.
	Move Move `json:"move,omitempty"`
}

// Finish ends the workflow with the outcome. It is always the last command there is.
type Finish struct {
	Outcome Outcome `json:"outcome"`
}

func (MakePlan) command()         {}
func (AwaitDevice) command()      {}
func (StopAwaiting) command()     {}
func (Submit) command()           {}
func (CancelTask) command()       {}
func (QueryStatus) command()      {}
func (FetchContext) command()     {}
func (Verify) command()           {}
func (Ask) command()              {}
func (WithdrawQuestion) command() {}
func (Say) command()              {}
func (Decide) command()           {}
func (SetDeadline) command()      {}
func (Finish) command()           {}
