package lease

import "errand/plan"

// Standing is where a lease stands, in a word.
type Standing string

// The standings of a lease.
const (
	Free        Standing = "free"
	Held        Standing = "held"
	Settling    Standing = "settling"    // nobody has it: the device is being brought to a standstill
	Quarantined Standing = "quarantined" // nobody is granted it until the device, or a person, says that nothing moves it
)

// View is the lease as told to people: the API, the command line and Temporal's UI.
type View struct {
	DeviceID string    `json:"device_id"`
	State    Standing  `json:"state"`
	Holder   *HoldView `json:"holder,omitempty"`
	// Queue is in the order of the turns.
	Queue      []WaitView      `json:"queue"`
	Quarantine *QuarantineView `json:"quarantine,omitempty"`
	// Forgotten is the record of quarantines that a person ended, oldest first.
	Forgotten []Forgotten `json:"forgotten,omitempty"`
}

// WaitView is a plan that waits for its turn. Times are Unix milliseconds.
type WaitView struct {
	PlanID   string           `json:"plan_id"`
	Since    int64            `json:"since"`
	Policy   plan.LeasePolicy `json:"policy"`
	Priority int              `json:"priority"`
	By       string           `json:"by,omitempty"`
}

// HoldView is the plan that may move the device; Since is when it was granted.
type HoldView struct {
	WaitView
	ReplacedBy string `json:"replaced_by,omitempty"`
}

// QuarantineView says why nobody is granted the device.
type QuarantineView struct {
	PlanID string `json:"plan_id"`
	Why    string `json:"why"`
	Since  int64  `json:"since"`
	// Operations are those that may still move the device. None means that the device must say what it runs.
	Operations []OperationView `json:"operations"`
	WaitsFor   string          `json:"waits_for"`
}

// OperationView is one operation that may still move the device, and the device's word on its cancel.
type OperationView struct {
	ID     string          `json:"operation_id"`
	PlanID string          `json:"plan_id"`
	Why    string          `json:"why"`
	Since  int64           `json:"since"`
	Cancel plan.CancelCase `json:"cancel,omitempty"`
	Asked  int             `json:"asked"`
}

// View tells how the lease stands.
func (s *State) View() View {
	v := View{DeviceID: s.DeviceID, State: s.standing(), Queue: []WaitView{}, Forgotten: s.Forgotten}
	if h := s.Holder; h != nil {
		v.Holder = &HoldView{WaitView: h.view(h.GrantedAt), ReplacedBy: h.ReplacedBy}
	}
	for _, w := range s.Queue {
		v.Queue = append(v.Queue, w.view(w.Since))
	}
	if q := s.Quarantine; q != nil {
		v.Quarantine = &QuarantineView{PlanID: q.PlanID, Why: q.Why, Since: q.Since, Operations: []OperationView{}, WaitsFor: s.waitsFor()}
		for _, op := range s.Unsettled {
			v.Quarantine.Operations = append(v.Quarantine.Operations,
				OperationView{ID: op.ID, PlanID: op.PlanID, Why: op.Why, Since: op.Since, Cancel: op.Cancel, Asked: op.Asks})
		}
	}
	return v
}

func (w Waiter) view(since int64) WaitView {
	policy := w.Policy
	if policy == "" {
		policy = plan.LeaseQueue
	}
	return WaitView{PlanID: w.PlanID, Since: since, Policy: policy, Priority: w.Priority, By: w.By}
}

func (s *State) standing() Standing {
	switch {
	case s.quarantined():
		return Quarantined
	case s.Holder != nil:
		return Held
	case s.Quarantine != nil:
		return Settling
	}
	return Free
}

// waitsFor says in a few words what must happen for the quarantine to end.
func (s *State) waitsFor() string {
	switch {
	case s.Device.Route == nil:
		return "the device to connect, or a person to forget it"
	case s.Unlisted > 0 && !s.Device.WantList && !s.Device.Listing:
		return "a person: the device cannot say what it runs"
	case s.Unlisted > 0:
		return "the device to say what it runs"
	}
	return "the device to say that it is over"
}
