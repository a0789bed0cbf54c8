package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"errand/catalog/load"
	"errand/deviceio/robot"
	"errand/llm/standin"
	"errand/plan"
	"errand/starter/plans"
	"errand/tests/stack"
)

// consentHistory is one random history of a plan that deletes alarms.
type consentHistory struct {
	*testing.T
	mind  *mind
	stack *stack.Stack
	robot *stack.Robot
	child string
	n     int
	rand  *rand.Rand
	sum   *tally

	name   string
	plan   *stack.Plan
	before int                  // effects in the ledger before it began
	asked  map[string]asked     // every confirm question that was seen, by its id
	old    []string             // ids of questions that were seen
	yes    map[string][]consent // by operation id
	added  int                  // steps that amendments added
	what   []string             // what was done, for the report
}

// asked is what a question was about when it was first seen: the object, and the world's revision then.
type asked struct {
	operation, target string
	revision          int64
}

// consent is a yes that the API took, or may have taken.
type consent struct {
	asked
	at time.Time
}

// longest bounds the moves of one history; after them it is cancelled.
const longestHistory = 25

func (h *consentHistory) run() {
	h.name = fmt.Sprintf("consent-%d-%04d", *consentSeed, h.n)
	h.asked, h.yes = map[string]asked{}, map[string][]consent{}
	h.reset()
	h.before = len(h.robot.Ledger(h.T))
	h.begin()
	for range longestHistory {
		v := h.next()
		if v.State.Closed() {
			break
		}
		h.move(v)
	}
	h.quiet(func() { h.plan.Cancel(h.T) }, h.view().State.Closed())
	v := h.plan.Await(h.T, h.name+" is over", func(v plan.View) bool { return v.State.Closed() })
	h.sum.count(&h.sum.ends, string(v.State))
	h.judge(v)
}

func (h *consentHistory) quiet(do func(), skip bool) {
	if !skip {
		do()
	}
}

// reset gives the robot the same three alarms again, under new ids.
func (h *consentHistory) reset() {
	c := h.robot.Control(h.T)
	state, err := c.State(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	for _, a := range state.World.Objects.Alarms {
		h.byHand(robot.Hand{Do: robot.HandRemove, Kind: robot.KindAlarm, ID: a.ID})
	}
	for _, a := range []robot.Alarm{{Time: "07:00", Label: "출근"}, {Time: "07:00", Label: "운동"}, {Time: "08:00", Label: "약"}} {
		h.byHand(robot.Hand{Do: robot.HandAdd, Kind: robot.KindAlarm, Set: map[string]any{"time": a.Time, "label": a.Label}})
	}
}

// byHand does something to an alarm; one that is gone by now cannot be changed, and that is no fault.
func (h *consentHistory) byHand(hand robot.Hand) {
	if _, err := h.robot.Control(h.T).ByHand(h.Context(), hand); err != nil && !strings.Contains(err.Error(), "there is no") {
		h.Fatal(err)
	}
}

// begin starts the plan: one alarm of the two at seven, or that and the one at eight, after a move that may fail and have a
// model plan anew.
func (h *consentHistory) begin() {
	remove := func(id, key, value string, after ...string) plan.StepSpec {
		return plan.StepSpec{ID: id, DependsOn: after, Action: plan.Action{CapabilityID: "alarm_delete", OperationID: "delete", Arguments: map[string]any{key: value}}}
	}
	doc := plan.Document{Steps: []plan.StepSpec{remove("first", "time", "07:00")}}
	start := plan.Start{PlanID: h.name, DeviceID: h.robot.ID, Locale: "ko-KR", AskedAt: time.Now().UnixMilli(), Document: &doc,
		AnswerMs: []int64{1500, 4000, 60_000}[h.rand.IntN(3)]}
	if h.rand.IntN(2) == 0 {
		second := remove("second", "label", "약")
		second.Optional = h.rand.IntN(2) == 0
		doc.Steps = append(doc.Steps, second)
	}
	if h.rand.IntN(4) == 0 {
		start.RenewAfter = 60 // it goes on in new runs
	}
	if h.rand.IntN(3) == 0 {
		h.what = append(h.what, "replanned")
		start.Decider = plan.DeciderModel
		go1 := plan.StepSpec{ID: h.name + "-go", Action: plan.Action{CapabilityID: "move_to_room", OperationID: "start", Arguments: map[string]any{"position_name": "안방"}}}
		doc.Steps = append([]plan.StepSpec{go1}, doc.Steps...)
		h.mind.script(h.name, decides("replan", fmt.Sprintf(
			`,"steps":[{"id":"%s-new","depends_on":[],"action":{"capability_id":"alarm_delete","operation_id":"delete","arguments":{"time":"07:00"}}}]`, h.name)),
			standin.Answer(`{"decision":"cancel","tts_response":"그만할게요.","reason":"enough"}`))
		h.robot.Fault(h.T, robot.Fault{Kind: robot.FaultFail, Method: "setMoveTo", ReasonCode: robot.ReasonMovePolicy})
	}
	slice := load.Builtin().Slice([]string{"alarm_delete", "move_to_room"})
	start.Slice = &slice
	if _, err := plans.New(h.stack.Temporal).Start(h.Context(), start); err != nil {
		h.Fatal(err)
	}
	h.plan = h.stack.Plan(h.name)
}

func (h *consentHistory) view() (v plan.View) {
	stack.Eventually(h.T, h.name+" can be looked at", func(ctx context.Context) (bool, error) {
		var err error
		v, err = h.plan.Look(ctx)
		return err == nil, err
	})
	return v
}

// next waits until the plan asks, is over, or has had a moment, and remembers what it asks.
func (h *consentHistory) next() (v plan.View) {
	until := time.Now().Add(2 * time.Second)
	stack.Eventually(h.T, h.name+" asks, is over, or takes its time", func(ctx context.Context) (bool, error) {
		var err error
		if v, err = h.plan.Look(ctx); err != nil {
			return false, err
		}
		return v.Question != nil || v.State.Closed() || time.Now().After(until), nil
	})
	q := v.Question
	if q == nil || slices.Contains(h.old, q.ID) {
		return v
	}
	h.old = append(h.old, q.ID)
	if q.Kind == "confirm" {
		state, err := h.robot.Control(h.T).State(h.Context())
		if err != nil {
			h.Fatal(err)
		}
		for _, st := range v.Steps {
			if st.ID == q.StepID {
				id, _ := st.Arguments["alarm_id"].(string)
				h.asked[q.ID] = asked{operation: q.OperationID, target: id, revision: state.World.Revision}
			}
		}
	}
	return v
}

// moves are what can happen, each as often as it stands here.
var historyMoves = []string{"answer", "answer", "answer", "answer", "answer", "no", "child", "old", "change", "remove", "amend", "amend",
	"pause", "offline", "wait", "cancel", "worker", "gateway", "withdraw"}

func (h *consentHistory) move(v plan.View) {
	what := historyMoves[h.rand.IntN(len(historyMoves))]
	if (what == "worker" || what == "gateway") && h.rand.IntN(3) > 0 { // seldom: each stops every history for a moment
		what = "answer"
	}
	h.what = append(h.what, what)
	h.sum.count(&h.sum.moves, what)
	switch what {
	case "answer":
		h.answer(v, h.stack.Authorization(), "")
	case "no":
		h.answer(v, h.stack.Authorization(), "no")
	case "child":
		h.answer(v, h.child, "yes")
	case "old":
		if len(h.old) > 1 {
			h.post(h.stack.Authorization(), "answer", answerTo(h.T, h.old[h.rand.IntN(len(h.old)-1)], "yes"))
		}
	case "change", "remove":
		h.touch(what)
	case "amend":
		h.amend()
	case "pause":
		h.post(h.stack.Authorization(), "pause", `{"token":"x"}`)
		h.post(h.stack.Authorization(), "resume", `{"token":"x"}`)
	case "withdraw":
		if len(v.Steps) > 0 {
			h.withdraw(v.Steps[h.rand.IntN(len(v.Steps))].ID)
		}
	case "offline":
		h.robot.Fault(h.T, robot.Fault{Kind: robot.FaultOffline, DurationMs: 500})
	case "cancel":
		if h.rand.IntN(3) == 0 {
			h.post(h.stack.Authorization(), "cancel", `{}`)
		}
	case "worker", "gateway":
		h.kill(what)
	}
}

// answer answers the open question: with a choice of it, or with the one given if it has that.
func (h *consentHistory) answer(v plan.View, who, choice string) {
	q := v.Question
	if q == nil {
		return
	}
	if choice == "" || !slices.Contains(q.Choices, choice) {
		choice = q.Choices[h.rand.IntN(len(q.Choices))]
		if q.Kind == "confirm" && h.rand.IntN(4) > 0 {
			choice = "yes"
		}
	}
	about, confirms := h.asked[q.ID]
	yes := consent{asked: about, at: time.Now()}
	status := h.post(who, "answer", answerTo(h.T, q.ID, choice))
	switch {
	case q.Kind == "confirm" && who == h.child && status < 300:
		h.Errorf("%s: a child may not confirm, and is answered %d", h.name, status)
	case confirms && choice == "yes" && who != h.child && (status < 300 || status >= 500): // it may have been taken all the same
		h.yes[q.OperationID] = append(h.yes[q.OperationID], yes)
		h.sum.mu.Lock()
		h.sum.yes++
		h.sum.mu.Unlock()
	}
}

// post makes a request of the plan's; it may be refused, for the plan may be anywhere by now.
func (h *consentHistory) post(who, what, body string) (status int) {
	status, answer := h.stack.Do(h.T, http.MethodPost, "/v1/plans/"+h.name+"/"+what, who, body)
	if status >= 500 && status != http.StatusServiceUnavailable && status != http.StatusGatewayTimeout {
		h.Errorf("%s: %s is answered %d %s", h.name, what, status, answer)
	}
	return status
}

// touch changes or removes one of the alarms by hand.
func (h *consentHistory) touch(what string) {
	state, err := h.robot.Control(h.T).State(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	all := state.World.Objects.Alarms
	if len(all) == 0 {
		return
	}
	a := all[h.rand.IntN(len(all))]
	if what == "remove" {
		h.byHand(robot.Hand{Do: robot.HandRemove, Kind: robot.KindAlarm, ID: a.ID})
		return
	}
	h.byHand(robot.Hand{Do: robot.HandChange, Kind: robot.KindAlarm, ID: a.ID, Set: map[string]any{"enabled": !a.Enabled}})
}

// amend puts another deletion in the place of all that is not frozen, or behind it.
func (h *consentHistory) amend() {
	h.added++
	body, err := json.Marshal(map[string]any{"replace": h.rand.IntN(2) == 0, "steps": []plan.StepSpec{{ID: fmt.Sprintf("added-%d", h.added),
		Action: plan.Action{CapabilityID: "alarm_delete", OperationID: "delete", Arguments: map[string]any{"label": []string{"출근", "운동", "약"}[h.rand.IntN(3)]}}}}})
	if err != nil {
		h.Fatal(err)
	}
	h.post(h.stack.Authorization(), "amend", string(body))
}

// withdraw takes one step back, as an operator does in Temporal's UI. It may be refused.
func (h *consentHistory) withdraw(step string) {
	ctx, cancel := context.WithTimeout(h.Context(), 10*time.Second)
	defer cancel()
	update, err := h.stack.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: h.name, UpdateName: plan.UpdateCancelStep,
		WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{plan.CancelStep{StepID: step, By: "kim"}}})
	if err == nil {
		err = update.Get(ctx, nil)
	}
	if err != nil {
		h.what = append(h.what, "(refused)")
	}
}

// kill lets a process die in the middle of whatever it does, and brings it back.
func (h *consentHistory) kill(what string) {
	p := map[string]*stack.Process{"worker": h.stack.WorkerProc, "gateway": h.stack.GatewayProc}[what]
	dying.Lock()
	defer dying.Unlock()
	p.Kill(h.T)
	p.Start(h.T)
}
