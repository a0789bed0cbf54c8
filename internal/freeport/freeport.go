// Package freeport finds ports of the loopback for programs that are about to be started.
//
// The ports come from below the range that systems give to outgoing connections. Above it, any connection of any
// program may take a port between the moment it was found free and the moment its program listens on it.
//
//	l, err := freeport.Listen(ctx)
//	port := freeport.Of(l)
//	l.Close() // and start the program on port
package freeport

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
)

// Outgoing connections begin at 32768 on Linux and at 49152 elsewhere; what is well known is mostly below 12000.
const (
	first = 12_000
	count = 18_000
)

// next is where the search goes on. It begins at random, since other programs may search at the same time.
var next atomic.Int64

func init() { next.Store(int64(rand.IntN(count))) }

// Listen takes a free port of 127.0.0.1. No two calls of one program get the same one, as long as there are others.
func Listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	var err error
	for range count {
		port := first + next.Add(1)%count
		var l net.Listener
		if l, err = config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no port of 127.0.0.1 from %d to %d can be had; the last was refused with %w", first, first+count-1, err)
}

// Of is the port that the listener listens on; 0 if it listens on something else than TCP.
func Of(l net.Listener) int {
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}
