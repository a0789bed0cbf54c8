package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"errand/internal/freeport"
)

// host is where everything listens: nothing of a laptop's Errand can be reached from outside.
const host = "127.0.0.1"

// Ports are where the parts listen, on loopback.
type Ports struct {
	Temporal, UI, API, Gateway int
}

// wantedPort is one port to find out about before anything is started.
type wantedPort struct {
	port     *int
	use      string // what it is for, as an error should say it
	variable string // the setting that moves it
}

func (p *Ports) wanted(withTemporal bool) []wantedPort {
	w := []wantedPort{
		{&p.API, "the HTTP API", "ERRAND_API_PORT"},
		{&p.Gateway, "the devices' gateway", "ERRAND_GATEWAY_PORT"},
	}
	if withTemporal {
		w = append(w,
			wantedPort{&p.Temporal, "the Temporal server", "ERRAND_TEMPORAL_PORT"},
			wantedPort{&p.UI, "Temporal's web UI", "ERRAND_UI_PORT"})
	}
	return w
}

// probe finds out that every port can be had, or with free finds ones that can; it reports every port that is taken.
// All are held until all are known, so that no two free ones are the same. Between letting go and the part's own
// listening another process may still take one: then the part's own error has to do.
func (p *Ports) probe(ctx context.Context, withTemporal, free bool) error {
	var taken []error
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // nothing was sent over it
		}
	}()
	for _, w := range p.wanted(withTemporal) {
		l, err := w.listen(ctx, free)
		if err != nil {
			taken = append(taken, err)
			continue
		}
		held = append(held, l)
		*w.port = freeport.Of(l)
	}
	return errors.Join(taken...)
}

func (w wantedPort) listen(ctx context.Context, free bool) (net.Listener, error) {
	if free {
		return freeport.Listen(ctx)
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address(*w.port))
	if err != nil {
		return nil, portError(w, err)
	}
	return l, nil
}

func portError(w wantedPort, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d, for %s, is taken by another process: stop that one, set %s to another port, or use --free-ports",
			*w.port, w.use, w.variable)
	}
	return fmt.Errorf("port %d, for %s, cannot be used: %w: set %s to another port, or use --free-ports", *w.port, w.use, err, w.variable)
}

func address(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

func httpURL(port int) string { return "http://" + address(port) }
