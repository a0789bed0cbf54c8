package explore

import (
	"slices"

	"errand/plan"
)

// The worker that carries out steps in the cloud. "tell" only reads, so that doing it again leaves nothing behind; "post"
// has an effect, which the ledger counts.

// saidSo is what a step in the cloud gives away.
const saidSo = "said"

// performAnswers lists how a step in the cloud can end.
func performAnswers(r Request, c plan.Perform, free bool) []int8 {
	behaved := []int8{asItIs}
	if r.Stopped {
		behaved = append(behaved, otherwise)
	}
	faulty := []int8{refuseAgain, refuseAsk, refuseStop, lost, invalid}
	if c.TaskMethod == "post" {
		faulty = append(faulty, unheard)
	}
	return either(free, behaved, faulty)
}

func (w *World) replyPerform(c plan.Perform, how int8) plan.Input {
	answer := plan.Performed{OperationID: c.OperationID}
	op := opOf(c.OperationID)
	switch how {
	case asItIs:
		w.posted(op, c, plan.OpCompleted)
		answer.Result = map[string]any{"tts_response": saidSo, "pose": secret}
	case invalid: // done, and nothing of what is listed comes of it
		w.posted(op, c, plan.OpCompleted)
		answer.Result = map[string]any{"pose": secret}
	case unheard:
		w.posted(op, c, plan.OpCompleted)
		answer.Unknown = true
	case lost:
		answer.Unknown = true
	case otherwise:
		answer.Stopped = true
	default:
		w.write(op, func(e *Effect) { e.End = plan.OpFailed })
		answer.Report = refusals[how]
	}
	return answer
}

func (w *World) posted(op Op, c plan.Perform, end plan.OpPhase) {
	w.write(op, func(e *Effect) {
		e.Began, e.Done, e.End = e.Began+1, e.Done+1, end
		if c.TaskMethod == "tell" {
			e.Began, e.Done = 1, 1
		}
	})
}

func (w *World) stopPerforming() {
	w.Requests = slices.Clone(w.Requests)
	for i := range w.Requests {
		if _, ok := w.Requests[i].Command.(plan.Perform); ok {
			w.Requests[i].Stopped = true
		}
	}
}
