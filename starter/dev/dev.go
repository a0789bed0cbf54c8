package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"errand/internal/config"
)

// Options says what to run and how.
type Options struct {
	config.Dev
	// StateDir holds everything that is kept: registry, database, token, logs.
	StateDir string
	// Fresh uses a temporary folder instead, and removes it at the end. It stays if something failed, for its logs.
	Fresh bool
	// FreePorts takes ports that are free instead of the well-known ones.
	FreePorts bool
	// LLM is the language model that the worker asks: "" leaves it to the settings, LLMStandin starts a stand-in for one.
	LLM string
	// Verbose shows every line of every part.
	Verbose bool
	// Out takes what is told to the person.
	Out io.Writer
	// Once is run when all is ready; then everything ends. Without it everything runs until ctx ends.
	Once func(ctx context.Context, up Running) error
	// Hurry ends the patience of the stop: what is not gone by then is killed.
	Hurry context.Context
}

// Running is where everything is once it is ready.
type Running struct {
	API      string // http://127.0.0.1:7410
	UI       string // http://127.0.0.1:8233
	Token    string
	DeviceID string
	StateDir string
	Temporal string // host:port
	Lasting  bool   // Temporal and its UI are somebody else's and stay
}

// ErrInterrupted means that ctx ended before Once was done.
var ErrInterrupted = errors.New("interrupted")

// Run starts everything, runs Once or waits for ctx to end, and stops everything. When it returns nothing it started is
// left. The end of ctx is a failure only if Once was not done.
func Run(ctx context.Context, o Options) (err error) {
	dir, done, err := folder(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done(err)) }()
	state, err := openState(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.close()) }()
	s, external, err := prepare(ctx, o, state)
	if err != nil {
		return err
	}
	model, stopModel, err := startModel(ctx, o.LLM)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopModel()) }()
	s.model = model
	var mirror io.Writer
	if o.Verbose {
		mirror = o.Out
	}
	began := time.Now()
	sup := newSupervisor(state.logs(), mirror, func(format string, args ...any) {
		fmt.Fprintf(o.Out, "[%5.1fs] "+format+"\n", append([]any{time.Since(began).Seconds()}, args...)...)
	})
	defer func() {
		sup.say("stopping everything")
		sup.stop(o.Hurry)
	}()
	up, err := bringUp(ctx, sup, s, external)
	if err != nil {
		return interrupted(ctx, err)
	}
	sup.say("all is ready")
	if o.Once == nil {
		fmt.Fprint(o.Out, banner(up, os.Args[0]))
		return sup.wait(ctx)
	}
	return interrupted(ctx, sup.during(ctx, func(ctx context.Context) error { return o.Once(ctx, up) }))
}

// folder is the state folder to use and what is to be done with it at the end.
func folder(o Options) (dir string, done func(error) error, err error) {
	if !o.Fresh {
		return o.StateDir, func(error) error { return nil }, nil
	}
	dir, err = os.MkdirTemp("", "errand-")
	if err != nil {
		return "", nil, fmt.Errorf("a temporary folder cannot be made: %w", err)
	}
	return dir, func(failed error) error {
		logs, _ := os.ReadDir(filepath.Join(dir, "logs")) // none, if nothing came to be started
		if failed != nil && !errors.Is(failed, ErrInterrupted) && len(logs) > 0 {
			fmt.Fprintf(o.Out, "everything is kept in %s, the logs in %s\n", dir, filepath.Join(dir, "logs"))
			return nil
		}
		return os.RemoveAll(dir)
	}, nil
}

// prepare settles what needs nothing running: programs, ports, token, environment. external says that Temporal is
// somebody else's.
func prepare(ctx context.Context, o Options, state *state) (s settings, external bool, err error) {
	external = os.Getenv("TEMPORAL_ADDRESS") != ""
	s = settings{state: state, programs: programs{dir: o.Bin},
		ports: Ports{Temporal: o.TemporalPort, UI: o.UIPort, API: o.APIPort, Gateway: o.GatewayPort}}
	if s.programs.dir == "" {
		self, err := os.Executable()
		if err != nil {
			return s, external, fmt.Errorf("find the program errand itself: %w", err)
		}
		s.programs.dir = filepath.Dir(self)
	}
	if err := s.ports.probe(ctx, !external, o.FreePorts); err != nil {
		return s, external, err
	}
	if s.token, err = state.token(TokenFile); err != nil {
		return s, external, err
	}
	if s.deviceToken, err = state.token(DeviceTokenFile); err != nil {
		return s, external, err
	}
	s.uiURL = os.Getenv("ERRAND_UI")
	if !external {
		s.uiURL = httpURL(s.ports.UI)
	}
	s.base = s.environment(external)
	return s, external, nil
}

// environment is what all parts share. With a Temporal of our own, none of the person's Temporal settings may leak in:
// a profile with an API key or TLS would not fit it.
func (s settings) environment(external bool) []string {
	set := map[string]string{
		"ERRAND_REGISTRY":   s.state.path("registry.db"),
		"ERRAND_MEDIA":      s.state.path("media"),
		"ERRAND_UI":         s.uiURL,
		"ERRAND_LLM_BUDGET": s.state.path("budget.db"),
	}
	if !external {
		set["TEMPORAL_ADDRESS"] = address(s.ports.Temporal)
		set["TEMPORAL_NAMESPACE"] = "default"
		set["TEMPORAL_CONFIG_FILE"] = os.DevNull
	}
	return environment(os.Environ(), set, func(name string) bool {
		return name == modelKey || !external && strings.HasPrefix(name, "TEMPORAL_") // the model's key is the worker's alone
	})
}

// bringUp starts every part in order.
func bringUp(ctx context.Context, sup *supervisor, s settings, external bool) (Running, error) {
	up := Running{API: httpURL(s.ports.API), UI: s.uiURL, Token: s.token, StateDir: s.state.dir, Temporal: address(s.ports.Temporal), Lasting: external}
	parts, err := s.ourParts() // before anything runs: a program that is missing is told at once
	if err != nil {
		return up, err
	}
	if external {
		up.Temporal = os.Getenv("TEMPORAL_ADDRESS")
		sup.say("using Temporal at %s (TEMPORAL_ADDRESS)", up.Temporal)
		if err := checkTemporal(ctx); errors.Is(err, config.ErrUnreachable) {
			return up, fmt.Errorf("%w, or leave that unset to have one started", err)
		} else if err != nil {
			return up, err
		}
	} else {
		temporal, err := s.temporalPart()
		if err != nil {
			return up, err
		}
		if _, err := sup.start(ctx, temporal); err != nil {
			return up, err
		}
	}
	for _, part := range parts {
		line, err := sup.start(ctx, part)
		if err != nil {
			return up, err
		}
		if part.Name == "robot" {
			up.DeviceID = deviceID(line)
		}
	}
	return up, nil
}

// deviceID is the word after "robot ready:".
func deviceID(line string) string {
	_, rest, _ := strings.Cut(line, "robot ready:")
	words := strings.Fields(rest)
	if len(words) == 0 {
		return ""
	}
	return strings.Trim(words[0], ",")
}

// wait returns when ctx ends or a part dies.
func (s *supervisor) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.died:
		return err
	}
}

// during runs f while all parts live; the death of one ends it.
func (s *supervisor) during(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- f(ctx) }()
	select {
	case err := <-result:
		return err
	case err := <-s.died:
		cancel()
		return errors.Join(err, <-result)
	}
}

// interrupted names the person's own Ctrl-C as the cause.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}
