package tests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

// Law 4: a device puts a secret beside the listed fields of a result, in every way in which a result can come, and in events
// that reach no plan. It is in no file of the installation (Temporal's and the registry's databases, the programs' logs) and
// in no answer of the API, though the listed field is.
func unlistedIsStoredNowhere(t *testing.T, s *stack.Stack) {
	const (
		listed = "listed-7f3a19"
		secret = "unlisted-c0ffee"
		result = `"result":{"area_id":"` + listed + `","raw_pose":"` + secret + `","nested":{"area_id":"` + secret + `"},"frames":["` + secret + `"]}`
	)
	n, p := taken(t, s, threeStepPlan)
	move, purify := p.ID+"/move/1", p.ID+"/purify/1"
	tell(t, n, 1, "BLOCKED", move, `"reason_code":"PATH_BLOCKED","requires_cloud_decision":false,`+result, wire.AckApplied)
	tell(t, n, 2, "COMPLETED", move, `"eventName":"FAILED",`+result, wire.AckRefused) // two spellings that disagree: the plan asks
	stored := taskEvent("b1-3", 3, "COMPLETED", move, result)
	n.Answer(t, n.Invoked(t, wire.CommandTaskStatus), `{"found":true,"operation_id":"`+move+`","status":"COMPLETED","store_id":"store-1","terminal_event":`+stored+`}`)
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), strings.TrimSuffix(accepted, "}")+`,"terminal_event":`+taskEvent("b1-4", 4, "COMPLETED", purify, result)+`}`)
	n.Answer(t, n.Invoked(t, wire.CommandSubmitTask), accepted)
	tell(t, n, 5, "COMPLETED", move, result, wire.AckApplied) // told again
	tell(t, n, 6, "COMPLETED", p.ID+"/return/1", result, wire.AckApplied)
	o := wantOutcome(t, p, plan.Completed, "completed")
	tell(t, n, 7, "COMPLETED", move, result, wire.AckLate)
	tell(t, n, 8, "COMPLETED", "p-nobody/move/1", result, wire.AckUnmatched)
	if o.Steps[0].Result["area_id"] != listed || len(o.Steps[0].Result) != 1 {
		t.Errorf("move's result is %v, want the listed field alone", o.Steps[0].Result)
	}
	var all bytes.Buffer
	for _, path := range []string{"/v1/plans/" + p.ID, "/v1/plans/" + p.ID + "/events", "/v1/devices/" + n.ID + "/strays"} {
		status, answer := s.Get(t, path)
		if status != 200 {
			t.Fatalf("GET %s: %d %s", path, status, answer)
		}
		all.Write(answer)
	}
	if !bytes.Contains(all.Bytes(), []byte(listed)) || bytes.Contains(all.Bytes(), []byte(secret)) {
		t.Errorf("the API's answers hold the listed field %v, the unlisted ones %v", bytes.Contains(all.Bytes(), []byte(listed)), bytes.Contains(all.Bytes(), []byte(secret)))
	}
	holding := filesHolding(t, s.Dir, secret)
	if len(holding) > 0 {
		t.Errorf("the unlisted fields are in %v", holding)
	}
	if with := filesHolding(t, s.Dir, listed); len(with) == 0 { // else the search would prove nothing
		t.Error("the listed field is in no file")
	}
}

// filesHolding lists the files below a folder in which a text is found.
func filesHolding(t *testing.T, dir, text string) (holding []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // a file that went away in the meantime, or a socket
		}
		content, err := os.ReadFile(path)
		if err == nil && bytes.Contains(content, []byte(text)) {
			holding = append(holding, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return holding
}

// Law 19: of whatever a device says, each thing is in the plan's history or among the strays, with why. What is in neither
// is only what updates live views, and that is said in its acknowledgement.
func eachEventHasARecord(t *testing.T, s *stack.Stack) {
	n, p := taken(t, s, threeStepPlan)
	move := p.ID + "/move/1"
	task := func(seq int, name, operation, more string) string {
		return taskEvent(fmt.Sprint("e-", seq, "-", p.ID), seq, name, operation, more)
	}
	acks := map[string]wire.EventAck{}
	for seq, e := range []struct{ event, payload string }{
		{wire.NodeTaskEvent, task(1, "STARTED", move, `"x":1`)},
		{wire.NodeTaskEvent, task(2, "PROGRESS", move, `"progress":0.5`)},
		{wire.NodeTaskEvent, task(3, "BLOCKED", move, `"reason_code":"PATH_BLOCKED","requires_cloud_decision":false`)},
		{wire.NodeTaskEvent, task(4, "RUNNING", move, `"x":1`)},
		{wire.NodeTaskEvent, task(5, "DANCING", move, `"x":1`)},
		{wire.NodeTaskEvent, task(6, "COMPLETED", p.ID+"/move/7", `"x":1`)},
		{wire.NodeTaskEvent, task(7, "COMPLETED", "p-nobody/move/1", `"x":1`)},
		{wire.NodeTaskEvent, strings.Replace(task(8, "COMPLETED", move, `"x":1`), `"b1"`, `"b-unheard-of"`, 1)},
		{wire.NodeTaskEvent, task(9, "COMPLETED", move, `"cloud_plan_id":"p-other"`)},
		{wire.NodeObservation, fmt.Sprintf(`{"event_id":"e-10-%s","boot_id":"b1","seq":10,"kind":"person","place":"거실"}`, p.ID)},
		{wire.NodeAnswer, fmt.Sprintf(`{"event_id":"e-11-%s","boot_id":"b1","seq":11,"question_id":"p-nobody.1","choice":"yes"}`, p.ID)},
		{wire.NodeTaskEvent, task(12, "COMPLETED", move, `"result":{"area_id":"6"}`)},
	} {
		id := fmt.Sprint("e-", seq+1, "-", p.ID)
		if acks[id] = n.Event(t, e.event, e.payload); acks[id].EventID != id {
			t.Errorf("%s is acknowledged as %+v", e.payload, acks[id])
		}
	}
	p.Cancel(t)
	p.Await(t, "the plan took its cancel", func(v plan.View) bool { return v.Cancel != nil })
	history, listed := signalsOf(t, s, p.ID), map[string]string{}
	stack.Eventually(t, "the strays are listed", func(context.Context) (bool, error) {
		for _, e := range strays(t, s, n.ID) {
			listed[e.EventID] = e.Reason
		}
		return len(listed) > 0, nil
	})
	for id, ack := range acks {
		inHistory := strings.Contains(history, `"`+id+`"`)
		reason, stray := listed[id]
		switch {
		case ack.Reason == "live_only" && !inHistory && !stray: // a view of what is going on, and said to be no more
		case ack.Ack == wire.AckApplied && inHistory && !stray:
		case ack.Ack != wire.AckApplied && stray && reason != "":
		default:
			t.Errorf("%s was acknowledged as %+v; it is in the history: %v, among the strays: %v (%s)", id, ack, inHistory, stray, reason)
		}
	}
}

// signalsOf is all that was signalled to a plan's latest run, as JSON.
func signalsOf(t *testing.T, s *stack.Stack, planID string) string {
	t.Helper()
	var signals strings.Builder
	for _, event := range historyOf(t, s.Temporal, planID).Events {
		for _, payload := range event.GetWorkflowExecutionSignaledEventAttributes().GetInput().GetPayloads() {
			signals.Write(payload.Data)
		}
	}
	return signals.String()
}
