package lease

import "errand/plan"

// Input is one thing that can happen to a lease. Step takes any of them in any state. Every request command is answered
// by exactly one input, even when its activity failed; only AwaitDevice, once it is withdrawn, is not.
type Input interface{ input() }

// Resumed is the first input of a run: what a run before left out for the device is asked for anew.
type Resumed struct{}

// Requested is a plan's wish to move the device. The same one again changes nothing.
type Requested struct{ plan.LeaseRequest }

// Released is a plan's last word to the lease, whether it holds it, waits for it or never had it.
type Released struct{ plan.LeaseRelease }

// Linked says that the device connected, or that a connection of it ended.
type Linked struct{ plan.DeviceChange }

// Observed is what the device saw. It is handed on to the plan that holds the device, if that must decide about it; else
// having come here is all there is of it.
type Observed struct{ plan.Observation }

// Forget is a person's word that nothing moves the device any more, whatever is not known of it.
type Forget struct {
	By  string `json:"by"`
	Why string `json:"why"`
}

// Told answers Tell.
type Told struct {
	PlanID string `json:"plan_id"`
	Grant  bool   `json:"grant,omitempty"` // what was told was that it has the lease
	// Gone says that there is no such plan, or that it is over. Failed says why it could not be told otherwise.
	Gone   bool   `json:"gone,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// HolderSeen answers AskHolder.
type HolderSeen struct {
	PlanID string `json:"plan_id"`
	Open   bool   `json:"open"`
	// Known says that the record of a plan that is over could be read: Operations are those that it does not know the
	// end of. Otherwise only the device can tell.
	Known      bool     `json:"known,omitempty"`
	Operations []string `json:"operations,omitempty"`
	// How is how the plan closed, for people.
	How string `json:"how,omitempty"`
}

// DeviceFound answers AwaitDevice.
type DeviceFound struct{ plan.DeviceFound }

// Listing says what a question for the device's tasks brought.
type Listing string

// The findings of a question for the device's tasks.
const (
	Listed      Listing = "listed"
	Unlistable  Listing = "unlistable"  // the device cannot tell
	Unreachable Listing = "unreachable" // no answer: ask again
)

// TasksListed answers ListTasks.
type TasksListed struct {
	Listing Listing `json:"listing"`
	// Operations are those of ours that the device runs or has in its queue.
	Operations []string `json:"operations,omitempty"`
	// Partial says that there may be more: the device told what it runs, and not what waits in its queue.
	Partial         bool   `json:"partial,omitempty"`
	ConnectionEpoch int64  `json:"connection_epoch,omitempty"`
	Detail          string `json:"detail,omitempty"`
}

// CancelAnswered answers CancelTask.
type CancelAnswered struct{ plan.CancelAnswered }

// StatusReported answers QueryStatus.
type StatusReported struct{ plan.StatusReported }

// Woken says that the time asked for with SetTimer has come.
type Woken struct{}

func (Resumed) input()        {}
func (Requested) input()      {}
func (Released) input()       {}
func (Linked) input()         {}
func (Observed) input()       {}
func (Forget) input()         {}
func (Told) input()           {}
func (HolderSeen) input()     {}
func (DeviceFound) input()    {}
func (TasksListed) input()    {}
func (CancelAnswered) input() {}
func (StatusReported) input() {}
func (Woken) input()          {}
