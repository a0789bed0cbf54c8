package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"errand/plan"
)

// breaches holds the record against the laws that every plan has to keep, whatever happens.
func (r planRecord) breaches() (found []string) {
	breach := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	unheard := "" // the operation of whose submit nobody heard anything, by answer or event
	heard := map[string]bool{}
	stopped := false
	over := map[string]plan.EventName{}
	word := map[string]string{} // what the last submit of an operation, or a question about it, came to
	for _, l := range r {
		toDevice := slices.Contains([]string{plan.ActivitySubmit, plan.ActivityStatus, plan.ActivityCancelTask, plan.ActivityVerify}, l.what)
		if toDevice && unheard != "" {
			if l.operation != unheard || l.what == plan.ActivitySubmit || l.what == plan.ActivityVerify {
				breach("Law09: nobody heard what became of the submit of %s, and the next thing was %s", unheard, l)
			}
			unheard = ""
		}
		switch l.what {
		case plan.ActivitySubmit:
			if stopped {
				breach("Law15: %s after a cancel was taken", l)
			}
			if said, before := word[l.operation]; before && said != string(plan.DeliveryUndelivered) && said != string(plan.StatusNotFound) {
				breach("Law11: %s again, when the last word about it was %q", l, said)
			}
			found = append(found, r.tooEarly(l.operation, over)...)
			word[l.operation] = "sent"
		case plan.ActivitySubmit + " answered", plan.ActivityStatus + " answered":
			word[l.operation] = l.said
			if l.what == plan.ActivitySubmit+" answered" && l.said == string(plan.DeliveryUnknown) && !heard[l.operation] {
				unheard = l.operation
			}
			if l.said == string(plan.DeliveryRefused) {
				over[l.operation] = plan.EventFailed
			}
		case "event":
			if heard[l.operation] = true; l.operation == unheard {
				unheard = ""
			}
		case "cancel taken":
			stopped = true
		}
		if l.over != "" && over[l.operation] == "" {
			over[l.operation] = l.over
		}
	}
	return found
}

// tooEarly tells what a submit should have waited for: the step before it, and the end of an earlier try.
func (r planRecord) tooEarly(operation string, over map[string]plan.EventName) (found []string) {
	id, err := plan.ParseOperationID(operation)
	if err != nil {
		return []string{err.Error()}
	}
	if id.Generation > 1 {
		last := id
		last.Generation--
		if end := over[last.String()]; end == "" || end == plan.EventCompleted {
			found = append(found, fmt.Sprintf("Law11: %s was submitted when the try before it was %q", operation, end))
		}
	}
	for i, s := range planSteps[1:] {
		done := false
		for op, end := range over {
			before, err := plan.ParseOperationID(op)
			done = done || err == nil && before.Step == planSteps[i].id && end == plan.EventCompleted
		}
		if s.id == id.Step && !done {
			found = append(found, fmt.Sprintf("Law01: %s was submitted before %s was completed", operation, planSteps[i].id))
		}
	}
	return found
}

// The judge is judged: each breach of a law is found, and what keeps the laws is left alone.
func TestBreachesOfTheRecord(t *testing.T) {
	t.Parallel()
	const one, two, next = "p/move/1", "p/move/2", "p/purify/1"
	submit := func(operation string, said plan.Delivery) planRecord {
		return planRecord{{what: plan.ActivitySubmit, operation: operation}, {what: "submit answered", operation: operation, said: string(said)}}
	}
	ask := func(operation string, said plan.Finding) planRecord {
		return planRecord{{what: plan.ActivityStatus, operation: operation}, {what: "status answered", operation: operation, said: string(said)}}
	}
	event := func(operation string, name plan.EventName) planRecord {
		l := line{what: "event", operation: operation, said: string(name)}
		if name.Terminal() {
			l.over = name
		}
		return planRecord{l}
	}
	verify := planRecord{{what: plan.ActivityVerify, operation: one}}
	cancel := planRecord{{what: "cancel taken"}}
	done := slices.Concat(submit(one, plan.DeliveryAccepted), event(one, plan.EventCompleted))
	for name, c := range map[string]struct {
		record planRecord
		law    string // "" means that there is no breach
	}{
		"all well":                      {slices.Concat(done, verify, submit(next, plan.DeliveryAccepted)), ""},
		"asked first":                   {slices.Concat(submit(one, plan.DeliveryUnknown), ask(one, plan.StatusNotFound), submit(one, plan.DeliveryAccepted)), ""},
		"told of in time":               {slices.Concat(event(one, plan.EventStarted), submit(one, plan.DeliveryUnknown), event(one, plan.EventCompleted), verify), ""},
		"surely not delivered":          {slices.Concat(submit(one, plan.DeliveryUndelivered), submit(one, plan.DeliveryAccepted)), ""},
		"failed, and tried again":       {slices.Concat(submit(one, plan.DeliveryAccepted), event(one, plan.EventFailed), submit(two, plan.DeliveryAccepted)), ""},
		"refused, and tried again":      {slices.Concat(submit(one, plan.DeliveryRefused), submit(two, plan.DeliveryAccepted)), ""},
		"not asked, but verified":       {slices.Concat(submit(one, plan.DeliveryUnknown), verify), "Law09"},
		"asked about another":           {slices.Concat(submit(one, plan.DeliveryUnknown), ask(two, plan.StatusFound)), "Law09"},
		"not asked, but sent again":     {slices.Concat(submit(one, plan.DeliveryUnknown), submit(one, plan.DeliveryAccepted)), "Law09"},
		"sent again though it is there": {slices.Concat(submit(one, plan.DeliveryUnknown), ask(one, plan.StatusFound), submit(one, plan.DeliveryAccepted)), "Law11"},
		"tried again while alive":       {slices.Concat(submit(one, plan.DeliveryAccepted), submit(two, plan.DeliveryAccepted)), "Law11"},
		"tried again when done":         {slices.Concat(done, submit(two, plan.DeliveryAccepted)), "Law11"},
		"too early":                     {slices.Concat(submit(one, plan.DeliveryAccepted), submit(next, plan.DeliveryAccepted)), "Law01"},
		"after one that failed":         {slices.Concat(submit(one, plan.DeliveryAccepted), event(one, plan.EventFailed), submit(next, plan.DeliveryAccepted)), "Law01"},
		"after a cancel":                {slices.Concat(done, cancel, submit(next, plan.DeliveryAccepted)), "Law15"},
	} {
		found := strings.Join(c.record.breaches(), "; ")
		if (c.law == "") != (found == "") || !strings.Contains(found, c.law) {
			t.Errorf("%s: found %q, want %q", name, found, c.law)
		}
	}
}
