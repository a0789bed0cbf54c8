package lease

import (
	"errors"

	"errand/plan"
)

// ErrCannotTell means that a device cannot say what it runs, however often it is asked.
var ErrCannotTell = errors.New("the device cannot say what it runs")

// Names that travel between processes.
const (
	// SignalName is the one signal of a DeviceWorkflow; its payload is a Signal. One name, since order is lost across names.
	SignalName = "lease"
	// QueryView answers with the lease's View.
	QueryView = "lease"

	// ActivityAskHolder is on a worker's queue; takes an AskHolder, answers HolderSeen.
	ActivityAskHolder = "ask_holder"
	// ActivityTasks is on the queue of the gateway that holds the socket; takes a ListTasks, answers TasksListed.
	ActivityTasks = "tasks"
)

// Signal is the envelope of the one signal: exactly one field is set.
type Signal struct {
	Request *plan.LeaseRequest `json:"request,omitempty"`
	Release *plan.LeaseRelease `json:"release,omitempty"`
	// Link says that the device connected, or that a connection of it ended.
	Link   *plan.DeviceChange `json:"link,omitempty"`
	Forget *Forget            `json:"forget,omitempty"`
	// Observation is what the device saw: it is for the plan that holds the device.
	Observation *plan.Observation `json:"observation,omitempty"`
}

// Input is what the signal says; nil for an empty one.
func (s Signal) Input() Input {
	switch {
	case s.Request != nil:
		return Requested{*s.Request}
	case s.Release != nil:
		return Released{*s.Release}
	case s.Link != nil:
		return Linked{*s.Link}
	case s.Forget != nil:
		return *s.Forget
	case s.Observation != nil:
		return Observed{*s.Observation}
	}
	return nil
}

// Start is the input of a DeviceWorkflow. State, and the signals that it did not take, are set by a run that continues as new.
type Start struct {
	DeviceID string   `json:"device_id"`
	State    *State   `json:"state,omitempty"`
	Pending  []Signal `json:"pending,omitempty"`
}
