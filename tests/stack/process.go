package stack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Process is one program of the stack. It can be killed and started again.
type Process struct {
	Name string
	path string
	args []string
	env  []string
	log  string // file that keeps all it printed, over restarts

	mu    sync.Mutex
	cmd   *exec.Cmd
	ready chan struct{} // closed at the current run's ready line
	ended chan struct{} // closed when the current run has ended
	err   error
}

// startWithin bounds the wait for a ready line; race builds on a busy machine take their time.
const startWithin = 60 * time.Second

// Start runs the program and waits for its line "<name> ready:".
func (p *Process) Start(tb testing.TB) {
	tb.Helper()
	p.StartUnready(tb)
	p.AwaitReady(tb)
}

// StartUnready runs the program without waiting for anything.
func (p *Process) StartUnready(tb testing.TB) {
	tb.Helper()
	if err := p.run(); err != nil {
		tb.Fatalf("start %s: %v", p.Name, err)
	}
}

// AwaitReady waits for the ready line of the current run.
func (p *Process) AwaitReady(tb testing.TB) {
	tb.Helper()
	p.mu.Lock()
	ready, ended := p.ready, p.ended
	p.mu.Unlock()
	select {
	case <-ready:
	case <-ended:
		tb.Fatalf("%s ended before it was ready: %v\n%s", p.Name, p.Err(), p.Tail())
	case <-time.After(startWithin):
		tb.Fatalf("%s is not ready after %v\n%s", p.Name, startWithin, p.Tail())
	}
}

func (p *Process) run() error {
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), p.path, p.args...) // it outlives the call: Kill and Stop end it
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Dir = filepath.Dir(p.log)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	reader, writer := io.Pipe()
	output := io.MultiWriter(file, writer)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return errors.Join(err, file.Close())
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	p.mu.Lock()
	p.cmd, p.ready, p.ended, p.err = cmd, ready, ended, nil
	p.mu.Unlock()
	go watch(reader, p.Name, ready)
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = errors.Join(err, writer.Close(), file.Close())
		p.mu.Unlock()
		close(ended)
	}()
	return nil
}

// watch reads all output, and closes ready at the ready line.
func watch(r io.Reader, name string, ready chan<- struct{}) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	seen := false
	for lines.Scan() {
		if !seen && strings.HasPrefix(lines.Text(), name+" ready:") {
			seen = true
			close(ready)
		}
	}
	// A line too long ends the scan; the rest must still be read or the program blocks.
	_, _ = io.Copy(io.Discard, r)
}

// Kill ends the program as kill -9 does, and waits until it is gone.
func (p *Process) Kill(tb testing.TB) { p.signal(tb, syscall.SIGKILL) }

// Stop asks the program to end (SIGTERM), and waits until it has.
func (p *Process) Stop(tb testing.TB) { p.signal(tb, syscall.SIGTERM) }

func (p *Process) signal(tb testing.TB, sig syscall.Signal) {
	tb.Helper()
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	if err := syscall.Kill(cmd.Process.Pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		tb.Fatalf("signal %s: %v", p.Name, err)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		tb.Errorf("%s does not end after signal %v\n%s", p.Name, sig, p.Tail())
		_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
}

// Freeze stops the program where it stands, as a machine that is put to sleep does; Thaw lets it go on. What was sent to it
// meanwhile waits in its sockets.
func (p *Process) Freeze(tb testing.TB) { p.stopAndGo(tb, syscall.SIGSTOP) }

// Thaw ends Freeze.
func (p *Process) Thaw(tb testing.TB) { p.stopAndGo(tb, syscall.SIGCONT) }

func (p *Process) stopAndGo(tb testing.TB, sig syscall.Signal) {
	tb.Helper()
	if err := syscall.Kill(p.Pid(), sig); err != nil {
		tb.Fatalf("signal %v to %s: %v", sig, p.Name, err)
	}
}

// Ended is closed when the current run is over.
func (p *Process) Ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Err is how the last run ended.
func (p *Process) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Tail returns the last lines it printed, for a failure message.
func (p *Process) Tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) > 30 {
		lines = lines[len(lines)-30:]
	}
	return fmt.Sprintf("--- %s, last lines ---\n%s", p.Name, strings.Join(lines, "\n"))
}

// raced fails the test if the program's race detector spoke.
func (p *Process) raced(tb testing.TB) {
	text, err := os.ReadFile(p.log)
	if err == nil && strings.Contains(string(text), "WARNING: DATA RACE") {
		tb.Errorf("%s has a data race:\n%s", p.Name, text)
	}
}

// Pid is the process id of the current run, 0 before the first.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}
