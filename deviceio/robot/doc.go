// Package robot is a simulated home robot: a world with physics, a ledger of what physically came about, and a
// TaskManager in front of it that keeps the contract (contract.md §3, §4, §6) the way a good vendor's would. It connects
// to the gateway over the network like any other device, through package device.
//
// It exists so that the promises of Errand can be held against something that moves. The law of this world: only the
// world writes the ledger. An effect is a completion, written in one transaction with the task's end, its stored
// terminal event and the state of the world, so that a process killed at any moment leaves either all of it or none.
// The ledger does not forbid a second effect of one operation: it must be able to show one.
//
//	ledger.go      effects and motions, readable while the robot runs
//	world.go       everything physical; physics.go lets time pass in it
//	objects.go     the home's alarms, reminders, lights and doors: ids, revisions; homeobjects.go those of a home file;
//	               objectmethods.go what tasks do with them; byhand.go what people do to them
//	admission.go   which submit is taken in: dedupe, tombstones, fencing, sense, policy, room in the queue
//	queue.go       first in, first out; ttl
//	executor.go    one task at a time, phase by phase; ending.go its end and its effect
//	cancel.go      every case of cancelTask
//	status.go      getTaskStatus; planningcontext.go getDevicePlanningContext; speech.go say and ask
//	announce.go    events: stored with their change, told through the outbox, once
//	faults.go      what can go wrong, scripted (script.go) by tests through control.go; strike.go carries it out in tasks and
//	               events, spoil.go in answers, echo.go in frames, forget.go in the memory
//	run.go         all of it as a process
//	plain.go       the same body behind a TaskManager that meets the vendor checklist and no more; plain_http.go its loopback side
//
// submitWorkflow comes later: until then it is refused with UNSUPPORTED_METHOD, in the contract's own words.
//
// Two clocks run. The world's own time passes Options.Speed times as fast as the wall clock, in whole quanta, so that a
// drive across the flat takes a second in a demonstration. Everything promised to the outside (ttlMs, timeoutMs,
// freshness, timestamps) is the wall clock's, save that the fault clock sets timestamps and freshness wrong.
package robot
