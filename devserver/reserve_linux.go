package main

import (
	"context"
	"net/netip"
	"os"
	"syscall"
)

// handsOn says whether a reservation may last while the server listens on its port.
const handsOn = true

// reservation holds a port until the server listens on it, and while it does.
//
// It is a socket that is bound and does not listen. Linux gives its port to no outgoing
// connection and to nobody who asks for any free port, yet lets whoever names the port
// listen on it (both sides set SO_REUSEADDR, as Go's listeners do).
type reservation struct {
	port int
	fd   int
}

// reserve takes the port, or with 0 any free one. The error is the kernel's own.
func reserve(_ context.Context, ip netip.Addr, port int) (reservation, error) {
	family, address := socketAddress(ip, port)
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return reservation{}, os.NewSyscallError("socket", err)
	}
	r := reservation{port: port, fd: fd}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		r.release()
		return reservation{}, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, address); err != nil {
		r.release()
		return reservation{}, os.NewSyscallError("bind", err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		r.release()
		return reservation{}, os.NewSyscallError("getsockname", err)
	}
	switch at := bound.(type) {
	case *syscall.SockaddrInet4:
		r.port = at.Port
	case *syscall.SockaddrInet6:
		r.port = at.Port
	}
	return r, nil
}

func socketAddress(ip netip.Addr, port int) (family int, address syscall.Sockaddr) {
	if ip.Is4() {
		return syscall.AF_INET, &syscall.SockaddrInet4{Port: port, Addr: ip.As4()}
	}
	return syscall.AF_INET6, &syscall.SockaddrInet6{Port: port, Addr: ip.As16()}
}

func (r reservation) release() { _ = syscall.Close(r.fd) } // nothing was sent over it
