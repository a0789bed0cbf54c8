// Command shim stands beside a vendor's plain TaskManager and makes a device of it that Errand can rely on (package
// deviceio/shim, docs/shim.md).
//
//	shim            run until stopped; settings are environment variables (shim config)
//	shim config     every setting, with its default
//
// It says one line, "shim ready: <device id> ...", once it is connected for the first time. SIGTERM stops it cleanly; kill -9
// loses nothing that it was told.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"errand/deviceio/cmd/internal/program"
	"errand/deviceio/shim"
	"errand/internal/config"
)

// commands is the command line.
type commands struct {
	Run    runCommand    `cmd:"" default:"1" help:"Run the shim until it is stopped."`
	Config configCommand `cmd:"" help:"Print every setting."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return program.Run(ctx, "shim", "Makes a plain TaskManager a device that Errand can rely on.", &commands{}, args, stdout, stderr)
}

type runCommand struct{}

// Run runs the shim.
func (runCommand) Run(ctx context.Context, out io.Writer) error {
	var s settings
	if err := config.Load(&s); err != nil {
		return err
	}
	logger, err := s.Logger()
	if err != nil {
		return err
	}
	return shim.Run(ctx, shim.Config{StateDir: s.ShimState, URL: s.gateway(), Fingerprint: s.GatewayFingerprint, SetupCode: s.SetupCode, Token: s.Token, Name: s.ShimName,
		VendorURL: s.VendorURL, VendorToken: s.VendorToken, Listen: s.ShimListen,
		VendorTimeout: s.VendorTimeout, Settle: s.ShimSettle, CheckEvery: s.ShimCheckEvery, Report: reporter(out), Logger: logger})
}

// reporter prints what the shim has to say. The ready line is printed bare: programs wait for it.
func reporter(out io.Writer) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(line, "shim ready:") {
			fmt.Fprintln(out, line)
			return
		}
		fmt.Fprintf(out, "%s shim %s\n", time.Now().Format("15:04:05.000"), line)
	}
}

type configCommand struct{}

// Run prints the settings.
func (configCommand) Run(out io.Writer) error {
	return program.PrintSettings(out, &settings{})
}
