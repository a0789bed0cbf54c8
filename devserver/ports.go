package main

import (
	"context"
	"errors"
	"fmt"
	"net"
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

// reservation is one port to hold while the others are chosen.
type reservation struct {
	use  string // what it is for, as an error should say it
	flag string // the flag that chooses it; empty: nobody cares which it is
	port *int   // wanted, 0 for a free one; set to what was found
}

// choosePorts finds out, before anything is started, that every port can be had.
// The server and the UI answer a taken port by ending the process from within, long
// after the database has been touched; this answers it in one line instead.
//
// All are held until all are chosen, so that no two free ones are the same. Between
// letting go here and listening for real, another process may still take one: then
// the server's own error has to do.
func choosePorts(ctx context.Context, opts options) (ports, error) {
	chosen := ports{Frontend: opts.Port}
	wanted := []reservation{
		{use: "the gRPC frontend", flag: "--port", port: &chosen.Frontend},
		{use: "the HTTP API", port: &chosen.HTTP},
		{use: "the history service", port: &chosen.History},
		{use: "the matching service", port: &chosen.Matching},
		{use: "the worker service", port: &chosen.Worker},
	}
	if !opts.Headless {
		chosen.UI = opts.UIPort
		// Before the free ones, which might otherwise land on the asked-for port.
		ui := reservation{use: "the web UI", flag: "--ui-port", port: &chosen.UI}
		wanted = append([]reservation{wanted[0], ui}, wanted[1:]...)
	}
	var held []net.Listener
	defer func() {
		for _, listener := range held {
			_ = listener.Close() // nobody has connected
		}
	}()
	for _, w := range wanted {
		listener, err := hold(ctx, opts.IP, w)
		if err != nil {
			return ports{}, err
		}
		held = append(held, listener)
	}
	return chosen, nil
}

// hold listens on the wanted port, and sets it if any free one was wanted.
func hold(ctx context.Context, ip netip.Addr, w reservation) (net.Listener, error) {
	addr := hostPort(ip, *w.port)
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d on %s, for %s, is taken by another process: stop that process or choose another port with %s (0 picks a free one)", *w.port, ip, w.use, w.flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %d on %s, for %s, needs privileges this process does not have: choose one above 1023 with %s", *w.port, ip, w.use, w.flag)
	default:
		return nil, fmt.Errorf("cannot listen on %s for %s: %w", addr, w.use, err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
		*w.port = tcp.Port
	}
	return listener, nil
}
