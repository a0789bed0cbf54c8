//go:build !linux

package main

import (
	"context"
	"net"
	"net/netip"
)

// handsOn says whether a reservation may last while the server listens on its port.
const handsOn = false

// reservation is a port that could be had while it lasted. Where a bound port cannot be
// handed on, another process may take it between the release and the server's own
// listening: then the server's own error has to do.
type reservation struct {
	port     int
	listener net.Listener
}

// reserve finds out that the port, or with 0 any one, can be had.
func reserve(ctx context.Context, ip netip.Addr, port int) (reservation, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", hostPort(ip, port))
	if err != nil {
		return reservation{}, err
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
		port = tcp.Port
	}
	return reservation{port: port, listener: listener}, nil
}

func (r reservation) release() { _ = r.listener.Close() } // nobody has connected
