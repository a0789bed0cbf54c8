package tests

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// Law 11 over several gateways: a robot hops between two of them every few seconds, cut off without a word each time, all through
// a plan of ten steps. The plan follows it: each step has one effect, and no submit is stuck.
func TestLaw11ARobotHopsBetweenTwoGateways(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	_, other := s.AddGateway(t)
	relay := stack.NewRelay(t, s.Gateway)
	r := s.Robot(t, stack.Option("ERRAND_GATEWAY_URL="+relay.URL), "ERRAND_ROBOT_SPEED=5")
	p := s.Submit(t, r, tenMoves)
	hops := hopping(t, relay, other, s.Gateway)
	wantOutcome(t, p, plan.Completed, "completed")
	if n := hops(); n < 4 {
		t.Errorf("the robot hopped %d times during the plan: the test shows nothing", n)
	}
	wantEachOnce(t, r, p, 10)
	for _, step := range p.View(t).Steps {
		if step.State != plan.StepCompleted {
			t.Errorf("step %s is %s at the plan's end", step.ID, step.State)
		}
	}
}

// hopEvery is how long the robot stays with one gateway.
const hopEvery = 2 * time.Second

// hopping points the relay to one gateway after the other until stop is called, which returns how often.
func hopping(t *testing.T, relay *stack.Relay, gateways ...string) (stop func() int) {
	t.Helper()
	over, hops := make(chan struct{}), make(chan int, 1)
	go func() {
		next := time.NewTicker(hopEvery)
		defer next.Stop()
		for n := 0; ; n++ {
			select {
			case <-next.C:
				relay.Point(gateways[n%len(gateways)])
			case <-over:
				hops <- n
				return
			}
		}
	}()
	return func() int { close(over); return <-hops }
}

// tenMoves is a plan of ten steps, each to another room than the one before.
var tenMoves = func() string {
	rooms := []string{"안방", "거실", "서재"}
	var steps []string
	for i := range 10 {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(`"depends_on":["s%d"],`, i-1)
		}
		steps = append(steps, fmt.Sprintf(`{"id":"s%d",%s"action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":%q}}}`,
			i, after, rooms[i%len(rooms)]))
	}
	return `{"steps":[` + strings.Join(steps, ",") + `]}`
}()

// wantEachOnce fails the test unless the ledger has one effect for each of the plan's steps s0, s1 and so on, in their order, each of the
// first generation: no operation was ever replaced by another.
func wantEachOnce(t *testing.T, r *stack.Robot, p *stack.Plan, steps int) {
	t.Helper()
	effects := r.Ledger(t)
	if len(effects) != steps {
		t.Errorf("Law11: %d effects for %d steps: %+v", len(effects), steps, effects)
		return
	}
	for i, e := range effects {
		if want := fmt.Sprintf("%s/s%d/1", p.ID, i); e.OperationID != want {
			t.Errorf("Law11: effect %d is of %s, want %s", i, e.OperationID, want)
		}
	}
}

// A gateway that dies with a robot on it is noticed: the robot comes back through the other one, and the plan goes on there.
func TestAGatewayDiesAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	_, other := s.AddGateway(t)
	relay := stack.NewRelay(t, s.Gateway)
	r := s.Robot(t, stack.Option("ERRAND_GATEWAY_URL="+relay.URL), "ERRAND_ROBOT_SPEED=20")
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Submit(t, r, tenMoves)
	r.AwaitFault(t, hold)
	s.GatewayProc.Kill(t)
	relay.Point(other)
	r.Release(t, hold)
	wantOutcome(t, p, plan.Completed, "completed")
	wantEachOnce(t, r, p, 10)
}

// A gateway that is asked to end (SIGTERM) tells its devices, finishes what it has in hand, and its work goes on at the other.
func TestAGatewayIsAskedToEndMidPlan(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	_, other := s.AddGateway(t)
	relay := stack.NewRelay(t, s.Gateway)
	r := s.Robot(t, stack.Option("ERRAND_GATEWAY_URL="+relay.URL), "ERRAND_ROBOT_SPEED=20")
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Submit(t, r, tenMoves)
	r.AwaitFault(t, hold)
	began := time.Now()
	s.GatewayProc.Stop(t)
	relay.Point(other)
	r.Release(t, hold)
	wantOutcome(t, p, plan.Completed, "completed")
	wantEachOnce(t, r, p, 10)
	log, err := os.ReadFile(s.Dir + "/gateway.log")
	if err != nil || !strings.Contains(string(log), "draining") {
		t.Errorf("the gateway ended without draining (%v), %v after it was asked", err, time.Since(began))
	}
}
