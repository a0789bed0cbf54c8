package plan

import "fmt"

// observedCode is the reason code of a boundary that was raised by what a device saw.
const observedCode = "OBSERVED"

// KindEmergencyStop is the kind of an observation by which a gateway tells that the device was stopped: it is no sight, and
// nobody decides about it. EmergencyStop is the reason with which it ends a plan.
const (
	KindEmergencyStop = "emergency_stop"
	EmergencyStop     = "EMERGENCY_STOP"
)

// observed takes what the device saw. It becomes a boundary only if the device says that somebody must decide, somebody can,
// and nothing else is being decided: under the plan's one budget (laws 12 and 13). Otherwise it is on record.
//
// What is under way goes on meanwhile, and nothing new is sent until it is decided.
func (m *machine) observed(in Observation) {
	if in.DeviceID != m.s.Start.DeviceID || (in.Seq > 0 && m.s.seen(in.Epoch, in.Seq)) {
		return
	}
	if in.Kind == KindEmergencyStop {
		m.emergency(in)
		return
	}
	what := in.words()
	i := m.s.concerned()
	switch {
	case !in.RequiresDecision:
		m.note("", what)
	case i < 0 || m.stopping():
		m.note("", what+"; there is nothing left to decide")
	case m.s.Boundary != nil || m.s.Question != nil:
		m.note("", what+"; something else is being decided")
	case m.s.Start.Decider == "" || m.s.Decided >= maxDecisions:
		m.note("", what+"; there is nobody to decide about it")
	default:
		report := Report{Code: observedCode, RequiresDecision: true, Params: map[string]any{"kind": in.Kind},
			Detail: what + sure(in.Confidence)}
		m.raise(i, "", report)
		m.s.Boundary.Observed = &in
	}
}

// emergency ends a plan whose device was stopped. What the device does for it is stopped as by any end, and nothing of it
// begins again when the stop is released. A stop from before the plan was asked for is not about it.
func (m *machine) emergency(in Observation) {
	who, _ := in.Facts["by"].(string)
	why, _ := in.Facts["why"].(string)
	what := "the device was stopped by " + colon(orText(who, "its emergency stop"), why)
	if in.ObservedAt > 0 && in.ObservedAt < m.s.Start.AskedAt {
		m.note("", what+", before this plan was asked for")
		return
	}
	m.note("", what)
	m.end(Failed, &Report{Code: EmergencyStop, Detail: what})
}

func (o Observation) words() string { return "the device saw " + colon(o.Kind, o.Place) }

func sure(confidence float64) string {
	if confidence == 0 {
		return ""
	}
	return fmt.Sprintf(", with confidence %.2f", confidence)
}

// concerned is the step that something seen now is about: the one in flight, else the first that is not over; -1 for none.
func (s *State) concerned() int {
	if i := s.current(); i >= 0 || s.Document == nil {
		return i
	}
	for i := range s.Steps {
		if st := &s.Steps[i]; !st.done() && st.alive() {
			return i
		}
	}
	return -1
}
