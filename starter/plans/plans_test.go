package plans_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"errand/plan"
	"errand/starter/plans"
)

func TestStartAsksForOneRunPerPlan(t *testing.T) {
	f := running(t, "p-1")
	start := plan.Start{PlanID: "p-1", DeviceID: "robot-1", DeviceName: "거실 로봇", Utterance: &plan.Utterance{Text: strings.Repeat("가", 200)}}
	already, err := plans.New(f).Start(context.Background(), start)
	if already || err != nil {
		t.Fatalf("Start = %v, %v", already, err)
	}
	o := f.started[0]
	if o.ID != "p-1" || o.TaskQueue != plan.TaskQueue || !o.WorkflowExecutionErrorWhenAlreadyStarted ||
		o.WorkflowIDReusePolicy != enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE {
		t.Errorf("options %+v would let a plan start twice", o)
	}
	if n := len([]rune(o.StaticSummary)); n != 120 || !strings.HasPrefix(o.StaticSummary, "거실 로봇: 가") {
		t.Errorf("the summary %q has %d characters, want 120 that begin with the device's name", o.StaticSummary, n)
	}
	const details = "- device: 거실 로봇\n- device id: `robot-1`\n- said: 가가"
	if !strings.HasPrefix(o.StaticDetails, details) {
		t.Errorf("details %q", o.StaticDetails)
	}
	device, _ := o.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(plan.AttributeDevice))
	state, _ := o.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(plan.AttributeState))
	home, _ := o.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(plan.AttributeHome))
	if device != "robot-1" || state != "planning" || home != plan.DefaultHome {
		t.Errorf("search attributes: device %q, state %q, home %q", device, state, home)
	}
	for key, value := range o.TypedSearchAttributes.GetUntypedValues() {
		if strings.Contains(fmt.Sprint(value), "가") {
			t.Errorf("personal text in the search attribute %s", key.GetName())
		}
	}
}

func TestStartAgainIsTheSamePlan(t *testing.T) {
	f := running(t, "p-1")
	f.startErr = serviceerror.NewWorkflowExecutionAlreadyStarted("there", "", "run-1")
	already, err := plans.New(f).Start(context.Background(), plan.Start{PlanID: "p-1"})
	if !already || err != nil {
		t.Errorf("Start = %v, %v; want true, nil", already, err)
	}
}

// seedViews is the seed's plan as a watcher sees it: two tasks of the workflow.
func seedViews() []plan.View {
	first := plan.View{PlanID: "p-1", State: plan.Running, Entries: 3,
		Steps: []plan.StepView{{ID: "move", OutputKey: "arrival", State: plan.StepSubmitting}, {ID: "purify", State: plan.StepPending}},
		Journal: []plan.Entry{{N: 1, Kind: "plan", To: "planning"}, {N: 2, Kind: "plan", From: "planning", To: "running"},
			{N: 3, Kind: "step", Step: "move", From: "ready", To: "submitting"}}}
	second := first
	second.Entries = 5
	second.Steps = []plan.StepView{{ID: "move", OutputKey: "arrival", State: plan.StepCompleted},
		{ID: "purify", State: plan.StepSubmitting, Arguments: map[string]any{"area_id": "6"},
			Bound: map[string]string{"area_id": "arrival.result.area_id"}}}
	second.Journal = append(append([]plan.Entry{}, first.Journal...),
		plan.Entry{N: 4, Kind: "step", Step: "move", From: "running", To: "completed"},
		plan.Entry{N: 5, Kind: "step", Step: "purify", From: "ready", To: "submitting"})
	return []plan.View{first, second}
}

func TestWatchTellsEveryChangeOnceInOrderAndTheOutcomeLast(t *testing.T) {
	f := running(t, "p-1")
	f.views = seedViews()
	f.end = ends(plan.Outcome{PlanID: "p-1", State: plan.Completed})
	f.taskCompleted("run-1")
	var got []string
	err := plans.New(f).Watch(context.Background(), "p-1", 0, func(c plans.Change) error {
		got = append(got, tell(c))
		switch len(got) {
		case 3: // all of the first view is told: the workflow goes on
			f.taskCompleted("run-1")
		case 6:
			close(f.history["run-1"])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1 plan→planning", "2 plan→running", "3 move→submitting", "4 move→completed", "5 purify→submitting",
		`purify.area_id=6 from arrival.result.area_id (move)`, "outcome completed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func tell(c plans.Change) string {
	switch {
	case c.Entry != nil:
		who := c.Entry.Step
		if who == "" {
			who = c.Entry.Kind
		}
		return string(rune('0'+c.Entry.N)) + " " + who + "→" + c.Entry.To
	case c.Bound != nil:
		return c.Bound.Step + "." + c.Bound.Slot + "=" + fmt.Sprint(c.Bound.Value) + " from " + c.Bound.Path + " (" + c.Bound.From + ")"
	}
	return "outcome " + string(c.Outcome.State)
}

func TestWatchFollowsAContinuedRun(t *testing.T) {
	f := running(t, "p-1")
	f.views = seedViews()[1:]
	f.history["run-2"] = make(chan *history.HistoryEvent, 10)
	f.history["run-1"] <- &history.HistoryEvent{EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
		Attributes: &history.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
			WorkflowExecutionContinuedAsNewEventAttributes: &history.WorkflowExecutionContinuedAsNewEventAttributes{NewExecutionRunId: "run-2"}}}
	close(f.history["run-1"])
	f.taskCompleted("run-2")
	close(f.history["run-2"])
	f.end = ends(plan.Outcome{State: plan.Completed})
	var last string
	err := plans.New(f).Watch(context.Background(), "p-1", 4, func(c plans.Change) error { last = tell(c); return nil })
	if err != nil || last != "outcome completed" {
		t.Errorf("Watch = %v, last told %q", err, last)
	}
}

func TestWatchOfAPlanThatIsOverNeedsNoWorker(t *testing.T) {
	f := running(t, "p-1")
	f.end = ends(plan.Outcome{State: plan.Completed})
	for range 100 {
		f.queryErr = append(f.queryErr, serviceerror.NewFailedPrecondition("no poller seen for task queue recently"))
	}
	f.taskCompleted("run-1")
	close(f.history["run-1"])
	var told []string
	err := plans.New(f).Watch(context.Background(), "p-1", 0, func(c plans.Change) error { told = append(told, tell(c)); return nil })
	if err != nil || len(told) != 1 || told[0] != "outcome completed" {
		t.Errorf("Watch = %v, told %q", err, told)
	}
}

func TestWatchSaysWhichEntriesAreNoLongerKept(t *testing.T) {
	f := running(t, "p-1")
	f.views = []plan.View{{Journal: []plan.Entry{{N: 201, Kind: "note", Text: "late"}}, Entries: 201}}
	f.taskCompleted("run-1")
	stop := errors.New("enough")
	var notes []string
	err := plans.New(f).Watch(context.Background(), "p-1", 0, func(c plans.Change) error {
		notes = append(notes, c.Entry.Text)
		if len(notes) == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || notes[0] != "200 earlier entries are no longer kept" {
		t.Errorf("Watch = %v, notes %q", err, notes)
	}
}

func TestAwaitPlannedReturnsAsSoonAsThereAreSteps(t *testing.T) {
	f := running(t, "p-1")
	f.views = seedViews()
	f.taskCompleted("run-1")
	v, err := plans.New(f).AwaitPlanned(context.Background(), "p-1")
	if err != nil || len(v.Steps) != 2 {
		t.Errorf("AwaitPlanned = %+v, %v", v, err)
	}
}

func TestAwaitPlannedTellsAPlanThatEndedWithoutSteps(t *testing.T) {
	f := running(t, "p-1")
	f.views = []plan.View{{State: plan.Planning}}
	close(f.history["run-1"])
	f.end = func(any) error {
		return temporal.NewNonRetryableApplicationError("failed", "PlanFailed", nil,
			plan.Outcome{PlanID: "p-1", State: plan.Failed, TTSResponse: "할 줄 몰라요."})
	}
	v, err := plans.New(f).AwaitPlanned(context.Background(), "p-1")
	if err != nil || v.State != plan.Failed || v.Outcome.TTSResponse != "할 줄 몰라요." {
		t.Errorf("AwaitPlanned = %+v, %v", v, err)
	}
}

func TestAwaitPlannedKeepsTheLastViewWhenTimeIsUp(t *testing.T) {
	f := running(t, "p-1")
	f.views = []plan.View{{State: plan.WaitingDevice}}
	f.taskCompleted("run-1")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	v, err := plans.New(f).AwaitPlanned(ctx, "p-1")
	if !errors.Is(err, context.DeadlineExceeded) || v.State != plan.WaitingDevice {
		t.Errorf("AwaitPlanned = %+v, %v", v, err)
	}
}

func TestOutcomeIsTheSameHoweverTheRunClosed(t *testing.T) {
	want := plan.Outcome{PlanID: "p-1", State: plan.Cancelled, TTSResponse: "멈췄어요.", Steps: []plan.StepOutcome{{ID: "move", Phase: plan.StepCancelled}}}
	for name, end := range map[string]func(any) error{
		"result":       ends(want),
		"failure":      func(any) error { return temporal.NewNonRetryableApplicationError("m", "PlanFailed", nil, want) },
		"cancellation": func(any) error { return temporal.NewCanceledError(want) },
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t, "p-1")
			f.end = end
			got, err := plans.New(f).Outcome(context.Background(), "p-1")
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("Outcome: %v\n%s", err, diff)
			}
		})
	}
}

func TestOutcomeOfAPlanClosedFromOutsideIsNone(t *testing.T) {
	for name, end := range map[string]error{
		"another failure":               temporal.NewApplicationError("panic", "Other"),
		"a cancellation without a word": temporal.NewCanceledError(),
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t, "p-1")
			f.end = func(any) error { return end }
			_, err := plans.New(f).Outcome(context.Background(), "p-1")
			if !errors.Is(err, plans.ErrNoOutcome) {
				t.Errorf("Outcome = %v, want ErrNoOutcome", err)
			}
		})
	}
}

func TestErrorsSayWhatIsTheMatter(t *testing.T) {
	refused := temporal.NewApplicationError("cancel: by is missing", "")
	for name, c := range map[string]struct {
		change func(*fakeTemporal)
		want   error
		says   string
	}{
		"not there":            {func(f *fakeTemporal) { f.info = nil }, plans.ErrNoPlan, "p-1"},
		"another workflow":     {func(f *fakeTemporal) { f.info.Type.Name = "DeviceWorkflow" }, plans.ErrNoPlan, "p-1"},
		"over":                 {func(f *fakeTemporal) { f.info.Status = enums.WORKFLOW_EXECUTION_STATUS_COMPLETED }, plans.ErrOver, "p-1"},
		"over in the meantime": {updateFails(serviceerror.NewNotFound("completed")), plans.ErrOver, "p-1"},
		"refused":              {updateFails(refused), plans.ErrRefused, "by is missing"},
		"no worker":            {updateFails(context.DeadlineExceeded), plans.ErrNoWorker, "no worker answers"},
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t, "p-1")
			c.change(f)
			err := plans.New(f).Cancel(context.Background(), "p-1", plan.CancelRequest{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Cancel = %v, want %v with %q", err, c.want, c.says)
			}
		})
	}
}

func updateFails(err error) func(*fakeTemporal) {
	return func(f *fakeTemporal) { f.update = func(client.UpdateWorkflowOptions) error { return err } }
}

func TestViewOfAPlanThatIsOverNeedsNoWorker(t *testing.T) {
	f := running(t, "p-1")
	f.info.Status = enums.WORKFLOW_EXECUTION_STATUS_CANCELED
	f.queryErr = []error{serviceerror.NewFailedPrecondition("no poller seen for task queue recently")}
	f.end = func(any) error {
		return temporal.NewCanceledError(plan.Outcome{PlanID: "p-1", State: plan.Cancelled, Steps: []plan.StepOutcome{{ID: "move", Phase: plan.StepCompleted}}})
	}
	v, err := plans.New(f).View(context.Background(), "p-1")
	if err != nil || v.State != plan.Cancelled || v.Steps[0].ID != "move" || v.Plan.CompletedStepIDs[0] != "move" {
		t.Errorf("View = %+v, %v", v, err)
	}
}

func TestViewOfARunningPlanWithoutAWorkerSaysSo(t *testing.T) {
	f := running(t, "p-1")
	f.queryErr = []error{serviceerror.NewFailedPrecondition("no poller seen for task queue recently")}
	if _, err := plans.New(f).View(context.Background(), "p-1"); !errors.Is(err, plans.ErrNoWorker) {
		t.Errorf("View = %v, want ErrNoWorker", err)
	}
}

// A plan that was terminated keeps the last state it wrote: it is listed as what it is, not as what it was.
func TestListKnowsPlansThatWereClosedFromOutside(t *testing.T) {
	const all = "WorkflowType = 'PlanWorkflow'"
	for state, want := range map[plan.Phase]string{
		"":              all,
		plan.Paused:     all + " AND ErrandState = 'paused' AND ExecutionStatus = 'Running'",
		plan.Failed:     all + " AND ErrandState = 'failed'",
		plan.Unresolved: all + " AND (ErrandState = 'unresolved' OR ExecutionStatus = 'Terminated' OR ExecutionStatus = 'TimedOut')",
	} {
		f := running(t, "p-1")
		f.page = &workflowservice.ListWorkflowExecutionsResponse{}
		if _, _, err := plans.New(f).List(context.Background(), plans.Filter{State: state}); err != nil || f.listed[0].GetQuery() != want {
			t.Errorf("state %q: query %s, want %s (%v)", state, f.listed[0].GetQuery(), want, err)
		}
	}
}

// Plans from before there were homes are the default one's.
func TestListTakesOnlyThePlansOfTheHomes(t *testing.T) {
	const all = "WorkflowType = 'PlanWorkflow'"
	for want, homes := range map[string][]string{
		all: nil,
		all + " AND ErrandHome IN ('kim', 'l''ee')":                        {"kim", "l'ee"},
		all + " AND (ErrandHome IN ('kim', 'home') OR ErrandHome IS NULL)": {"kim", "home"},
	} {
		f := running(t, "p-1")
		f.page = &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflow.WorkflowExecutionInfo{f.info}}
		lines, _, err := plans.New(f).List(context.Background(), plans.Filter{Homes: homes})
		if err != nil || f.listed[0].GetQuery() != want || lines[0].HomeID != plan.DefaultHome {
			t.Errorf("homes %v: query %s, want %s; %+v (%v)", homes, f.listed[0].GetQuery(), want, lines, err)
		}
	}
	f := running(t, "p-1")
	if lines, next, err := plans.New(f).List(context.Background(), plans.Filter{Homes: []string{}}); err != nil || lines == nil || len(lines) != 0 || next != "" || len(f.listed) != 0 {
		t.Errorf("of no home: %v, %q, %v; asked %v", lines, next, err, f.listed)
	}
}

// What was under way when a plan was terminated is unknown, and nothing is waited for any more (law 9).
func TestViewOfATerminatedPlanTellsHowItStood(t *testing.T) {
	f := running(t, "p-1")
	f.info.Status = enums.WORKFLOW_EXECUTION_STATUS_TERMINATED
	f.views = []plan.View{{PlanID: "p-1", State: plan.Running, Why: "move: under way", Next: &plan.Next{At: 9}, Plan: plan.PlanState{WaitingFor: "step:move"},
		Steps: []plan.StepView{{ID: "ask", State: plan.StepCompleted, OperationID: "p-1/ask/1", Why: "verified"},
			{ID: "move", State: plan.StepRunning, OperationID: "p-1/move/1", Why: "under way", Until: 9}, {ID: "dock", State: plan.StepPending, Why: "after move"}}}}
	f.end = func(any) error { return temporal.NewCanceledError() }
	v, err := plans.New(f).View(context.Background(), "p-1")
	if err != nil || v.State != plan.Unresolved || v.Next != nil || v.Plan.WaitingFor != "" || v.Outcome != nil ||
		!strings.Contains(v.Why, "ended without an outcome") || v.DeviceID != "robot-1" {
		t.Errorf("View = %+v, %v", v, err)
	}
	want := []plan.StepView{{ID: "ask", State: plan.StepCompleted, OperationID: "p-1/ask/1", Why: "verified"},
		{ID: "move", State: plan.StepUnknown, OperationID: "p-1/move/1", Why: "the plan was closed from outside while this was running"},
		{ID: "dock", State: plan.StepPending, Why: "after move"}}
	if diff := cmp.Diff(want, v.Steps); diff != "" {
		t.Error(diff)
	}
}

func TestListAsksVisibilityWithQuotedValues(t *testing.T) {
	f := running(t, "p-1")
	f.page = &workflowservice.ListWorkflowExecutionsResponse{NextPageToken: []byte{1, 2}, Executions: []*workflow.WorkflowExecutionInfo{f.info, {
		Execution: &common.WorkflowExecution{WorkflowId: "p-2"}, Status: enums.WORKFLOW_EXECUTION_STATUS_TERMINATED}}}
	lines, next, err := plans.New(f).List(context.Background(), plans.Filter{DeviceID: `a' OR '1'='1`, State: plan.Running, Size: 7})
	if err != nil {
		t.Fatal(err)
	}
	want := `WorkflowType = 'PlanWorkflow' AND ErrandDevice = 'a'' OR ''1''=''1' AND ErrandState = 'running' AND ExecutionStatus = 'Running'`
	if got := f.listed[0]; got.GetQuery() != want || got.GetPageSize() != 7 {
		t.Errorf("query %s, size %d", got.GetQuery(), got.GetPageSize())
	}
	if lines[0].PlanID != "p-1" || lines[0].DeviceID != "robot-1" || lines[0].State != plan.Running {
		t.Errorf("first line %+v", lines[0])
	}
	if lines[1].State != plan.Unresolved {
		t.Errorf("a terminated plan is listed as %q: what its device did is not known", lines[1].State)
	}
	if _, _, err := plans.New(f).List(context.Background(), plans.Filter{Token: next}); err != nil || string(f.listed[1].GetNextPageToken()) != "\x01\x02" {
		t.Errorf("next page: %v, token %v", err, f.listed[1].GetNextPageToken())
	}
	for _, token := range []string{"%", "AAAA", strings.Repeat("A", 400), next[:len(next)-2]} {
		if _, _, err := plans.New(f).List(context.Background(), plans.Filter{Token: token}); !errors.Is(err, plans.ErrPageToken) {
			t.Errorf("the made-up token %.20q: %v, want ErrPageToken", token, err)
		}
	}
}
