// Command errand is the front of Errand: `errand serve` is its HTTP API, `errand dev` a whole Errand on one machine, and
// the rest asks the API or works on files. `errand --help` lists the commands.
//
// It exits 0 when all went well, 1 when something failed (a plan that did not complete included), 2 when what it was
// given makes no sense: arguments, settings, a document with faults.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"errand/starter/cli"
)

func main() {
	ctx, hurry, release := stopOnSignal()
	code := cli.Main(ctx, hurry, os.Args[1:], os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}

// stopOnSignal returns two contexts: the first signal ends ctx, the second hurry, for whoever does not want to wait.
func stopOnSignal() (ctx, hurry context.Context, release func()) {
	ctx, stop := context.WithCancel(context.Background())
	hurry, now := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		stop()
		<-signals
		now()
	}()
	return ctx, hurry, func() { signal.Stop(signals); stop(); now() }
}
