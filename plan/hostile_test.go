package plan_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"errand/catalog"
	"errand/plan"
)

// TestStepTakesAnythingInAnyState feeds the machine answers and reports with any field set to anything, in whatever
// state good and bad luck brought it. It must not panic, must stay JSON, and must not spin.
func TestStepTakesAnythingInAnyState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newDecidedSim(t, threeSteps(), rapid.SampledFrom([]string{"", "model"}).Draw(t, "decider"))
		s.hostile = true
		for range rapid.IntRange(1, 30).Draw(t, "inputs") {
			if s.finish != nil {
				return
			}
			switch {
			case rapid.Bool().Draw(t, "hostile"):
				s.take(anything(t))
			case len(s.out) > 0:
				s.answer(rapid.IntRange(0, len(s.out)-1).Draw(t, "which"), how(rapid.IntRange(int(fine), int(late)).Draw(t, "how")))
			case len(s.events) > 0:
				s.deliver(0, false)
			case s.device.busy():
				s.work()
			default:
				s.tick(max(s.state.Wake-s.now, 1))
			}
		}
	})
}

func anything(t *rapid.T) plan.Input {
	text := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	number := func(label string) int64 {
		return rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 2, 50, 1 << 40, math.MaxInt64}).Draw(t, label)
	}
	id := text("id", "p-1/move/1", "p-1/move/2", "p-1/purify/1", "p-1/dock/1", "p-1/move/99999999999999999999", "p-2/move/1", "")
	store := text("store", storeA, "", "other")
	report := rapid.SampledFrom([]*plan.Report{nil, {}, {Code: "TRY_AGAIN"}, {Code: "ASK_ME", RequiresDecision: true}, {Code: "\x00"}}).Draw(t, "report")
	event := plan.Event{EventID: "e", DeviceID: text("device", testDevice, testDevice, "robot-2", ""), Epoch: number("epoch"), Seq: number("seq"),
		Name: plan.EventName(text("name", "QUEUED", "STARTED", "RUNNING", "PROGRESS", "COMPLETED", "FAILED", "BLOCKED", "CANCELLED", "TIMED_OUT",
			"WORKFLOW_STEP_FAILED", "WORKFLOW_COMPLETED", "", "movement.arrived")),
		OperationID: id, TaskID: text("task", "t1", ""), WorkflowID: text("workflow", testPlan, ""), StepID: text("step", "move", "dock", ""),
		Progress: rapid.SampledFrom([]float64{0, -1, 0.5, 1e300}).Draw(t, "progress"), Timestamp: number("timestamp"), Report: report,
		Result: rapid.SampledFrom([]map[string]any{nil, {}, {"area_id": "6"}, {"area_id": map[string]any{"a": nil}, "room_name": []any{}}}).Draw(t, "result")}
	terminal := rapid.SampledFrom([]*plan.Event{nil, nil, &event}).Draw(t, "terminal")
	route := plan.Route{ConnectionEpoch: number("connection"), BootEpoch: number("boot"), StoreID: store, RetentionMs: number("retention")}
	doc := rapid.SampledFrom([]*plan.Document{nil, {}, threeSteps(), {Steps: []plan.StepSpec{{}}}}).Draw(t, "document")
	slice := rapid.SampledFrom([]*catalog.Slice{nil, {}, testSlice()}).Draw(t, "slice")
	return rapid.SampledFrom([]plan.Input{
		event, event, event,
		plan.Submitted{OperationID: id, Delivery: plan.Delivery(text("delivery", "accepted", "refused", "undelivered", "unknown", "")), TaskID: "t1",
			StoreID: store, Terminal: terminal, Report: report, ConnectionEpoch: number("tried"), Unasked: rapid.Bool().Draw(t, "unasked")},
		plan.StatusReported{OperationID: id, Finding: plan.Finding(text("finding", "found", "not_found", "unreachable", "unsupported", "")),
			Status: plan.OpPhase(text("status", "accepted", "running", "blocked", "completed", "failed", "unsent", "sent", "refused", "", "x")),
			Epoch:  number("at epoch"), AsOfSeq: number("as of"), StoreID: store, Terminal: terminal, ConnectionEpoch: number("tried")},
		plan.CancelAnswered{OperationID: id, Case: plan.CancelCase(text("case", "cancelled", "cancelling", "already_completed", "unknown_tombstoned", "refused", "unreachable", "")),
			StoreID: store, Terminal: terminal, ConnectionEpoch: number("tried")},
		plan.VerifiedResult{OperationID: id, Verdict: plan.Verdict(text("verdict", "verified", "unverified", "contradicted", ""))},
		plan.DeviceFound{Route: route}, plan.DeviceChange{Route: &route}, plan.DeviceChange{Gone: number("gone")},
		plan.Doubt{DeviceID: testDevice, OperationID: id}, plan.Decided{Decision: plan.DecisionKind(text("decision", "retry", "ask", "replan", ""))},
		plan.Answer{QuestionID: "p-1.1", Choice: text("choice", "continue", "stop", "retry", "wait", "")},
		plan.Planned{Document: doc, Slice: slice, Report: report}, plan.ContextFetched{}, plan.Begin{}, plan.DeadlinePassed{},
		plan.Amend{Steps: []plan.StepSpec{{}, {ID: "a", Action: plan.Action{CapabilityID: "dock", OperationID: "start"}}}, Slice: slice},
		plan.Pause{Token: "x"}, plan.Resume{Token: "x"},
	}).Draw(t, "input")
}

// TestPlanningTakesAnything is the same for the part before there is a plan.
func TestPlanningTakesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, threeSteps())
		s.hostile, s.out, s.finish = true, nil, nil
		utterance := rapid.SampledFrom([]*plan.Utterance{nil, {}, {DeviceContext: map[string]any{"map": "x"}}}).Draw(t, "utterance")
		s.state = plan.New(plan.Start{PlanID: testPlan, DeviceID: testDevice, AskedAt: rapid.SampledFrom([]int64{math.MinInt64, 0, askedAt, math.MaxInt64}).Draw(t, "asked"),
			DeadlineMs: rapid.SampledFrom([]int64{math.MinInt64, 0, 1, math.MaxInt64}).Draw(t, "deadline"), Utterance: utterance})
		for range rapid.IntRange(1, 20).Draw(t, "inputs") {
			if s.finish != nil {
				return
			}
			if in := rapid.IntRange(0, 3).Draw(t, "kind"); in == 0 {
				s.take(plan.Begin{})
			} else {
				s.take(anything(t))
			}
		}
	})
}
