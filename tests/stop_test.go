package tests

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// slowRobot drives for seconds, so that there is a motion to stop.
const slowRobot = stack.Option("ERRAND_ROBOT_SPEED=1")

// TestEmergencyStop stops robots on real processes: by a person, by the robot's own button, and while Temporal is away.
func TestEmergencyStop(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	t.Run("ByAPersonAndAcrossARestartOfTheGateway", func(t *testing.T) { stoppedByAPerson(t, s) })
	t.Run("ByTheDeviceItself", func(t *testing.T) { stoppedByItself(t, s) })
	t.Run("WhileTemporalIsAway", func(t *testing.T) { stoppedWithoutTemporal(t, s) })
}

// rolling starts a plan and waits until the robot drives for it.
func rolling(t *testing.T, s *stack.Stack, r *stack.Robot) *stack.Plan {
	t.Helper()
	p := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	p.AwaitStep(t, "there", plan.StepRunning)
	return p
}

// wantStopped waits until the plan has ended by the stop.
func wantStopped(t *testing.T, p *stack.Plan) {
	t.Helper()
	if o := wantOutcome(t, p, plan.Failed, "failed"); o.Reason == nil || o.Reason.Code != plan.EmergencyStop {
		t.Errorf("plan %s ended because of %+v, want %s", p.ID, o.Reason, plan.EmergencyStop)
	}
}

// wantStill wants the task cancelled on the robot and its wheels at rest, though it had not arrived.
func wantStill(t *testing.T, r *stack.Robot, p *stack.Plan) {
	t.Helper()
	if _, err := r.Control(t).AwaitTask(t.Context(), p.ID+"/there/1", robot.Cancelled, stack.Patience); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Motions(t) {
		if m.EndedAt == 0 || m.Completed {
			t.Errorf("motion %+v, want it stopped on its way", m)
		}
	}
	wantEffects(t, r)
}

func stoppedByAPerson(t *testing.T, s *stack.Stack) {
	r := s.Robot(t, slowRobot)
	first := rolling(t, s, r)
	second := s.Submit(t, r, thereAndBack(plan.LeaseQueue)) // waits for its turn

	if printed, code := s.Errand(t, "device", "stop", r.ID, "--why", "the cat is in its way"); code != 0 || !strings.Contains(printed, "the cat is in its way") {
		t.Fatalf("errand device stop: %d\n%s", code, printed)
	}
	wantStill(t, r, first)
	wantStopped(t, first)
	wantStopped(t, second)

	s.GatewayProc.Kill(t)
	s.GatewayProc.Start(t)
	wantStopped(t, s.Submit(t, r, thereAndBack(plan.LeaseQueue)))
	if printed, _ := s.Errand(t, "device", "list"); !strings.Contains(printed, "STOPPED") {
		t.Errorf("errand device list does not show it:\n%s", printed)
	}
	wantEffects(t, r)

	if printed, code := s.Errand(t, "device", "release", r.ID); code != 0 {
		t.Fatalf("errand device release: %d\n%s", code, printed)
	}
	again := rolling(t, s, r) // and nothing before it began again by itself
	again.Cancel(t)
	wantOutcome(t, again, plan.Cancelled, "canceled")
}

// The button on the robot stops it at once, and the cloud's latch stays when the button is let go.
func stoppedByItself(t *testing.T, s *stack.Stack) {
	r := s.Robot(t, slowRobot)
	p := rolling(t, s, r)
	if err := r.Control(t).PressStop(t.Context(), "pressed"); err != nil {
		t.Fatal(err)
	}
	wantStill(t, r, p)
	wantStopped(t, p)
	if err := r.Control(t).ReleaseStop(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantStopped(t, s.Submit(t, r, thereAndBack(plan.LeaseQueue)))
	if _, answer := s.Get(t, "/v1/devices/"+r.ID); !strings.Contains(string(answer), `"by":"device","why":"pressed"`) {
		t.Errorf("the device does not show by whom it was stopped: %s", answer)
	}
	if status, answer := s.Post(t, "/v1/devices/"+r.ID+"/release", ""); status != http.StatusOK {
		t.Fatalf("release: %d %s", status, answer)
	}
	again := rolling(t, s, r)
	again.Cancel(t)
	wantOutcome(t, again, plan.Cancelled, "canceled")
}

// Without Temporal the robot is stopped all the same. The plan hears of it when Temporal is back, though the robot was released
// by then: nothing goes on by itself.
func stoppedWithoutTemporal(t *testing.T, s *stack.Stack) {
	if s.Server == nil {
		t.Skip("the Temporal server is not the test's own")
	}
	r := s.Robot(t, slowRobot)
	p := rolling(t, s, r)
	s.Server.Kill(t)
	if status, answer := s.Post(t, "/v1/devices/"+r.ID+"/stop", `{"why":"Temporal is away"}`); status != http.StatusOK {
		t.Fatalf("stop: %d %s", status, answer)
	}
	wantStill(t, r, p)
	if status, answer := s.Post(t, "/v1/devices/"+r.ID+"/release", ""); status != http.StatusOK {
		t.Fatalf("release: %d %s", status, answer)
	}
	s.Server.Start(t)
	wantStopped(t, p)
	wantEffects(t, r)
	stack.Eventually(t, "the stop is told", func(ctx context.Context) (bool, error) {
		open, err := s.OpenRegistry(t).Stops(ctx)
		return len(open) == 0, err
	})
}
