package explore

import (
	"slices"

	"errand/plan"
)

// How a request is answered. Each request has its free answers, which a world that behaves gives, and those that cost a
// fault: what got lost on the way, and a device or a person that says something else.
const (
	asItIs      int8 = iota // the world's true answer
	otherwise               // the second of two that are as good: a cancel of what still rolls
	slowly                  // it is given, but overtaken on its way back
	undelivered             // surely never sent
	lost                    // perhaps sent, and it did not arrive
	late                    // perhaps sent, and it arrives when nobody waits any more
	unheard                 // it arrived, its answer did not
	refuseAgain             // refused: the table says retry
	refuseAsk               // refused: the table says ask
	refuseStop              // refused: the table says cancel
	ourOwnNo                // refused on our side, the device was not asked
	unsupported             // the device cannot answer that
	unverified
	contradicted
	unseen // nobody could look
	decideRetry
	decideAsk
	decideCancel
	decideReplan // another step instead
	decideSame   // the same again
	decideGrave  // a step above reversible instead
	decideReturn
	invalid   // a plan that does not pass the gate
	fromModel // a model wrote it
)

// answers lists how the i-th request can be answered.
func (n *Node) answers(i int, free bool) []int8 {
	w := &n.World
	r := w.Requests[i]
	if r.Reply != nil {
		return freely(free, asItIs)
	}
	switch c := r.Command.(type) {
	case plan.AwaitDevice:
		if free && w.Online {
			return []int8{asItIs}
		}
	case plan.Submit:
		return w.submitAnswers(c, r.startBy(c), free)
	case plan.Perform:
		return performAnswers(r, c, free)
	case plan.QueryStatus:
		if !w.Online {
			return freely(free, undelivered)
		}
		return either(free, []int8{asItIs}, []int8{slowly, undelivered, unsupported})
	case plan.CancelTask:
		return w.cancelAnswers(c, free)
	case plan.Prepare:
		if !w.Online || c.Route.ConnectionEpoch != w.Connection {
			return freely(free, undelivered)
		}
		return either(free, []int8{asItIs}, []int8{slowly, undelivered, refuseStop})
	case plan.Verify:
		if !w.Online || c.Route.ConnectionEpoch != w.Connection {
			return freely(free, unseen)
		}
		return either(free, []int8{asItIs}, []int8{unverified, contradicted})
	case plan.FetchContext:
		if !w.Online {
			return freely(free, undelivered)
		}
		return either(free, []int8{asItIs}, []int8{undelivered})
	case plan.MakePlan:
		return either(free, []int8{asItIs, fromModel}, []int8{refuseStop, invalid})
	case plan.RequestLease:
		return either(free, []int8{asItIs}, []int8{refuseStop})
	case plan.Decide:
		return either(free, w.shape.Says, []int8{decideReturn, invalid})
	}
	return nil
}

func freely(free bool, how int8) []int8 { return either(free, []int8{how}, nil) }

func either(free bool, behaved, faulty []int8) []int8 {
	if free {
		return behaved
	}
	return faulty
}

// startBy is when a submit is too old to start: whoever holds it subtracts the time held (design §6).
func (r *Request) startBy(c plan.Submit) int64 { return r.At + c.TTLMs }

func (w *World) submitAnswers(c plan.Submit, startBy int64, free bool) []int8 {
	reaches := w.Online && c.Route.ConnectionEpoch == w.Connection && w.Now < startBy
	switch op := opOf(c.OperationID); {
	case free && !reaches:
		return []int8{undelivered}
	case free:
		return []int8{asItIs}
	case !reaches:
		return []int8{lost, late}
	case w.task(op) >= 0 || w.buried(op):
		return []int8{slowly, lost, late, unheard, ourOwnNo}
	}
	return []int8{slowly, lost, late, unheard, ourOwnNo, refuseAgain, refuseAsk, refuseStop}
}

func (w *World) cancelAnswers(c plan.CancelTask, free bool) []int8 {
	if !w.Online {
		return freely(free, undelivered)
	}
	i := w.task(opOf(c.OperationID))
	rolls := i >= 0 && (w.Tasks[i].Phase == plan.OpRunning || w.Tasks[i].Phase == plan.OpBlocked) && !w.Tasks[i].Stopping
	switch {
	case free && rolls:
		return []int8{asItIs, otherwise}
	case free:
		return []int8{asItIs}
	case rolls:
		return []int8{slowly, undelivered, unheard, refuseStop}
	}
	return []int8{slowly, undelivered, unheard}
}

// answer takes the i-th request out of line and answers it. Without an input it was only moved on.
func (n *Node) answer(i int, how int8) plan.Input {
	w := &n.World
	r := w.Requests[i]
	if r.Reply == nil && how == slowly {
		r.Reply = w.reply(r, asItIs)
		w.Requests = replaced(w.Requests, i, r)
		return nil
	}
	w.Requests = without(w.Requests, i)
	in := r.Reply
	if in == nil {
		in = w.reply(r, how)
	}
	if seen, ok := in.(plan.Prepared); ok {
		w.singled(seen)
	}
	return in
}

func (w *World) reply(r Request, how int8) plan.Input {
	switch c := r.Command.(type) {
	case plan.AwaitDevice:
		if w.Connection <= c.Newer { // the same connection is believed again after a while
			w.Now = max(w.Now, r.At+settleFor)
		}
		return plan.DeviceFound{Route: w.route()}
	case plan.Submit:
		return w.replySubmit(c, r.startBy(c), how)
	case plan.Perform:
		return w.replyPerform(c, how)
	case plan.QueryStatus:
		return w.replyStatus(c, how)
	case plan.CancelTask:
		return w.replyCancel(c, how)
	case plan.Prepare:
		return w.replyPrepare(c, how)
	case plan.Verify:
		return plan.VerifiedResult{OperationID: c.OperationID, Verdict: verdicts[how], Unseen: how == unseen, ConnectionEpoch: c.Route.ConnectionEpoch, VerifiedBy: "context"}
	case plan.FetchContext:
		if how != asItIs {
			return plan.ContextFetched{ConnectionEpoch: c.Route.ConnectionEpoch}
		}
		return plan.ContextFetched{Context: context, ConnectionEpoch: c.Route.ConnectionEpoch}
	case plan.MakePlan:
		return w.replyPlan(how, c.Extends != nil)
	case plan.RequestLease:
		w.Leased = how == asItIs
		return plan.LeaseAnswer{Granted: w.Leased, Reason: "DEVICE_BUSY"}
	case plan.Decide:
		return replyDecide(c, how)
	}
	return nil
}

// settleFor is how long a connection that was refuted must stay alive to be believed again (activity await_device).
const settleFor = int64(10_000)

var (
	context   = map[string]any{"battery": "full"}
	verdicts  = map[int8]plan.Verdict{asItIs: plan.Verified, unverified: plan.Unverified, contradicted: plan.Contradicted}
	decisions = map[int8]plan.DecisionKind{decideRetry: plan.DecideRetry, decideAsk: plan.DecideAsk, decideCancel: plan.DecideCancel,
		decideReplan: plan.DecideReplan, decideSame: plan.DecideReplan, decideGrave: plan.DecideReplan, invalid: plan.DecideReplan, decideReturn: plan.DecideReturn}
	refusals = map[int8]*plan.Report{refuseAgain: again, refuseAsk: ask, refuseStop: stop}
)

func (w *World) route() plan.Route {
	return plan.Route{GatewayID: "g", TaskQueue: "q", ConnectionEpoch: w.Connection, BootEpoch: w.Epoch, StoreID: w.Store,
		RetentionMs: w.shape.RetentionMs, Profile: plan.Profile{Status: true, Dedupe: true, Outbox: true}}
}

func (w *World) replySubmit(c plan.Submit, startBy int64, how int8) plan.Input {
	op, object := opOf(c.OperationID), Object{}
	if c.Expect != nil {
		object = objectOf(c.Expect.Target)
	}
	answer := plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryUnknown}
	if how != undelivered && how != ourOwnNo && !w.met(c.Expect) { // whoever sends it looks first
		return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Unasked: true, Report: changed, ConnectionEpoch: c.Route.ConnectionEpoch}
	}
	switch how {
	case undelivered:
		answer.Delivery = plan.DeliveryUndelivered
	case lost:
	case late:
		w.Copies = added(w.Copies, Copy{Op: op, Until: startBy, Object: object})
	case ourOwnNo:
		answer.Delivery, answer.Unasked, answer.Report = plan.DeliveryRefused, true, again
	case unheard:
		w.submit(op, object, startBy, nil)
	default:
		answer = w.submit(op, object, startBy, refusals[how])
	}
	answer.ConnectionEpoch = c.Route.ConnectionEpoch
	return answer
}

func (w *World) replyStatus(c plan.QueryStatus, how int8) plan.Input {
	answer := plan.StatusReported{OperationID: c.OperationID, Finding: plan.StatusUnreachable}
	switch how {
	case asItIs:
		answer = w.status(opOf(c.OperationID))
	case unsupported:
		answer.Finding = plan.StatusUnsupported
	}
	answer.ConnectionEpoch = c.Route.ConnectionEpoch
	return answer
}

func (w *World) replyCancel(c plan.CancelTask, how int8) plan.Input {
	answer := plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelUnreachable}
	switch how {
	case asItIs, otherwise:
		answer = w.cancel(opOf(c.OperationID), how == otherwise)
	case unheard:
		w.cancel(opOf(c.OperationID), false)
	case refuseStop:
		answer.Case = plan.CancelRefused
	}
	answer.ConnectionEpoch = c.Route.ConnectionEpoch
	return answer
}

// replyPlan is the planner's word: the shape's plan, or for a follow-up one more step.
func (w *World) replyPlan(how int8, extends bool) plan.Input {
	switch how {
	case asItIs, fromModel:
		if extends {
			return plan.Planned{Document: document(step(addedStep, "dock")), Slice: w.shape.slice, FromModel: how == fromModel, LLMCalls: 1}
		}
		return plan.Planned{Document: w.shape.Document, Slice: w.shape.slice, FromModel: how == fromModel, LLMCalls: 1}
	case invalid:
		return plan.Planned{Document: document(step(0, "nosuch")), Slice: w.shape.slice, LLMCalls: 1}
	default:
		return plan.Planned{Sentence: "I do not know how."}
	}
}

// replyDecide is the decider's word. What it proposes has a new id as long as there is one.
func replyDecide(c plan.Decide, how int8) plan.Input {
	in := plan.Decided{Decision: decisions[how], LLMCalls: 1}
	i := proposedStep
	if slices.ContainsFunc(c.View.Steps, func(s plan.StepView) bool { return s.ID == stepIDs[i] }) {
		i++
	}
	switch how {
	case decideReplan:
		in.Steps = []plan.StepSpec{step(i, "dock")}
	case decideGrave:
		in.Steps = []plan.StepSpec{step(i, "unlock")}
	case decideSame:
		same := slices.IndexFunc(c.View.Steps, func(s plan.StepView) bool { return s.ID == c.Boundary.StepID })
		in.Steps = []plan.StepSpec{step(i, c.View.Steps[same].CapabilityID, 0)}
		in.Steps[0].DependsOn = nil
	case invalid:
		in.Steps = []plan.StepSpec{step(i, "nosuch")}
	}
	return in
}
