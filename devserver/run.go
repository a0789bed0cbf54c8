package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.temporal.io/server/temporal"
)

// stopTimeout bounds an orderly stop. The server's services drain one after another,
// and one that hangs must not keep a terminal or a test waiting.
const stopTimeout = 4 * time.Second

// run starts everything, says so on stdout, waits for ctx to end and stops everything
// again. What fails on the way is undone before it returns.
func run(ctx context.Context, opts options, stdout, stderr io.Writer) (err error) {
	at, release, err := choosePorts(ctx, opts)
	if err != nil {
		return err
	}
	defer release()
	db, err := openStore(ctx, opts.DBFilename)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	if err := db.createNamespaces(opts.Namespaces, opts.SearchAttributes); err != nil {
		return err
	}

	logger := newServerLog(stderr, opts.LogLevel, opts.LogFormat, func() { _ = db.removeTemp() })
	server, err := newCluster(opts.IP, at, db.sql, dynamicConfigClient(opts.DynamicConfig), logger)
	if err != nil {
		return err
	}
	defer logger.hush()
	if err := server.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the Temporal server: %w", err), stopServer(server, logger))
	}
	defer func() { err = errors.Join(err, stopServer(server, logger)) }()

	var ui *webUI
	if !opts.Headless {
		ui = startUI(opts.IP, at, opts.UICodecEndpoint)
		defer ui.stop()
	}
	if err := makeReady(ctx, opts, at, ui); err != nil {
		if ctx.Err() != nil { // asked to stop before it was up: not a failure
			return nil
		}
		return err
	}
	fmt.Fprintln(stdout, readyLine(opts, at, ui))
	<-ctx.Done()
	return nil
}

// makeReady returns when whoever reads the ready line can use what it names.
func makeReady(ctx context.Context, opts options, at ports, ui *webUI) error {
	front, err := dialFrontend(hostPort(opts.IP, at.Frontend))
	if err != nil {
		return err
	}
	defer front.close()
	for _, namespace := range opts.Namespaces {
		if err := front.awaitNamespace(ctx, namespace); err != nil {
			return err
		}
		if err := front.registerSearchAttributes(ctx, namespace, opts.SearchAttributes); err != nil {
			return err
		}
	}
	if ui == nil {
		return nil
	}
	return ui.awaitHealthy(ctx)
}

// readyLine is a contract: scripts and tests read the addresses from it.
func readyLine(opts options, at ports, ui *webUI) string {
	line := "Temporal ready: grpc " + hostPort(opts.IP, at.Frontend)
	if ui != nil {
		line += ", UI " + ui.URL
	}
	return line
}

// stopServer stops the services and waits for them, for stopTimeout at most.
func stopServer(server temporal.Server, logger *serverLog) error {
	logger.hush()
	stopped := make(chan error, 1)
	go func() { stopped <- server.Stop() }()
	select {
	case err := <-stopped:
		if err != nil {
			return fmt.Errorf("stop the Temporal server: %w", err)
		}
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("the Temporal server did not stop within %v; the process ends without it, the database is as after a crash and recovers at the next start", stopTimeout)
	}
}
