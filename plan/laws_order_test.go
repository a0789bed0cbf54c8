package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"errand/plan"
)

// graph is a random plan without cycles; its steps stand in any order, and each depends on any of those drawn before it.
func graph(t *rapid.T) *plan.Document {
	n := rapid.IntRange(2, 6).Draw(t, "steps")
	doc := &plan.Document{}
	for i := range n {
		st := spec(fmt.Sprintf("s%d", i), rapid.SampledFrom([]string{"move", "clean", "dock"}).Draw(t, "capability"), nil, nil)
		for j := range i {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				st.DependsOn = append(st.DependsOn, fmt.Sprintf("s%d", j))
			}
		}
		doc.Steps = append(doc.Steps, st)
	}
	doc.Steps = rapid.Permutation(doc.Steps).Draw(t, "order")
	return doc
}

// jumble lets the network, the device and time do what they like for a while.
func (s *sim) jumble(t *rapid.T, most int) {
	for range rapid.IntRange(0, most).Draw(t, "moves") {
		switch rapid.IntRange(0, 5).Draw(t, "move") {
		case 0, 1:
			s.answerAny(t)
		case 2:
			s.deliverAny(t)
		case 3:
			s.work()
		case 4:
			s.tick(rapid.Int64Range(1, 90).Draw(t, "seconds") * 1000)
		default:
			if s.device.online = !s.device.online; s.device.online {
				s.device.connection++
			}
		}
	}
}

func (s *sim) answerAny(t *rapid.T) {
	if len(s.out) == 0 {
		return
	}
	i := rapid.IntRange(0, len(s.out)-1).Draw(t, "request")
	if _, waits := s.out[i].(plan.AwaitDevice); !waits || s.device.online {
		s.answer(i, how(rapid.IntRange(int(fine), int(late)).Draw(t, "how")))
	}
}

func (s *sim) deliverAny(t *rapid.T) {
	if len(s.events) > 0 && s.finish == nil {
		s.deliver(rapid.IntRange(0, len(s.events)-1).Draw(t, "event"), rapid.Bool().Draw(t, "again"))
	}
}

// In any graph, whatever the network does, no step is sent to the device, and none takes effect there, before all that it
// depends on is completed.
func TestLaw01NoStepBeforeWhatItDependsOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := graph(t)
		s := newSim(t, doc)
		s.jumble(t, 40)
		s.settle() // checkSubmits looks at each submit on the way
		for _, st := range doc.Steps {
			at := slices.Index(s.device.effects, "p-1/"+st.ID+"/1")
			for _, id := range st.DependsOn {
				if before := slices.Index(s.device.effects, "p-1/"+id+"/1"); at >= 0 && (before < 0 || before > at) {
					t.Fatalf("effects %v: %s depends on %s", s.device.effects, st.ID, id)
				}
			}
		}
	})
}

// In any graph the device never has two operations of the plan that can still move, and of the steps that are ready the
// first in plan order goes.
func TestLaw02TheFirstReadyAndOneAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := graph(t)
		s := newSim(t, doc)
		for range rapid.IntRange(0, 60).Draw(t, "moves") {
			s.jumble(t, 1)
			if len(s.device.queue) > 1 {
				t.Fatalf("the device has %v", s.device.queue)
			}
		}
		s.settle()
		if want := firstReady(doc)[:len(s.order)]; !slices.Equal(s.order, want) {
			t.Fatalf("sent in the order %v, want %v", s.order, want)
		}
	})
}

// firstReady is the order in which the steps of a plan go: time after time the first whose dependencies went.
func firstReady(doc *plan.Document) (order []string) {
	for range doc.Steps {
		next := slices.IndexFunc(doc.Steps, func(st plan.StepSpec) bool {
			return !slices.Contains(order, st.ID) &&
				!slices.ContainsFunc(st.DependsOn, func(id string) bool { return !slices.Contains(order, id) })
		})
		order = append(order, doc.Steps[next].ID)
	}
	return order
}
