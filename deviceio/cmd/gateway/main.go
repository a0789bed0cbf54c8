package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"errand/activities"
	"errand/deviceio/certificate"
	"errand/deviceio/gateway"
	"errand/deviceio/media"
	"errand/deviceio/registry"
	"errand/internal/config"
	"errand/plan"
	"errand/starter/plans"
)

// This is where the two sides meet that do not know of each other: activities and devices.
var (
	_ activities.Link      = (*gateway.Gateway)(nil)
	_ activities.Directory = (*registry.Registry)(nil)
)

// stopTimeout is what commands in flight get to be answered in when the process ends.
const stopTimeout = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "gateway: %s\n", oneLine(err))
		os.Exit(1)
	}
}

// oneLine keeps every part of an error, and the log readable.
func oneLine(err error) string {
	var parts []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}

// run serves until ctx ends or something fails for good.
func run(ctx context.Context, stdout io.Writer) (err error) {
	var settings config.Gateway
	if err := config.Load(&settings); err != nil {
		return err
	}
	logger, err := settings.Logger()
	if err != nil {
		return err
	}
	known, err := config.Catalog(settings.Catalog)
	if err != nil {
		return err
	}
	devices, err := openRegistry(ctx, settings.Registry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, devices.Close()) }()
	keeper, err := keepCertificate(&settings, logger)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", settings.GatewayListen)
	if err != nil {
		return fmt.Errorf("devices cannot connect there: set ERRAND_GATEWAY_LISTEN to a free address: %w", err)
	}
	defer func() { err = errors.Join(err, ignoreClosed(listener.Close())) }()
	options, err := config.ClientOptions(logger)
	if err != nil {
		return err
	}
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, gateway.RequestIDs())
	temporal, err := config.DialOptions(ctx, options)
	if err != nil {
		return err
	}
	defer temporal.Close()
	signaller := gateway.NewTemporalSignaller(temporal)
	ongoing := plans.New(temporal)
	g, err := gateway.New(gateway.Options{Registry: devices, Catalog: known, Signaller: signaller, Leases: signaller, Media: media.Open(settings.Media, media.Limits{}),
		Observations: signaller, Plans: ongoing, Views: ongoing, Decider: settings.DeciderName(),
		Token: settings.Token, AutoApprove: settings.AutoApprove, ForwardStarted: settings.ForwardStarted, Logger: logger,
		Limits: gateway.Limits{Handshakes: settings.HandshakeRate, Connecting: settings.MaxConnecting,
			DeviceEvents: settings.DeviceEventRate, Events: settings.EventRate},
		Healthy: func(ctx context.Context) error {
			_, err := temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		}})
	if err != nil {
		return err
	}
	p := process{gateway: g, devices: devices, temporal: temporal, listener: listener, keeper: keeper, log: logger}
	return serve(ctx, p, func() { fmt.Fprintln(stdout, p.readyLine()) })
}

// openRegistry opens the registry; the folder of a file is made if it is absent.
func openRegistry(ctx context.Context, place string) (*registry.Registry, error) {
	if err := registry.MakeFolder(place); err != nil {
		return nil, fmt.Errorf("ERRAND_REGISTRY: %w", err)
	}
	devices, err := registry.Open(ctx, place)
	if err != nil {
		return nil, fmt.Errorf("ERRAND_REGISTRY: %w", err)
	}
	return devices, nil
}

// process is what serve keeps running.
type process struct {
	gateway  *gateway.Gateway
	devices  *registry.Registry
	temporal client.Client
	listener net.Listener
	keeper   *certificate.Keeper // nil without TLS
	log      *slog.Logger
}

// readyLine says where devices connect, and by what they know the gateway.
func (p process) readyLine() string {
	scheme, known := "ws", ""
	if p.keeper != nil {
		scheme, known = "wss", " fingerprint "+p.keeper.Standing().InUse.Fingerprint
	}
	return fmt.Sprintf("gateway ready: %s://%s/ queue %s%s", scheme, p.listener.Addr(), p.gateway.TaskQueue(), known)
}

// serve runs everything until ctx ends or a part fails, and then winds up in the order that loses nothing: first no new
// commands, and answers to those in flight; then the sockets.
func serve(ctx context.Context, p process, ready func()) (err error) {
	failed := make(chan error, 4)
	server := httpServer(p.gateway.Handler())
	running, drain := context.WithCancel(context.WithoutCancel(ctx))
	listener, rotating, err := p.secure(running)
	if err != nil {
		drain()
		return err
	}
	go func() { failed <- server.Serve(listener) }()
	drained := make(chan error, 1)
	go func() { drained <- p.gateway.Run(running) }()
	workers, err := p.work(func(err error) {
		select {
		case failed <- err:
		default: // the first ones stand
		}
	})
	if err == nil {
		ready()
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	for _, w := range workers {
		w.Stop()
	}
	drain()
	<-rotating
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return errors.Join(err, <-drained, ignoreEnd(server.Shutdown(closing)))
}

// httpServer bounds what a caller may hold up before it has shown any token: headers, body, and an idle connection. A
// device's socket is out of its hands, and has limits of its own.
func httpServer(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
}

// work polls the common queue and the gateway's own.
func (p process) work(fatal func(error)) ([]worker.Worker, error) {
	config.NameBuild()
	// Who waits for a device on the common queue waits as well on another gateway: it is let go at once.
	common := worker.New(p.temporal, plan.GatewaysTaskQueue, worker.Options{DisableWorkflowWorker: true, OnFatalError: fatal})
	activities.NewFinder(p.devices).Register(common)
	own := worker.New(p.temporal, p.gateway.TaskQueue(), worker.Options{DisableWorkflowWorker: true, OnFatalError: fatal, WorkerStopTimeout: stopTimeout})
	activities.NewDevice(p.gateway).Register(own)
	var started []worker.Worker
	for queue, w := range map[string]worker.Worker{plan.GatewaysTaskQueue: common, p.gateway.TaskQueue(): own} {
		if err := w.Start(); err != nil {
			return started, fmt.Errorf("poll task queue %s: %w", queue, err)
		}
		started = append(started, w)
	}
	return started, nil
}

// ignoreClosed drops the error of closing what the server closed already.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ignoreEnd drops the error of a caller that keeps its HTTP connection past the end.
func ignoreEnd(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
