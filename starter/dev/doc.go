// Package dev runs a whole Errand on one machine: Temporal, a worker, a gateway, the HTTP API and a robot, each as the
// real program in a process of its own. It is what `errand dev` and `make demo` are.
//
// Run starts them in order, each when the one before said that it is ready, and shows for what it waits. A part that
// dies takes the others down, with its last lines shown. When it ends, however it ends, nothing it started is left:
// every part is in a process group of its own and is stopped in reverse order, first kindly, then not; and should the
// supervisor itself be killed, the kernel kills its children (Linux).
//
//	ports.go       which ports, and who has them if we do not
//	parts.go       what is started, with which settings, and the line that says it is ready
//	process.go     one child: its output, its last lines, its end
//	supervisor.go  all children: start, watch, stop
//	state.go       the state folder: lock, token, logs
//	dev.go         the order of it all
package dev
