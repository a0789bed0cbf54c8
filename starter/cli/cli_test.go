package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errand/plan"
	"errand/starter/plans"
)

// errand runs a command line and returns its exit code and what it printed.
func errand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheWatchOfThePlanOfTheFirstSeed(t *testing.T) {
	var out bytes.Buffer
	p := &printer{out: &out, zone: time.UTC}
	at := func(ms int64) int64 { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).UnixMilli() + ms }
	for _, c := range []plans.Change{
		{Entry: &plan.Entry{N: 1, At: at(0), Kind: "plan", To: "planning"}},
		{Entry: &plan.Entry{N: 2, At: at(20), Kind: "plan", From: "planning", To: "running", Text: "step:move"}},
		{Entry: &plan.Entry{N: 3, At: at(700), Kind: "step", Step: "move", From: "verifying", To: "completed", Text: "verified"}},
		{Entry: &plan.Entry{N: 4, At: at(700), Kind: "step", Step: "purify", From: "pending", To: "submitting"}},
		{Bound: &plans.Bound{Step: "purify", Slot: "area_id", Value: "6", Path: "arrival.result.area_id", From: "move"}},
		{Entry: &plan.Entry{N: 5, At: at(900), Kind: "command", Step: "purify", Text: "only with --verbose"}},
		{Entry: &plan.Entry{N: 6, At: at(900), Kind: "note", Text: "paused by \x1b[2Jsomeone"}},
		{Outcome: &plan.Outcome{}},
	} {
		p.tell(c)
	}
	summary(&out, plan.Outcome{PlanID: "p-1", State: plan.Failed, TTSResponse: "못 했어요.", Verified: 1, LLMCalls: 0,
		Reason: &plan.Report{Code: "LOW_BATTERY", Detail: "12 %"}, Cancel: &plan.Latch{By: "temporal"},
		Steps: []plan.StepOutcome{
			{ID: "move", Phase: plan.StepCompleted, Receipt: &plan.Receipt{Verdict: plan.Verified, VerifiedBy: "context"}},
			{ID: "purify", Phase: plan.StepUnknown, Reason: &plan.Report{Code: "LOST"}}}}, "http://ui/p-1")
	const want = `12:00:00.000  plan     · → planning
12:00:00.020  plan     planning → running  (step:move)
12:00:00.700  move     verifying → completed  (verified)
12:00:00.700  purify   pending → submitting
              purify: area_id = "6"  ← arrival.result.area_id (move)
12:00:00.900  plan     paused by ` + "\ufffd" + `[2Jsomeone

outcome    failed
sentence   못 했어요.
reason     LOW_BATTERY 12 %
cancelled  by temporal
verified   1/2 steps
           move       completed, verified by context
           purify     unknown, LOST
LLM calls  0
in the UI  http://ui/p-1
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFaultsOfAPlanFileAreShownWithTheirPaths(t *testing.T) {
	path := file(t, "plan.json", `{"steps":[{"id":"a b","action":{"capability_id":"fly","operation_id":"start"}},{"id":"ok"}]}`)
	code, stdout, stderr := errand(t, "plan", "validate", path)
	const want = `errand: the document has faults
  steps[1].action: is missing and must be given (required)
  steps[0].id: "a b" is not an id: use 1 to 64 of A-Z a-z 0-9 _ - (ill_formed_id)
  steps[0].action.capability_id: the catalog has no capability "fly" (unknown_capability)
`
	if code != 2 || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr\n%s\nwant\n%s", code, stdout, stderr, want)
	}
}

func TestAGoodPlanFileIsSaidToBeGood(t *testing.T) {
	path := file(t, "plan.json", `{"steps":[{"id":"home","action":{"capability_id":"return_to_station","operation_id":"start"}}]}`)
	if code, stdout, stderr := errand(t, "plan", "validate", path); code != 0 || !strings.Contains(stdout, "a plan of 1 step, without faults") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// TestBadCommandLines is every clear refusal of what a person typed: exit 2, and a line that says what to do.
func TestBadCommandLines(t *testing.T) {
	t.Setenv("ERRAND_STATE", t.TempDir())
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"unknown command": {[]string{"dance"}, "errand --help"},
		"no argument":     {[]string{"plan", "show"}, "errand --help"},
		"no file":         {[]string{"plan", "validate", "/nowhere/plan.json"}, "no such file"},
		"not json":        {[]string{"plan", "validate", file(t, "p.json", "steps: []")}, "not JSON"},
		"no token":        {[]string{"plan", "list"}, "ERRAND_TOKEN"},
		"bad catalog":     {[]string{"catalog", "lint", file(t, "c.yaml", "catalog_version: 1\n")}, "c.yaml"},
		"both":            {[]string{"dev", "--run", "a", "--plan", "b"}, "--plan"},
		"nothing said":    {[]string{"dev", "--fresh", "--free-ports", "--run", " "}, "the utterance is empty"},
		"no plan named":   {[]string{"dev", "--fresh", "--free-ports", "--plan="}, "cannot be read"},
		"a plan's fault":  {[]string{"dev", "--fresh", "--free-ports", "--plan", file(t, "p.json", `{"steps":[]}`)}, "at least one step"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := errand(t, c.args...)
			if code != 2 || !strings.Contains(stderr, c.says) || !strings.HasPrefix(stderr, "errand: ") {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
}

func TestServeWithoutSettingsSaysWhichAreMissing(t *testing.T) {
	t.Setenv("ERRAND_TOKEN", "")
	t.Setenv("ERRAND_LOG_LEVEL", "warn")
	code, _, stderr := errand(t, "serve")
	if code != 2 || !strings.Contains(stderr, "ERRAND_TOKEN is empty") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// fakeAPI answers as the API does; each test says what.
func fakeAPI(t *testing.T, routes map[string]http.HandlerFunc) {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, handler := range routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer the-token" {
				t.Errorf("%s without the token", r.URL)
			}
			handler(w, r)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Setenv("ERRAND_API", server.URL)
	t.Setenv("ERRAND_TOKEN", "the-token")
}

func say(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func outcomeEvent(state plan.Phase) string {
	text, err := json.Marshal(plan.Outcome{PlanID: "p-1", State: state, Steps: []plan.StepOutcome{}, Reason: &plan.Report{Code: "WHY"}})
	if err != nil {
		panic(err)
	}
	return "event: outcome\ndata: " + string(text) + "\n\n"
}

func TestRunExitsZeroOnlyForACompletedPlan(t *testing.T) {
	for state, want := range map[plan.Phase]int{plan.Completed: 0, plan.Returned: 1, plan.Failed: 1, plan.Cancelled: 1, plan.Unresolved: 1} {
		t.Run(string(state), func(t *testing.T) {
			fakeAPI(t, map[string]http.HandlerFunc{
				"POST /v1/utterances":      say(200, `{"plan_id":"p-1","state":"running","ui_url":"http://ui/p-1"}`),
				"GET /v1/plans/p-1/events": say(200, ": still watching\n\n"+outcomeEvent(state)),
			})
			code, stdout, stderr := errand(t, "run", "안방으로 가줘")
			if code != want || !strings.Contains(stdout, "in the UI  http://ui/p-1") {
				t.Errorf("exit %d: %s%s", code, stdout, stderr)
			}
			if want == 1 && !strings.Contains(stderr, "did not complete: "+string(state)+", WHY") {
				t.Errorf("stderr %q", stderr)
			}
		})
	}
}

func TestAWatchThatBreaksOffGoesOnWhereItWas(t *testing.T) {
	asked := 0
	fakeAPI(t, map[string]http.HandlerFunc{
		"GET /v1/plans/p-1": say(200, `{"plan_id":"p-1"}`),
		"GET /v1/plans/p-1/events": func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked == 1 {
				fmt.Fprint(w, "event: entry\nid: 7\ndata: {\"n\":7,\"kind\":\"note\",\"text\":\"first\"}\n\n")
				return
			}
			if r.Header.Get("Last-Event-ID") != "7" {
				t.Errorf("taken up after %q, want 7", r.Header.Get("Last-Event-ID"))
			}
			fmt.Fprint(w, outcomeEvent(plan.Completed))
		},
	})
	if code, stdout, stderr := errand(t, "plan", "watch", "p-1"); code != 0 || asked != 2 || strings.Count(stdout, "first") != 1 {
		t.Errorf("exit %d after %d streams: %s%s", code, asked, stdout, stderr)
	}
}

func TestProblemsOfTheAPIAreToldAndDecideTheExitCode(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		code   int
		says   string
	}{
		"not found":   {404, `{"status":404,"detail":"no such plan"}`, 2, "errand: no such plan\n"},
		"refused":     {422, `{"status":422,"detail":"x","errors":[{"path":"steps[0].id","code":"c","message":"m"}]}`, 2, "  steps[0].id: m (c)\n"},
		"unavailable": {503, `{"status":503,"detail":"no worker answers"}`, 1, "errand: no worker answers\n"},
		"no API":      {502, `<html>`, 1, "is ERRAND_API right?"},
	} {
		t.Run(name, func(t *testing.T) {
			fakeAPI(t, map[string]http.HandlerFunc{"GET /v1/plans/p-1": say(c.status, c.body)})
			if code, _, stderr := errand(t, "plan", "show", "p-1"); code != c.code || !strings.Contains(stderr, c.says) {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
}

func TestAnAPIThatIsNotRunningIsSaidToBeSo(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	t.Setenv("ERRAND_API", server.URL)
	t.Setenv("ERRAND_TOKEN", "the-token")
	code, _, stderr := errand(t, "device", "list")
	if code != 1 || !strings.Contains(stderr, "is not running: start it with `errand dev`") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestTheTokenComesFromTheStateFolder(t *testing.T) {
	fakeAPI(t, map[string]http.HandlerFunc{"GET /v1/devices": say(200, `{"devices":[{"device_id":"d-1","display_name":"robot","state":"approved","online":true}]}`)})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("the-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ERRAND_TOKEN", "")
	t.Setenv("ERRAND_STATE", dir)
	if code, stdout, stderr := errand(t, "device", "list"); code != 0 || !strings.Contains(stdout, "d-1") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestCancelAndAnswerSendWhatTheAPIReads(t *testing.T) {
	var sent []string
	keep := func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		sent = append(sent, fmt.Sprint(body))
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"plan_id":"p-1","state":"cancelling"}`)
	}
	fakeAPI(t, map[string]http.HandlerFunc{"POST /v1/plans/p-1/cancel": keep, "POST /v1/plans/p-1/answer": keep})
	for _, args := range [][]string{{"plan", "cancel", "p-1", "--reason", "그만"}, {"plan", "answer", "p-1", "q-1", "yes"}} {
		if code, stdout, stderr := errand(t, args...); code != 0 || !strings.Contains(stdout, "plan p-1 is cancelling") {
			t.Errorf("%v: exit %d: %s%s", args, code, stdout, stderr)
		}
	}
	if sent[0] != "map[reason:그만]" || sent[1] != "map[choice:yes question_id:q-1]" {
		t.Errorf("sent %v", sent)
	}
}

func TestEventsEndAtTheEndOfTheStream(t *testing.T) {
	err := readEvents(strings.NewReader("event: entry\ndata: {\"n\":1}\n\nevent: entr"), func(plans.Change) {})
	if err == nil || !strings.Contains(err.Error(), "broke off") {
		t.Errorf("readEvents = %v", err)
	}
	if _, err := clientFor("http://127.0.0.1:1", "t").watch(canceled(), "p", func(plans.Change) {}); err == nil {
		t.Error("a watch with an ended context went on")
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
