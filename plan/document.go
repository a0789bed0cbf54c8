package plan

import "errand/catalog"

// Document is a plan as a planner writes it (contract.md §2): steps, their order and the data between them.
type Document struct {
	SelectedRoutes []string   `json:"selected_routes,omitempty"`
	DeviceID       string     `json:"device_id,omitempty"`
	Steps          []StepSpec `json:"steps"`
}

// StepSpec is one capability operation with its arguments.
//
// DependsOn is order; OutputKey with InputFrom is data. They are different contracts: a source of data must be
// a dependency too, direct or through others.
type StepSpec struct {
	ID     string `json:"id"`
	Route  string `json:"route,omitempty"`
	Action Action `json:"action"`
	// DependsOn lists steps that must be completed first.
	DependsOn []string `json:"depends_on,omitempty"`
	// OutputKey is another name for this step in paths; "" means only its id.
	OutputKey string `json:"output_key,omitempty"`
	// InputFrom maps a slot to a path "<output_key or step id>.result[.<field>]".
	InputFrom map[string]string `json:"input_from,omitempty"`
	// Optional lets the plan go on without this step when it fails; what depends on it is left out too.
	Optional bool `json:"optional,omitempty"`
	// ExecutionTarget is "device" (the default) or "cloud".
	ExecutionTarget string `json:"execution_target,omitempty"`
	// WaitPolicy is "completed" (the default); the rest is reserved.
	WaitPolicy string `json:"wait_policy,omitempty"`

	// Reserved, refused with a clear fault for now (design §6).
	DispatchGroup string `json:"dispatch_group,omitempty"`
	DeviceID      string `json:"device_id,omitempty"`
}

// Action names what a step does.
type Action struct {
	CapabilityID string         `json:"capability_id"`
	OperationID  string         `json:"operation_id"`
	Arguments    map[string]any `json:"arguments,omitempty"`
}

// Start is the input of a plan's workflow: who asked for what, on which device, and how long it may take.
// Times are Unix milliseconds.
type Start struct {
	PlanID   string `json:"plan_id"`
	DeviceID string `json:"device_id"`
	// HomeID is whose plan it is: the home that the device was in when it was asked for (HomeOf). It never changes: the device of
	// another home does nothing for it, says nothing and asks nothing.
	HomeID string `json:"home_id,omitempty"`
	// DeviceName is what people call the device; for people only.
	DeviceName string `json:"device_name,omitempty"`
	Locale     string `json:"locale,omitempty"`
	// AskedAt is when the person spoke; DeadlineMs and StartByMs count from it.
	AskedAt int64 `json:"asked_at"`
	// DeadlineMs bounds the whole plan; 0 means the default of 1 hour.
	DeadlineMs int64 `json:"deadline_ms,omitempty"`
	// StartByMs bounds the first movement; 0 means the default of 5 minutes.
	StartByMs int64 `json:"start_by_ms,omitempty"`
	// AnswerMs is how long a question stands; 0 means the default of 2 minutes. No answer by then is no.
	AnswerMs int64 `json:"answer_ms,omitempty"`
	// LeasePolicy says what happens when the device is another plan's; Priority puts this one before others that wait.
	LeasePolicy LeasePolicy `json:"lease_policy,omitempty"`
	Priority    int         `json:"priority,omitempty"`
	// Decider names who decides at a boundary; "" means the reason table alone.
	Decider string `json:"decider,omitempty"`
	// RenewAfter is how many events of Temporal's history one run of the workflow may have before the plan goes on in a
	// new one; 0 means the default of 4000.
	RenewAfter int `json:"renew_after,omitempty"`
	// Saw is what the device saw, without its facts, where a watch started the plan. Told again it changes nothing (law 7).
	Saw *Observation `json:"saw,omitempty"`
	// Carried is what a new run of the same plan goes on with; the starter leaves it out.
	Carried *Carried `json:"carried,omitempty"`
	// Utterance asks a planner for the plan. Otherwise Document and Slice are the plan.
	Utterance *Utterance     `json:"utterance,omitempty"`
	Document  *Document      `json:"document,omitempty"`
	Slice     *catalog.Slice `json:"slice,omitempty"`
}

// Carried is what crosses from one run of a plan's workflow to the next.
type Carried struct {
	State State `json:"state"`
	// Updates are the last update ids that were answered, with their answers: the same request again is answered again.
	Updates []CarriedUpdate `json:"updates,omitempty"`
}

// CarriedUpdate is one answered request.
type CarriedUpdate struct {
	ID     string `json:"id"`
	Answer Phase  `json:"answer"`
}

// Utterance is what a person said, with what is known about the moment (contract.md §1).
type Utterance struct {
	Text      string `json:"recognized_text"`
	SessionID string `json:"session_id,omitempty"`
	// DeviceContext is the device_context.v1 that came with it, if any.
	DeviceContext map[string]any `json:"device_context,omitempty"`
}
