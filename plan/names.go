package plan

import "errors"

// ErrNotConnected means that surely nothing was sent: nobody here holds a socket of the device at the route's
// connection epoch. Any other error about a sent command means that the device may have received it.
var ErrNotConnected = errors.New("the device is not connected here: find its route again")

// Names that travel between processes: a Temporal message is found by its name, so each is written once, here.
const (
	// WorkflowType is the type of the workflow that carries out one plan. Its id is the plan's id.
	WorkflowType = "PlanWorkflow"
	// DeviceWorkflowType is the type of the workflow that holds one device's lease; its id is DeviceWorkflowID.
	DeviceWorkflowType = "DeviceWorkflow"
	// TaskQueue is polled by every worker. GatewaysTaskQueue is polled by every gateway.
	TaskQueue         = "errand"
	GatewaysTaskQueue = "deviceio"

	// SignalName is the one signal of a plan; its payload is a Signal. One name, since order is lost across names.
	SignalName = "device"
	// QueryView answers with the plan's View.
	QueryView = "plan"
	// Updates take a CancelRequest, an Answer, a Pause, a Resume, an Amend, a CancelStep and a FollowUp.
	UpdateCancel     = "cancel"
	UpdateAnswer     = "answer"
	UpdatePause      = "pause"
	UpdateResume     = "resume"
	UpdateAmend      = "amend"
	UpdateCancelStep = "cancel_step"
	UpdateFollowUp   = "follow_up"

	// Activities on a worker's queue.
	ActivityPlan         = "plan"          // routines alone
	ActivityPlanByModel  = "plan_by_model" // asks a model what no routine takes
	ActivityDecide       = "decide"
	ActivityRequestLease = "request_lease" // takes a LeaseRequest
	ActivityReleaseLease = "release_lease" // takes a LeaseRelease
	ActivityPerform      = "perform"       // takes a Perform
	// Activities on the gateways' common queue.
	ActivityAwaitDevice = "await_device"
	// Activities on the queue of the gateway that holds the socket (Route.TaskQueue).
	ActivitySubmit     = "submit"
	ActivityCancelTask = "cancel_task"
	ActivityStatus     = "status"
	ActivityContext    = "context"
	ActivityPrepare    = "prepare"
	ActivityVerify     = "verify"
	ActivitySay        = "say"
	ActivityAsk        = "ask"

	// The deciders that every worker knows (Start.Decider).
	DeciderModel = "model" // a language model
	DeciderTable = "table" // the catalog's reason table

	// Search attributes, all keywords. None ever holds personal text.
	AttributeDevice = "ErrandDevice"
	AttributeState  = "ErrandState"
	AttributeStep   = "ErrandStep"
	AttributeReason = "ErrandReason"
	AttributeHome   = "ErrandHome" // a plan's home; plans from before there were homes have none
)

// SearchAttributes lists the keyword attributes a Temporal namespace needs.
func SearchAttributes() []string {
	return []string{AttributeDevice, AttributeState, AttributeStep, AttributeReason, AttributeHome}
}

// Signal is the envelope of the one signal: exactly one field is set.
type Signal struct {
	Event  *Event        `json:"event,omitempty"`
	Device *DeviceChange `json:"device,omitempty"`
	// Doubt says that something about an operation arrived that could not be used: ask the device.
	Doubt *Doubt `json:"doubt,omitempty"`
	// Observation is what the device saw.
	Observation *Observation `json:"observation,omitempty"`
	// Answer is a person's answer that came through the device.
	Answer *Answer `json:"answer,omitempty"`
	// Lease is the device's lease speaking.
	Lease *LeaseAnswer `json:"lease,omitempty"`
	// Renew asks for a new run of the workflow, as a long history does: for operators and tests.
	Renew bool `json:"renew,omitempty"`
	// Cancel is a request from within: a plan that replaces this one.
	Cancel *CancelRequest `json:"cancel,omitempty"`
}

// DeviceWorkflowID is the id of the workflow that holds a device's lease.
func DeviceWorkflowID(deviceID string) string { return "device:" + deviceID }
