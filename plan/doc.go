// Package plan holds the plan document, the state of a plan, and the pure machine that decides what happens next.
//
// The machine is one function:
//
//	next, commands := plan.Step(state, now, input)
//
// It is total (any input may come in any state), deterministic, and knows no clock, no network and no Temporal: time
// comes in with the input, and everything it wants done goes out as commands. State is JSON. Package workflows is the
// shell that feeds it and carries out what it commands; the tests here feed it with a model of the world instead.
//
// # How to read it
//
// document.go is what a planner writes; decode.go, validate.go and validate_graph.go are the gate every plan passes.
// state.go, operation.go, receipt.go, input.go, input_device.go and command.go are the vocabulary. machine.go says what happens in which order; then one file for
// each concern: planning, schedule (which step, and its submit), event (what devices report), unknown (what we no longer
// know, and how we ask), verify, cancel, cloud (steps that a
// worker carries out), boundary (decisions and questions), deadline, outcome (how it ends, and what the
// person is told), journal and view (what people see).
//
// # The rules in one breath
//
// One operation is in flight at a time. An operation id names one physical effect and is sent again only under the same
// id, and only after the device said it never had it. A missing answer is a question to the device, never a failure. A
// completion becomes a step's end only with a verdict. A cancel is a request: what happened is what is reported.
// The laws are numbered in the design; the tests name them. Package explore holds every state that the machine can come to,
// within bounds, against them: go test -v -run TestEveryHistory ./plan/explore
package plan
