package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes. A caller may tell "your arguments are wrong" from "it did not work".
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(mainCode())
}

// mainCode is main with its exit code as a value, so that every defer has run
// before the process ends.
func mainCode() int {
	opts, err := parseArgs(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, errHelpShown):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "temporal-dev: %v\n", err)
		return exitUsage
	}

	ctx, release := stopOnSignal(context.Background())
	defer release()

	if err := run(ctx, opts, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "temporal-dev: %v\n", err)
		return exitFailed
	}
	return 0
}

// stopOnSignal returns a context that the first stopping signal cancels. A second
// one then has its default effect, for whoever does not want to wait.
//
// SIGPIPE is ignored: when whoever started us dies, our standard output and error
// lead nowhere, and a warning written there must not end the server.
func stopOnSignal(parent context.Context) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	stopping := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // started with nohup: stay
		stopping = append(stopping, syscall.SIGHUP)
	}
	ctx, release := signal.NotifyContext(parent, stopping...)
	context.AfterFunc(ctx, release)
	return ctx, release
}
