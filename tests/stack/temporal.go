package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"errand/internal/freeport"
	"errand/plan"
)

// programs is the folder of the programs under test.
func programs(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("ERRAND_TEST_BIN")
	if dir == "" {
		tb.Fatal("ERRAND_TEST_BIN is not set: run `make test`, or `make test-programs` once and set it to bin/race")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return abs
}

// temporalServer is a real Temporal server of the test's own, with its data in dir, so that it can be killed too.
func temporalServer(tb testing.TB, dir string) (server *Process, address, uiURL string) {
	tb.Helper()
	port, ui := FreePort(tb), FreePort(tb)
	args := []string{"server", "start-dev", "--ip", "127.0.0.1", "--port", fmt.Sprint(port), "--ui-port", fmt.Sprint(ui),
		"--db-filename", filepath.Join(dir, "temporal.db"), "--log-level", "error"}
	for _, name := range plan.SearchAttributes() {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	path := os.Getenv("ERRAND_TEST_TEMPORAL")
	if path == "" {
		path = filepath.Join(programs(tb), "temporal-dev")
	}
	server = &Process{Name: "Temporal", path: path, args: args, log: filepath.Join(dir, "temporal.log")}
	return server, fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("http://127.0.0.1:%d", ui)
}

// FreePort returns a port of the loopback that nobody listens on. No two calls of one test program get the same.
func FreePort(tb testing.TB) int {
	tb.Helper()
	l, err := freeport.Listen(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	port := freeport.Of(l)
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	return port
}
