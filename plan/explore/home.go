package explore

import (
	"slices"

	"errand/plan"
)

// The home of the shapes that act on an object: two objects, of which a person at the device may change or take away one at
// any moment. The device keeps its side of the contract: it refuses an object that is not as the submit expects, when it is
// asked and again when it begins.

// objects is how many there are.
const objects = 2

// gone is the revision of an object that is no more.
const gone = int8(0)

// newest is the last revision: an object changes so often at most.
const newest = int8(3)

var (
	objectIDs = [objects]string{"x", "y"}
	revisions = [newest + 1]string{"", "1", "2", "3"}
)

// Object is one object as an operation expects it; the zero value is none.
type Object struct{ Number, Revision int8 }

// Consent is what a person agreed to, as the world remembers it: one operation on one object, until a time. Pick is a choice
// of an object without more, by a person or because it was the only one.
type Consent struct {
	Op     Op
	Object Object
	Until  int64
}

// Pick is an object that was singled out for a step.
type Pick struct {
	Step   int8
	Object Object
}

// consentFor is how long a yes holds (design §5, law 16).
const consentFor = int64(120_000)

// candidates is what there is, as the device tells it.
func (w *World) candidates() []plan.Target {
	var found []plan.Target
	for i, revision := range w.Revisions {
		if revision != gone {
			found = append(found, plan.Target{ID: objectIDs[i], Revision: revisions[revision], Label: objectIDs[i]})
		}
	}
	return found
}

// objectOf is a target in numbers.
func objectOf(t *plan.Target) Object {
	if t == nil {
		return Object{}
	}
	return Object{Number: int8(slices.Index(objectIDs[:], t.ID)) + 1, Revision: int8(slices.Index(revisions[:], t.Revision))}
}

// stands reports whether an object is as somebody expects it. Nothing expects nothing.
func (w *World) stands(o Object) bool {
	return o.Number == 0 || (o.Number <= objects && o.Revision != gone && w.Revisions[o.Number-1] == o.Revision)
}

// state is the version of what a confirmation without an object is bound to.
func (w *World) state() string { return revisions[w.Revisions[0]] }

// met reports whether what a submit expects is still so, where its sender looks.
func (w *World) met(e *plan.Expect) bool {
	return e == nil || (w.stands(objectOf(e.Target)) && (len(e.Binds) == 0 || e.StateVersion == w.state()))
}

func (w *World) replyPrepare(c plan.Prepare, how int8) plan.Input {
	answer := plan.Prepared{OperationID: c.OperationID, ConnectionEpoch: c.Route.ConnectionEpoch}
	switch how {
	case undelivered:
		answer.Unseen = true
	case refuseStop:
		answer.Report = stop
	default:
		if c.Object != nil {
			answer.Candidates = w.candidates()
		}
		if len(c.Binds) > 0 {
			answer.StateVersion = w.state()
		}
	}
	return answer
}

// singled remembers that the first look found one object only. What is left after something was chosen is nobody's choice.
func (w *World) singled(in plan.Prepared) {
	step := opOf(in.OperationID).Step
	before := slices.ContainsFunc(w.Picks, func(p Pick) bool { return p.Step == step })
	if len(in.Candidates) == 1 && !before {
		w.pick(step, objectOf(&in.Candidates[0]))
	}
}

func (w *World) pick(step int8, o Object) {
	if p := (Pick{step, o}); !slices.Contains(w.Picks, p) {
		w.Picks = added(w.Picks, p)
	}
}

// heard remembers what a person said, by what was asked: the machine's own record of it is not looked at.
func (n *Node) heard(in plan.Answer) {
	w, q := &n.World, n.State.Question
	op := opOf(q.OperationID)
	switch {
	case !in.MayConfirm && q.Kind == "confirm":
	case q.Kind == "confirm" && in.Choice == "yes":
		i := n.place(q.StepID)
		w.Consents = added(w.Consents, Consent{Op: op, Object: objectOf(n.State.Steps[i].Target), Until: w.Now + consentFor})
	case q.Kind == "select":
		for i := range q.Options {
			if q.Options[i].ID == in.Choice {
				w.pick(op.Step, objectOf(&q.Options[i]))
			}
		}
	}
}

// byHand lists how a person at the device changes the home behind the plan's back.
func (n *Node) byHand(add func(kind, int, int8)) {
	if !n.World.shape.Home {
		return
	}
	for i, revision := range n.World.Revisions {
		if revision == gone {
			continue
		}
		add(byHand, i, gone)
		if revision < newest {
			add(byHand, i, revision+1)
		}
	}
}

// consented holds law 16 by what the device did: nothing that needs a person's yes began without one that stands, for that
// operation, on that object, as it is now; and no object was acted on that nobody singled out.
func (c *court) consented(t *Transition) {
	if !t.After.World.shape.Home {
		return
	}
	w := &t.After.World
	for _, e := range w.Ledger {
		if e.Began == 0 || t.Before.World.effect(e.Op).Began == e.Began {
			continue
		}
		_, spec := t.After.spec(stepIDs[e.Op.Step])
		capability, _ := w.shape.slice.Capability(spec.Action.CapabilityID)
		object := w.Tasks[w.task(e.Op)].Object
		if capability.ObjectSlot() != nil {
			c.meets(16)
			if !w.stands(object) || !slices.Contains(w.Picks, Pick{e.Op.Step, object}) {
				c.violated(16, "%s acts on %v, and nobody singled that out", idOf(e.Op), object)
			}
		}
		if w.shape.slice.Policy(capability).Confirms(capability.Impact, false) {
			c.meets(16)
			if !slices.ContainsFunc(w.Consents, func(k Consent) bool { return k.Op == e.Op && k.Object == object && w.Now < k.Until }) {
				c.violated(16, "%s begins, and no consent to it stands", idOf(e.Op))
			}
		}
	}
}
