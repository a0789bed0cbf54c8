package lease

import (
	"fmt"
	"slices"

	"errand/plan"
)

// requested puts a plan in line. The same plan again changes nothing: the holder is told again, one that waits waits on.
func (m *machine) requested(r plan.LeaseRequest) {
	s := &m.s
	if !plan.ValidID(r.PlanID) || r.DeviceID != s.DeviceID {
		return
	}
	if h := s.Holder; h != nil && h.PlanID == r.PlanID {
		m.tellHolder()
		return
	}
	if slices.ContainsFunc(s.Queue, func(w Waiter) bool { return w.PlanID == r.PlanID }) {
		return
	}
	s.Arrivals++
	r.Priority = min(max(r.Priority, 0), maxPriority)
	w := Waiter{LeaseRequest: r, N: s.Arrivals, Since: m.at}
	if r.Policy == plan.LeaseReplace {
		m.replace(w)
	}
	if len(s.Queue) >= maxQueue {
		m.turnAway(w, plan.LeaseAnswer{Holder: s.before(len(s.Queue)), Reason: ReasonBusy})
		return
	}
	turn, _ := slices.BinarySearchFunc(s.Queue, w, func(other, w Waiter) int {
		if other.Priority >= w.Priority {
			return -1
		}
		return 1
	})
	s.Queue = slices.Insert(s.Queue, turn, w)
}

// replace asks the holder and those that wait to stop, so that w goes next. What has a higher priority stays: a wish does
// not cancel a safety stop.
func (m *machine) replace(w Waiter) {
	s := &m.s
	stop := plan.Signal{Cancel: &plan.CancelRequest{By: w.By, Why: "replaced by plan " + w.PlanID, Source: "lease"}}
	if stop.Cancel.By == "" {
		stop.Cancel.By = "plan " + w.PlanID
	}
	if h := s.Holder; h != nil && h.Priority <= w.Priority && h.ReplacedBy == "" {
		h.ReplacedBy = w.PlanID
		m.tell(h.PlanID, stop)
	}
	s.Queue = slices.DeleteFunc(s.Queue, func(other Waiter) bool {
		if other.Priority > w.Priority {
			return false
		}
		m.tell(other.PlanID, stop)
		return true
	})
}

// The reasons of a refusal.
const (
	ReasonBusy        = "DEVICE_BUSY"
	ReasonQuarantined = "DEVICE_QUARANTINED"
)

// refuse answers those that would not wait, as soon as it is certain that they would have to.
func (m *machine) refuse() {
	s := &m.s
	kept := s.Queue[:0]
	for i, w := range s.Queue {
		reason := ""
		if w.Policy == plan.LeaseReject {
			reason = m.refusal(w, len(kept) == 0)
		}
		if reason == "" {
			kept = append(kept, w)
			continue
		}
		m.turnAway(w, plan.LeaseAnswer{Holder: s.before(i), Reason: reason})
	}
	s.Queue = kept
}

// refusal is why a plan that would not wait would have to; "" while it need not, or while that is being found out: the
// holder may be gone, so it is looked at first.
func (m *machine) refusal(w Waiter, first bool) string {
	s := &m.s
	switch {
	case s.quarantined():
		return ReasonQuarantined
	case !first, s.Holder != nil && s.Holder.CheckedN >= w.N:
		return ReasonBusy
	}
	return ""
}

// before names the plan that stands before the i-th in the queue.
func (s *State) before(i int) string {
	switch {
	case s.Holder != nil:
		return s.Holder.PlanID
	case s.Quarantine != nil:
		return s.Quarantine.PlanID
	case i > 0:
		return s.Queue[0].PlanID
	}
	return ""
}

func (m *machine) turnAway(w Waiter, answer plan.LeaseAnswer) {
	m.tell(w.PlanID, plan.Signal{Lease: &answer})
}

// grant gives the lease to the next in line, when nobody has it and the device is known to be still.
func (m *machine) grant() {
	s := &m.s
	if s.Holder != nil || !s.settled() || len(s.Queue) == 0 {
		return
	}
	s.Holder = &Holder{Waiter: s.Queue[0], GrantedAt: m.at}
	s.Queue = s.Queue[1:]
	m.tellHolder()
}

// tellHolder tells the holder that it has the lease. That it takes the news shows that it is there.
func (m *machine) tellHolder() {
	h := m.s.Holder
	if h.Telling {
		return
	}
	h.Telling, h.CheckedAt, h.AskedN = true, m.at, m.s.Arrivals
	m.tell(h.PlanID, plan.Signal{Lease: &plan.LeaseAnswer{Granted: true}})
}

// released is a plan's last word. What it could not tell the end of may still move the device.
func (m *machine) released(r plan.LeaseRelease) {
	s := &m.s
	if r.DeviceID != s.DeviceID {
		return
	}
	if s.Holder != nil && s.Holder.PlanID == r.PlanID {
		s.Holder = nil
	}
	s.Queue = slices.DeleteFunc(s.Queue, func(w Waiter) bool { return w.PlanID == r.PlanID })
	for _, id := range r.Unsettled {
		m.unsettle(id, r.PlanID, "its plan ended without knowing how it ended")
	}
	if n := len(r.Unsettled); n > 0 {
		m.quarantine(r.PlanID, fmt.Sprintf("plan %s ended, and nobody could tell how %s ended", r.PlanID, operations(n)), m.at)
	}
}

func operations(n int) string {
	if n == 1 {
		return "an operation of it"
	}
	return fmt.Sprintf("%d operations of it", n)
}
