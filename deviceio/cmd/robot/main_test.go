package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/robot"
	"errand/deviceio/wire"
)

// robotWithOneMove makes a state directory in which a robot went to 안방 and came half way back.
func robotWithOneMove(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	r, err := robot.Open(t.Context(), robot.Options{StateDir: dir, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	outbox, err := device.Open(device.Options{URL: "ws://127.0.0.1:1/", StateDir: dir, Handler: r, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Attach(t.Context(), outbox); err != nil {
		t.Fatal(err)
	}
	do := func(spec wire.Task, ticks int) {
		if a, err := r.Submit(t.Context(), spec); err != nil || !a.Accepted {
			t.Fatalf("%+v, %v", a, err)
		}
		for range ticks {
			now = now.Add(100 * time.Millisecond)
			if err := r.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	do(wire.Task{TaskMethod: "setMoveTo", Params: map[string]any{"position_name": "안방"}, Trace: wire.Trace{OperationID: "p-1/move/1"}}, 200)
	do(wire.Task{TaskMethod: "setReturnToStation", Trace: wire.Trace{OperationID: "p-1/return/1"}}, 50)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := outbox.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func call(ctx context.Context, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestLedgerCommand(t *testing.T) {
	t.Parallel()
	dir := robotWithOneMove(t)
	code, out, errs := call(t.Context(), "ledger", "--state-dir", dir)
	if code != 0 || errs != "" {
		t.Fatalf("%d %s", code, errs)
	}
	for _, want := range []string{"arrived", "p-1/move/1", "setMoveTo", "under way"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	code, out, _ = call(t.Context(), "ledger", "--state-dir", dir, "--json")
	var l robot.Ledger
	if err := json.Unmarshal([]byte(out), &l); err != nil || code != 0 {
		t.Fatalf("%d %v %s", code, err, out)
	}
	if len(l.Effects) != 1 || l.Effects[0].Kind != "arrived" || len(l.Motions) != 2 || !l.Motions[0].Completed || l.Motions[1].EndedAt != 0 {
		t.Errorf("%+v", l)
	}
}

func TestCommandsThatCannotBe(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"dance"}, 2, "dance"},
		{[]string{"ledger", "--state-dir", empty}, 1, "no such file"},
		{[]string{"answer", "--state-dir", empty, "q1", "yes"}, 1, "no robot with a control API runs in " + empty},
	} {
		code, _, errs := call(t.Context(), c.args...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: %d %q, want %d and %q", c.args, code, errs, c.code, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Setenv("ERRAND_ROBOT_SPEED", "-3")
	t.Setenv("ERRAND_TOKEN", "a-secret-of-some-length")
	code, _, errs := call(t.Context(), "run")
	if code != 2 || !strings.Contains(errs, "ERRAND_ROBOT_SPEED: -3 is not between 0 and 10000") {
		t.Errorf("%d %q", code, errs)
	}
	code, out, _ := call(t.Context(), "config")
	if code != 0 || !strings.Contains(out, "ERRAND_GATEWAY_URL") || strings.Contains(out, "a-secret") {
		t.Errorf("%d %s", code, out)
	}
}

// Without a gateway the robot keeps trying, and a stop is a clean end.
func TestRunWithoutAGateway(t *testing.T) {
	t.Setenv("ERRAND_ROBOT_STATE", t.TempDir())
	t.Setenv("ERRAND_GATEWAY_URL", "ws://127.0.0.1:1/")
	ctx, stop := context.WithCancel(t.Context())
	out := &watched{want: "robot is not connected to ws://127.0.0.1:1/", found: stop}
	var stderr bytes.Buffer
	if code := run(ctx, nil, out, &stderr); code != 0 {
		t.Fatalf("%d %s", code, stderr.String())
	}
}

// watched calls found once something was printed.
type watched struct {
	want  string
	found func()
}

func (w *watched) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.want) {
		w.found()
	}
	return len(p), nil
}
