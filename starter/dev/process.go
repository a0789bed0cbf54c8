package dev

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Part is one program to run.
type Part struct {
	Name string // short; names its log and its lines
	What string // what it is, for the person who waits for it
	Path string
	Args []string
	Env  []string // the whole environment
	// Ready tells from a line of its standard output that it is ready.
	Ready func(line string) bool
	// Within bounds the time until it is ready.
	Within time.Duration
}

// tailLines is how many of a part's last lines are shown when it dies.
const tailLines = 15

// process is a part that was started.
type process struct {
	part  Part
	cmd   *exec.Cmd
	log   *os.File
	out   *output
	ready chan string   // takes the ready line, once
	ended chan struct{} // closed when it is gone and its output is read
	err   error         // how it ended; read it after ended
}

// start runs the part, with its output in logs/NAME.log and, if mirror is given, there too.
func start(f *forker, part Part, logs string, mirror io.Writer) (*process, error) {
	log, err := os.OpenFile(filepath.Join(logs, part.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: its log cannot be written: %w", part.Name, err)
	}
	p := &process{part: part, log: log, ready: make(chan string, 1), ended: make(chan struct{})}
	p.out = &output{name: part.Name, log: log, mirror: mirror}
	p.cmd = exec.Command(part.Path, part.Args...) //nolint:noctx // the supervisor stops it, in order and kindly: a context would kill it
	p.cmd.Env = part.Env
	p.cmd.SysProcAttr = attributes()
	p.cmd.WaitDelay = time.Second // for output held open by something it started
	p.cmd.Stdout = &lines{emit: func(line string) { p.out.line(line); p.look(line) }}
	p.cmd.Stderr = &lines{emit: p.out.line}
	if err := f.do(p.cmd.Start); err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be started: %w", part.Name, err), log.Close())
	}
	go p.wait()
	return p, nil
}

func (p *process) look(line string) {
	if p.part.Ready != nil && p.part.Ready(line) {
		select {
		case p.ready <- line:
		default: // it said so before
		}
	}
}

func (p *process) wait() {
	defer close(p.ended)
	err := p.cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	p.err = errors.Join(err, p.log.Close())
}

// death describes an end that nobody asked for.
func (p *process) death() error {
	how := "ended by itself"
	if p.err != nil {
		how = "died: " + p.err.Error()
	}
	text := fmt.Sprintf("%s %s", p.part.Name, how)
	if tail := p.out.tail(); len(tail) > 0 {
		text += "; its last lines were:\n    " + strings.Join(tail, "\n    ")
	}
	return errors.New(text)
}

// stop ends the process: it is asked, and after grace it and all of its group are killed.
func (p *process) stop(grace time.Duration) {
	p.signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
	p.signal(syscall.SIGKILL) // what is left of the group, if anything
	<-p.ended
}

// signal reaches the whole group. That it is gone already is what we want.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// output is what becomes of a part's lines.
type output struct {
	name   string
	mu     sync.Mutex
	log    io.Writer
	mirror io.Writer // nil without --verbose
	last   []string
}

func (o *output) line(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintln(o.log, line) // a full disk must not stop what it logs
	if o.mirror != nil {
		fmt.Fprintf(o.mirror, "%-9s| %s\n", o.name, line)
	}
	o.last = append(o.last, line)
	if len(o.last) > tailLines {
		o.last = o.last[1:]
	}
}

func (o *output) tail() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.last...)
}

// maxLine bounds one line that is kept; a program that never ends its line does not fill the memory.
const maxLine = 16 << 10

// lines is a writer that hands on whole lines.
type lines struct {
	emit func(line string)
	rest []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found && len(l.rest) < maxLine {
			return len(b), nil
		}
		if !found {
			line, rest = l.rest[:maxLine], l.rest[maxLine:]
		}
		l.emit(strings.TrimRight(string(line), "\r"))
		l.rest = append([]byte(nil), rest...)
	}
}
