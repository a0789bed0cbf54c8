package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/starter/api"
	"errand/tests/stack"
)

// What docs/operate.md promises an operator, held on one installation with a plan in every state that it speaks of.
func TestOperate(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	all := plansOfEveryState(t, s)
	t.Run("SavedQueries", func(t *testing.T) { savedQueries(t, s, all) })
	for _, name := range []string{"running", "waiting", "asked", "cancelled", "failed", "completed"} {
		t.Run("OneStory/"+name, func(t *testing.T) { oneStory(t, s, all[name].plan) })
	}
	t.Run("EverythingIsDescribed", func(t *testing.T) { everythingIsDescribed(t, s, all["cancelled"]) })
	t.Run("AnswerAsTheDetailsSay", func(t *testing.T) { answerAsTheDetailsSay(t, all["asked"].plan) })
	t.Run("Terminated", func(t *testing.T) { terminated(t, s, all["terminated"]) })
	t.Run("TerminatedAndWanted", func(t *testing.T) { terminatedAndWanted(t, s) })
}

// operated is one plan, its robot and the fault that keeps it as it is.
type operated struct {
	plan  *stack.Plan
	robot *stack.Robot
	hold  string
}

// plansOfEveryState makes the plans. Those whose time is shortest come last.
func plansOfEveryState(t *testing.T, s *stack.Stack) map[string]operated {
	t.Helper()
	all := map[string]operated{}
	hold := func(name string, kind robot.FaultKind) {
		r, p, id := moving(t, s, kind)
		all[name] = operated{p, r, id}
	}
	hold("lost", robot.FaultHold)
	all["lost"].robot.Stop(t)
	all["lost"].plan.TerminateInUI(t, "it hangs")
	all["queued"] = operated{plan: s.Submit(t, all["lost"].robot, threeStepPlan)} // from now on it is half a minute to the quarantine

	r := s.Robot(t)
	all["completed"] = operated{plan: s.Say(t, r, sentence), robot: r}
	wantOutcome(t, all["completed"].plan, plan.Completed, "completed")
	all["not understood"] = operated{plan: s.Say(t, r, "창문 열어줘"), robot: r}
	wantOutcome(t, all["not understood"].plan, plan.Failed, "failed")

	r = s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultRefuse, Method: "setStationaryPurify"})
	all["failed"] = operated{plan: s.Say(t, r, sentence), robot: r}
	wantOutcome(t, all["failed"].plan, plan.Failed, "failed")

	hold("terminated", robot.FaultHold)
	all["terminated"].plan.TerminateInUI(t, "it hangs")
	hold("cancelled", robot.FaultHold)
	all["cancelled"].plan.CancelInUI(t)
	wantOutcome(t, all["cancelled"].plan, plan.Cancelled, "canceled")
	hold("running", robot.FaultHold)
	hold("cancelling", robot.FaultHang)
	all["cancelling"].plan.Cancel(t)

	r = s.Robot(t)
	r.Stop(t)
	all["waiting"] = operated{plan: s.Say(t, r, sentence), robot: r}
	stack.Eventually(t, "the lost device is in quarantine", func(ctx context.Context) (bool, error) {
		executions, err := s.Find(ctx, "ErrandState = 'quarantined'")
		return len(executions) > 0, err
	})
	r = s.Robot(t)
	r.Fault(t, robot.Fault{Kind: robot.FaultFail, Method: "setStationaryPurify", At: &half, ReasonCode: "FILTER_MISSING"})
	all["asked"] = operated{plan: s.Say(t, r, sentence), robot: r}
	all["asked"].plan.Await(t, "the plan asks", func(v plan.View) bool { return v.Question != nil })
	return all
}

// found is what each saved query of the page finds.
var found = map[string][]string{
	"every plan":                   {"asked", "cancelled", "cancelling", "completed", "failed", "lost", "not understood", "queued", "running", "terminated", "waiting"},
	"not over yet":                 {"asked", "cancelling", "queued", "running", "waiting"},
	"not over yet, of one device":  {"running"},
	"waiting for their device":     {"queued", "waiting"},
	"waiting for a person":         {"asked"},
	"in trouble, and not over yet": {"asked"},
	"stopping, not confirmed yet":  {"cancelling"},
	"at one step":                  {"cancelling", "running"},
	"failed":                       {"failed", "not understood"},
	"failed for one reason":        {"failed"},
	"cancelled today":              {"cancelled"},
	"ended, and nobody knows how":  {"lost", "terminated"},
	"devices in quarantine":        {"the device of lost"},
}

// The page is found from the README; its pictures are there, and small enough to look at on a slow line.
func TestOperatePage(t *testing.T) {
	t.Parallel()
	if readme, err := os.ReadFile("../README.md"); err != nil || !strings.Contains(string(readme), "(docs/operate.md)") {
		t.Errorf("the README does not link to docs/operate.md (%v)", err)
	}
	page, err := os.ReadFile("../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	pictures := regexp.MustCompile(`!\[[^\]]+\]\((img/[^)]+)\)`).FindAllSubmatch(page, -1)
	if len(pictures) < 4 {
		t.Errorf("the page has %d pictures, want a running plan, a waiting, a cancelled and a failed one at least", len(pictures))
	}
	for _, picture := range pictures {
		info, err := os.Stat(filepath.Join("..", "docs", string(picture[1])))
		if err != nil || info.Size() > 250_000 {
			t.Errorf("%s: %+v, %v; want at most 250 kB", picture[1], info, err)
		}
	}
}

var savedQuery = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([^`]+)` \\|$")

// savedQueries runs every query of the page as it stands there, but for the device and the day.
func savedQueries(t *testing.T, s *stack.Stack, all map[string]operated) {
	page, err := os.ReadFile("../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	if time.Since(midnight) < 10*time.Minute { // the plans may be of yesterday
		midnight = midnight.Add(-24 * time.Hour)
	}
	names := map[string]string{plan.DeviceWorkflowID(all["lost"].robot.ID): "the device of lost"}
	for name, o := range all {
		names[o.plan.ID] = name
	}
	want := maps.Clone(found)
	for _, row := range savedQuery.FindAllStringSubmatch(string(page), -1) {
		name := row[1]
		if want[name] == nil {
			t.Errorf("%s: nobody says what this query is to find", name)
			continue
		}
		query := strings.NewReplacer("DEVICE", all["running"].robot.ID, "2026-11-30T00:00:00Z", midnight.Format(time.RFC3339)).Replace(row[2])
		var got []string
		stack.Eventually(t, name+": "+query, func(ctx context.Context) (bool, error) {
			executions, err := s.Find(ctx, query)
			if err != nil {
				return false, err
			}
			got = nil
			for _, e := range executions {
				got = append(got, names[e.GetExecution().GetWorkflowId()])
			}
			slices.Sort(got)
			return slices.Equal(got, want[name]), fmt.Errorf("it finds %q, want %q", got, want[name])
		})
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("the page has no query for %v", slices.Sorted(maps.Keys(want)))
	}
}

// everythingIsDescribed reads from the server what its UI shows beside the current details.
func everythingIsDescribed(t *testing.T, s *stack.Stack, o operated) {
	d := o.plan.Describe(t)
	summary, details := d.GetExecutionConfig().GetUserMetadata().GetSummary(), d.GetExecutionConfig().GetUserMetadata().GetDetails()
	name := o.plan.View(t).DeviceName
	if got := stack.Text(t, summary); got != name+": "+sentence || name == "" {
		t.Errorf("the summary is %q", got)
	}
	if got := stack.Text(t, details); !strings.Contains(got, name) || !strings.Contains(got, o.robot.ID) || !strings.Contains(got, "said: "+sentence) {
		t.Errorf("the details are %q", got)
	}
	for attribute, want := range map[string]string{plan.AttributeDevice: o.robot.ID, plan.AttributeState: "cancelled", plan.AttributeStep: "move", plan.AttributeReason: ""} {
		if got := o.plan.Attribute(t, attribute); got != want {
			t.Errorf("%s is %q, want %q", attribute, got, want)
		}
	}
	definition := o.plan.Metadata(t).GetDefinition()
	handlers := slices.Concat(definition.GetQueryDefinitions(), definition.GetUpdateDefinitions(), definition.GetSignalDefinitions())
	described := map[string]bool{}
	for _, h := range handlers {
		described[h.GetName()] = h.GetDescription() != ""
		if h.GetDescription() == "" {
			t.Errorf("the handler %s says not what it is for", h.GetName())
		}
	}
	for _, name := range []string{plan.QueryView, plan.UpdateCancel, plan.UpdateAnswer, plan.SignalName} {
		if !described[name] {
			t.Errorf("the handler %s is not described", name)
		}
	}
	summaries := map[string]string{}
	for _, event := range historyOf(t, s.Temporal, o.plan.ID).Events {
		what := event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()
		switch event.GetEventType() {
		case enums.EVENT_TYPE_TIMER_STARTED:
			what = "timer"
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		default:
			continue
		}
		if event.GetUserMetadata().GetSummary() == nil {
			t.Errorf("event %d, %s, has no summary", event.GetEventId(), what)
			continue
		}
		if summaries[what] = stack.Text(t, event.GetUserMetadata().GetSummary()); strings.Contains(summaries[what], o.plan.ID) {
			t.Errorf("the summary %q holds an id", summaries[what])
		}
	}
	for what, want := range map[string]string{"timer": "if nothing comes: ", plan.ActivityAwaitDevice: "find " + name + ", or wait for it",
		plan.ActivitySubmit: "send move: setMoveTo", plan.ActivityCancelTask: "ask the device to stop move", plan.ActivitySay: "tell the person: "} {
		if !strings.HasPrefix(summaries[what], want) {
			t.Errorf("the summary of %s is %q, want %q", what, summaries[what], want)
		}
	}
}

// answerAsTheDetailsSay sends what the UI says is to be sent, as it stands there.
func answerAsTheDetailsSay(t *testing.T, p *stack.Plan) {
	details := p.Metadata(t).GetCurrentDetails()
	input := regexp.MustCompile("`answer` with `(.*)`").FindStringSubmatch(details)
	if input == nil {
		t.Fatalf("no word on how to answer:\n%s", details)
	}
	var answer plan.Answer
	if err := json.Unmarshal([]byte(input[1]), &answer); err != nil {
		t.Fatalf("%s: %v", input[1], err)
	}
	p.AnswerUpdate(t, answer)
	wantOutcome(t, p, plan.Completed, "completed")
}

// terminated: nobody stops the robot at once. It ends what it has, is sent nothing more, and its word is on record as late.
func terminated(t *testing.T, s *stack.Stack, o operated) {
	printed, code := s.Errand(t, "plan", "show", o.plan.ID)
	told := storyOfShow(printed)
	if code != 0 || told.State != string(plan.Unresolved) || told.Steps[0][2] != string(plan.StepUnknown) || !strings.Contains(told.Why, "it hangs") {
		t.Errorf("plan show: exit %d\n%s", code, printed)
	}
	o.robot.Release(t, o.hold)
	strays := awaitStrays(t, s, o.robot.ID, 1)
	if strays[0].EventName == "STARTED" { // it was terminated before that was told
		strays = awaitStrays(t, s, o.robot.ID, 2)
	}
	if !slices.ContainsFunc(strays, func(e api.Stray) bool { return e.EventName == "COMPLETED" && e.Ack == wire.AckLate }) {
		t.Errorf("the stray events are %+v", strays)
	}
	if printed, code := s.Errand(t, "device", "strays", o.robot.ID); code != 0 || !strings.Contains(printed, o.plan.ID+"/move/1") {
		t.Errorf("device strays: exit %d\n%s", code, printed)
	}
	wantEffects(t, o.robot, "arrived")
	atRest(t, o.robot)
}

// terminatedAndWanted: once another plan wants the device, its lease has the robot stop what nobody waits for any more.
func terminatedAndWanted(t *testing.T, s *stack.Stack) {
	r, p, _ := moving(t, s, robot.FaultHold)
	p.TerminateInUI(t, "it hangs")
	wantOutcome(t, s.Submit(t, r, threeStepPlan), plan.Completed, "completed")
	wantEffects(t, r, "arrived", "purified", "docked") // the second plan's: the first never arrived
}
