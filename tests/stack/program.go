package stack

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TemporalServer starts a Temporal server of the test's own, with its data in dir, for a test that starts the programs by
// itself; it is ended with the test.
func TemporalServer(tb testing.TB, dir string) (address string) {
	tb.Helper()
	server, address, _ := temporalServer(tb, dir)
	tb.Cleanup(func() { server.Kill(tb) })
	server.Start(tb)
	return address
}

// Program prepares one of the programs under test with these arguments and this environment, and what it is called in its
// ready line. Its log, and its working folder, are in dir; it is ended with the test.
func Program(tb testing.TB, dir, name, program string, args, env []string) *Process {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	p := &Process{Name: name, path: filepath.Join(programs(tb), program), args: args, env: env, log: filepath.Join(dir, name+".log")}
	tb.Cleanup(func() {
		p.Kill(tb)
		p.raced(tb)
	})
	return p
}

// GatewayCommand runs the gateway's program with arguments, in the stack's environment, and returns what it printed.
func (s *Stack) GatewayCommand(tb testing.TB, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), filepath.Join(programs(tb), "gateway"), args...)
	cmd.Env, cmd.Dir = append(os.Environ(), s.env...), s.Dir
	printed, err := cmd.Output()
	if err != nil {
		tb.Fatalf("gateway %v: %v", args, err)
	}
	return string(printed)
}
