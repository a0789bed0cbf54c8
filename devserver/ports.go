package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// ports are the ones this process listens on, all on one loopback address. Cluster
// membership needs none: the four services are told where the others are.
type ports struct {
	Frontend, History, Matching, Worker int
	// HTTP is the frontend's other side: its HTTP API, and Nexus.
	HTTP int
	// UI is 0 when there is no UI.
	UI int
}

// wantedPort is one port to find out about before anything is started.
type wantedPort struct {
	use  string // what it is for, as an error should say it
	flag string // the flag that chooses it; empty: nobody cares which it is
	port *int   // wanted, 0 for a free one; set to what was found
}

// choosePorts finds out, before anything is started, that every port can be had, and
// holds them all until release, where the system can hand a held port on. The server and the UI answer a taken port by ending the
// process from within, long after the database has been touched; this answers it in one
// line instead.
func choosePorts(ctx context.Context, opts options) (chosen ports, release func(), err error) {
	chosen = ports{Frontend: opts.Port}
	wanted := []wantedPort{
		{use: "the gRPC frontend", flag: "--port", port: &chosen.Frontend},
		{use: "the HTTP API", port: &chosen.HTTP},
		{use: "the history service", port: &chosen.History},
		{use: "the matching service", port: &chosen.Matching},
		{use: "the worker service", port: &chosen.Worker},
	}
	if !opts.Headless {
		chosen.UI = opts.UIPort
		// Before the free ones, which might otherwise land on the asked-for port.
		ui := wantedPort{use: "the web UI", flag: "--ui-port", port: &chosen.UI}
		wanted = append([]wantedPort{wanted[0], ui}, wanted[1:]...)
	}
	var held []reservation
	release = func() {
		for _, r := range held {
			r.release()
		}
	}
	for _, w := range wanted {
		r, err := reserve(ctx, opts.IP, *w.port)
		if err != nil {
			release()
			return ports{}, nil, w.explain(opts.IP, err)
		}
		*w.port = r.port
		held = append(held, r)
	}
	if !handsOn {
		release()
		return chosen, func() {}, nil
	}
	return chosen, release, nil
}

// explain says why the port cannot be had, and what to do.
func (w wantedPort) explain(ip netip.Addr, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d on %s, for %s, is taken by another process: stop that process or choose another port with %s (0 picks a free one)", *w.port, ip, w.use, w.flag)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("port %d on %s, for %s, needs privileges this process does not have: choose one above 1023 with %s", *w.port, ip, w.use, w.flag)
	default:
		return fmt.Errorf("cannot listen on %s for %s: %w", hostPort(ip, *w.port), w.use, err)
	}
}
