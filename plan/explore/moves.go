package explore

import (
	"slices"

	"errand/plan"
)

// kind is one family of the alphabet: a thing that can happen.
type kind int8

const (
	begin kind = iota
	answered
	delivered // the oldest report
	straggles // one that was overtaken, or a second copy
	arrives   // a submit that nobody waits for
	linkUp
	linkDown
	toldGone
	toldHere
	reboots
	wiped
	worksOn
	dropped    // the oldest report is lost
	overtaken  // the ones behind it come first
	twice      // it comes, and will come again
	nameless   // it comes without its operation id
	unreadable // it came, and could not be used: Doubt
	observes   // the device saw something that needs a decision
	cancels
	pauses
	resumes
	personAnswers
	strangerAnswers // one who may not confirm says yes
	byHand          // a person at the device changes or takes away an object
	amends
	amendsRest
	followsUp
	withdraws
	heldBack // the shell is about to go on in a new run
	letGo
	wakes
	timePasses
)

// Move is one thing that can happen in a state. How and At mean what its kind says.
type Move struct {
	Kind  kind
	At    int8
	How   int8
	Fault bool // it costs one of the faults that a history may have
}

// moves lists what can happen: the free moves of a world that behaves, in the order in which it would do them, or the
// faults.
func (n *Node) moves(out []Move, free bool) []Move {
	if n.State.Outcome != nil {
		return out
	}
	add := func(k kind, at int, how int8) { out = append(out, Move{Kind: k, At: int8(at), How: how, Fault: !free}) }
	if !n.State.Begun {
		if free {
			add(begin, 0, 0)
		}
		return out
	}
	if free {
		n.behaves(add)
		return out
	}
	for i := range n.World.Requests {
		for _, how := range n.answers(i, false) {
			add(answered, i, how)
		}
	}
	n.networkFaults(add)
	n.deviceFaults(add)
	n.people(add)
	n.timeFaults(add)
	return out
}

func (n *Node) behaves(add func(kind, int, int8)) {
	w := &n.World
	if !w.Online {
		add(linkUp, 0, 0)
	}
	for i := range w.Requests {
		for _, how := range n.answers(i, true) {
			add(answered, i, how)
		}
	}
	if len(w.Outbox) > 0 && w.Online {
		add(delivered, 0, 0)
	}
	for i := range w.Stragglers {
		add(straggles, i, 0)
	}
	for i, c := range w.Copies {
		if w.Online && w.Now < c.Until { // one that is too old does nothing: a state with it is one without it
			add(arrives, i, 0)
		}
	}
	route := n.State.Device.Route
	if route != nil && (route.ConnectionEpoch < w.Connection || !w.Online) {
		add(toldGone, 0, 0)
	}
	if w.Online && (route == nil || route.ConnectionEpoch < w.Connection) && n.State.Device.Refuted < w.Connection {
		add(toldHere, 0, 0)
	}
	n.deviceWorks(add)
	for i := range n.State.Pauses {
		add(resumes, i, 0)
	}
	if n.State.Held {
		add(letGo, 0, 0)
	}
	if q := n.State.Question; q != nil {
		for i := range q.Choices {
			add(personAnswers, i, 0)
		}
	}
	if n.atRest() {
		add(wakes, 0, 0)
	}
}

// atRest reports whether nothing is on its way, and the device has begun what it has and ended what it was told to end: then
// time passes by itself. A plan that is woken before that had a slow world, and that is a fault.
func (n *Node) atRest() bool {
	w := &n.World
	for _, r := range w.Requests {
		if _, waits := r.Command.(plan.AwaitDevice); !waits || w.Online {
			return false
		}
	}
	i := w.head()
	return (len(w.Outbox) == 0 || !w.Online) && (i < 0 || (w.Tasks[i].Phase != plan.OpAccepted && !w.Tasks[i].Stopping))
}

func (n *Node) networkFaults(add func(kind, int, int8)) {
	w := &n.World
	if len(w.Outbox) > 0 {
		add(dropped, 0, 0)
		add(overtaken, 0, 0)
		if w.Online {
			add(twice, 0, 0)
			add(nameless, 0, 0)
			add(nameless, 0, 1) // and without the task's own id
		}
	}
	if id := n.living(); id != "" {
		add(unreadable, 0, 0)
	}
	if w.Online && n.State.Start.Decider != "" && n.State.Boundary == nil { // else it is only noted: see noises
		add(observes, 0, 0)
	}
	if w.Online {
		add(linkDown, 0, 0)
		add(reboots, 0, 0)
		add(wiped, 0, 0)
	}
}

// living is the operation that may be on the device, as the machine sees it.
func (n *Node) living() string {
	for i := range n.State.Steps {
		ops := n.State.Steps[i].Ops
		if len(ops) == 0 {
			continue
		}
		if op := ops[len(ops)-1]; !op.Phase.Dead() && op.Phase != plan.OpUnsent {
			return op.ID
		}
	}
	return ""
}

func (n *Node) people(add func(kind, int, int8)) {
	if n.State.Cancel == nil {
		add(cancels, 0, 0)
	}
	if len(n.State.Pauses) == 0 {
		add(pauses, 0, 0)
	}
	if !n.State.Held {
		add(heldBack, 0, 0)
	}
	if q := n.State.Question; q != nil && q.Kind == "confirm" {
		add(strangerAnswers, 0, 0)
	}
	n.byHand(add)
	if n.place(stepIDs[addedStep]) < 0 && n.State.Document != nil {
		add(amends, 0, 0)
		add(amendsRest, 0, 0)
		if len(n.State.FollowUps) == 0 {
			add(followsUp, 0, 0)
		}
	}
	for i := range n.State.Steps {
		if n.State.Steps[i].Phase != plan.StepCompleted && n.State.Steps[i].Excused == "" {
			add(withdraws, i, 0)
		}
	}
}

// place is where a step is in the plan, or -1.
func (n *Node) place(id string) int {
	return slices.IndexFunc(n.State.Steps, func(st plan.StepState) bool { return st.ID == id })
}

// do makes a move on a copy of the node. It returns the input that it is to the machine, or nil.
func (n *Node) do(mv Move) plan.Input {
	w := &n.World
	switch mv.Kind {
	case begin:
		return plan.Begin{}
	case answered:
		return n.answer(int(mv.At), mv.How)
	case delivered, dropped, overtaken, twice, nameless:
		return w.deliver(mv)
	case straggles:
		ev := w.Stragglers[mv.At]
		w.Stragglers = without(w.Stragglers, int(mv.At))
		return *ev
	case arrives:
		c := w.Copies[mv.At]
		w.Copies = without(w.Copies, int(mv.At))
		if w.Now < c.Until {
			w.submit(c.Op, c.Object, c.Until, nil)
		}
	case linkUp:
		w.connect()
	case linkDown:
		w.Online = false
	case toldGone:
		return plan.DeviceChange{Gone: n.State.Device.Route.ConnectionEpoch}
	case toldHere:
		route := w.route()
		return plan.DeviceChange{Route: &route}
	case reboots:
		w.reboot()
	case wiped:
		w.wipe()
	case worksOn:
		w.work(int(mv.At), mv.How)
	case unreadable:
		return plan.Doubt{DeviceID: device, OperationID: n.living(), Why: "unreadable"}
	case observes:
		return saw
	case cancels:
		return plan.CancelRequest{By: "kim", Source: "api"}
	case pauses:
		return plan.Pause{Token: "x", By: "kim"}
	case resumes:
		return plan.Resume{Token: n.State.Pauses[mv.At], By: "kim"}
	case personAnswers, strangerAnswers:
		in := plan.Answer{QuestionID: n.State.Question.ID, Choice: n.State.Question.Choices[mv.At], By: "kim", MayConfirm: mv.Kind == personAnswers}
		n.heard(in)
		return in
	case byHand:
		w.Revisions[mv.At] = mv.How
	case amends:
		return plan.Amend{Steps: []plan.StepSpec{step(addedStep, "dock", 0)}, By: "kim"}
	case amendsRest:
		return plan.Amend{Steps: []plan.StepSpec{step(addedStep, "dock")}, Replace: true, By: "kim"}
	case followsUp:
		return plan.FollowUp{Text: "more", By: "kim"}
	case withdraws:
		return plan.CancelStep{StepID: n.State.Steps[mv.At].ID, By: "kim"}
	case heldBack, letGo:
		return plan.Hold{On: mv.Kind == heldBack}
	case wakes:
		w.Now = max(w.Now, n.State.Wake)
		return plan.DeadlinePassed{}
	case timePasses:
		w.Now = n.times()[mv.How]
	}
	return nil
}

// deliver moves the oldest report on.
func (w *World) deliver(mv Move) plan.Input {
	ev := w.Outbox[0]
	w.Outbox = without(w.Outbox, 0)
	switch mv.Kind {
	case dropped:
		return nil
	case overtaken:
		w.Stragglers = added(w.Stragglers, ev)
		return nil
	case twice:
		w.Stragglers = added(w.Stragglers, ev)
	case nameless:
		bare := *ev
		bare.OperationID = ""
		if mv.How == 1 {
			bare.TaskID = ""
		}
		return bare
	default: // it comes as it is
	}
	return *ev
}
