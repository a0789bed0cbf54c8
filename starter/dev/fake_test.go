package dev

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The test binary is every program there is: by the name it is called with, or by its first argument, it plays a part.
func TestMain(m *testing.M) {
	role := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") && !strings.HasPrefix(role, "temporal") {
		role = os.Args[1]
	}
	if play, ok := roles[role]; ok {
		play()
		return
	}
	os.Exit(m.Run())
}

var roles = map[string]func(){
	"temporal-dev": func() { ready("temporal", "Temporal ready: grpc 127.0.0.1:1, UI http://127.0.0.1:2") },
	"temporal":     func() { ready("temporal", "Temporal Server:  127.0.0.1:1") }, // the CLI
	"worker":       func() { ready("worker", "worker ready: task queue errand") },
	"gateway":      func() { ready("gateway", "gateway ready: ws://127.0.0.1:3/ queue deviceio@gw") },
	"serve":        func() { ready("api", "api ready: http://127.0.0.1:4") },
	"robot":        func() { ready("robot", "robot ready: device-1 at the station") },
	"dies":         die,
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM)
		ready("stubborn", "stubborn ready: never goes")
	},
	"supervise": supervise,
}

func die() {
	fmt.Println("about to")
	fmt.Fprintln(os.Stderr, "fail: no such thing")
	os.Exit(3) //nolint:revive // it plays a program
}

// ready says so and stays until it is stopped. What it was told, and its pid, it writes beside the registry.
func ready(name, line string) {
	if os.Getenv("FAKE_DIES") == name {
		die()
	}
	if dir := filepath.Dir(os.Getenv("ERRAND_REGISTRY")); dir != "." {
		told := strings.Join(append(os.Environ(), "PID="+strconv.Itoa(os.Getpid()), "ARGS="+strings.Join(os.Args[1:], " ")), "\n")
		if err := os.WriteFile(filepath.Join(dir, name+".told"), []byte(told), 0o600); err != nil {
			panic(err)
		}
	}
	fmt.Println(line)
	forever()
}

// forever waits for a signal to end the process.
func forever() {
	var never chan struct{}
	tick := time.NewTicker(time.Hour) // keeps the runtime from calling it a deadlock
	defer tick.Stop()
	for {
		select {
		case <-never:
		case <-tick.C:
		}
	}
}

// told is what a fake part was told: its environment and its pid.
func told(t *testing.T, dir, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name+".told"))
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		vars[key] = value
	}
	return vars
}

// programsOf makes a folder in which every program is the test binary.
func programsOf(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"temporal-dev", "worker", "gateway", "robot"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fake is a part played by the test binary in a role.
func fake(t *testing.T, role string) Part {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Part{Name: role, What: role, Path: self, Args: []string{role}, Env: os.Environ(), Within: 30 * time.Second,
		Ready: func(line string) bool { return strings.Contains(line, " ready:") }}
}

// gone reports whether a process has ended; one that nobody has waited for yet is over too.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return bytes.HasPrefix(rest, []byte("Z"))
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// buffer is a bytes.Buffer for many goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
