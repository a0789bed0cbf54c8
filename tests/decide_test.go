package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"errand/catalog/load"
	"errand/deviceio/robot"
	"errand/llm/standin"
	"errand/plan"
	"errand/starter/plans"
	"errand/tests/stack"
)

// boundaryPlan goes to a room, does what needs the room's area, and goes home. Every id begins with the trial's name, by
// which the stand-in knows whose question it is.
const boundaryPlan = `{"steps":[
	{"id":"%[1]s-go","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}},"output_key":"%[1]s-there"},
	{"id":"%[1]s-air","action":{"capability_id":"stationary_purify","operation_id":"start"},"depends_on":["%[1]s-go"],"input_from":{"area_id":"%[1]s-there.result.area_id"}},
	{"id":"%[1]s-end","action":{"capability_id":"return_to_station","operation_id":"start"},"depends_on":["%[1]s-air"]}]}`

// deciding is one plan that comes to a boundary, with a model that decides there.
type deciding struct {
	*testing.T
	mind  *mind
	stack *stack.Stack
	name  string
	robot *stack.Robot
	plan  *stack.Plan
	hold  string // the fault that keeps the step where it is, if one does
	// waits says that the table gives an executor that failed time to go on by itself.
	waits bool
}

// begin starts the plan on a robot of its own. The table's recovery is the catalog's, in a hurry.
func (d *deciding) begin(faults ...robot.Fault) {
	d.Helper()
	d.robot = d.stack.Robot(d.T, robotSpeed)
	for _, f := range faults {
		d.hold = d.robot.Fault(d.T, f)
	}
	doc, err := plan.Decode(fmt.Appendf(nil, boundaryPlan, d.name))
	if err != nil {
		d.Fatal(err)
	}
	slice := load.Builtin().Slice([]string{"move_to_room", "stationary_purify", "return_to_station"})
	slice.Reasons = slices.Clone(slice.Reasons)
	for i := range slice.Reasons {
		r := &slice.Reasons[i].Recovery
		if r.BackoffMs = min(r.BackoffMs, 100); d.waits && slice.Reasons[i].Code == robot.ReasonExecutorFault {
			r.Action = "wait"
		}
	}
	_, err = plans.New(d.stack.Temporal).Start(d.Context(), plan.Start{PlanID: d.name, DeviceID: d.robot.ID, Locale: "ko-KR",
		AskedAt: time.Now().UnixMilli(), Decider: plan.DeciderModel, Document: &doc, Slice: &slice})
	if err != nil {
		d.Fatal(err)
	}
	d.plan = d.stack.Plan(d.name)
}

// sees lets the robot see something that somebody must decide about.
func (d *deciding) sees(fields map[string]any) {
	d.Helper()
	if err := d.robot.Control(d.T).Observe(d.Context(), fields); err != nil {
		d.Fatal(err)
	}
}

// answers answers the plan's question.
func (d *deciding) answers(choice string) {
	d.Helper()
	v := d.plan.Await(d.T, "the person is asked", func(v plan.View) bool { return v.Question != nil })
	if v.Question.Text != asks(d.name) || v.Decision == nil || v.Decision.TTSResponse != v.Question.Text {
		d.Errorf("the person is asked %q, want the model's question; on record: %+v", v.Question.Text, v.Decision)
	}
	d.plan.Answer(d.T, v.Question.ID, choice)
}

// ends holds how the plan ends, what the robot did, and what it cost.
func (d *deciding) ends(state plan.Phase, closed string, effects ...string) plan.Outcome {
	d.Helper()
	o := wantOutcome(d.T, d.plan, state, closed)
	wantEffects(d.T, d.robot, effects...)
	if o.LLMCalls != len(d.mind.times(d.name)) {
		d.Errorf("Law13: %d calls counted, %d made", o.LLMCalls, len(d.mind.times(d.name)))
	}
	return o
}

// decides writes a decision as a model would.
func decides(kind, more string) standin.Reply {
	return standin.Answer(fmt.Sprintf(`{"decision":%q,"tts_response":"그렇게 할게요.","reason":"the test says so"%s}`, kind, more))
}

func asks(name string) string { return name + ": 어떻게 할까요?" }

// cleaning is a new plan for what is left.
func cleaning(name string) standin.Reply {
	return decides("replan", fmt.Sprintf(`,"steps":[{"id":"%s-new","depends_on":[],"action":{"capability_id":"room_cleaning","operation_id":"start","arguments":{"position_name":"서재"}}}]`, name))
}

// kindOfBoundary is a way in which a plan comes to a boundary.
type kindOfBoundary struct {
	name   string
	faults []robot.Fault
	before []string // effects by then
	// alive says that the step is under way, and goes on when it is let go.
	alive bool
	// seen says that it is the robot that saw something.
	seen bool
	// onlyOnce says that the step cannot be tried again: there is nothing to try before the value is there.
	onlyOnce bool
	rest     []string // effects of the rest, if the step is done in the end
}

var kindsOfBoundary = []kindOfBoundary{
	{name: "asks", faults: []robot.Fault{{Kind: robot.FaultFail, Method: "setMoveTo", ReasonCode: robot.ReasonMovePolicy}}, rest: []string{"arrived", "purified", "docked"}},
	{name: "exhausted", faults: []robot.Fault{{Kind: robot.FaultFail, Method: "setMoveTo", ReasonCode: robot.ReasonExecutorFault, Times: 2}}, rest: []string{"arrived", "purified", "docked"}},
	{name: "binding", faults: []robot.Fault{{Kind: robot.FaultOmitResult, Method: "setMoveTo"}}, before: []string{"arrived"}, onlyOnce: true},
	{name: "blocked", faults: []robot.Fault{{Kind: robot.FaultBlock, Method: "setMoveTo", At: &half, ReasonCode: robot.ReasonExecutorFault}}, alive: true, rest: []string{"arrived", "purified", "docked"}},
	{name: "observation", faults: []robot.Fault{{Kind: robot.FaultHold, Method: "setMoveTo", At: &half}}, alive: true, seen: true, rest: []string{"arrived", "purified", "docked"}},
}

// Law 12 and contract §7: each kind of boundary asks the model once, and each of its five decisions comes to what it says.
// The ledger says what the robot did, the record who decided what.
func eachBoundaryEachDecision(t *testing.T, m *mind, s *stack.Stack) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, kind := range kindsOfBoundary {
		beside(t, &all, kind.name, func(t *testing.T) {
			for _, decision := range []plan.DecisionKind{plan.DecideRetry, plan.DecideAsk, plan.DecideReplan, plan.DecideCancel, plan.DecideReturn} {
				t.Run(string(decision), func(t *testing.T) {
					kind.leadsTo(&deciding{T: t, mind: m, stack: s, name: kind.name + "-" + string(decision),
						waits: kind.alive && !kind.seen}, decision)
				})
			}
		})
	}
}

func (k kindOfBoundary) leadsTo(d *deciding, decision plan.DecisionKind) {
	d.mind.script(d.name, map[plan.DecisionKind]standin.Reply{
		plan.DecideRetry: decides("retry", ""), plan.DecideCancel: decides("cancel", ""), plan.DecideReturn: decides("return", ""),
		plan.DecideAsk: decides("ask", `,"question":"`+asks(d.name)+`","choices":["응","아니"]`), plan.DecideReplan: cleaning(d.name),
	}[decision])
	d.begin(k.faults...)
	if k.seen {
		d.robot.AwaitFault(d.T, d.hold)
		d.plan.AwaitStep(d.T, d.name+"-go", plan.StepRunning)
		d.sees(map[string]any{"kind": "pet_in_the_way", "confidence": 0.9, "place": "복도", "requires_cloud_decision": true, "facts": map[string]any{"pet": "cat"}})
	}
	var o plan.Outcome
	switch {
	case k.onlyOnce && decision == plan.DecideAsk:
		d.answers("return")
		d.ends(plan.Returned, "completed", append(slices.Clone(k.before), "docked")...)
		d.onRecord("person", plan.DecideReturn, "")
		return
	case k.onlyOnce && decision == plan.DecideRetry:
		o = d.ends(plan.Failed, "failed", k.before...) // nothing could be tried again: the table's default counts
		d.onRecord("table", plan.DecideCancel, "none of those that could be carried out")
		return
	case decision == plan.DecideRetry && k.seen:
		d.decided()
		d.robot.Release(d.T, d.hold)
		o = d.ends(plan.Completed, "completed", k.rest...)
	case decision == plan.DecideRetry:
		o = d.ends(plan.Completed, "completed", k.rest...)
	case decision == plan.DecideAsk && k.alive:
		d.answers(map[bool]string{true: "continue", false: "wait"}[k.seen])
		d.robot.Release(d.T, d.hold)
		o = d.ends(plan.Completed, "completed", k.rest...)
	case decision == plan.DecideAsk:
		d.answers("retry")
		o = d.ends(plan.Completed, "completed", k.rest...)
	case decision == plan.DecideReplan:
		o = d.ends(plan.Completed, "completed", append(slices.Clone(k.before), "cleaned")...)
	case decision == plan.DecideReturn:
		o = d.ends(plan.Returned, "completed", append(slices.Clone(k.before), "docked")...)
	default:
		o = d.ends(plan.Failed, "failed", k.before...)
	}
	if by := map[bool]string{true: "person", false: plan.DeciderModel}[decision == plan.DecideAsk && !k.alive]; by == plan.DeciderModel {
		d.onRecord(by, decision, "")
	} else {
		d.onRecord(by, plan.DecideRetry, "") // the person's answer is a decision too
	}
	if o.LLMCalls != 1 {
		d.Errorf("%d model calls, want 1", o.LLMCalls)
	}
	if tries := d.tries("-go"); k.seen && tries != 1 {
		d.Errorf("Law11: the step that was under way was tried %d times", tries)
	}
}

// decided waits until the model's decision is taken.
func (d *deciding) decided() {
	d.plan.Await(d.T, "it is decided", func(v plan.View) bool { return v.Decision != nil })
}

// onRecord holds the last decision that the plan's record has.
func (d *deciding) onRecord(by string, kind plan.DecisionKind, says string) {
	d.Helper()
	v := d.plan.View(d.T)
	if v.Decision == nil || v.Decision.By != by || v.Decision.Decision != kind {
		d.Errorf("on record: %+v, want %s by %s", v.Decision, kind, by)
	}
	if !strings.Contains(told(v), says) {
		d.Errorf("the record does not say %q:\n%s", says, told(v))
	}
}

// told is a plan's journal as text.
func told(v plan.View) string {
	var all strings.Builder
	for _, e := range v.Journal {
		fmt.Fprintf(&all, "%s %s %s>%s %s\n", e.Kind, e.Step, e.From, e.To, e.Text)
	}
	return all.String()
}

// tries is how often a step was sent under an id of its own.
func (d *deciding) tries(step string) int {
	for _, st := range d.plan.View(d.T).Steps {
		if st.ID == d.name+step {
			id, err := plan.ParseOperationID(st.OperationID)
			if err != nil {
				d.Fatal(err)
			}
			return id.Generation
		}
	}
	return 0
}

// TestDecisions is a model that decides at the boundaries of plans.
func TestDecisions(t *testing.T) {
	t.Parallel()
	catalogFile := filepath.Join(t.TempDir(), "catalog.yaml")
	m, s := withMind(t, stack.Option("ERRAND_CATALOG="+watchful(t, catalogFile)))
	t.Run("Together", func(t *testing.T) {
		var all sync.WaitGroup
		defer all.Wait()
		beside(t, &all, "Law12EachBoundaryLeadsToEachDecision", func(t *testing.T) { eachBoundaryEachDecision(t, m, s) })
		for _, c := range []struct {
			name string
			run  func(*deciding)
		}{
			{"Law14-a-new-plan-touches-nothing-done", touchesWhatIsDone},
			{"Law14-a-new-plan-lowers-no-impact", lowersTheImpact},
			{"Law14-what-is-grave-is-confirmed", graveIsConfirmed},
			{"CaseC11-the-same-plan-twice", samePlanTwice},
			{"Law20-a-model-that-never-answers", neverAnswers},
			{"Law20-a-quota-that-ends-mid-plan", quotaEndsMidPlan},
			{"Law12-what-needs-no-decision", needsNoDecision},
			{"contract5-a-watch-starts-its-routine", watchStarts},
		} {
			beside(t, &all, c.name, func(t *testing.T) { c.run(&deciding{T: t, mind: m, stack: s, name: strings.ToLower(c.name)}) })
		}
	})
	t.Run("AWorkerThatDiesWhileItAsks", func(t *testing.T) {
		diesWhileDeciding(&deciding{T: t, mind: m, stack: s, name: "the-worker-dies"})
	})
}

// watchful writes the built-in catalog with a watch in it.
func watchful(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../catalog/load/builtin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), "watches: []", "watches:\n  - {kind: night_has_come, min_confidence: 0.5, routine: return_to_station}", 1))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// fails is a move that the robot may not make, so that the plan is at a boundary.
var fails = robot.Fault{Kind: robot.FaultFail, Method: "setMoveTo", ReasonCode: robot.ReasonMovePolicy}

// The new plan has the id of a step that is done, and is refused; the model is told why and does better. Both are spent.
func touchesWhatIsDone(d *deciding) {
	again := decides("replan", fmt.Sprintf(`,"steps":[{"id":"%s-go","depends_on":[],"action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"거실"}}}]`, d.name))
	d.mind.script(d.name, again, cleaning(d.name))
	d.begin(robot.Fault{Kind: robot.FaultFail, Method: "setStationaryPurify", ReasonCode: robot.ReasonMovePolicy})
	o := d.ends(plan.Completed, "completed", "arrived", "cleaned")
	if o.LLMCalls != 2 || o.Steps[0].Phase != plan.StepCompleted {
		d.Errorf("%d calls; the step that was done is %s", o.LLMCalls, o.Steps[0].Phase)
	}
	d.onRecord(plan.DeciderModel, plan.DecideReplan, "proposed plan refused: steps[0].id")
	second := strings.Join(d.mind.questions(d.name)[1].Contents, "\n")
	if !strings.Contains(second, "the plan you proposed was refused: steps[0].id") || !strings.Contains(second, `"decisions_left":4`) {
		d.Errorf("the model is not told what was wrong: %s", second)
	}
}

// What claims a lower impact is no plan, however often it is claimed; then the table's default counts.
func lowersTheImpact(d *deciding) {
	lowered := decides("replan", fmt.Sprintf(`,"steps":[{"id":"%s-x","depends_on":[],"impact":"read_only","action":{"capability_id":"security_mode","operation_id":"start"}}]`, d.name))
	d.mind.script(d.name, lowered, lowered)
	d.begin(fails)
	o := d.ends(plan.Failed, "failed")
	if o.LLMCalls != 2 || o.Reason.Code != robot.ReasonMovePolicy {
		d.Errorf("%d calls, because of %+v", o.LLMCalls, o.Reason)
	}
	d.onRecord("table", plan.DecideCancel, "steps[0].impact")
}

// A person says no to what the model put in the plan above reversible: it is not done.
func graveIsConfirmed(d *deciding) {
	d.mind.script(d.name, decides("replan", fmt.Sprintf(`,"steps":[{"id":"%s-x","depends_on":[],"action":{"capability_id":"security_mode","operation_id":"start"}}]`, d.name)))
	d.begin(fails)
	v := d.plan.Await(d.T, "the person is asked", func(v plan.View) bool { return v.Question != nil })
	if v.Question.Kind != "confirm" {
		d.Errorf("asked %+v", v.Question)
	}
	d.plan.Answer(d.T, v.Question.ID, "no")
	d.ends(plan.Failed, "failed")
}

// What is left of the plan, proposed as a new one: it stops and asks.
func samePlanTwice(d *deciding) {
	same := fmt.Sprintf(`,"steps":[
		{"id":"%[1]s-go2","depends_on":[],"action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"거실"}}}]`, d.name)
	other := strings.ReplaceAll(same, "go2", "go3")
	d.mind.script(d.name, decides("replan", same), decides("replan", other))
	d.begin(robot.Fault{Kind: robot.FaultFail, Method: "setMoveTo", ReasonCode: robot.ReasonMovePolicy, Times: 2})
	v := d.plan.Await(d.T, "the person is asked", func(v plan.View) bool { return v.Question != nil })
	if v.Question.Kind != "decision" || v.Decision.Decision != plan.DecideAsk || v.Decision.By != plan.DeciderModel {
		d.Errorf("asked %+v; on record %+v", v.Question, v.Decision)
	}
	d.plan.Answer(d.T, v.Question.ID, "stop")
	d.ends(plan.Failed, "failed")
	if !strings.Contains(told(d.plan.View(d.T)), "the same plan was proposed again") {
		d.Errorf("not on record: %s", told(d.plan.View(d.T)))
	}
}

// A model that never answers is asked a few times. Then the reason table decides, and the person hears why it ended.
func neverAnswers(d *deciding) {
	d.mind.script(d.name, standin.Hang(), standin.Hang(), standin.Hang(), standin.Hang(), standin.Hang())
	d.begin(fails)
	o := d.ends(plan.Failed, "failed")
	if o.LLMCalls != 4 || !strings.Contains(o.TTSResponse, "들어갈 수 없게") {
		d.Errorf("%d calls, and the person hears %q", o.LLMCalls, o.TTSResponse)
	}
	d.onRecord("table", plan.DecideCancel, "the decider failed: ")
}

// The first boundary is decided; by the second the day's quota is spent. What was done by then is what is told.
func quotaEndsMidPlan(d *deciding) {
	d.mind.script(d.name, decides("retry", ""), standin.QuotaSpent(time.Second))
	d.begin(fails, robot.Fault{Kind: robot.FaultFail, Method: "setStationaryPurify", ReasonCode: robot.ReasonMovePolicy})
	o := d.ends(plan.Failed, "failed", "arrived")
	if o.LLMCalls != 2 || !strings.Contains(o.TTSResponse, "도착했어요") || !strings.Contains(o.TTSResponse, "다 하지는 못했어요") {
		d.Errorf("%d calls, and the person hears %q", o.LLMCalls, o.TTSResponse)
	}
	d.onRecord("table", plan.DecideCancel, "quota_spent")
}

// What nobody need decide about costs no call, and changes nothing.
func needsNoDecision(d *deciding) {
	d.begin(robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	d.robot.AwaitFault(d.T, d.hold)
	d.sees(map[string]any{"kind": "pet_in_the_way", "confidence": 0.9})
	d.robot.Release(d.T, d.hold)
	if o := d.ends(plan.Completed, "completed", "arrived", "purified", "docked"); o.LLMCalls != 0 {
		d.Errorf("%d calls", o.LLMCalls)
	}
}

// No plan has the robot: the catalog's watch starts its routine. What is not sure enough starts nothing.
func watchStarts(d *deciding) {
	d.robot = d.stack.Robot(d.T, robotSpeed)
	d.sees(map[string]any{"kind": "night_has_come", "confidence": 0.2})
	d.sees(map[string]any{"kind": "night_has_come", "confidence": 0.8})
	d.robot.AwaitEffects(d.T, 1)
	wantEffects(d.T, d.robot, "docked")
	id, err := plan.ParseOperationID(d.robot.Ledger(d.T)[0].OperationID)
	if err != nil {
		d.Fatal(err)
	}
	d.plan = d.stack.Plan(id.Plan)
	if o := wantOutcome(d.T, d.plan, plan.Completed, "completed"); o.LLMCalls != 0 {
		d.Errorf("%d calls", o.LLMCalls)
	}
}

// A worker is killed while the model thinks: another asks again, the decision is carried out once, and both calls count.
func diesWhileDeciding(d *deciding) {
	d.mind.script(d.name, standin.Hang(), decides("retry", ""))
	d.begin(fails)
	stack.Eventually(d.T, "the model is asked", d.mind.asks(d.name, 1))
	d.stack.WorkerProc.Kill(d.T)
	d.stack.WorkerProc.Start(d.T)
	if o := d.ends(plan.Completed, "completed", "arrived", "purified", "docked"); o.LLMCalls != 2 || d.tries("-go") != 2 {
		d.Errorf("%d calls, %d tries", o.LLMCalls, d.tries("-go"))
	}
}
