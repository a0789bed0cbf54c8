package explore

import (
	"errand/catalog"
	"errand/plan"
)

// Names are short, since every state is full of them. Steps are a, b, c in the order of their plan.
const (
	planID  = "p"
	device  = "robot"
	askedAt = int64(1_000_000_000)
	// secret is in every result and listed by no contract: it must never be seen again (law 4).
	secret = "secret"

	queueMs   = int64(30_000)
	runMs     = int64(100_000)
	startByMs = int64(120_000)
)

// The steps of a shape are a, b and c; d is what a person adds, e and f what a decider proposes.
var stepIDs = [...]string{"a", "b", "c", "d", "e", "f", "return", "d_2"}

const (
	addedStep    = 3
	proposedStep = 4
	returnStep   = 6
	renamedStep  = 7 // a follow-up's, where a person added one while it was being planned
)

// Shape is a plan to explore, with what stands beside it.
type Shape struct {
	Name string
	// Faults bounds its histories in make test, Wide in make explore.
	Faults, Wide int

	Document *plan.Document
	// Decider is "" where the reason table alone decides.
	Decider string
	// Says lists what the decider may say: see shell.go.
	Says []int8
	// Spoken says that the plan is made from an utterance first.
	Spoken bool
	// Quiet leaves out the reports that a gateway keeps to itself.
	Quiet bool
	// Home says that there are objects, and a person at the device who changes them.
	Home bool
	// RetentionMs is how long the device declares to remember; 0 is for ever.
	RetentionMs int64

	slice *catalog.Slice
	root  *Node
}

// step is one step of a shape: its capability, what it waits for, and where its slot comes from.
func step(i int, capability string, after ...int) plan.StepSpec {
	s := plan.StepSpec{ID: stepIDs[i], Action: plan.Action{CapabilityID: capability, OperationID: "start"}}
	for _, j := range after {
		s.DependsOn = append(s.DependsOn, stepIDs[j])
	}
	switch capability {
	case "move":
		s.Action.Arguments = map[string]any{"room": "den"}
	case "purify":
		s.InputFrom = map[string]string{"area": stepIDs[after[0]] + ".result.area"}
	case "tell", "post":
		s.ExecutionTarget = plan.TargetCloud
	}
	return s
}

func document(steps ...plan.StepSpec) *plan.Document { return &plan.Document{Steps: steps} }

// retold is a chain with a step in the cloud in its middle: it takes what the first gave, and gives the last what it said.
func retold() *plan.Document {
	tell, purify := step(1, "tell", 0), step(2, "purify", 1)
	tell.InputFrom = map[string]string{"area": "a.result.area"}
	purify.InputFrom = map[string]string{"area": "b.result"}
	return document(step(0, "move"), tell, purify)
}

// Shapes lists every shape of up to three steps. A fork has one source and two steps after it, a join two sources and one
// after both, and "backwards" says that a step stands in the plan before what it waits for. Wide, each has two faults, but for
// those whose kinds stand among the others too: that takes some four minutes on two processors.
func Shapes() []*Shape {
	move, dock, unlock, optional := step(0, "move"), step(0, "dock"), step(0, "unlock"), step(0, "dock")
	optional.Optional = true
	chain := document(move, step(1, "purify", 0))
	chain3 := document(move, step(1, "purify", 0), step(2, "dock", 1))
	return []*Shape{
		{Name: "one", Faults: 2, Wide: 2, Document: document(move)},
		{Name: "one, looked at", Faults: 1, Wide: 2, Document: document(unlock)},
		{Name: "one, spoken", Faults: 1, Wide: 2, Document: document(dock), Spoken: true},
		{Name: "one, soon forgotten", Faults: 1, Wide: 2, Document: document(dock), RetentionMs: 45_000},
		{Name: "one, decided", Faults: 1, Wide: 2, Document: document(dock), Decider: "model", Says: []int8{asItIs, decideRetry, decideAsk, decideCancel}},
		{Name: "one, replanned", Faults: 1, Wide: 2, Document: document(dock), Decider: "model", Says: []int8{decideReplan, decideSame}},
		{Name: "one, replanned gravely", Faults: 1, Wide: 2, Document: document(dock), Decider: "model", Says: []int8{decideGrave}, Quiet: true},
		{Name: "one in the cloud", Faults: 1, Wide: 2, Document: document(step(0, "post"))},
		{Name: "cloud between", Faults: 1, Wide: 2, Document: retold(), Quiet: true},
		{Name: "cloud, then two", Faults: 1, Wide: 2, Document: document(step(0, "post"), step(1, "move"), step(2, "unlock", 0, 1)), Quiet: true},
		{Name: "one, chosen", Faults: 1, Wide: 1, Document: document(step(0, "lamp")), Home: true, Quiet: true},
		{Name: "one, confirmed", Faults: 1, Wide: 2, Document: document(step(0, "arm")), Home: true, Quiet: true},
		{Name: "one, chosen and confirmed", Faults: 2, Wide: 2, Document: document(step(0, "open")), Home: true, Quiet: true},
		{Name: "confirmed after another", Faults: 1, Wide: 1, Document: document(move, step(1, "open", 0)), Home: true, Quiet: true},
		{Name: "chain of two", Faults: 1, Wide: 2, Document: chain},
		{Name: "chain of two, replanned", Faults: 1, Wide: 2, Document: chain, Decider: "model", Says: []int8{decideReplan, decideReturn}, Quiet: true},
		{Name: "two backwards", Faults: 1, Wide: 2, Document: document(step(0, "unlock", 1), step(1, "move")), Quiet: true},
		{Name: "two independent", Faults: 1, Wide: 2, Document: document(optional, step(1, "unlock")), Quiet: true},
		{Name: "chain of three", Faults: 1, Wide: 2, Document: chain3, Quiet: true},
		{Name: "chain of three, decided", Faults: 1, Wide: 1, Document: chain3, Decider: "model", Says: []int8{decideAsk, decideReplan}, Quiet: true},
		{Name: "fork", Faults: 1, Wide: 2, Document: document(move, step(1, "purify", 0), step(2, "dock", 0)), Quiet: true},
		{Name: "join", Faults: 1, Wide: 2, Document: document(move, step(1, "dock"), step(2, "purify", 0, 1)), Quiet: true},
		{Name: "join backwards", Faults: 1, Wide: 1, Document: document(step(0, "purify", 1, 2), step(1, "move"), step(2, "dock")), Quiet: true},
		{Name: "triangle", Faults: 1, Wide: 1, Document: document(move, step(1, "dock", 0), step(2, "purify", 0, 1)), Quiet: true},
		{Name: "chain beside one", Faults: 1, Wide: 1, Document: document(optional, step(1, "move"), step(2, "purify", 1)), Quiet: true},
		{Name: "three independent", Faults: 1, Wide: 1, Document: document(optional, step(1, "move"), step(2, "unlock")), Quiet: true},
	}
}

// slice is the catalog of the exploration. Every sentence says which one it is, so that a law can tell.
func slice() *catalog.Slice {
	text := catalog.SlotSchema{Type: "string"}
	capability := func(id string, impact catalog.Impact, verify string, slot string, fields ...string) catalog.Capability {
		c := catalog.Capability{ID: id, Operations: []string{"start"}, TaskMethod: id, CompletionTarget: id + ".done", Impact: impact, Verify: verify,
			Timeouts: catalog.Timeouts{QueueMs: queueMs, RunMs: runMs}, Cancel: catalog.CancelStop, Enabled: true,
			Say: map[string]catalog.Text{"done": {Ko: id + "."}, "unverified": {Ko: id + "?"}, "failed": {Ko: id + "!"}}}
		if slot != "" {
			c.Slots = []catalog.Slot{{Name: slot, Schema: text, Required: true}}
		}
		for _, f := range fields {
			c.ResultContract.BindableResultFields = append(c.ResultContract.BindableResultFields, catalog.ResultField{Name: f, Schema: text})
		}
		return c
	}
	sentences := map[string]catalog.Text{}
	for _, s := range []string{"done", "done_unsure", "done_otherwise", "partly", "failed", "cancelled", "unresolved", "returned",
		"ask_late", "ask_wait", "ask_rest", "ask_decision", "ask_unverified", "ask_confirm", "ask_select", "ask_select_again", "not_confirmed", "not_as_expected",
		"cancelled_unbegun", "cancelled_late", "cancelled_unresolved", "step_named", "step_contradicted", "rest_stopped", "rest_unstarted", "rest_unknown",
		"ask_decision_skip", "ask_continue", "ask_rest_skip", "ask_untold"} {
		sentences[s] = catalog.Text{Ko: s + ": {steps}"}
	}
	return &catalog.Slice{Digest: "explored", Sentences: sentences,
		Capabilities: []catalog.Capability{
			capability("move", catalog.Reversible, "", "room", "area"),
			capability("purify", catalog.Reversible, "looked", "area"),
			asModel(capability("unlock", catalog.Persistent, "looked", "")),
			capability("dock", catalog.Reversible, "", ""),
			capability("home", catalog.Reversible, "", ""),
			acting(capability("lamp", catalog.Reversible, "", "")),
			always(capability("arm", catalog.Persistent, "", "")),
			acting(always(capability("open", catalog.Irreversible, "", ""))),
			inCloud(capability("tell", catalog.ReadOnly, "", "area")),
			inCloud(capability("post", catalog.Reversible, "", "")),
		},
		SafeReturn: &catalog.SafeReturn{CapabilityID: "home", OperationID: "start"},
		Reasons: []catalog.Reason{
			{Code: "AGAIN", Default: string(plan.DecideRetry)},
			{Code: "MEND", Default: string(plan.DecideCancel), Recovery: catalog.Recovery{Action: "retry", MaxAttempts: 1, BackoffMs: 3_000}},
			{Code: "WAIT", Default: string(plan.DecideAsk), Recovery: catalog.Recovery{Action: "wait", MaxAttempts: 1, BackoffMs: 30_000}},
			{Code: "ASK", Default: string(plan.DecideAsk)},
			{Code: "HOME", Default: string(plan.DecideReturn)},
			{Code: "STOP", Default: string(plan.DecideCancel), RequiresDecision: true},
		}}
}

// asModel lets a person's plan go without a confirmation: what a model puts in one is always confirmed.
func asModel(c catalog.Capability) catalog.Capability {
	c.Confirm = &catalog.Confirm{Policy: catalog.ConfirmFromModel}
	return c
}

// always has a person confirm it, bound to a state.
func always(c catalog.Capability) catalog.Capability {
	c.Confirm = &catalog.Confirm{Policy: catalog.ConfirmAlways, Binds: []string{"context.state"}}
	return c
}

// acting gives a capability an object to act on.
func acting(c catalog.Capability) catalog.Capability {
	c.Slots = append(c.Slots, catalog.Slot{Name: "target", Schema: catalog.SlotSchema{Type: "string"}, Required: true, Grounding: catalog.GroundingObject,
		Object: &catalog.Object{Area: "things", Choice: catalog.Text{Ko: "{id}"}}})
	if c.Confirm != nil {
		c.Confirm = &catalog.Confirm{Policy: c.Confirm.Policy} // its revision is what it is bound to
	}
	return c
}

func inCloud(c catalog.Capability) catalog.Capability {
	c.Targets = []string{plan.TargetCloud}
	return c
}

// What the device says about itself: shared, and never changed.
var (
	good       = map[string]any{"area": "6", "pose": secret}
	poor       = map[string]any{"pose": secret}
	mistyped   = map[string]any{"area": 6.0, "pose": secret}
	again      = &plan.Report{Code: "AGAIN"}
	mend       = &plan.Report{Code: "MEND"}
	wait       = &plan.Report{Code: "WAIT"}
	ask        = &plan.Report{Code: "ASK"}
	home       = &plan.Report{Code: "HOME"}
	stop       = &plan.Report{Code: "STOP", RequiresDecision: true}
	askNow     = &plan.Report{Code: "ASK", RequiresDecision: true}
	againNow   = &plan.Report{Code: "AGAIN", RequiresDecision: true}
	tombstoned = &plan.Report{Code: "TOMBSTONED"}
	stale      = &plan.Report{Code: "STALE_GENERATION"}
	olderAlive = &plan.Report{Code: "OLDER_ALIVE"}
	changed    = &plan.Report{Code: "STATE_CHANGED"}
	saw        = plan.Observation{EventID: "o", DeviceID: device, Kind: "smoke", RequiresDecision: true}
)

// idOf and opOf turn an operation into its id and back; an id of another plan or step is no operation.
func idOf(op Op) string   { return ids[op.Step][op.Generation] }
func taskID(op Op) string { return tasks[op.Step][op.Generation] }

const generations = 6

var ids, tasks = func() (ids, tasks [len(stepIDs)][generations]string) {
	for i, step := range stepIDs {
		for g := range generations {
			ids[i][g] = plan.OperationID{Plan: planID, Step: step, Generation: g}.String()
			tasks[i][g] = "t:" + step + string(rune('0'+g))
		}
	}
	return ids, tasks
}()

func opOf(id string) Op {
	if len(id) == len("p/a/1") {
		return Op{Step: int8(id[2] - 'a'), Generation: int8(id[4] - '0')}
	}
	if len(id) == len("p/d_2/1") {
		return Op{Step: renamedStep, Generation: int8(id[6] - '0')}
	}
	if len(id) == len("p/return/1") {
		return Op{Step: returnStep, Generation: int8(id[9] - '0')}
	}
	return Op{Step: -1}
}
