package dev

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

func newTestSupervisor(t *testing.T) (*supervisor, *buffer) {
	t.Helper()
	out := new(buffer)
	s := newSupervisor(t.TempDir(), nil, func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) })
	return s, out
}

func pids(s *supervisor) (all []int) {
	for _, p := range s.parts {
		all = append(all, p.cmd.Process.Pid)
	}
	return all
}

func TestStopLeavesNothingNotEvenWhatIgnoresIt(t *testing.T) {
	s, out := newTestSupervisor(t)
	s.grace = 50 * time.Millisecond
	for _, role := range []string{"worker", "stubborn"} {
		line, err := s.start(t.Context(), fake(t, role))
		if err != nil || !strings.HasPrefix(line, role+" ready:") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	s.stop(t.Context())
	for _, pid := range pids(s) {
		if !gone(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	if got := out.String(); got != "starting worker\nstarting stubborn\n" {
		t.Errorf("said %q", got)
	}
}

func TestAHurriedStopKillsAtOnce(t *testing.T) {
	s, _ := newTestSupervisor(t)
	s.grace = time.Hour
	if _, err := s.start(t.Context(), fake(t, "stubborn")); err != nil {
		t.Fatal(err)
	}
	hurry, now := context.WithCancel(t.Context())
	now()
	s.stop(hurry)
	if !gone(pids(s)[0]) {
		t.Error("it is still there")
	}
}

func TestAPartThatDiesAtTheStartIsToldWithItsLastLines(t *testing.T) {
	s, _ := newTestSupervisor(t)
	defer s.stop(t.Context())
	_, err := s.start(t.Context(), fake(t, "dies"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"dies died: exit status 3", "about to", "fail: no such thing"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

func TestAPartThatDiesLaterEndsTheWait(t *testing.T) {
	s, _ := newTestSupervisor(t)
	defer s.stop(t.Context())
	for _, role := range []string{"worker", "gateway"} {
		if _, err := s.start(t.Context(), fake(t, role)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.parts[0].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(t.Context()); err == nil || !strings.Contains(err.Error(), "worker died: signal: killed") {
		t.Errorf("wait = %v", err)
	}
}

func TestAPartThatIsNotReadyInTimeIsToldWithItsLog(t *testing.T) {
	s, _ := newTestSupervisor(t)
	defer s.stop(t.Context())
	part := fake(t, "worker")
	part.Within, part.Ready = time.Millisecond, func(string) bool { return false }
	if _, err := s.start(t.Context(), part); err == nil || !strings.Contains(err.Error(), "worker.log") {
		t.Errorf("start = %v", err)
	}
}

// supervise is the role of a supervisor that is to be killed: it prints the pids of two parts and stays.
func supervise() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	s := newSupervisor(os.Getenv("FAKE_LOGS"), nil, func(string, ...any) {})
	for _, role := range []string{"worker", "stubborn"} {
		_, err := s.start(context.Background(), Part{Name: role, What: role, Path: self, Args: []string{role}, Env: os.Environ(),
			Within: 30 * time.Second, Ready: func(line string) bool { return strings.Contains(line, " ready:") }})
		if err != nil {
			panic(err)
		}
	}
	for _, pid := range pids(s) {
		fmt.Println(pid)
	}
	forever()
}

func TestNothingSurvivesAKilledSupervisor(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, "supervise")
	command.Env = append(os.Environ(), "FAKE_LOGS="+t.TempDir())
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var children []int
	for lines := bufio.NewScanner(stdout); len(children) < 2 && lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("%q is no pid", lines.Text())
		}
		children = append(children, pid)
	}
	if err := command.Process.Kill(); err != nil { // SIGKILL: it can do nothing any more
		t.Fatal(err)
	}
	_ = command.Wait() // says that it was killed
	if len(children) != 2 {
		t.Fatalf("children %v", children)
	}
	for _, pid := range children {
		eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return gone(pid) })
	}
}

func TestLinesAreWholeAndBounded(t *testing.T) {
	var got []string
	l := &lines{emit: func(line string) { got = append(got, line) }}
	for _, chunk := range []string{"one\r\ntw", "o\n", "\nthree", strings.Repeat("x", maxLine)} {
		if n, err := l.Write([]byte(chunk)); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(got) != 4 || got[0] != "one" || got[1] != "two" || got[2] != "" || len(got[3]) != maxLine {
		t.Errorf("%d lines: %.40q", len(got), got)
	}
}
