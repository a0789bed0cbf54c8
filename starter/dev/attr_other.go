//go:build unix && !linux

package dev

import "syscall"

// attributes put a child into a process group of its own, so that Ctrl-C reaches the supervisor alone. Only Linux can
// tie a child's life to its parent's: elsewhere kill -9 of the supervisor leaves its children to be stopped by hand.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
