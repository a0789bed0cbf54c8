// Package stack runs the whole of Errand for a test: the real Temporal server, worker, gateway, HTTP API and robots, each
// a process of its own, on free ports of the loopback, with their state in the test's folder.
//
//	s := stack.Start(t)
//	robot := s.Robot(t)
//	plan := s.Say(t, robot, "안방으로 가서 청정하고 복귀해줘")
//	outcome := plan.Wait(t)
//	effects := robot.Ledger(t)
//
// The programs are those in ERRAND_TEST_BIN (worker, gateway, errand, robot, shim, temporal-dev), which `make test` builds with
// the race detector. A process can be killed and started again at any moment (Process.Kill, Process.Start); a test
// waits for a condition (Eventually), never for a time.
package stack
