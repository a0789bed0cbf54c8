package plan

// LeasePolicy says what a plan does when its device is another plan's (law 21).
type LeasePolicy string

// The lease policies. "" means queue.
const (
	LeaseQueue   LeasePolicy = "queue"   // wait for its turn
	LeaseReplace LeasePolicy = "replace" // the plan that holds the lease, and those that wait, are cancelled; then it is ours
	LeaseReject  LeasePolicy = "reject"  // the plan fails at once with DEVICE_BUSY
)

// LeaseState is the part of a plan's state about its turn on the device.
type LeaseState struct {
	// Asked says that a RequestLease was given; the lease is to be released in the end, whatever came of it.
	Asked bool `json:"asked,omitempty"`
	// Held says that it is ours; before that, Since is when we asked.
	Held  bool  `json:"held,omitempty"`
	Since int64 `json:"since,omitempty"`
}

// LeaseRequest is one plan's wish to move a device.
type LeaseRequest struct {
	PlanID   string      `json:"plan_id"`
	DeviceID string      `json:"device_id"`
	Policy   LeasePolicy `json:"policy,omitempty"`
	// Priority puts a request before all that wait with a lower one: 0 is a person's wish, 10 is for stop and safety.
	Priority int `json:"priority,omitempty"`
	// By is who asked for the plan, for the record of those it replaces.
	By string `json:"by,omitempty"`
}

// LeaseAnswer is the lease's word to a plan: it has it, or it will never have it.
type LeaseAnswer struct {
	Granted bool `json:"granted"`
	// Holder is the plan that has the lease, where it was refused.
	Holder string `json:"holder,omitempty"`
	Reason string `json:"reason,omitempty"` // DEVICE_BUSY, DEVICE_QUARANTINED
}

// LeaseRelease is a plan's last word to the lease.
type LeaseRelease struct {
	PlanID   string `json:"plan_id"`
	DeviceID string `json:"device_id"`
	// Unsettled are the operations that may still move the device: nobody could tell how they ended.
	Unsettled []string `json:"unsettled,omitempty"`
}

// RequestLease asks for the right to move the device; answered by LeaseAnswer, however long it takes.
type RequestLease struct {
	Request LeaseRequest `json:"request"`
}

// ReleaseLease gives the lease back. It comes once, before Finish, if the lease was ever asked for.
type ReleaseLease struct {
	Release LeaseRelease `json:"release"`
}

func (LeaseAnswer) input()    {}
func (RequestLease) command() {}
func (ReleaseLease) command() {}

// mayMove reports whether it is this plan's turn to move the device (law 21), and asks for it if it is not.
func (m *machine) mayMove() bool {
	l := &m.s.Lease
	if !l.Asked {
		l.Asked, l.Since = true, m.at
		m.do(RequestLease{Request: LeaseRequest{PlanID: m.s.Start.PlanID, DeviceID: m.s.Start.DeviceID,
			Policy: m.s.Start.LeasePolicy, Priority: m.s.Start.Priority}})
	}
	return l.Held
}

func (m *machine) leaseAnswered(in LeaseAnswer) {
	l := &m.s.Lease
	if !l.Asked || l.Held {
		return
	}
	if in.Granted {
		l.Held = true
		return
	}
	report := Report{Code: orText(in.Reason, "DEVICE_BUSY"), Detail: "another plan has the device"}
	if in.Holder != "" {
		report.Params = map[string]any{"holder": in.Holder}
	}
	m.end(Failed, &report)
}

// releaseLease gives the turn back, with what may still move the device.
func (m *machine) releaseLease() {
	if !m.s.Lease.Asked {
		return
	}
	release := LeaseRelease{PlanID: m.s.Start.PlanID, DeviceID: m.s.Start.DeviceID}
	for _, st := range m.s.Steps {
		for _, op := range st.Ops {
			if !op.Phase.Dead() && op.Sends > 0 && !op.Cloud {
				release.Unsettled = append(release.Unsettled, op.ID)
			}
		}
	}
	m.do(ReleaseLease{Release: release})
}
