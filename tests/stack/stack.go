package stack

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"errand/deviceio/registry"
)

// token is what every part of a test's stack asks for and is given.
const token = "a-token-for-tests-and-nothing-else"

// Stack is one installation of Errand.
type Stack struct {
	Dir      string
	API      string // base URL
	Gateway  string // ws URL
	UI       string // base URL of Temporal's web UI
	Temporal client.Client
	Registry string // file

	Server        *Process // the Temporal server; nil when TEMPORAL_ADDRESS names one
	WorkerProc    *Process
	GatewayProc   *Process
	StarterProc   *Process
	env           []string
	temporalAddrs string
	robots        atomic.Int64 // started so far, by tests that run in parallel
}

// Option changes the environment of the programs, as NAME=value.
type Option string

// AsShipped leaves a task's start untold, as a gateway does whose settings are the defaults: fewer signals, for tests that run
// many plans and wait for none to begin.
const AsShipped Option = "ERRAND_FORWARD_STARTED=false"

// Start brings up an installation and takes it down when the test ends.
func Start(tb testing.TB, options ...Option) *Stack {
	tb.Helper()
	dir, err := os.MkdirTemp("", "errand-stack-") // short, and kept only if the test failed
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the programs' logs are in %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			tb.Log(err)
		}
	})
	return StartIn(tb, dir, options...)
}

// StartIn is Start in a folder of the caller's.
func StartIn(tb testing.TB, dir string, options ...Option) *Stack {
	tb.Helper()
	s := &Stack{Dir: dir, Registry: filepath.Join(dir, "registry.db")}
	s.Server, s.temporalAddrs, s.UI = temporalServer(tb, dir)
	api, gateway := FreePort(tb), FreePort(tb)
	s.API, s.Gateway = fmt.Sprintf("http://127.0.0.1:%d", api), fmt.Sprintf("ws://127.0.0.1:%d/", gateway)
	s.env = []string{
		"TEMPORAL_ADDRESS=" + s.temporalAddrs, "TEMPORAL_NAMESPACE=default", "TEMPORAL_CONFIG_FILE=" + os.DevNull,
		"ERRAND_TOKEN=" + token, "ERRAND_REGISTRY=" + s.Registry, "ERRAND_LOG_LEVEL=info",
		fmt.Sprintf("ERRAND_API_LISTEN=127.0.0.1:%d", api), fmt.Sprintf("ERRAND_GATEWAY_LISTEN=127.0.0.1:%d", gateway),
		"ERRAND_GATEWAY_URL=" + s.Gateway, "ERRAND_AUTO_APPROVE=true", "ERRAND_FORWARD_STARTED=true",
	}
	for _, o := range options {
		s.env = append(s.env, string(o))
		if place, ok := strings.CutPrefix(string(o), "ERRAND_REGISTRY="); ok {
			s.Registry = place
		}
	}
	bin := programs(tb)
	s.WorkerProc = s.process("worker", filepath.Join(bin, "worker"))
	s.GatewayProc = s.process("gateway", filepath.Join(bin, "gateway"))
	s.StarterProc = s.process("api", filepath.Join(bin, "errand"), "serve")
	tb.Cleanup(func() { s.stop(tb) })
	s.Server.Start(tb)
	s.WorkerProc.StartUnready(tb)
	s.StarterProc.StartUnready(tb)
	s.GatewayProc.Start(tb)
	s.StarterProc.AwaitReady(tb)
	s.WorkerProc.AwaitReady(tb)
	c, err := client.Dial(client.Options{HostPort: s.temporalAddrs, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
		ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}}})
	if err != nil {
		tb.Fatalf("dial Temporal: %v", err)
	}
	s.Temporal = c
	tb.Cleanup(c.Close)
	return s
}

func (s *Stack) process(name, path string, args ...string) *Process {
	return &Process{Name: name, path: path, args: args, env: s.env, log: filepath.Join(s.Dir, name+".log")}
}

func (s *Stack) stop(tb testing.TB) {
	for _, p := range []*Process{s.GatewayProc, s.StarterProc, s.WorkerProc, s.Server} {
		p.Kill(tb)
		p.raced(tb)
	}
}

// OpenRegistry opens the registry beside the running programs.
func (s *Stack) OpenRegistry(tb testing.TB) *registry.Registry {
	tb.Helper()
	r, err := registry.Open(tb.Context(), s.Registry)
	if err != nil {
		tb.Fatalf("open the registry: %v", err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// Patience bounds every wait for a condition: long, since race builds share two cores with everything else.
const Patience = 2 * time.Minute

// Eventually polls until the condition holds, often at first and then more seldom, since each look at a plan is work for three
// programs. The condition says in words what it still waits for.
func Eventually(tb testing.TB, what string, holds func(ctx context.Context) (bool, error)) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	defer cancel()
	wait := 20 * time.Millisecond
	var last error
	for {
		ok, err := holds(ctx)
		if ok {
			return
		}
		if err != nil {
			last = err
		}
		select {
		case <-time.After(wait):
			wait = min(wait*3/2, 250*time.Millisecond)
		case <-ctx.Done():
			tb.Fatalf("never: %s (last error: %v)", what, last)
		}
	}
}
