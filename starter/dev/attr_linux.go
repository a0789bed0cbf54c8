package dev

import "syscall"

// attributes put a child into a process group of its own, so that Ctrl-C reaches the supervisor alone, and have the
// kernel kill it when the thread that forked it ends, so that not even kill -9 of the supervisor leaves a child behind.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
