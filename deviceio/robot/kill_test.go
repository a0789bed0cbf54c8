package robot_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"errand/deviceio/robot"
	"errand/deviceio/wire"
)

// childDir, if set, makes this test binary a robot process in that directory: something that can be killed.
const (
	childDir = "ROBOT_TEST_STATE"
	childURL = "ROBOT_TEST_GATEWAY"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		err := robot.Run(context.Background(), robot.Config{URL: os.Getenv(childURL), Token: "shared", Logger: slog.New(slog.DiscardHandler),
			Options: robot.Options{StateDir: dir, Speed: 60, Report: func(line string) { fmt.Println(line) }}})
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child is a robot in a process of its own.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, dir, url string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childURL+"="+url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(c.kill)
	return c
}

// ready reads until the child says that it is connected.
func (c *child) ready(t *testing.T) {
	t.Helper()
	for c.lines.Scan() {
		if strings.HasPrefix(c.lines.Text(), "robot ready:") {
			go func() { // what else it says must not block it
				for c.lines.Scan() {
				}
			}()
			return
		}
	}
	t.Fatal("the robot ended before it was ready")
}

// kill is kill -9: no deferred call runs. Killing twice is killing once.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// Law 11 and law 19 against the real thing: a robot process is killed with SIGKILL again and again at random moments
// while it carries out a plan, whose operations are sent again after each death under the same ids. Every operation
// comes about exactly once, and every COMPLETED reaches the gateway as exactly one event.
func TestLaw11LedgerSurvivesKill9(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	g := newScriptedGateway(t)
	dir := t.TempDir()
	plan := []wire.Task{
		spec("p/move/1", "setMoveTo", map[string]any{"position_name": "안방"}),
		spec("p/purify/1", "setStationaryPurify", map[string]any{"area_id": "6"}),
		spec("p/clean/1", "setRoomCleaning", map[string]any{"position_name": "부엌"}),
		spec("p/return/1", "setReturnToStation", nil),
	}
	deaths := 0
	for !g.all(plan) {
		if deaths > 100 {
			t.Fatal("a hundred deaths, and the plan is not done: it starts over each time")
		}
		c := startChild(t, dir, g.url)
		c.ready(t)
		g.until("the connection", g.connected)
		killed := make(chan struct{})
		time.AfterFunc(time.Duration(random.IntN(400))*time.Millisecond, func() { c.kill(); close(killed) })
		for _, s := range plan {
			if _, err := g.send(wire.CommandSubmitTask, s); err != nil {
				break // it died meanwhile
			}
		}
		<-killed
		g.until("the connection's end", func() bool { return !g.connected() })
		deaths++
	}
	t.Logf("%d deaths", deaths)
	// A last life, in peace: everything stored is told.
	c := startChild(t, dir, g.url)
	c.ready(t)
	for _, s := range plan {
		if a := g.submitWhenUp(s); a.TaskState != "COMPLETED" || a.TerminalEvent == nil {
			t.Errorf("%s: %+v", s.OperationID, a)
		}
		g.until("COMPLETED of "+s.OperationID, func() bool { return g.named(s.OperationID, "COMPLETED") > 0 })
	}
	effects, err := robot.ReadLedger(dir) // while it runs
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range effects {
		count[e.OperationID]++
	}
	for _, s := range plan {
		if count[s.OperationID] != 1 {
			t.Errorf("%s came about %d times: %+v", s.OperationID, count[s.OperationID], effects)
		}
		if n := g.named(s.OperationID, "COMPLETED"); n != 1 {
			t.Errorf("%s was told COMPLETED as %d events", s.OperationID, n)
		}
	}
	motions, err := robot.ReadMotions(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range motions {
		if seen[m.OperationID] || !m.Completed {
			t.Errorf("motion %+v: want one for each operation, carried through", m)
		}
		seen[m.OperationID] = true
	}
}

// all reports whether every operation was told COMPLETED.
func (g *scriptedGateway) all(plan []wire.Task) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range plan {
		if g.named(s.OperationID, "COMPLETED") == 0 {
			return false
		}
	}
	return true
}

func (g *scriptedGateway) submitWhenUp(s wire.Task) wire.SubmitAnswer {
	g.t.Helper()
	g.until("the connection", g.connected)
	return g.submit(s)
}
