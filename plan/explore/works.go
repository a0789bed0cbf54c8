package explore

import (
	"slices"

	"errand/plan"
)

// What the device's first task can do by itself: go on as it should, or one of the ways it goes wrong.
const (
	starts int8 = iota
	stops       // its cancel is carried out
	completes
	goesOn    // after it was blocked
	tooOld    // it was not started in its time to live
	otherNow  // what it should act on is no longer as it was chosen
	failAgain // FAILED, where the table's decision is to retry
	failMend  // FAILED, where the table's recovery is to retry
	failAsk
	failHome
	failStop
	timesOut
	cancelsItself
	blocks     // BLOCKED, and needs no decision
	blockWait  // BLOCKED, and the table gives it time
	blockMend  // BLOCKED, and the table's recovery is to retry, though it is alive
	blockAgain // BLOCKED with a decision: the table's is to retry
	blockAsk
	blockStop
	completesPoor     // COMPLETED, without the listed field
	completesMistyped // COMPLETED, with the listed field of another type
)

func (n *Node) deviceWorks(add func(kind, int, int8)) {
	w := &n.World
	i := w.head()
	if i < 0 {
		return
	}
	switch t := w.Tasks[i]; {
	case t.Phase == plan.OpAccepted && w.Now >= t.StartBy:
		add(worksOn, i, tooOld)
	case t.Phase == plan.OpAccepted && !w.stands(t.Object):
		add(worksOn, i, otherNow)
	case t.Phase == plan.OpAccepted:
		add(worksOn, i, starts)
	case t.Stopping:
		add(worksOn, i, stops)
		add(worksOn, i, completes)
	case t.Phase == plan.OpBlocked:
		add(worksOn, i, goesOn)
	default:
		add(worksOn, i, completes)
	}
}

func (n *Node) deviceFaults(add func(kind, int, int8)) {
	w := &n.World
	i := w.head()
	if i < 0 {
		return
	}
	t := w.Tasks[i]
	for _, how := range []int8{failAgain, failMend, failAsk, failHome, failStop, timesOut, cancelsItself} {
		add(worksOn, i, how)
	}
	if t.Phase != plan.OpRunning {
		return
	}
	if !t.Stopping {
		for _, how := range []int8{blocks, blockWait, blockMend, blockAgain, blockAsk, blockStop} {
			add(worksOn, i, how)
		}
	}
	if n.gives(t.Op) {
		add(worksOn, i, completesPoor)
		add(worksOn, i, completesMistyped)
	}
}

// gives reports whether another step takes something from the result of an operation's step.
func (n *Node) gives(op Op) bool {
	return n.State.Document != nil && slices.ContainsFunc(n.State.Document.Steps, func(s plan.StepSpec) bool {
		for _, path := range s.InputFrom {
			if path[:1] == stepIDs[op.Step] {
				return true
			}
		}
		return false
	})
}

var endings = map[int8]struct {
	name   plan.EventName
	why    *plan.Report
	result map[string]any
}{
	stops: {name: plan.EventCancelled}, completes: {name: plan.EventCompleted, result: good}, tooOld: {name: plan.EventTimedOut}, otherNow: {name: plan.EventFailed, why: changed},
	failAgain: {name: plan.EventFailed, why: again}, failMend: {name: plan.EventFailed, why: mend}, failAsk: {name: plan.EventFailed, why: ask},
	failHome: {name: plan.EventFailed, why: home}, failStop: {name: plan.EventFailed, why: stop},
	timesOut: {name: plan.EventTimedOut}, cancelsItself: {name: plan.EventCancelled},
	completesPoor: {name: plan.EventCompleted, result: poor}, completesMistyped: {name: plan.EventCompleted, result: mistyped},
}

var blockings = map[int8]*plan.Report{blocks: ask, blockWait: wait, blockMend: mend, blockAgain: againNow, blockAsk: askNow, blockStop: stop}

func (w *World) work(i int, how int8) {
	if why, ok := blockings[how]; ok {
		w.block(i, why)
		return
	}
	switch how {
	case starts:
		w.start(i)
	case goesOn:
		w.goOn(i)
	default:
		e := endings[how]
		w.end(i, e.name, e.why, e.result)
	}
}
