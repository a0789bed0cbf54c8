// Package explore walks through everything that can happen to a plan, within bounds, and holds each step against the laws.
//
// The machine in package plan is a function of a state and an input. So the states it can come to can be walked through one
// by one, if what surrounds it is a small model too: a device that keeps the contract and writes a ledger of what it
// physically did, and a network that loses, doubles, delays and reorders. A Node is the machine's state with that world. A
// Move is one thing that can happen in it. Explore makes every move from every node until nothing new comes: a fixed point.
//
// # What is bounded
//
// A history may have so many faults. A fault is whatever a world that behaves does not do: a lost answer, a report that
// overtakes another, a reboot, a failed task, a person who cancels, pauses or amends, an hour that passes unnoticed. Each
// costs one, of whatever kind, so two faults are every pair of kinds, at every two moments. Nothing else is bounded.
//
// # When two nodes are one
//
// canon.go says it: it copies the state and blanks, by name, what has no future, such as the journal, and turns times into
// distances and numbers into places in an order. All else counts, by reflection, so that a field which is added to the
// machine's state makes more nodes until somebody says what it means, and is never overlooked.
//
// # How to read it
//
// world.go, device.go, shell.go and works.go are the world; moves.go and moves_time.go are the alphabet; canon.go, canon_world.go, digest.go and
// table.go tell nodes apart; explore.go walks; court.go and the law files are the laws; shortest.go finds the shortest history
// to a violation and tells it as a script (script.go); shapes.go is what is explored.
//
// # How to extend it
//
// A new input or event: a kind in moves.go, or an answer in shell.go. A new command: an answer in shell.go and a line in
// canon_world.go. A new field of the state that only counts, numbers or dates: a line in canon.go. A new law: a number in
// court.go, a check in a law file, and a machine that breaks it in broken_test.go.
//
//	make explore # all shapes with two faults, but for a few: minutes
//	go test -v -run TestEveryHistory ./plan/explore # as wide as make test
//	go test -v -run TestEveryHistory ./plan/explore -args -shape fork -faults 3
package explore
