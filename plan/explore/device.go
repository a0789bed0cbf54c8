package explore

import (
	"slices"

	"errand/plan"
)

// The device keeps the contract (design §6): the same operation id answers the same task and moves nothing; a refusal and
// a cancel of something unknown are for ever; a generation below the highest it has seen, and one beside a living older
// one, are refused; a terminal is stored with its task; what is not started within its time to live is not started.

// submit takes an operation in, or says why not. A copy's answer reaches nobody.
func (w *World) submit(op Op, object Object, startBy int64, refusal *plan.Report) plan.Submitted {
	answer := plan.Submitted{OperationID: idOf(op), Delivery: plan.DeliveryAccepted, StoreID: w.Store}
	if i := w.task(op); i >= 0 {
		answer.TaskID, answer.Terminal = taskID(op), w.Tasks[i].End
		return answer
	}
	switch {
	case w.buried(op):
		refusal = tombstoned
	case w.fenced(op):
		refusal = stale
	case refusal == nil && w.olderAlive(op):
		refusal = olderAlive
	case refusal == nil && !w.stands(object):
		refusal = changed
	}
	if refusal != nil {
		w.bury(op)
		return plan.Submitted{OperationID: answer.OperationID, Delivery: plan.DeliveryRefused, Report: refusal}
	}
	w.Tasks = added(w.Tasks, Task{Op: op, Phase: plan.OpAccepted, StartBy: startBy, Object: object})
	w.report(op, plan.EventQueued, nil, nil)
	answer.TaskID = taskID(op)
	return answer
}

func (w *World) bury(op Op) {
	if w.buried(op) {
		return
	}
	w.Buried = added(w.Buried, op)
	if w.task(op) < 0 {
		w.write(op, func(e *Effect) { e.End = plan.OpRefused })
	}
}

// fenced reports whether the device has seen a later try of the same step.
func (w *World) fenced(op Op) bool {
	later := func(o Op) bool { return o.Step == op.Step && o.Generation > op.Generation }
	return slices.ContainsFunc(w.Buried, later) || slices.ContainsFunc(w.Tasks, func(t Task) bool { return later(t.Op) })
}

func (w *World) olderAlive(op Op) bool {
	return slices.ContainsFunc(w.Tasks, func(t Task) bool { return t.Op.Step == op.Step && !t.over() })
}

// status answers how an operation stands, as of everything reported so far.
func (w *World) status(op Op) plan.StatusReported {
	answer := plan.StatusReported{OperationID: idOf(op), Finding: plan.StatusNotFound, StoreID: w.Store}
	if i := w.task(op); i >= 0 {
		answer.Finding, answer.TaskID, answer.Status, answer.Terminal = plan.StatusFound, taskID(op), w.Tasks[i].Phase, w.Tasks[i].End
		answer.Epoch, answer.AsOfSeq = w.Epoch, w.Seq
	}
	return answer
}

// cancel asks a task to stop. What rolls may take its time, and reach its target first.
func (w *World) cancel(op Op, rolls bool) plan.CancelAnswered {
	answer := plan.CancelAnswered{OperationID: idOf(op), StoreID: w.Store}
	i := w.task(op)
	if i < 0 {
		w.bury(op)
		answer.Case = plan.CancelTombstoned
		return answer
	}
	t := w.Tasks[i]
	switch {
	case t.Phase == plan.OpCompleted:
		answer.Case = plan.CancelAlreadyCompleted
	case t.Phase == plan.OpCancelled:
		answer.Case = plan.CancelAlreadyCancelled
	case t.over():
		answer.Case = plan.CancelAlreadyFailed
	case t.Stopping || rolls:
		t.Stopping = true
		w.Tasks = replaced(w.Tasks, i, t)
		answer.Case = plan.CancelStopping
	default:
		w.end(i, plan.EventCancelled, nil, nil)
		answer.Case = plan.CancelDone
	}
	answer.Terminal = w.Tasks[i].End
	return answer
}

// start lets the task move: from here on the ledger says that it began.
func (w *World) start(i int) {
	t := w.Tasks[i]
	t.Phase, t.StartBy = plan.OpRunning, 0
	w.Tasks = replaced(w.Tasks, i, t)
	w.write(t.Op, func(e *Effect) { e.Began++ })
	w.report(t.Op, plan.EventStarted, nil, nil)
}

func (w *World) block(i int, why *plan.Report) {
	t := w.Tasks[i]
	t.Phase = plan.OpBlocked
	w.Tasks = replaced(w.Tasks, i, t)
	w.report(t.Op, plan.EventBlocked, why, nil)
}

func (w *World) goOn(i int) {
	t := w.Tasks[i]
	t.Phase = plan.OpRunning
	w.Tasks = replaced(w.Tasks, i, t)
	w.report(t.Op, plan.EventRunning, nil, nil)
}

// end closes a task and stores its terminal. A completion is in the ledger in the same breath.
func (w *World) end(i int, name plan.EventName, why *plan.Report, result map[string]any) {
	t := w.Tasks[i]
	t.Phase, t.Stopping, t.StartBy = ends[name], false, 0
	w.write(t.Op, func(e *Effect) {
		e.End = t.Phase
		if name == plan.EventCompleted {
			e.Done++
		}
	})
	t.End = w.report(t.Op, name, why, result)
	w.Tasks = replaced(w.Tasks, i, t)
}

var ends = map[plan.EventName]plan.OpPhase{plan.EventCompleted: plan.OpCompleted, plan.EventFailed: plan.OpFailed,
	plan.EventTimedOut: plan.OpTimedOut, plan.EventCancelled: plan.OpCancelled}

// report puts an event into the outbox.
func (w *World) report(op Op, name plan.EventName, why *plan.Report, result map[string]any) *plan.Event {
	w.Seq++
	ev := &plan.Event{EventID: "e", DeviceID: device, Epoch: w.Epoch, Seq: w.Seq, Name: name, OperationID: idOf(op), TaskID: taskID(op),
		WorkflowID: planID, StepID: stepIDs[op.Step], Report: why, Result: result}
	if !w.shape.Quiet || (name != plan.EventQueued && name != plan.EventStarted) {
		w.Outbox = added(w.Outbox, ev)
	}
	return ev
}

// reboot starts a new boot: what it stored is kept, its numbers start again.
func (w *World) reboot() {
	w.Epoch++
	w.Seq = 0
	w.connect()
}

func (w *World) connect() { w.Online, w.Connection = true, w.Connection+1 }

// wipe is a new store: the device stands still, knows nothing, and says so by another store's name. With its memory go
// its tombstones, so nothing that is still under way could be told from a new wish: the contract ends here for copies.
func (w *World) wipe() {
	w.Store += "'"
	w.Tasks, w.Buried, w.Outbox, w.Copies = nil, nil, nil, nil
	w.reboot()
}
