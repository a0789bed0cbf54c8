package robot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
)

func TestOverTheWire(t *testing.T) {
	t.Parallel()
	g := newScriptedGateway(t)
	dir := t.TempDir()
	control, stop := g.running(dir)
	e := g.connect.Errand
	if e == nil || !e.Profile.Status || !e.Profile.Dedupe || !e.Profile.Outbox || e.StoreID == "" || e.RetentionS != int64(robot.Retention/time.Second) || len(e.Boots) != 1 {
		t.Fatalf("it declares %+v", e)
	}

	a := g.submit(spec("p/move/1", "setMoveTo", map[string]any{"position_name": "안방"}))
	if !a.Accepted || a.StoreID != e.StoreID {
		t.Fatalf("%+v", a)
	}
	g.until("COMPLETED", func() bool { return g.named("p/move/1", "COMPLETED") == 1 })
	r := g.ask(wire.CommandTaskStatus, wire.StatusQuery{OperationID: "p/move/1"})
	s, err := wire.ParseStatusAnswer(r.Body())
	if err != nil || s.TerminalEvent == nil || s.BootID != e.Boots[0] || s.TerminalEvent.Seq > s.AsOfSeq {
		t.Fatalf("%+v, %v", s, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, err := control.Ledger(ctx, 1, patience)
	if err != nil || len(l.Effects) != 1 || l.Effects[0].BootID != e.Boots[0] || len(l.Motions) != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
	stop()
	if _, err := robot.DialControl(dir); err == nil {
		t.Fatal("the control file outlives the robot")
	}
	if effects, err := robot.ReadLedger(dir); err != nil || len(effects) != 1 {
		t.Fatalf("the ledger of a robot that is off: %+v, %v", effects, err)
	}
}

// Case c02: off the air while it works; the robot finishes, and the late COMPLETED comes with the connection.
func TestCaseC02OffTheAir(t *testing.T) {
	t.Parallel()
	g := newScriptedGateway(t)
	control, _ := g.running(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	half := 0.5
	f, err := control.AddFault(ctx, robot.Fault{Kind: robot.FaultOffline, At: &half})
	if err != nil {
		t.Fatal(err)
	}
	g.submit(spec("p/move/1", "setMoveTo", map[string]any{"position_name": "안방"}))
	g.until("the connection's end", func() bool { return g.ended == 1 })
	if _, err := control.AwaitTask(ctx, "p/move/1", robot.Completed, patience); err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	told := g.named("p/move/1", "COMPLETED")
	g.mu.Unlock()
	if told != 0 {
		t.Fatal("it told, though off the air")
	}
	if err := control.ReleaseFault(ctx, f); err != nil {
		t.Fatal(err)
	}
	g.until("the late COMPLETED", func() bool { return g.named("p/move/1", "COMPLETED") == 1 })
}

// Case c01 on the wire: the work is done and nothing is answered, not even "too late"; then it is asked about.
func TestCaseC01OnTheWire(t *testing.T) {
	t.Parallel()
	g := newScriptedGateway(t)
	control, _ := g.running(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := control.AddFault(ctx, robot.Fault{Kind: robot.FaultDropAnswer}); err != nil {
		t.Fatal(err)
	}
	move := spec("p/move/1", "setMoveTo", map[string]any{"position_name": "안방"})
	answer, err := g.send(wire.CommandSubmitTask, move)
	if err != nil {
		t.Fatal(err)
	}
	g.until("COMPLETED", func() bool { return g.named("p/move/1", "COMPLETED") == 1 })
	select {
	case r := <-answer:
		t.Fatalf("answered %+v", r)
	default:
	}
	if a := g.submit(move); a.TaskState != "COMPLETED" || a.TerminalEvent == nil {
		t.Fatalf("%+v", a)
	}
	if l, err := control.Ledger(ctx, 1, patience); err != nil || len(l.Effects) != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
}

// An answer sent twice is two equal frames, whatever its length, and nothing else is doubled.
func TestDoubleAnswerOnTheWire(t *testing.T) {
	t.Parallel()
	g := newScriptedGateway(t)
	control, _ := g.running(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i, length := range []int{1, 300, 5_000, 50_000} {
		text, err := json.Marshal(strings.Repeat("가", length/3+1))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []robot.Fault{{Kind: robot.FaultDoubleAnswer, Command: wire.CommandContext},
			{Kind: robot.FaultNonsense, Command: wire.CommandContext, Answer: text}} {
			if _, err := control.AddFault(ctx, f); err != nil {
				t.Fatal(err)
			}
		}
		first, once := fmt.Sprintf("i%d", 2*i+1), fmt.Sprintf("i%d", 2*i+2)
		g.ask(wire.CommandContext, struct{}{})
		g.until("the second answer", func() bool { return len(g.results[first]) == 2 })
		g.ask(wire.CommandContext, struct{}{})
		g.mu.Lock()
		if got := g.results[first]; got[0] != string(text) || got[1] != string(text) || len(g.results[once]) != 1 {
			t.Errorf("%d bytes: answered %.60q, then %d times", len(text), got, len(g.results[once]))
		}
		g.mu.Unlock()
	}
}

// The person's answer travels from the control API to the gateway.
func TestQuestionOverTheWire(t *testing.T) {
	t.Parallel()
	g := newScriptedGateway(t)
	control, _ := g.running(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if r := g.ask(wire.CommandAsk, wire.Ask{QuestionID: "p-q1", Text: "계속할까요?", Choices: []string{"yes", "no"}, ExpiresAt: time.Now().Add(time.Minute).UnixMilli()}); !r.OK {
		t.Fatalf("%+v", r)
	}
	if err := control.Answer(ctx, "p-q1", "yes"); err != nil {
		t.Fatal(err)
	}
	g.until("the answer", func() bool {
		return len(g.answers) == 1 && g.answers[0].Choice == "yes" && g.answers[0].QuestionID == "p-q1"
	})
	s, err := control.State(ctx)
	if err != nil || len(s.Questions) != 1 || s.Questions[0].Choice != "yes" || s.DeviceID != g.node {
		t.Fatalf("%+v, %v", s, err)
	}
}

func TestControlWantsItsToken(t *testing.T) {
	t.Parallel()
	g := newScriptedGateway(t)
	control, _ := g.running(t.TempDir())
	for _, token := range []string{"", "guess"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, control.URL+"/state", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("token %q: %s", token, res.Status)
		}
	}
	if _, err := control.AwaitFault(t.Context(), "f7", 1, time.Second); err == nil || !strings.Contains(err.Error(), "f7") {
		t.Errorf("an unknown fault: %v", err)
	}
	err := robot.Run(t.Context(), robot.Config{URL: g.url, Control: "0.0.0.0:0", Options: robot.Options{StateDir: t.TempDir()}})
	if err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("a control address for everyone: %v", err)
	}
}
