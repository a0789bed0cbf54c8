package robot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"testing"
	"time"

	"errand/deviceio/robot"
)

const plainToken = "the-token-of-the-plain-robot"

// plainRobot is a running plain robot, and what it told.
type plainRobot struct {
	t      *testing.T
	dir    string
	url    string
	events chan map[string]any
	stop   func()
}

var plainURL = regexp.MustCompile(`taskmanager=(\S+)`)

func startPlain(t *testing.T, dir string, listening bool) *plainRobot {
	t.Helper()
	p := &plainRobot{t: t, dir: dir, events: make(chan map[string]any, 1000)}
	target := ""
	if listening {
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var e map[string]any
			if err := json.NewDecoder(r.Body).Decode(&e); err != nil || r.Header.Get("Authorization") != "Bearer "+plainToken {
				t.Errorf("%v, %q", err, r.Header.Get("Authorization"))
			}
			p.events <- e
		}))
		t.Cleanup(server.Close)
		target = server.URL
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- robot.RunPlain(ctx, robot.PlainConfig{Listen: "127.0.0.1:0", EventsURL: target, Token: plainToken, Logger: slog.New(slog.DiscardHandler),
			Options: robot.Options{StateDir: dir, Speed: 200, Report: func(line string) {
				if m := plainURL.FindStringSubmatch(line); m != nil {
					ready <- m[1]
				}
			}}})
	}()
	select {
	case p.url = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	p.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	return p
}

// call posts to one of its methods.
func (p *plainRobot) call(method, body string) (status int, answer map[string]any) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+"/"+method, bytes.NewBufferString(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+plainToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close(), json.Unmarshal(text, &answer)); err != nil {
		p.t.Fatalf("%v: %s", err, text)
	}
	return res.StatusCode, answer
}

// next is the next event of that name.
func (p *plainRobot) next(name string) map[string]any {
	p.t.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case e := <-p.events:
			if e["event_name"] == name {
				return e
			}
		case <-late:
			p.t.Fatalf("no %s came", name)
		}
	}
}

const plainMove = `{"taskMethod":"setMoveTo","params":{"position_name":"안방"},"source":"cloud","cloud_workflow_id":"p","cloud_plan_id":"p",
	"cloud_step_id":"move","operation_id":"p/move/1"}`

// What a vendor may do who meets the checklist and no more: told twice, it moves twice; a task that is over it does not know; it
// keeps the trace, and knows no operation id.
func TestPlainRobotHasNoneOfTheRobotsCare(t *testing.T) {
	t.Parallel()
	p := startPlain(t, t.TempDir(), true)
	defer p.stop()
	_, first := p.call("submitTask", plainMove)
	_, second := p.call("submitTask", plainMove)
	if first["accepted"] != true || second["accepted"] != true || first["taskId"] == second["taskId"] || first["store_id"] != nil {
		t.Fatalf("%v, %v", first, second)
	}
	for range 2 {
		e := p.next("COMPLETED")
		if e["cloud_step_id"] != "move" || e["task_id"] == nil {
			t.Fatalf("%v", e)
		}
		for _, name := range []string{"operation_id", "event_id", "boot_id", "seq"} {
			if e[name] != nil {
				t.Errorf("it tells %s: %v", name, e)
			}
		}
	}
	effects, err := robot.ReadLedger(p.dir)
	if err != nil || len(effects) != 2 {
		t.Fatalf("%+v, %v", effects, err)
	}
	if status, a := p.call("getTaskStatus", `{"taskId":"`+first["taskId"].(string)+`"}`); status != http.StatusNotFound { //nolint:errcheck,forcetypeassert // checked above
		t.Errorf("%d %v", status, a)
	}
	if status, a := p.call("cancelTask", `{"taskId":"nobody's","reason":"r"}`); status != http.StatusNotFound {
		t.Errorf("%d %v", status, a)
	}
	if _, a := p.call("submitTask", `{"taskMethod":"setTeleport"}`); a["accepted"] != false || a["reason_code"] != robot.ReasonUnsupportedMethod {
		t.Errorf("%v", a)
	}
}

// Case c08: it restarts, reports idle and says no word. An event that nobody takes is gone.
func TestPlainRobotForgetsWhenItRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startPlain(t, dir, false)
	_, far := p.call("submitTask", `{"taskMethod":"setRoomCleaning","params":{"position_name":"안방"},"cloud_step_id":"clean"}`)
	id, _ := far["taskId"].(string)
	if status, a := p.call("getTaskStatus", `{"taskId":"`+id+`"}`); status != http.StatusOK || a["cloud_step_id"] != "clean" || a["operation_id"] != nil {
		t.Fatalf("%d %v", status, a)
	}
	p.stop()
	p = startPlain(t, dir, true)
	defer p.stop()
	if status, a := p.call("getTaskStatus", `{"taskId":"`+id+`"}`); status != http.StatusNotFound {
		t.Errorf("%d %v", status, a)
	}
	_, seen := p.call("getDevicePlanningContext", `{}`)
	area, _ := seen["task_manager"].(map[string]any)
	if tasks, ok := area["tasks"].([]any); !ok || len(tasks) != 0 {
		t.Errorf("%v", area)
	}
	p.call("submitTask", plainMove)
	p.next("COMPLETED")
	effects, err := robot.ReadLedger(dir)
	kinds := []string{}
	for _, e := range effects {
		kinds = append(kinds, e.Kind)
	}
	if err != nil || !slices.Equal(kinds, []string{"arrived"}) {
		t.Errorf("%v, %v", kinds, err)
	}
}
