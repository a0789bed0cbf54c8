package shim

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"errand/deviceio/device"
	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/internal/freeport"
)

var (
	kills    = flag.Int("kills", 20, "how many times the shim is killed")
	killSeed = flag.Uint64("kill-seed", 1, "seed of its moments")
)

// If set, this test binary is a shim in a process of its own, which can be killed: its state, the TaskManager, its own address.
const (
	childDir    = "SHIM_TEST_STATE"
	childVendor = "SHIM_TEST_VENDOR"
	childListen = "SHIM_TEST_LISTEN"
	childToken  = "a-token-of-the-test"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, "child:", beShim(context.Background(), dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// beShim is the shim of the shim's program, without a gateway: commands come on standard input, answers go to standard output, and
// the outbox fills up.
func beShim(ctx context.Context, dir string) error {
	quiet := slog.New(slog.DiscardHandler)
	s, err := Open(Options{StateDir: dir, Vendor: NewHTTPVendor(os.Getenv(childVendor), childToken), VendorTimeout: 300 * time.Millisecond,
		Settle: 200 * time.Millisecond, CheckEvery: 50 * time.Millisecond, Logger: quiet})
	if err != nil {
		return err
	}
	client, err := device.Open(device.Options{URL: "ws://127.0.0.1:1/", StateDir: dir, Handler: s, Logger: quiet, StoreID: s.StoreID(), Profile: s.Profile()})
	if err != nil {
		return err
	}
	if err := s.Attach(ctx, client); err != nil {
		return err
	}
	events, err := listenEvents(ctx, s, os.Getenv(childListen), childToken)
	if err != nil {
		return err
	}
	go func() { panic(events.serve(ctx)) }()
	go func() { panic(s.Watch(ctx)) }()
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		var got response
		body, err := s.Invoke(ctx, r.Command, r.Params)
		if err == nil {
			got.Answer, err = json.Marshal(body)
		}
		if err != nil {
			got.Error = err.Error()
		}
		text, err := json.Marshal(got)
		if err != nil {
			return err
		}
		fmt.Println(string(text))
	}
	return lines.Err()
}

type request struct {
	Command string          `json:"command"`
	Params  json.RawMessage `json:"params"`
}

type response struct {
	Answer json.RawMessage `json:"answer,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// child is a shim in a process of its own.
type child struct {
	cmd   *exec.Cmd
	in    io.Writer
	lines *bufio.Scanner
}

// errKilled is what a child that is gone answers.
var errKilled = errors.New("the shim is dead")

func (k *killing) start() *child {
	k.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+k.state, childVendor+"="+k.vendor, childListen+"="+k.listen)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	c := &child{cmd: cmd, in: in, lines: bufio.NewScanner(out)}
	if !c.lines.Scan() || c.lines.Text() != "ready" {
		k.t.Fatalf("the shim did not start: %q", c.lines.Text())
	}
	return c
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill() // may be dead already
	_ = c.cmd.Wait()         // "signal: killed" is what is wanted
}

func (c *child) ask(command string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(request{command, raw})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(text, '\n')); err != nil || !c.lines.Scan() {
		return nil, errKilled
	}
	var got response
	if err := json.Unmarshal(c.lines.Bytes(), &got); err != nil {
		return nil, err
	}
	if got.Error != "" {
		return nil, errors.New(got.Error)
	}
	return got.Answer, nil
}

// killing is a plain robot whose shim is killed at random moments.
type killing struct {
	t              *testing.T
	home, state    string
	vendor, listen string
	port           string
	stop           func() // ends the robot
}

// runRobot starts the plain robot, which forgets everything when it starts.
func (k *killing) runRobot() {
	k.t.Helper()
	ctx, cancel := context.WithCancel(k.t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- robot.RunPlain(ctx, robot.PlainConfig{Listen: k.port, EventsURL: "http://" + k.listen + "/onTaskEvent", Token: childToken,
			Logger: slog.New(slog.DiscardHandler), Options: robot.Options{StateDir: k.home, Speed: 500, Report: func(line string) {
				if strings.HasPrefix(line, "robot ready:") {
					close(ready)
				}
			}}})
	}()
	select {
	case <-ready:
	case err := <-ended:
		k.t.Fatalf("the robot did not start: %v", err)
	}
	k.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			k.t.Errorf("the robot: %v", err)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := freeport.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Laws 9, 11 and 19: the shim is killed at any moment of a submit and of what follows, and now and then the TaskManager restarts as
// well. By the robot's ledger no operation has two effects; each ends with the truth, or as honestly unknown.
func TestLaw09And11And19ShimSurvivesKills(t *testing.T) {
	dir := t.TempDir()
	k := &killing{t: t, home: filepath.Join(dir, "robot"), state: filepath.Join(dir, "shim"), listen: freeAddress(t), port: freeAddress(t)}
	k.vendor = "http://" + k.port
	k.runRobot()
	chance := rand.New(rand.NewPCG(*killSeed, 1))
	rooms := []string{"안방", "거실"}
	c := k.start()
	defer func() { c.kill() }()
	for i := range *kills {
		submit := task(fmt.Sprintf("p/s%d/1", i))
		submit.Params = map[string]any{"position_name": rooms[i%2]}
		within := []int{5_000, 400_000}[chance.IntN(2)] // in the middle of the submit, or of what the robot does
		moment := time.NewTimer(time.Duration(chance.IntN(within)) * time.Microsecond)
		killed := make(chan struct{})
		go func(c *child) {
			<-moment.C
			c.kill()
			close(killed)
		}(c)
		for range 1 + chance.IntN(3) { // and once or twice more, as the cloud does that had no answer
			if _, err := c.ask(wire.CommandSubmitTask, submit); errors.Is(err, errKilled) {
				break
			}
		}
		if chance.IntN(8) == 0 {
			k.stop()
			k.runRobot()
		}
		<-killed
		c = k.start()
		if _, err := c.ask(wire.CommandSubmitTask, submit); errors.Is(err, errKilled) {
			t.Fatal(err)
		}
	}
	verdicts := map[string]int{}
	for i := range *kills {
		verdicts[k.judge(c, fmt.Sprintf("p/s%d/1", i))]++
	}
	k.stop()
	t.Logf("%d kills: %v", *kills, verdicts)
}

// judge waits until the shim has said its last word about an operation, and holds it against the ledger.
func (k *killing) judge(c *child, operationID string) string {
	k.t.Helper()
	late := time.After(time.Minute)
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		raw, err := c.ask(wire.CommandTaskStatus, wire.StatusQuery{OperationID: operationID})
		if errors.Is(err, errKilled) {
			k.t.Fatal(err)
		}
		if err == nil {
			a, err := wire.ParseStatusAnswer(raw)
			if err != nil {
				k.t.Fatalf("%s: %v", raw, err)
			}
			if !a.Found || a.Status == wire.TaskUnknown || a.TerminalEvent != nil {
				return k.hold(operationID, a)
			}
		}
		select {
		case <-poll.C:
		case <-late:
			k.t.Fatalf("%s is in the air for ever: %s, %v", operationID, raw, err)
		}
	}
}

func (k *killing) hold(operationID string, a wire.StatusAnswer) string {
	k.t.Helper()
	effects, err := robot.ReadLedger(k.home)
	if err != nil {
		k.t.Fatal(err)
	}
	step, _, _ := splitOperation(operationID)
	n := 0
	for _, e := range effects {
		if strings.HasPrefix(e.OperationID, step+"~") {
			n++
		}
	}
	word := a.Status
	if !a.Found {
		word = "not found"
	}
	switch {
	case n > 1:
		k.t.Errorf("%s has %d effects", operationID, n)
	case word == wire.TaskCompleted && n != 1, word != wire.TaskCompleted && word != wire.TaskUnknown && n != 0:
		k.t.Errorf("%s: the shim says %s, and the ledger has %d effects", operationID, word, n)
	}
	return word
}
