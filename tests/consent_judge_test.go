package tests

import (
	"sync"
	"time"

	"errand/deviceio/robot"
	"errand/plan"
)

// dying is held by whoever kills a process that others use too.
var dying sync.Mutex

// consentFor is how long a yes holds, and the slack between the clocks of a test and a robot on one machine.
const consentFor = 2*time.Minute + time.Second

// judge holds what the robot did against what people said: every deletion under one operation that somebody had said yes to, for
// that alarm, not long before, and nobody had touched the alarm since it was asked about.
func (h *consentHistory) judge(v plan.View) {
	ledger, err := h.robot.Control(h.T).Ledger(h.Context(), 0, 0)
	if err != nil {
		h.Fatal(err)
	}
	once := map[string]bool{}
	deleted := map[string]string{} // by operation
	for _, e := range ledger.Effects[h.before:] {
		if e.TaskMethod != "deleteAlarm" {
			continue
		}
		h.sum.mu.Lock()
		h.sum.effect++
		h.sum.mu.Unlock()
		if once[e.OperationID] {
			h.wrong(v, "Law11: %s had a second effect", e.OperationID)
		}
		once[e.OperationID], deleted[e.OperationID] = true, e.TargetID
		if why := h.unjustified(e, ledger.ByHand); why != "" {
			h.wrong(v, "Law16: %s deleted %s: %s", e.OperationID, e.TargetID, why)
		}
	}
	h.truthful(v, deleted)
}

func (h *consentHistory) unjustified(e robot.Effect, byHand []robot.ByHand) (why string) {
	why = "nobody said yes to it"
	for _, yes := range h.yes[e.OperationID] {
		switch {
		case yes.target != e.TargetID:
			why = "the yes was for " + yes.target
		case time.UnixMilli(e.At).After(yes.at.Add(consentFor)):
			why = "the yes was too long ago"
		case touchedBetween(byHand, e.TargetID, yes.revision, e.WorldRevision):
			why = "it was changed by hand after it was asked about"
		default:
			return ""
		}
	}
	return why
}

func touchedBetween(byHand []robot.ByHand, target string, from, to int64) bool {
	for _, b := range byHand {
		if b.TargetID == target && b.WorldRevision > from && b.WorldRevision < to {
			return true
		}
	}
	return false
}

// truthful holds law 20: a step that counts as done was done, and one that was done is not told as if nothing had happened.
func (h *consentHistory) truthful(v plan.View, deleted map[string]string) {
	for _, st := range v.Outcome.Steps {
		_, done := deleted[st.OperationID]
		deletes := st.TaskMethod == "deleteAlarm"
		switch {
		case !deletes:
		case st.Phase == plan.StepCompleted && !done:
			h.wrong(v, "Law20: %s counts as done, and the alarm is there", st.OperationID)
		case done && st.Phase != plan.StepCompleted && st.Phase != plan.StepUnknown && st.Phase != plan.StepContradicted:
			h.wrong(v, "Law20: %s was done, and counts as %s", st.OperationID, st.Phase)
		}
	}
}

func (h *consentHistory) wrong(v plan.View, format string, args ...any) {
	h.Errorf(h.name+": "+format, args...)
	h.Logf("%s did %v and ended %s: %s\n%s", h.name, h.what, v.State, v.Outcome.TTSResponse, told(v))
}
