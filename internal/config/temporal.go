package config

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
)

// ErrUnreachable is wrapped by Dial's error when no Temporal server answers.
var ErrUnreachable = errors.New("Temporal is not reachable")

// dialTimeout bounds Dial: long enough for a busy machine, short enough to be told about a wrong address.
const dialTimeout = 10 * time.Second

// ClientOptions reads the Temporal client's options from the environment and Temporal's configuration file.
func ClientOptions(logger *slog.Logger) (client.Options, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return client.Options{}, fmt.Errorf("the Temporal client's settings (TEMPORAL_* or its configuration file) cannot be read: %w", err)
	}
	if options.HostPort == "" {
		options.HostPort = "127.0.0.1:7233"
	}
	options.Logger = log.NewStructuredLogger(logger)
	if onThisMachine(options.HostPort) {
		// The SDK compresses each request. Over the loopback that costs more time than it saves.
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	return options, nil
}

// onThisMachine reports whether an address is one of the loopback.
func onThisMachine(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false // whoever dials it says what is wrong
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.IsLoopback())
}

// Dial connects to Temporal and checks that it answers, within 10 s or ctx's deadline. The caller closes the client.
func Dial(ctx context.Context, logger *slog.Logger) (client.Client, error) {
	options, err := ClientOptions(logger)
	if err != nil {
		return nil, err
	}
	return DialOptions(ctx, options)
}

// DialOptions is Dial for a caller that adds to ClientOptions, e.g. an interceptor.
func DialOptions(ctx context.Context, options client.Options) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w: start it with `errand dev` or set TEMPORAL_ADDRESS",
			ErrUnreachable, options.HostPort, err)
	}
	return c, nil
}
