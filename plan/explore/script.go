package explore

import (
	"fmt"

	"errand/plan"
)

// The words of a script.

var kindNames = map[kind]string{
	begin: "the plan begins", delivered: "the oldest report comes", straggles: "an overtaken report comes", arrives: "a late submit arrives",
	linkUp: "the device connects", linkDown: "the link is lost", toldGone: "the link's end is told", toldHere: "the new link is told",
	reboots: "the device reboots", wiped: "the device loses its store", dropped: "the oldest report is lost", overtaken: "the oldest report is overtaken",
	twice: "the oldest report comes, and will again", nameless: "the oldest report comes without its operation id",
	unreadable: "a report comes that cannot be used", observes: "the device sees something", cancels: "a person cancels", pauses: "a person pauses", resumes: "a person resumes",
	personAnswers: "a person answers", strangerAnswers: "one who may not confirm answers", byHand: "somebody changes an object", amends: "a person adds a step", amendsRest: "a person replaces the rest", withdraws: "a person withdraws a step", followsUp: "a person says what comes next",
	heldBack: "a new run is about to begin", letGo: "the new run begins", wakes: "the plan is woken", timePasses: "time passes",
}

var howNames = map[int8]string{
	asItIs: "", otherwise: "it still rolls", slowly: "the answer is overtaken", undelivered: "not delivered", lost: "lost on the way",
	late: "held up on the way", unheard: "the answer is lost", refuseAgain: "refused: try again", refuseAsk: "refused: ask", refuseStop: "refused: stop",
	ourOwnNo: "a precondition is not met", unsupported: "not supported", unverified: "unverified", contradicted: "contradicted",
	unseen: "nobody could look", decideRetry: "retry", decideAsk: "ask", decideCancel: "cancel", decideReplan: "another step instead",
	decideSame: "the same step instead", decideGrave: "a grave step instead", decideReturn: "return", invalid: "a plan with faults", fromModel: "by a model",
}

var workNames = map[int8]string{
	starts: "starts", stops: "has stopped", completes: "completes", goesOn: "goes on", tooOld: "is too old to start", otherNow: "finds its object changed", failAgain: "fails: try again",
	failMend: "fails: mend", failAsk: "fails: ask", failHome: "fails: go home", failStop: "fails: stop", timesOut: "times out", cancelsItself: "is cancelled by the device", blocks: "is blocked", blockWait: "is blocked: wait", blockMend: "is blocked: mend",
	blockAgain: "is blocked: try again", blockAsk: "is blocked: ask", blockStop: "is blocked: stop", completesPoor: "completes without its result",
	completesMistyped: "completes with a wrong result",
}

var instantNames = [instants]string{"half of the wait passes", "the wake is just due", "sixteen minutes pass", "the end is near", "the end has come"}

// describe says what a move is, in the state before it.
func (n *Node) describe(mv Move) string {
	switch mv.Kind {
	case answered:
		r := n.World.Requests[mv.At]
		if r.Reply != nil {
			return fmt.Sprintf("the overtaken answer to %s comes", brief(r.Command))
		}
		return joined(brief(r.Command), howNames[mv.How])
	case worksOn:
		return fmt.Sprintf("%s %s", idOf(n.World.Tasks[mv.At].Op), workNames[mv.How])
	case delivered, dropped, overtaken, twice, nameless:
		return fmt.Sprintf("%s (%s)", kindNames[mv.Kind], n.World.Outbox[0].Name)
	case withdraws:
		return joined(kindNames[mv.Kind], n.State.Steps[mv.At].ID)
	case byHand:
		return joined(kindNames[mv.Kind], objectIDs[mv.At]+" "+orGone(revisions[mv.How]))
	case personAnswers, strangerAnswers:
		return joined(kindNames[mv.Kind], n.State.Question.Choices[mv.At])
	case timePasses:
		return instantNames[mv.How]
	default:
		return kindNames[mv.Kind]
	}
}

func orGone(revision string) string {
	if revision == "" {
		return "is gone"
	}
	return "is at revision " + revision
}

func joined(what, how string) string {
	if how == "" {
		return what
	}
	return what + ": " + how
}

// brief names an input or a command with what matters in it.
func brief(v any) string {
	switch v := v.(type) {
	case plan.Submit:
		return "Submit " + v.OperationID
	case plan.QueryStatus:
		return "QueryStatus " + v.OperationID
	case plan.CancelTask:
		return "CancelTask " + v.OperationID
	case plan.Verify:
		return "Verify " + v.OperationID
	case plan.Prepare:
		return "Prepare " + v.OperationID
	case plan.SetDeadline:
		return fmt.Sprintf("SetDeadline %.1fs", float64(v.At-askedAt)/1000)
	case plan.Ask:
		return "Ask " + v.Question.Kind
	case plan.Decide:
		return "Decide " + v.Boundary.Report.Code
	case plan.Finish:
		return "Finish " + string(v.Outcome.State)
	case plan.Event:
		return fmt.Sprintf("%s %s %d-%d", v.Name, v.OperationID, v.Epoch, v.Seq)
	case plan.Submitted:
		return fmt.Sprintf("Submitted %s", v.Delivery)
	case plan.StatusReported:
		return fmt.Sprintf("StatusReported %s %s", v.Finding, v.Status)
	case plan.CancelAnswered:
		return fmt.Sprintf("CancelAnswered %s", v.Case)
	case plan.VerifiedResult:
		return fmt.Sprintf("VerifiedResult %s", v.Verdict)
	case plan.Decided:
		return fmt.Sprintf("Decided %q", v.Decision)
	case plan.Answer:
		return fmt.Sprintf("Answer %q", v.Choice)
	default:
		return fmt.Sprintf("%T", v)[len("plan."):]
	}
}
