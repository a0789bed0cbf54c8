package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test binary behave as temporal-dev, so that a test can start,
// signal and restart the real program without compiling it a second time.
const asProgram = "TEMPORAL_DEV_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(mainCode())
	}
	os.Exit(m.Run())
}

// readyPattern reads the addresses from the ready line, as a script would.
var readyPattern = regexp.MustCompile(`^Temporal ready: grpc (\S+?)(?:, UI (\S+))?\n$`)

// program is a running temporal-dev.
type program struct {
	cmd      *exec.Cmd
	stderr   *lockedBuffer
	tmp      string // its TMPDIR
	GRPC, UI string
}

// command prepares temporal-dev with the given arguments and a TMPDIR of its own.
func command(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	cmd := exec.CommandContext(context.Background(), self, append([]string{"server", "start-dev"}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+tmp)
	return cmd, tmp
}

// start runs temporal-dev on free ports until it is ready; the test's end stops it.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	cmd, tmp := command(t, append([]string{"--port", "0"}, args...)...)
	p := &program{cmd: cmd, tmp: tmp, stderr: &lockedBuffer{}}
	cmd.Stderr = p.stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // does nothing to one that has been waited for
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	match := readyPattern.FindStringSubmatch(line)
	if match == nil {
		t.Fatalf("not a ready line: %q (%v); stderr:\n%s", line, err, p.stderr)
	}
	p.GRPC, p.UI = match[1], match[2]
	return p
}

// stop sends the signal and wants exit code 0 within the promised five seconds.
func (p *program) stop(t *testing.T, signal os.Signal) {
	t.Helper()
	began := time.Now()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("after %v: %v; stderr:\n%s", signal, err, p.stderr)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopping took %v, want under 5s", took)
	}
}

// output runs temporal-dev to its end and returns its exit code and stderr.
func output(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	cmd, _ := command(t, args...)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &errs
	_ = cmd.Run() // the exit code says it
	return cmd.ProcessState.ExitCode(), errs.String()
}

func TestSignalsStopItCleanly(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(fmt.Sprint(signal), func(t *testing.T) {
			t.Parallel()
			p := start(t)
			if left := names(t, p.tmp); len(left) != 1 {
				t.Errorf("a running server keeps %v, want one temporary directory", left)
			}
			p.stop(t, signal)
			if left := names(t, p.tmp); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if said := p.stderr.String(); said != "" {
				t.Errorf("an uneventful run printed on stderr:\n%s", said)
			}
		})
	}
}

func TestOutlivesWhoeverReadsItsOutput(t *testing.T) {
	t.Parallel()
	cmd, tmp := command(t, "--port", "0", "--headless", "--log-level", "debug")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = writer
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	// From here on every one of its debug messages meets a broken pipe.
	if err := errors.Join(writer.Close(), reader.Close()); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("it ended with its reader: read %q, %v", line, err)
	}
	p := &program{cmd: cmd, stderr: &lockedBuffer{}}
	p.stop(t, syscall.SIGTERM)
	if left := names(t, tmp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTakenPortIsRefusedInOneLine(t *testing.T) {
	t.Parallel()
	running := start(t)
	port := running.GRPC[strings.LastIndexByte(running.GRPC, ':')+1:]
	uiPort := running.UI[strings.LastIndexByte(running.UI, ':')+1:]
	db := filepath.Join(t.TempDir(), "untouched.db")

	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"frontend": {[]string{"--port", port, "--db-filename", db}, []string{"port " + port, "gRPC frontend", "--port"}},
		"UI":       {[]string{"--port", "0", "--ui-port", uiPort, "--db-filename", db}, []string{"port " + uiPort, "web UI", "--ui-port"}},
	} {
		code, stderr := output(t, c.args...)
		if code != exitFailed || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d and %q, want 1 and one line", name, code, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: %q lacks %q", name, stderr, want)
			}
		}
	}
	if _, err := os.Stat(db); err == nil {
		t.Error("the database was created although a port was taken")
	}
}

func TestNonsenseExitsAsUsageError(t *testing.T) {
	t.Parallel()
	code, stderr := output(t, "--no-such-flag")
	if code != exitUsage || !strings.Contains(stderr, "unknown flag --no-such-flag") {
		t.Errorf("exit code %d and %q, want %d and the flag's name", code, stderr, exitUsage)
	}
}

// lockedBuffer collects what a process writes while a test may look at it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
