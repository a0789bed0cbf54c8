// Package tests runs the whole of Errand on a real Temporal server and real processes, and judges it by the robot's
// ledger: what physically happened, written by nobody but the robot's world.
//
// Each test names the law of the design or the public case that it holds. `make test` builds the programs with the race
// detector and runs them; package stack is how a test starts, kills and watches them.
package tests
