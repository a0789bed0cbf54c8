package plan_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
)

// TestLawsHoldInLongRandomHistories is TestLawsHoldInRandomHistories with plans of up to twenty steps in any order that
// their dependencies allow, and with reports of two other devices, which say they are about this plan.
func TestLawsHoldInLongRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newDecidedSim(t, longPlan(t), rapid.SampledFrom([]string{"", "model"}).Draw(t, "decider"))
		s.device.verdict = rapid.SampledFrom([]plan.Verdict{plan.Verified, plan.Unverified}).Draw(t, "verdict")
		can := happenings(s)
		can["others"] = func(t *rapid.T) {
			step := rapid.SampledFrom(s.state.Document.Steps).Draw(t, "step").ID
			s.take(plan.Event{EventID: "o", DeviceID: rapid.SampledFrom([]string{"robot-2", "robot-3"}).Draw(t, "device"),
				Epoch: 1, Seq: rapid.Int64Range(1, 50).Draw(t, "seq"), OperationID: testPlan + "/" + step + "/1", StepID: step, WorkflowID: testPlan,
				Name: rapid.SampledFrom([]plan.EventName{plan.EventCompleted, plan.EventFailed, plan.EventCancelled, plan.EventBlocked}).Draw(t, "event")})
		}
		// A long plan is to get somewhere: for each thing that happens by lot, some go well.
		can[""] = func(t *rapid.T) { s.goesWell(rapid.IntRange(0, 25).Draw(t, "well")) }
		t.Repeat(can)
		s.take(plan.Resume{Token: "x", By: "kim"})
		judge(t, s, s.settle())
	})
}

// goesWell lets the next n things go as they should.
func (s *sim) goesWell(n int) {
	for range n {
		switch {
		case s.finish != nil:
			return
		case len(s.out) > 0:
			if _, waits := s.out[0].(plan.AwaitDevice); waits && !s.device.online {
				return
			}
			s.answer(0, fine)
		case len(s.events) > 0:
			s.deliver(0, false)
		default:
			s.work()
		}
	}
}

// longPlan is a graph of 8 to 20 steps; every step may depend on any before it, and some bind what an earlier move found.
func longPlan(t *rapid.T) *plan.Document {
	doc := &plan.Document{}
	for i := range rapid.IntRange(8, 20).Draw(t, "steps") {
		capability := rapid.SampledFrom([]string{"move", "dock", "clean", "unlock"}).Draw(t, "capability")
		var after []string
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "after") == 0 {
				after = append(after, doc.Steps[j].ID)
			}
		}
		st := spec(fmt.Sprintf("s%d", i), capability, after, nil)
		if capability == "clean" {
			for _, id := range after {
				if j := indexOf(doc, id); doc.Steps[j].Action.CapabilityID == "move" {
					st.InputFrom = map[string]string{"arrival": id + ".result"}
					break
				}
			}
		}
		st.Optional = rapid.IntRange(0, 5).Draw(t, "optional") == 0
		doc.Steps = append(doc.Steps, st)
	}
	return doc
}

func indexOf(doc *plan.Document, id string) int {
	for i, st := range doc.Steps {
		if st.ID == id {
			return i
		}
	}
	return -1
}
