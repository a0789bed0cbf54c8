package lease

import (
	"fmt"

	"errand/plan"
)

// check looks whether the holder is still there: at each request that came since it was last seen, and from time to time.
// A plan that was terminated has said no last word.
func (m *machine) check() {
	h := m.s.Holder
	if h == nil || h.Checking || h.Telling {
		return
	}
	due := h.Suspect || m.at >= h.CheckedAt+m.s.checkEvery()
	for _, w := range m.s.Queue {
		due = due || w.N > h.CheckedN
	}
	if !due {
		return
	}
	h.Checking, h.Suspect, h.CheckedAt, h.AskedN = true, false, m.at, m.s.Arrivals
	m.do(AskHolder{PlanID: h.PlanID})
}

func (s *State) checkEvery() int64 {
	if len(s.Queue) > 0 || !s.Holder.Told {
		return checkWanted
	}
	return checkLonely
}

// told takes up whether a plan got our word. A grant that found nobody was never used, and goes to the next.
func (m *machine) told(in Told) {
	h := m.s.Holder
	if h == nil || h.PlanID != in.PlanID {
		return
	}
	switch {
	case in.Grant && in.Gone && !h.Told:
		m.s.Holder = nil
		return
	case in.Grant && !in.Gone && in.Failed == "":
		h.Told, h.CheckedN = true, h.AskedN
	case in.Gone:
		h.Suspect = true
	}
	if in.Grant {
		h.Telling = false
	}
}

// holderSeen takes up whether the holder is there. One that is gone leaves what its record does not know the end of; where
// even that cannot be read, the device must say what it runs.
func (m *machine) holderSeen(in HolderSeen) {
	h := m.s.Holder
	if h == nil || h.PlanID != in.PlanID || !h.Checking {
		return
	}
	h.Checking = false
	if in.Open {
		h.CheckedN = h.AskedN
		if !h.Told {
			m.tellHolder()
		}
		return
	}
	m.s.Holder = nil
	how := in.How
	if how == "" {
		how = "gone"
	}
	for _, id := range in.Operations {
		m.unsettle(id, in.PlanID, "its plan is "+how)
	}
	if !in.Known {
		m.unlist()
	}
	if !in.Known || len(in.Operations) > 0 {
		m.quarantine(in.PlanID, fmt.Sprintf("plan %s is %s without a last word, and the device may still be moving for it", in.PlanID, how), m.at+hardAfter)
	}
}

// observed hands what the device saw to the plan that holds it, if that has a decision to make (law 12). An emergency stop is
// for those that wait too: none of them begins when it is released.
func (m *machine) observed(o plan.Observation) {
	if o.DeviceID != m.s.DeviceID || !o.RequiresDecision {
		return
	}
	if h := m.s.Holder; h != nil {
		m.tell(h.PlanID, plan.Signal{Observation: &o})
	}
	if o.Kind == plan.KindEmergencyStop {
		for _, w := range m.s.Queue {
			m.tell(w.PlanID, plan.Signal{Observation: &o})
		}
	}
}

// quarantine records why nobody is granted the device; the first reason stands. From hardAt on it is no matter of moments.
func (m *machine) quarantine(planID, why string, hardAt int64) {
	if q := m.s.Quarantine; q != nil {
		q.HardAt = min(q.HardAt, hardAt)
		return
	}
	m.s.Quarantine = &Quarantine{PlanID: planID, Why: why, Since: m.at, HardAt: hardAt}
}

// quarantined reports whether it will take a while, or a person, until anybody is granted the device.
func (s *State) quarantined() bool { return s.Quarantine != nil && s.At >= s.Quarantine.HardAt }

// forget is a person's word in place of the device's. It stays on record.
func (m *machine) forget(in Forget) {
	s := &m.s
	if s.settled() {
		return
	}
	record := Forgotten{By: in.By, Why: in.Why, At: m.at, Operations: []string{}}
	if s.Quarantine != nil {
		record.PlanID = s.Quarantine.PlanID
	}
	for _, op := range s.Unsettled {
		record.Operations = append(record.Operations, op.ID)
	}
	if s.Forgotten = append(s.Forgotten, record); len(s.Forgotten) > maxForgotten {
		s.Forgotten = s.Forgotten[1:]
	}
	s.Unsettled, s.Unlisted = nil, 0
}
