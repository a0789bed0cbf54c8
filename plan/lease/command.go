package lease

import "errand/plan"

// Command is one thing the machine wants done. The shell carries it out and, for a request, comes back with one input.
type Command interface{ command() }

// Tell sends a plan its one signal; answered by Told.
type Tell struct {
	PlanID string      `json:"plan_id"`
	Signal plan.Signal `json:"signal"`
}

// grants reports whether the plan is told that it has the lease.
func (t Tell) grants() bool { return t.Signal.Lease != nil && t.Signal.Lease.Granted }

// Answer is the answer to the Tell.
func (t Tell) Answer() Told { return Told{PlanID: t.PlanID, Grant: t.grants()} }

// AskHolder asks whether the plan is still there; answered by HolderSeen.
type AskHolder struct {
	PlanID string `json:"plan_id"`
}

// AwaitDevice asks for a route to the device; answered by DeviceFound, however long it takes.
type AwaitDevice struct{ plan.AwaitDevice }

// StopAwaiting withdraws AwaitDevice.
type StopAwaiting struct{}

// ListTasks asks the device what it runs and what waits in its queue; answered by TasksListed.
type ListTasks struct {
	Route    plan.Route `json:"route"`
	DeviceID string     `json:"device_id"`
}

// CancelTask asks the device to stop an operation; answered by CancelAnswered.
type CancelTask struct{ plan.CancelTask }

// QueryStatus asks the device how an operation stands; answered by StatusReported.
type QueryStatus struct{ plan.QueryStatus }

// SetTimer asks to be woken at a time (Unix ms); it replaces the last one. 0 means no need.
type SetTimer struct {
	At int64 `json:"at"`
}

func (Tell) command()         {}
func (AskHolder) command()    {}
func (AwaitDevice) command()  {}
func (StopAwaiting) command() {}
func (ListTasks) command()    {}
func (CancelTask) command()   {}
func (QueryStatus) command()  {}
func (SetTimer) command()     {}
