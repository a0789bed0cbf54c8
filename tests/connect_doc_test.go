package tests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"errand/tests/stack"
)

// shellBlocks are the commands of a page: its code blocks marked sh.
var shellBlocks = regexp.MustCompile("(?s)\n```sh\n(.*?)```\n")

// docs/connect-a-device.md, its commands as they are written: each must succeed, in one shell, from its first line to its last.
// The installation is this test's own, in the place of the one that the page has started first.
func TestConnectADeviceAsThePageSays(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/connect-a-device.md")
	if err != nil {
		t.Fatal(err)
	}
	script := bytes.NewBufferString("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n")
	blocks := shellBlocks.FindAllSubmatch(page, -1)
	for _, b := range blocks {
		script.Write(b[1])
	}
	if len(blocks) < 6 {
		t.Fatalf("%d blocks of commands in the page", len(blocks))
	}
	s := stack.Start(t, "ERRAND_AUTO_APPROVE=false")
	home := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), stack.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-x", "-c", script.String())
	cmd.Dir = ".." // where the page starts
	cmd.Env = append(os.Environ(), goPlaces(t)...)
	cmd.Env = append(cmd.Env, "HOME="+home, "GOBIN="+filepath.Join(home, "bin"), "ERRAND_API="+s.API,
		"ERRAND_TOKEN="+strings.TrimPrefix(s.Authorization(), "Bearer "),
		fmt.Sprintf("PATH=%s:%s:%s", os.Getenv("ERRAND_TEST_BIN"), filepath.Join(home, "bin"), os.Getenv("PATH")))
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(home, "speaker", "speaker.log")) // may not be there yet
		t.Fatalf("%v\n%s\nthe device:\n%s", err, out, log)
	}
	for _, want := range []string{"completed", "EMERGENCY_STOP", "taskmanager.submitTask"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the commands did not print %q:\n%s", want, out)
		}
	}
}

// goPlaces are the Go tool's folders, which it would look for in HOME.
func goPlaces(t *testing.T) []string {
	t.Helper()
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	return env
}
