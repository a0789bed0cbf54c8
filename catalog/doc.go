// Package catalog says what devices can do, in plain data: capabilities with their slots, result contracts, impact
// and timeouts; reasons with what may be tried; routines a sentence can start; and the sentences a person hears.
//
// It is the bottom layer: it imports no Temporal, no network, no clock, and everything above reads its types.
//
//	c := load.Builtin()                               // or load.Parse of a YAML file (contract.md §9)
//	slice := c.Slice([]string{"move_to_room"})        // the part one plan carries with it
//	capability, ok := slice.Capability("move_to_room")
//	listed := capability.ResultContract.Filter(raw)   // law 4: the rest of the result goes nowhere
//	reason := slice.Reason("BATTERY_LOW")             // an unknown code means: stop and let someone decide
//
// What belongs together is in one file: catalog.go the types, slice.go how a plan finds its part, value.go the checks
// of slots and results, template.go the sentences people say, sentence.go the ones they hear.
// Package load reads and lints the file format; package condition evaluates preconditions and checks of effects.
package catalog
