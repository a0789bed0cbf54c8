package tests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

// The demo's sentence, on a robot whose TaskManager meets the vendor checklist and no more, with a shim beside it.
func TestShimCarriesTheSentence(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.PlainRobot(t)
	p := s.Say(t, r.Robot, sentence)
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r.Robot, "arrived", "purified", "docked")
}

// plainMoving has a plain robot on its way because of the sentence, and held there.
func plainMoving(t *testing.T, s *stack.Stack) (*stack.Shim, *stack.Plan, string) {
	t.Helper()
	r := s.PlainRobot(t)
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Say(t, r.Robot, sentence)
	r.AwaitFault(t, hold)
	return r, p, hold
}

// Law 11, law 19: the shim, or the gateway, is killed while the robot is on its way, and comes back. The robot goes on, each step
// has one effect, and what the robot told to nobody is found by asking.
func TestLaw11And19ShimKilledMidPlan(t *testing.T) {
	t.Parallel()
	for name, victim := range map[string]func(*stack.Stack, *stack.Shim) *stack.Process{
		"Shim":    func(_ *stack.Stack, r *stack.Shim) *stack.Process { return r.Proc },
		"Gateway": func(s *stack.Stack, _ *stack.Shim) *stack.Process { return s.GatewayProc },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stack.Start(t)
			r, p, hold := plainMoving(t, s)
			victim(s, r).Kill(t)
			victim(s, r).Start(t)
			r.Release(t, hold)
			wantOutcome(t, p, plan.Completed, "completed")
			wantEffects(t, r.Robot, "arrived", "purified", "docked")
		})
	}
}

// Law 9, case c08: the plain robot arrives while its shim is dead, and tells its end to nobody. Afterwards nobody can tell: the
// plan asks a person instead of calling it done, failed or running, and nothing moves until the answer.
func TestLaw09ShimDoesNotKnowAndSaysSo(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r, p, hold := plainMoving(t, s)
	r.Proc.Kill(t)
	r.Release(t, hold)
	r.AwaitEffects(t, 1)
	r.Proc.Start(t)
	v := p.Await(t, "a person is asked", func(v plan.View) bool { return v.Question != nil })
	if !strings.HasSuffix(v.Question.OperationID, "/1") || v.Question.Kind != "declare_dead" {
		t.Errorf("it asks %+v", v.Question)
	}
	wantEffects(t, r.Robot, "arrived")
	p.Answer(t, v.Question.ID, "retry")
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r.Robot, "arrived", "arrived", "purified", "docked") // by that person's word, as a second generation
}

// Case c08: the TaskManager restarts on the way, reports idle and says no word of what it ran. It is found by asking.
func TestLaw19ShimCaseC08TheTaskManagerRestarts(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r, p, _ := plainMoving(t, s)
	r.Kill(t)
	r.Start(t)
	v := p.Await(t, "a person is asked", func(v plan.View) bool { return v.Question != nil })
	wantEffects(t, r.Robot)
	p.Answer(t, v.Question.ID, "retry")
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r.Robot, "arrived", "purified", "docked")
}

// Laws 7 and 11: the same utterance twice is one plan, and a robot that would move twice when told twice moves once.
func TestLaw07And11ShimTheRequestComesTwice(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.PlainRobot(t)
	body := fmt.Sprintf(`{"recognized_text":%q,"utterance_id":"u-1","device_id":%q}`, sentence, r.ID)
	var ids []string
	for range 2 {
		status, answer := s.Post(t, "/v1/utterances", body)
		var started struct {
			PlanID string `json:"plan_id"`
		}
		if err := json.Unmarshal(answer, &started); err != nil || status >= 300 {
			t.Fatalf("%d %s", status, answer)
		}
		ids = append(ids, started.PlanID)
	}
	if ids[0] != ids[1] {
		t.Errorf("two plans of one utterance: %v", ids)
	}
	wantOutcome(t, s.Plan(ids[0]), plan.Completed, "completed")
	wantEffects(t, r.Robot, "arrived", "purified", "docked")
}
