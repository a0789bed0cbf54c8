package stack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"errand/deviceio/robot"
)

// Robot is one simulated robot, a process of its own.
type Robot struct {
	*Process
	ID  string
	dir string
}

// Robot starts a robot of its own identity and waits until it is connected.
func (s *Stack) Robot(tb testing.TB, options ...Option) *Robot {
	tb.Helper()
	r := s.NewRobot(tb, options...)
	r.Start(tb)
	r.ID = r.readyID(tb)
	return r
}

// NewRobot prepares a robot that the test starts itself.
func (s *Stack) NewRobot(tb testing.TB, options ...Option) *Robot {
	tb.Helper()
	n := s.robots.Add(1)
	dir := filepath.Join(s.Dir, fmt.Sprintf("robot-%d", n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	p := s.process("robot", filepath.Join(programs(tb), "robot"))
	p.log = filepath.Join(dir, "robot.log")
	p.env = append(p.env[:len(p.env):len(p.env)], "ERRAND_GATEWAY_URL="+s.Gateway, "ERRAND_ROBOT_STATE="+filepath.Join(dir, "state"),
		fmt.Sprintf("ERRAND_ROBOT_NAME=robot-%d", n), "ERRAND_ROBOT_SPEED=200")
	for _, o := range options {
		p.env = append(p.env, string(o))
	}
	r := &Robot{Process: p, dir: filepath.Join(dir, "state")}
	tb.Cleanup(func() {
		p.Kill(tb)
		p.raced(tb)
	})
	return r
}

func (r *Robot) readyID(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile(r.log)
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "robot ready:")
	words := strings.Fields(rest)
	if len(words) == 0 {
		tb.Fatalf("the robot's ready line names no device\n%s", r.Tail())
	}
	return strings.Trim(words[0], ",")
}

// Control reaches the running robot's control API.
func (r *Robot) Control(tb testing.TB) *robot.Control {
	tb.Helper()
	var c *robot.Control
	Eventually(tb, "the robot's control API", func(ctx context.Context) (bool, error) {
		dialed, err := robot.DialControl(r.dir)
		if err != nil {
			return false, err
		}
		c = dialed
		_, err = c.State(ctx)
		return err == nil, err
	})
	return c
}

// Fault scripts a fault and returns its id.
func (r *Robot) Fault(tb testing.TB, f robot.Fault) string {
	tb.Helper()
	id, err := r.Control(tb).AddFault(tb.Context(), f)
	if err != nil {
		tb.Fatalf("fault %s: %v", f.Kind, err)
	}
	return id
}

// AwaitFault waits until a fault has struck.
func (r *Robot) AwaitFault(tb testing.TB, id string) {
	tb.Helper()
	c := r.Control(tb)
	Eventually(tb, "fault "+id+" strikes", func(ctx context.Context) (bool, error) {
		f, err := c.AwaitFault(ctx, id, 1, 0)
		return err == nil && f.Hits > 0, err
	})
}

// Release ends a fault.
func (r *Robot) Release(tb testing.TB, id string) {
	tb.Helper()
	if err := r.Control(tb).ReleaseFault(tb.Context(), id); err != nil {
		tb.Fatalf("release fault %s: %v", id, err)
	}
}

// Ledger returns what the robot physically did: the only judge of effects. It reads the world's own file.
func (r *Robot) Ledger(tb testing.TB) []robot.Effect {
	tb.Helper()
	effects, err := robot.ReadLedger(r.dir)
	if err != nil {
		tb.Fatalf("read the ledger: %v", err)
	}
	return effects
}

// AwaitEffects waits until the ledger has at least so many effects.
func (r *Robot) AwaitEffects(tb testing.TB, n int) {
	tb.Helper()
	Eventually(tb, fmt.Sprintf("%d effects in the ledger", n), func(context.Context) (bool, error) {
		effects, err := robot.ReadLedger(r.dir)
		return len(effects) >= n, err
	})
}

// StateDir is the folder with all that the robot keeps.
func (r *Robot) StateDir() string { return r.dir }
