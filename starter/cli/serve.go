package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"errand/deviceio/registry"
	"errand/internal/config"
	"errand/starter/api"
	"errand/starter/plans"
)

// serveCommand is errand serve.
type serveCommand struct{}

// shutdownTimeout is what requests get to end in; watchers are cut off, and come back with Last-Event-ID.
const shutdownTimeout = 5 * time.Second

// Run serves until it is interrupted.
func (serveCommand) Run(s *session) error {
	var settings config.API
	if err := config.Load(&settings); err != nil {
		return err
	}
	logger, err := settings.Logger()
	if err != nil {
		return err
	}
	slog.SetDefault(logger)
	known, err := config.Catalog(settings.Catalog)
	if err != nil {
		return err
	}
	if err := registry.MakeFolder(settings.Registry); err != nil {
		return fmt.Errorf("ERRAND_REGISTRY: %w", err)
	}
	devices, err := registry.Open(s.ctx, settings.Registry)
	if err != nil {
		return fmt.Errorf("ERRAND_REGISTRY: %w", err)
	}
	defer func() { _ = devices.Close() }()             // every write was committed when it returned
	listener, err := listen(s.ctx, settings.APIListen) // before Temporal: a taken port is the nearer cause
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // closed already, once it was served
	options, err := config.ClientOptions(logger)
	if err != nil {
		return err
	}
	temporal, err := config.DialOptions(s.ctx, options)
	if err != nil {
		return err
	}
	defer temporal.Close()
	handler, err := api.New(api.Parts{Plans: plans.New(temporal), Registry: devices, Catalog: known, Log: logger,
		Tokens: tokensOf(settings), UI: settings.UI, GatewayURL: settings.GatewayURL,
		Decider: settings.DeciderName(), RenewAfter: settings.RenewAfter,
		Namespace: namespaceOf(options.Namespace)})
	if err != nil {
		return input("%w", err)
	}
	fmt.Fprintf(s.stdout, "api ready: http://%s\n", listener.Addr())
	return serve(s.ctx, listener, handler)
}

// tokensOf are the configured tokens with their owners: what a cancel or an answer is signed with.
func tokensOf(settings config.API) []api.Token {
	tokens := []api.Token{{Owner: config.MainOwner, Secret: settings.Token}}
	for _, owner := range slices.Sorted(maps.Keys(settings.Tokens)) {
		tokens = append(tokens, api.Token{Owner: owner, Secret: settings.Tokens[owner]})
	}
	return tokens
}

func namespaceOf(name string) string {
	if name == "" {
		return "default"
	}
	return name
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the HTTP API cannot listen on %s: %w: stop what does, or set ERRAND_API_LISTEN", address, err)
	}
	return listener, nil
}

// serve answers until ctx ends. A request that comes before the server runs waits in the listener's queue.
func serve(ctx context.Context, listener net.Listener, handler *api.API) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	server.RegisterOnShutdown(handler.EndWatches) // they would hold up its end
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve the HTTP API: %w", err)
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		return errors.Join(fmt.Errorf("stop the HTTP API: %w", err), server.Close())
	}
	return nil
}
