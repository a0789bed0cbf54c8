package explore

import (
	"reflect"
	"slices"
	"testing"

	"errand/plan"
)

// TestLaw08AnyOrder tells the machine everything that a device can report about one operation, in every order there is and
// with one of it told twice, and wants one verdict: what the device's own order says.
func TestLaw08AnyOrder(t *testing.T) {
	stories, orders := 0, 0
	for _, story := range tales() {
		want := verdictOf(t, story)
		if want.phase == "" {
			t.Fatalf("%v: no verdict in the device's own order", names(story))
		}
		stories++
		for again := -1; again < len(story); again++ {
			told := story
			if again >= 0 {
				told = slices.Concat(story, story[again:again+1])
			}
			permute(told, func(order []plan.Event) {
				orders++
				if got := verdictOf(t, order); !reflect.DeepEqual(got, want) {
					t.Fatalf("%v: %+v, in the device's own order %+v", names(order), got, want)
				}
			})
		}
	}
	t.Logf("%d stories in %d orders", stories, orders)
}

// tales are what a device can report about an operation: each with every end.
func tales() (list [][]plan.Event) {
	for _, middle := range [][]plan.EventName{{}, {plan.EventQueued}, {plan.EventQueued, plan.EventStarted}, {plan.EventStarted, plan.EventBlocked},
		{plan.EventQueued, plan.EventStarted, plan.EventBlocked, plan.EventRunning}, {plan.EventStepStarted, plan.EventProgress}} {
		for _, end := range []plan.EventName{plan.EventCompleted, plan.EventStepCompleted, plan.EventFailed, plan.EventStepFailed, plan.EventCancelled, plan.EventTimedOut} {
			var tale []plan.Event
			for i, name := range append(middle[:len(middle):len(middle)], end) {
				tale = append(tale, plan.Event{EventID: "e", DeviceID: device, Epoch: 1, Seq: int64(i) + 1, Name: name, OperationID: "p/a/1", TaskID: "t", Result: good})
			}
			list = append(list, tale)
		}
	}
	return list
}

type verdict struct {
	phase  plan.OpPhase
	step   plan.StepPhase
	result map[string]any
}

// verdictOf runs a plan up to its submit and tells it the events.
func verdictOf(t *testing.T, events []plan.Event) verdict {
	t.Helper()
	sh := &Shape{Document: document(step(0, "move"), step(1, "dock"))}
	sh.ready()
	n := *sh.root
	for _, in := range []plan.Input{plan.Begin{}, plan.LeaseAnswer{Granted: true}, plan.DeviceFound{Route: n.World.route()}} {
		n.take(plan.Step, in)
	}
	for _, ev := range events {
		n.take(plan.Step, ev)
	}
	return verdict{phase: n.verdict("p/a/1"), step: n.State.Steps[0].Phase, result: n.State.Steps[0].Result}
}

func permute(list []plan.Event, visit func([]plan.Event)) {
	order := append([]plan.Event{}, list...)
	var place func(int)
	place = func(k int) {
		if k == len(order) {
			visit(order)
			return
		}
		for i := k; i < len(order); i++ {
			order[k], order[i] = order[i], order[k]
			place(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	place(0)
}

func names(events []plan.Event) (list []plan.EventName) {
	for _, ev := range events {
		list = append(list, ev.Name)
	}
	return list
}
