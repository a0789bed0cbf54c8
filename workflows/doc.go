// Package workflows is the thin shell around the machine of package plan: it turns Temporal's signals, activity results,
// updates, timers and cancellation into inputs, and the machine's commands into activities and timers.
//
// No rule of a plan lives here. What a plan does next is decided by plan.Step alone; this package only waits, in one
// place (planRun.wait), drains all that is ready in a fixed order, steps, and carries out.
//
// The fixed order is part of the contract with recorded histories: signals first (a result may come before the answer
// of its submit), then answers of activities in the order they were asked for, then requests of people, then the timer.
//
// DeviceWorkflow is the same around the machine of package plan/lease: whose turn it is to move one device.
package workflows
