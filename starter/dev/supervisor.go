package dev

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// stopGrace is what each part gets to end by itself.
	stopGrace = 6 * time.Second
	// remindEvery is how often a wait is shown that goes on.
	remindEvery = 5 * time.Second
)

// supervisor starts parts, watches them and stops them.
type supervisor struct {
	forker  *forker
	logs    string    // folder of the log files
	mirror  io.Writer // takes every line of every part; nil for none
	say     func(format string, args ...any)
	grace   time.Duration
	mu      sync.Mutex
	parts   []*process
	died    chan error // takes the first death
	stopped bool
}

func newSupervisor(logs string, mirror io.Writer, say func(string, ...any)) *supervisor {
	if mirror != nil {
		mirror = &syncWriter{w: mirror}
	}
	return &supervisor{forker: newForker(), logs: logs, mirror: mirror, say: say, grace: stopGrace, died: make(chan error, 1)}
}

// start starts a part and waits until it is ready. It returns the line in which the part said so.
func (s *supervisor) start(ctx context.Context, part Part) (line string, err error) {
	s.say("starting %s", part.What)
	p, err := start(s.forker, part, s.logs, s.mirror)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	s.parts = append(s.parts, p)
	s.mu.Unlock()
	line, err = s.await(ctx, p)
	if err != nil {
		return "", err
	}
	go s.watch(p)
	return line, nil
}

func (s *supervisor) await(ctx context.Context, p *process) (string, error) {
	began := time.Now()
	limit := time.NewTimer(p.part.Within)
	defer limit.Stop()
	remind := time.NewTicker(remindEvery)
	defer remind.Stop()
	for {
		select {
		case line := <-p.ready:
			return line, nil
		case <-p.ended:
			return "", p.death()
		case err := <-s.died:
			return "", err
		case <-ctx.Done():
			return "", ctx.Err()
		case <-remind.C:
			s.say("still waiting for %s (%s)", p.part.Name, time.Since(began).Round(time.Second))
		case <-limit.C:
			return "", fmt.Errorf("%s was not ready after %s; its log is %s", p.part.Name, p.part.Within, p.log.Name())
		}
	}
}

// watch reports the part's death, unless everything is being stopped.
func (s *supervisor) watch(p *process) {
	<-p.ended
	s.mu.Lock()
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		return
	}
	select {
	case s.died <- p.death():
	default: // the first one is the cause, the rest its consequence
	}
}

// stop ends every part, the last one started first, and returns when all are gone. When hurry ends, what is left is
// killed at once.
func (s *supervisor) stop(hurry context.Context) {
	s.mu.Lock()
	s.stopped = true
	parts := s.parts
	s.mu.Unlock()
	release := context.AfterFunc(hurry, func() {
		for _, p := range parts {
			p.stop(0)
		}
	})
	defer release()
	for i := len(parts) - 1; i >= 0; i-- {
		parts[i].stop(s.grace)
	}
	s.forker.close()
}

// syncWriter keeps lines of several parts apart.
type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *syncWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
