package lease

import (
	"slices"

	"errand/plan"
)

// State is all a lease knows. It is JSON: it crosses continue-as-new. Step is the only function that makes a new one.
// Times are Unix milliseconds.
type State struct {
	Version  int    `json:"version"`
	DeviceID string `json:"device_id"`
	// At is the time of the last input; it never goes back.
	At int64 `json:"at"`
	// Arrivals numbers requests in the order they came.
	Arrivals int64 `json:"arrivals"`

	Holder *Holder `json:"holder,omitempty"`
	// Queue is in the order of the turns: the first goes next.
	Queue []Waiter `json:"queue,omitempty"`

	// Unsettled are the operations that may still move the device. While there is one, nobody is granted the lease.
	Unsettled []Operation `json:"unsettled,omitempty"`
	// Unlisted says that the device may be moving for a plan whose record cannot be read: it must tell what it runs, and
	// not before this time, since a submit may still be on its way until then. 0 means no such plan.
	Unlisted int64 `json:"unlisted,omitempty"`
	// Quarantine says why, since when and for whom; nil when there is nothing unsettled.
	Quarantine *Quarantine `json:"quarantine,omitempty"`
	Forgotten  []Forgotten `json:"forgotten,omitempty"` // the last ones, oldest first

	Device Device `json:"device"`
	// Wake is the absolute time the shell was last asked to wake us at; 0 means none.
	Wake int64 `json:"wake,omitempty"`
}

// Waiter is a request that waits for its turn.
type Waiter struct {
	plan.LeaseRequest
	N     int64 `json:"n"` // its number among all requests
	Since int64 `json:"since"`
}

// Holder is the plan that may move the device.
type Holder struct {
	Waiter
	GrantedAt int64 `json:"granted_at"`
	// Telling says that the grant is on its way to the plan, Told that it arrived.
	Telling bool `json:"telling,omitempty"`
	Told    bool `json:"told,omitempty"`
	// Checking says that an AskHolder is out. It was asked at CheckedAt, when AskedN requests had come; CheckedN is the
	// AskedN of the last answer that found the plan there.
	Checking  bool  `json:"checking,omitempty"`
	CheckedAt int64 `json:"checked_at"`
	AskedN    int64 `json:"asked_n"`
	CheckedN  int64 `json:"checked_n"`
	// Suspect says that the plan could not be told something: see whether it is still there.
	Suspect bool `json:"suspect,omitempty"`
	// ReplacedBy is the plan for which it was told to stop.
	ReplacedBy string `json:"replaced_by,omitempty"`
}

// Operation is one operation that may still move the device.
type Operation struct {
	ID     string `json:"id"`
	PlanID string `json:"plan_id"`
	Why    string `json:"why"` // why it is not known to be over
	Since  int64  `json:"since"`
	// Out says that a CancelTask or a QueryStatus for it is out.
	Out bool `json:"out,omitempty"`
	// Cancel is the device's word on our cancel; "" means that it must be delivered (again).
	Cancel plan.CancelCase `json:"cancel,omitempty"`
	// Listing says that the device's list was asked for since it left a tombstone.
	Listing bool `json:"listing,omitempty"`
	// CheckAt is when it is looked after next; Asks counts the questions since the last connection.
	CheckAt int64 `json:"check_at"`
	Asks    int   `json:"asks,omitempty"`
}

// Quarantine says why nobody is granted the device.
type Quarantine struct {
	PlanID string `json:"plan_id"` // whose operations they are
	Why    string `json:"why"`
	Since  int64  `json:"since"`
	// HardAt is when it stops being a matter of moments: from then on those who would not wait are refused for it.
	HardAt int64 `json:"hard_at"`
}

// Forgotten is the record of a quarantine that a person ended.
type Forgotten struct {
	By         string   `json:"by"`
	Why        string   `json:"why"`
	At         int64    `json:"at"`
	PlanID     string   `json:"plan_id"`
	Operations []string `json:"operations"`
}

// Device is the part of the state about reaching the device.
type Device struct {
	// Route is how to reach it; nil means that nobody told us yet, or that it is gone.
	Route *plan.Route `json:"route,omitempty"`
	// Seen is the newest connection epoch that was ever told, Refuted the newest that turned out to be gone.
	Seen    int64 `json:"seen,omitempty"`
	Refuted int64 `json:"refuted,omitempty"`
	// Awaiting and Listing say that an AwaitDevice or a ListTasks is out, ListedAt since when; WantList that the device is
	// to be asked for its tasks, from ListAt on.
	Awaiting bool  `json:"awaiting,omitempty"`
	Listing  bool  `json:"listing,omitempty"`
	ListedAt int64 `json:"listed_at,omitempty"`
	WantList bool  `json:"want_list,omitempty"`
	ListAt   int64 `json:"list_at,omitempty"`
}

// New returns the state of a lease that nobody has asked for.
func New(deviceID string) State { return State{Version: StateVersion, DeviceID: deviceID} }

// Idle reports whether nobody wants the device and nothing may still move it.
func (s *State) Idle() bool { return s.Holder == nil && len(s.Queue) == 0 && s.settled() }

// settled reports whether nothing that we know of may still move the device for a plan that is gone.
func (s *State) settled() bool { return len(s.Unsettled) == 0 && s.Unlisted == 0 }

// clone copies what Step may change in place.
func (s State) clone() State {
	s.Queue, s.Unsettled, s.Forgotten = slices.Clone(s.Queue), slices.Clone(s.Unsettled), slices.Clone(s.Forgotten)
	s.Holder, s.Quarantine = copied(s.Holder), copied(s.Quarantine)
	return s
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
