package explore

import (
	"slices"
	"strings"
	"testing"

	"errand/plan"
)

// broken is a machine that breaks one law. If the exploration does not find it out, the law is not held.
type broken struct {
	law    int
	what   string
	shape  string
	faults int
	step   Machine
}

func shape(t *testing.T, name string) *Shape {
	t.Helper()
	for _, sh := range Shapes() {
		if sh.Name == name {
			return sh
		}
	}
	t.Fatalf("there is no shape %q", name)
	return nil
}

// TestEveryLawIsHeld plants a violation of each law and wants it found, and told in a history that ends with it.
func TestEveryLawIsHeld(t *testing.T) {
	for _, law := range Laws {
		if !slices.ContainsFunc(machines, func(b broken) bool { return b.law == law.Number }) {
			t.Errorf("Law%02d: no machine breaks it", law.Number)
		}
	}
	for _, b := range machines {
		t.Run(b.what, func(t *testing.T) {
			script := Shortest(shape(t, b.shape), b.step, b.faults, b.law)
			want := (&Violation{Law: b.law}).String()
			if !strings.HasPrefix(script, want) {
				t.Fatalf("a machine that breaks %s was not found out", want)
			}
			t.Log(script)
		})
	}
}

var machines = []broken{
	{1, "what a step waits for is forgotten", "two backwards", 0, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		if _, ok := in.(plan.Begin); ok {
			doc := plan.Document{Steps: slices.Clone(s.Start.Document.Steps)}
			for i := range doc.Steps {
				doc.Steps[i].DependsOn = nil
			}
			s.Start.Document = &doc
		}
		return plan.Step(s, at, in)
	}},
	{2, "two steps are started at once", "two independent", 0, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		for _, c := range out {
			if submit, ok := c.(plan.Submit); ok && submit.StepID == "a" {
				submit.StepID, submit.OperationID, submit.CapabilityID = "b", "p/b/1", "unlock"
				out = append(out, submit)
				next.Steps[1].Ops = []plan.Operation{{ID: "p/b/1", Generation: 1, Phase: plan.OpSent, Sending: true}}
			}
		}
		return next, out
	}},
	{3, "a whole result is bound in place of a field", "chain of two", 0, commanding(func(_ plan.State, c plan.Command) plan.Command {
		if submit, ok := c.(plan.Submit); ok && submit.StepID == "b" {
			submit.Arguments = map[string]any{"area": map[string]any{"area": "6"}}
			return submit
		}
		return c
	})},
	{4, "a raw result is kept", "one", 0, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		if ev, ok := in.(plan.Event); ok && ev.Name == plan.EventCompleted {
			next.Steps[0].Result = ev.Result
			out = append(out, plan.Verify{Result: ev.Result})
		}
		return next, out
	}},
	{5, "accepted is taken for completed", "one", 0, told(func(_ plan.State, in plan.Input) plan.Input {
		if answer, ok := in.(plan.Submitted); ok && answer.Delivery == plan.DeliveryAccepted {
			answer.Terminal = &plan.Event{EventID: "x", DeviceID: device, Epoch: 1, Seq: 1, Name: plan.EventCompleted, OperationID: answer.OperationID}
			return answer
		}
		return in
	})},
	{6, "a report counts for the step's last try", "one", 2, told(func(s plan.State, in plan.Input) plan.Input {
		if ev, ok := in.(plan.Event); ok && len(s.Steps) > 0 && len(s.Steps[0].Ops) > 1 {
			ev.OperationID = s.Steps[0].Ops[1].ID
			return ev
		}
		return in
	})},
	{7, "a report that came before is news", "one", 0, told(func(s plan.State, in plan.Input) plan.Input {
		if ev, ok := in.(plan.Event); ok && seen(&s, &ev) {
			return plan.Doubt{DeviceID: device, OperationID: ev.OperationID}
		}
		return in
	})},
	{8, "the last report counts, not the latest", "one, looked at", 0, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		if ev, ok := in.(plan.Event); ok && ev.Name == plan.EventStarted && ev.DeviceID == device && next.Outcome == nil {
			next.Steps = slices.Clone(next.Steps)
			next.Steps[0].Ops = slices.Clone(next.Steps[0].Ops)
			next.Steps[0].Ops[0].Phase = plan.OpRunning
		}
		return next, out
	}},
	{9, "no answer is taken for a no", "one", 1, told(func(_ plan.State, in plan.Input) plan.Input {
		if answer, ok := in.(plan.Submitted); ok && answer.Delivery == plan.DeliveryUnknown {
			answer.Delivery, answer.Report = plan.DeliveryRefused, stop
			return answer
		}
		return in
	})},
	{10, "what is reported late is dropped", "one", 1, told(func(s plan.State, in plan.Input) plan.Input {
		if ev, ok := in.(plan.Event); ok && len(s.Steps) > 0 && len(s.Steps[0].Ops) > 0 && s.Steps[0].Ops[0].Lost && ev.Name.Terminal() {
			ev.Name = plan.EventWorkflowCompleted
			return ev
		}
		return in
	})},
	{11, "no answer is a reason to try anew", "one", 1, told(func(_ plan.State, in plan.Input) plan.Input {
		if answer, ok := in.(plan.Submitted); ok && answer.Delivery == plan.DeliveryUnknown {
			answer.Delivery, answer.Report = plan.DeliveryRefused, again
			return answer
		}
		return in
	})},
	{11, "what may have been done in the cloud is tried anew", "one in the cloud", 1, told(func(_ plan.State, in plan.Input) plan.Input {
		if answer, ok := in.(plan.Performed); ok && answer.Unknown {
			return plan.Performed{OperationID: answer.OperationID, Report: again}
		}
		return in
	})},
	{5, "the device's word counts for a step in the cloud", "one in the cloud", 0, told(func(s plan.State, in plan.Input) plan.Input {
		if ev, ok := in.(plan.Event); ok && len(s.Steps) > 0 && len(s.Steps[0].Ops) > 0 && s.Steps[0].Ops[0].Cloud {
			return plan.Performed{OperationID: ev.OperationID}
		}
		return in
	})},
	{12, "a model is asked where the table has an answer", "one, decided", 1, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		if ev, ok := in.(plan.Event); ok && ev.Name == plan.EventBlocked && next.Boundary == nil {
			out = append(out, plan.Decide{Boundary: plan.Boundary{StepID: "a", OperationID: ev.OperationID, Report: *ev.Report}})
		}
		return next, out
	}},
	{13, "a decision leads to the next decision", "one, decided", 1, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		if _, ok := in.(plan.Decided); ok && s.Boundary != nil {
			return s, []plan.Command{plan.Decide{Boundary: *s.Boundary, View: s.View(), Slice: s.Slice}}
		}
		return plan.Step(s, at, in)
	}},
	{14, "an amendment passes no gate", "one", 0, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		amend, ok := in.(plan.Amend)
		if !ok || s.Document == nil {
			return plan.Step(s, at, in)
		}
		doc := plan.Document{Steps: append(slices.Clone(s.Document.Steps), amend.Steps...)}
		s.Document = &doc
		s.Steps = append(slices.Clone(s.Steps), plan.StepState{ID: amend.Steps[0].ID, Phase: plan.StepPending})
		return plan.Step(s, at, nil)
	}},
	{15, "what the device does not know is taken for stopped", "one", 2, told(func(s plan.State, in plan.Input) plan.Input {
		if answer, ok := in.(plan.CancelAnswered); ok && answer.Case == plan.CancelUnreachable {
			answer.Case, answer.StoreID = plan.CancelTombstoned, s.Steps[0].Ops[0].StoreID
			return answer
		}
		return in
	})},
	{15, "progress puts off the question about what is to stop", "one", 1, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		if _, ok := in.(plan.Event); ok && next.Cancel != nil && next.Outcome == nil {
			next.Steps = slices.Clone(next.Steps)
			next.Steps[0].Ops = slices.Clone(next.Steps[0].Ops)
			if op := &next.Steps[0].Ops[0]; !op.Phase.Dead() {
				op.CheckAt = at + queueMs + runMs
			}
		}
		return next, out
	}},
	{16, "an answer counts whenever it comes", "one", 2, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		if _, ok := in.(plan.Answer); ok && s.Question != nil {
			at = min(at, s.Question.ExpiresAt-1)
		}
		return plan.Step(s, at, in)
	}},
	{16, "a no is taken for a yes", "one, confirmed", 0, told(func(_ plan.State, in plan.Input) plan.Input {
		if answer, ok := in.(plan.Answer); ok && answer.Choice == "no" {
			answer.Choice = "yes"
			return answer
		}
		return in
	})},
	{16, "anybody may consent", "one, confirmed", 1, told(func(_ plan.State, in plan.Input) plan.Input {
		if answer, ok := in.(plan.Answer); ok {
			answer.MayConfirm = true
			return answer
		}
		return in
	})},
	{16, "what starts late starts all the same", "one, confirmed", 1, commanding(func(_ plan.State, c plan.Command) plan.Command {
		if submit, ok := c.(plan.Submit); ok {
			submit.TTLMs = 30 * 60_000
			return submit
		}
		return c
	})},
	{16, "one is confirmed, another is sent", "one, chosen and confirmed", 0, commanding(func(_ plan.State, c plan.Command) plan.Command {
		if submit, ok := c.(plan.Submit); ok {
			submit.Expect = &plan.Expect{Area: "things", Target: &plan.Target{ID: "y", Revision: "1"}}
			return submit
		}
		return c
	})},
	{16, "the next best is taken", "one, chosen", 1, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		if seen, ok := in.(plan.Prepared); ok && len(s.Steps) > 0 && s.Steps[0].Prepared > 0 && len(seen.Candidates) > 0 {
			s.Steps = slices.Clone(s.Steps)
			s.Steps[0].Target = nil
			seen.Candidates = seen.Candidates[:1]
			in = seen
		}
		return plan.Step(s, at, in)
	}},
	{16, "a consent serves twice", "one, confirmed", 1, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		if q := next.Question; q != nil && q.Kind == "confirm" && len(next.Steps[0].Ops) > 1 {
			return plan.Step(next, at, plan.Answer{QuestionID: q.ID, Choice: "yes", By: "nobody", MayConfirm: true})
		}
		return next, out
	}},
	{18, "nobody is asked to wake the plan", "one", 0, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		if next.Device.Awaiting {
			next.Wake = 0
		}
		return next, out
	}},
	{18, "the end of the plan's time moves on", "one", 0, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		if _, ok := in.(plan.DeadlinePassed); ok {
			s.Deadline, s.StartBy = at+60_000, at+60_000
		}
		return plan.Step(s, at, in)
	}},
	{18, "an answer leads to the same question", "one", 1, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		if answer, ok := in.(plan.StatusReported); ok && s.Device.Route != nil {
			return s, []plan.Command{plan.QueryStatus{Route: *s.Device.Route, DeviceID: device, OperationID: answer.OperationID}}
		}
		return plan.Step(s, at, in)
	}},
	{19, "what is unknown is called cancelled", "one", 2, finishing(func(o *plan.Outcome) {
		for i := range o.Steps {
			if o.Steps[i].Phase == plan.StepUnknown {
				o.Steps[i].Phase = plan.StepCancelled
			}
		}
	})},
	{20, "all is called well that ends", "one", 1, finishing(func(o *plan.Outcome) { o.State = plan.Completed })},
	{20, "what nobody could see is called done", "one, looked at", 1, finishing(func(o *plan.Outcome) { o.TTSResponse = strings.ReplaceAll(o.TTSResponse, "?", ".") })},
	{21, "the device is moved out of turn", "one", 0, func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		if next.Lease.Asked && !next.Lease.Held && next.Outcome == nil {
			var more []plan.Command
			next, more = plan.Step(next, at, plan.LeaseAnswer{Granted: true})
			out = append(out, more...)
		}
		return next, out
	}},
}

// told is a machine that is told something else than what happened.
func told(change func(plan.State, plan.Input) plan.Input) Machine {
	return func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		return plan.Step(s, at, change(s, in))
	}
}

// commanding is a machine whose commands are changed.
func commanding(change func(plan.State, plan.Command) plan.Command) Machine {
	return func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		for i := range out {
			out[i] = change(next, out[i])
		}
		return next, out
	}
}

// finishing is a machine whose outcome is changed.
func finishing(change func(*plan.Outcome)) Machine {
	return func(s plan.State, at int64, in plan.Input) (plan.State, []plan.Command) {
		next, out := plan.Step(s, at, in)
		if next.Outcome != nil && s.Outcome == nil {
			o := *next.Outcome
			o.Steps = slices.Clone(o.Steps)
			change(&o)
			next.Outcome = &o
		}
		return next, out
	}
}
