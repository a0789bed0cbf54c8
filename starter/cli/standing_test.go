package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"errand/plan"
)

func waitingView() plan.View {
	return plan.View{PlanID: "p-1", DeviceID: "d-1", DeviceName: "거실 로봇", State: plan.WaitingUser, Why: "a person must answer: 다시\n할까요?",
		Next:     &plan.Next{At: 1_796_068_411_000, Move: plan.MoveNoAnswer},
		Question: &plan.Question{ID: "p-1.1", Choices: []string{"retry", "stop"}}, Entries: 2,
		Steps: []plan.StepView{
			{ID: "move", CapabilityID: "move_to_room", Arguments: map[string]any{"position_name": "안방"}, State: plan.StepCompleted, Why: "verified"},
			{ID: "purify", CapabilityID: "stationary_purify", State: plan.StepBlocked, Why: "PATH\x1b_BLOCKED", Until: 1_796_068_500_000},
		}}
}

const waitingStands = `plan       p-1
device     거실 로봇 d-1
state      waiting_user
why        a person must answer: 다시 할까요?
by itself  if nothing comes until Nov 30, 19:53:31 UTC: no answer is taken as no
choices    retry, stop
to answer  errand plan answer p-1 p-1.1 retry

STEP    WHAT                               STATE      WHY            UNTIL
move    move_to_room (position_name=안방)  completed  verified       -
purify  stationary_purify                  blocked    PATH` + "\ufffd" + `_BLOCKED  Nov 30, 19:55:00 UTC
`

func TestHowAPlanStandsIsSaidInColumnsThatKnowHangul(t *testing.T) {
	var out bytes.Buffer
	standing(&out, waitingView(), time.UTC)
	if got := out.String(); got != waitingStands {
		t.Errorf("got\n%s\nwant\n%s", got, waitingStands)
	}
}

// A watch tells what happened, then how the plan stands, then what comes.
func TestAWatchSaysHowThePlanStandsOnceItHasToldWhatWas(t *testing.T) {
	view, err := json.Marshal(waitingView())
	if err != nil {
		t.Fatal(err)
	}
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	time.Local = time.UTC
	fakeAPI(t, map[string]http.HandlerFunc{
		"GET /v1/plans/p-1": say(200, string(view)),
		"GET /v1/plans/p-1/events": say(200, "event: entry\nid: 1\ndata: {\"n\":1,\"kind\":\"note\",\"text\":\"first\"}\n\n"+
			"event: entry\nid: 2\ndata: {\"n\":2,\"at\":1796068401000,\"kind\":\"plan\",\"from\":\"running\",\"to\":\"waiting_user\",\"text\":\"answer:p-1.1\",\"until\":1796068411000}\n\n"+
			"event: entry\nid: 3\ndata: {\"n\":3,\"kind\":\"note\",\"text\":\"third\"}\n\n"+outcomeEvent(plan.Failed)),
	})
	_, stdout, _ := errand(t, "plan", "watch", "p-1")
	want := []string{"first", "19:53:21.000  plan     running → waiting_user  (answer:p-1.1, until 19:53:31 UTC)\n", "\n" + waitingStands + "\n", "third", "outcome    failed"}
	rest := stdout
	for _, part := range want {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is not there, or not in its place:\n%s", part, stdout)
		}
		rest = after
	}
	if n := strings.Count(stdout, "STEP"); n != 1 {
		t.Errorf("it said %d times how the plan stands", n)
	}
}

func TestTheWatchOfAPlanThatWasClosedFromOutsideDoesNotSayThatItGoesOn(t *testing.T) {
	fakeAPI(t, map[string]http.HandlerFunc{
		"GET /v1/plans/p-1": say(200, `{"plan_id":"p-1","state":"unresolved"}`),
		"GET /v1/plans/p-1/events": say(200, "event: problem\ndata: "+
			`{"status":409,"code":"no_outcome","detail":"plan p-1: the plan ended without an outcome"}`+"\n\n"),
	})
	code, _, stderr := errand(t, "plan", "watch", "p-1")
	if code == 0 || strings.Contains(stderr, "goes on") || !strings.Contains(stderr, "without an outcome; `errand plan show p-1`") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
