package stack

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// AddGateway starts one more gateway on the same registry and the same Temporal server, and returns its process and its ws URL.
func (s *Stack) AddGateway(tb testing.TB) (gateway *Process, url string) {
	tb.Helper()
	port := FreePort(tb)
	p := s.process("gateway", filepath.Join(programs(tb), "gateway"))
	p.log = filepath.Join(s.Dir, fmt.Sprintf("gateway-%d.log", port))
	p.env = append(p.env[:len(p.env):len(p.env)], fmt.Sprintf("ERRAND_GATEWAY_LISTEN=127.0.0.1:%d", port))
	tb.Cleanup(func() {
		p.Kill(tb)
		p.raced(tb)
	})
	p.Start(tb)
	return p, fmt.Sprintf("ws://127.0.0.1:%d/", port)
}

// Relay stands between devices and gateways as a load balancer does: a device always dials the same address, and reaches the
// gateway that the relay points to.
type Relay struct {
	URL string // what a device dials

	mu     sync.Mutex
	target string // host:port
	open   map[net.Conn]struct{}
}

// NewRelay starts a relay to the gateway of a ws URL.
func NewRelay(tb testing.TB, gateway string) *Relay {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	r := &Relay{URL: "ws://" + l.Addr().String() + "/", target: hostOf(gateway), open: make(map[net.Conn]struct{})}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
		r.Point(hostOf(gateway))
	})
	go r.accept(l)
	return r
}

func hostOf(url string) string { return strings.Trim(strings.TrimPrefix(url, "ws://"), "/") }

// Point cuts every connection, without a word on either side, and leads the next ones to another gateway.
func (r *Relay) Point(gateway string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target = hostOf(gateway)
	for conn := range r.open {
		_ = conn.Close() // it is cut: there is nothing to be told
	}
	clear(r.open)
}

func (r *Relay) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // the test is over
		}
		go r.carry(conn)
	}
}

// carry joins a device with the gateway of the moment, until either of them ends or the relay points elsewhere.
func (r *Relay) carry(device net.Conn) {
	defer func() { _ = device.Close() }() // whoever ends first, the other is to see it
	r.mu.Lock()
	target := r.target
	r.mu.Unlock()
	gateway, err := new(net.Dialer).DialContext(context.Background(), "tcp", target)
	if err != nil {
		return // the gateway is down, and the device sees just that
	}
	defer func() { _ = gateway.Close() }()
	if !r.keep(device, gateway, target) {
		return
	}
	done := make(chan struct{}, 2)
	for from, to := range map[net.Conn]net.Conn{device: gateway, gateway: device} {
		go func() {
			_, _ = io.Copy(to, from) // it ends with either side
			done <- struct{}{}
		}()
	}
	<-done
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, device)
	delete(r.open, gateway)
}

// keep notes the two ends, unless the relay points elsewhere by now.
func (r *Relay) keep(device, gateway net.Conn, target string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.target != target {
		return false
	}
	r.open[device], r.open[gateway] = struct{}{}, struct{}{}
	return true
}
