// Package shim stands on the device's side between the gateway and a TaskManager that meets the vendor checklist and no
// more: submitTask, getTaskStatus, cancelTask, getDevicePlanningContext and the callback onTaskEvent. Such a TaskManager
// knows no operation ids, moves twice when it is told twice, forgets a task when it is over or when it restarts, and tells
// each event once, to whoever listens then. The shim gives it what Errand's laws need:
//
//   - a journal on disk of every operation: the vendor's task id, its stored terminal event, fences, tombstones;
//   - operation ids and the whole trace in every event, and an outbox under it;
//   - the same answer, and no movement, for a submit that comes again;
//   - an honest UNKNOWN where nobody can know. The shim never submits anything twice by itself.
//
// The hard part is a submit whose answer was lost, because the shim was killed or the vendor was silent: the vendor may have
// it. The shim looks for it among the vendor's tasks (reconcile.go), waits for an event of it, and else says that it does
// not know. So it is with a task that the vendor has lost: it is running no more, and how it ended nobody can tell.
//
//	journal.go     what is on disk, and how it is read back
//	operation.go   one operation, from its intention to its end
//	submit.go      which submit reaches the vendor: dedupe, tombstones, fences
//	event.go       the vendor's events; match.go whose they are
//	status.go      how an operation stands; look.go asks the vendor; reconcile.go finds what the vendor may have
//	cancel.go      cancelTask, and what has to be stopped without being asked
//	tell.go        what was journaled reaches the outbox, once
//	watch.go       all that needs time: looks, ttl and timeouts, what is forgotten
//	vendor.go      what a TaskManager must offer; httpvendor.go and httpevents.go offer it over loopback HTTP
//	run.go         all of it as a process
//
// docs/shim.md is for the vendor's engineer.
package shim
