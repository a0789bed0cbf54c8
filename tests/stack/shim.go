package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vendorToken is what the plain robots and their shims show each other.
const vendorToken = "a-token-between-shim-and-vendor"

// Shim is a plain robot with a shim beside it: two processes, one device. Its Robot is the plain one, whose ledger judges.
type Shim struct {
	*Robot
	Proc *Process
}

// PlainRobot starts a robot that is a vendor's plain TaskManager, and its shim, and waits until the shim is connected.
func (s *Stack) PlainRobot(tb testing.TB, options ...Option) *Shim {
	tb.Helper()
	taskManager, events := FreePort(tb), FreePort(tb)
	shared := []Option{Option("ERRAND_VENDOR_TOKEN=" + vendorToken), Option(fmt.Sprintf("ERRAND_SHIM_EVENTS=http://127.0.0.1:%d/onTaskEvent", events)),
		"ERRAND_ROBOT_PLAIN=true", Option(fmt.Sprintf("ERRAND_ROBOT_LISTEN=127.0.0.1:%d", taskManager))}
	r := s.NewRobot(tb, append(shared, options...)...)
	dir := filepath.Join(filepath.Dir(r.dir), "shim")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	p := s.process("shim", filepath.Join(programs(tb), "shim"))
	p.log = filepath.Join(dir, "shim.log")
	p.env = append(p.env[:len(p.env):len(p.env)], "ERRAND_GATEWAY_URL="+s.Gateway, "ERRAND_SHIM_STATE="+filepath.Join(dir, "state"),
		"ERRAND_VENDOR_TOKEN="+vendorToken, fmt.Sprintf("ERRAND_SHIM_LISTEN=127.0.0.1:%d", events),
		fmt.Sprintf("ERRAND_VENDOR_URL=http://127.0.0.1:%d", taskManager),
		"ERRAND_SHIM_SETTLE=500ms", "ERRAND_SHIM_CHECK_EVERY=200ms", "ERRAND_VENDOR_TIMEOUT=3s")
	for _, o := range options {
		p.env = append(p.env, string(o))
	}
	tb.Cleanup(func() {
		p.Kill(tb)
		p.raced(tb)
	})
	r.Start(tb)
	p.Start(tb)
	shim := &Shim{Robot: r, Proc: p}
	r.ID = shim.deviceID(tb)
	return shim
}

// deviceID is who the shim says it is: the robot behind it is nobody to the gateway.
func (s *Shim) deviceID(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile(s.Proc.log)
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "shim ready:")
	words := strings.Fields(rest)
	if len(words) == 0 {
		tb.Fatalf("the shim's ready line names no device\n%s", s.Proc.Tail())
	}
	return words[0]
}
