// Package lease holds the machine that says whose turn it is to move one device (law 21).
//
// The machine is one function, like the one of package plan:
//
//	next, commands := lease.Step(state, now, input)
//
// It is total, deterministic, and knows no clock, no network and no Temporal. State is JSON. Package workflows is the
// shell that feeds it (DeviceWorkflow, one per device while any plan wants it).
//
// # The rules in one breath
//
// One plan holds the lease; the others wait in the order of priority, then of arrival. A plan gives the lease back with
// its last word; if it is gone without one, its record and the device are asked instead. The lease is free only when the
// device is known to be still: an operation that may still move it is cancelled, again at each connection, until the
// device itself says that it is over or was never there. Until then the device is quarantined, and nobody is granted it;
// a person may forget it, on record.
//
// # How to read it
//
// state.go, input.go and command.go are the vocabulary, names.go what travels between processes. machine.go says what
// happens in which order; then one file for each concern: queue (requests, policies, grants, releases), holder (is it
// still there), device (its link, its route, what it says it runs), settle (operations that may still move it), view.
package lease
