package tests

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/api/enums/v1"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/plan/lease"
	"errand/tests/stack"
)

// TestLaw21OnRealProcesses holds law 21 (one mover) where it counts: in the robot's ledger.
func TestLaw21OnRealProcesses(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *stack.Stack)
	}{
		{"FiftyPlansAtOnce", fiftyAtOnce},
		{"ATerminatedPlanFreesTheLease", terminatedFrees},
		{"CaseC13TwoPlansWhileAThirdIsStopping", caseC13},
		{"ADeviceThatIsAwayIsQuarantinedAndForgotten", awayAndForgotten},
		{"TheHolderHearsOfItsDevice", holderHears},
		{"APlanThatLeavesTheQueueIsNotMissed", leavesTheQueue},
		{"AReleaseOfSomethingUnsettled", unsettledRelease},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s)
		})
	}
}

// twoMoves is a plan that another one could come between.
const twoMoves = `{"lease_policy":%q,"steps":[
	{"id":"there","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"안방"}}},
	{"id":"back","action":{"capability_id":"move_to_room","operation_id":"start","arguments":{"position_name":"거실"}},"depends_on":["there"]}]}`

func thereAndBack(policy plan.LeasePolicy) string { return fmt.Sprintf(twoMoves, policy) }

// Fifty plans are submitted at once, for one robot of each policy. Nobody comes between, and everyone ends as its policy says.
func fiftyAtOnce(t *testing.T, s *stack.Stack) {
	for policy, n := range map[plan.LeasePolicy]int{plan.LeaseQueue: 16, plan.LeaseReplace: 17, plan.LeaseReject: 17} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			r := s.Robot(t, "ERRAND_ROBOT_SPEED=1000")
			plans := make([]*stack.Plan, n)
			var all sync.WaitGroup
			for i := range plans {
				all.Go(func() { plans[i] = s.Submit(t, r, thereAndBack(policy)) })
			}
			all.Wait()
			var ends []plan.Outcome
			for _, p := range plans {
				if p == nil {
					t.Fatal("a plan was not started")
				}
				o, _ := p.Wait(t)
				ends = append(ends, o)
			}
			judgePolicy(t, policy, ends)
			oneMover(t, r, ends)
			goneWhenIdle(t, s, r.ID)
		})
	}
}

func judgePolicy(t *testing.T, policy plan.LeasePolicy, ends []plan.Outcome) {
	t.Helper()
	ids, done := map[string]bool{}, 0
	for _, o := range ends {
		ids[o.PlanID] = true
	}
	for _, o := range ends {
		switch {
		case o.State == plan.Completed:
			done++
		case policy == plan.LeaseReplace && o.State == plan.Cancelled:
			by, found := strings.CutPrefix(o.Cancel.Why, "replaced by plan ")
			if o.Cancel.Source != "lease" || !found || !ids[by] {
				t.Errorf("%s was cancelled by %+v", o.PlanID, o.Cancel)
			}
		case policy == plan.LeaseReject && o.State == plan.Failed && o.Reason.Code == "DEVICE_BUSY":
			if holder, _ := o.Reason.Params["holder"].(string); !ids[holder] || holder == o.PlanID {
				t.Errorf("%s was refused for %q", o.PlanID, holder)
			}
		default:
			t.Errorf("%s: %s ended %s: %+v", policy, o.PlanID, o.State, o.Reason)
		}
	}
	t.Logf("%s: %d of %d plans were carried out", policy, done, len(ends))
	if done == 0 || (policy == plan.LeaseQueue && done != len(ends)) {
		t.Errorf("%s: %d of %d plans were carried out", policy, done, len(ends))
	}
}

// span is the time from a plan's first motion to its last motion or effect, by the robot's clock.
type span struct {
	plan     string
	from, to int64
}

// oneMover: no plan moves the robot between the first and the last movement of another, and what is told as done is in the
// ledger.
func oneMover(t *testing.T, r *stack.Robot, ends []plan.Outcome) {
	t.Helper()
	spans, done := map[string]*span{}, map[string]int{}
	extend := func(operation string, from, to int64) {
		id, err := plan.ParseOperationID(operation)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := spans[id.Plan]
		if !ok {
			s = &span{id.Plan, from, to}
			spans[id.Plan] = s
		}
		s.from, s.to = min(s.from, from), max(s.to, to)
	}
	for _, m := range r.Motions(t) {
		extend(m.OperationID, m.StartedAt, max(m.StartedAt, m.EndedAt))
	}
	for _, e := range r.Ledger(t) {
		extend(e.OperationID, e.At, e.At)
		done[e.OperationID]++
	}
	var list []span
	for _, s := range spans {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(list); i++ {
		if list[i].from < list[i-1].to {
			t.Errorf("Law21: %s moved the robot from %d on, %s until %d", list[i].plan, list[i].from, list[i-1].plan, list[i-1].to)
		}
	}
	for _, o := range ends {
		for _, step := range o.Steps {
			if told := step.Phase == plan.StepCompleted; told != (done[step.OperationID] == 1) {
				t.Errorf("%s is told as %s, and took effect %d times", step.OperationID, step.Phase, done[step.OperationID])
			}
		}
	}
}

// goneWhenIdle waits until the lease has ended by itself, and replays it.
func goneWhenIdle(t *testing.T, s *stack.Stack, deviceID string) {
	t.Helper()
	leaseEnds(t, s, deviceID)
	if v := s.Lease(t, deviceID); v.State != lease.Free {
		t.Errorf("the API tells that it is %s", v.State)
	}
	replays(t, historyOf(t, s.Temporal, plan.DeviceWorkflowID(deviceID)))
}

func leaseEnds(t *testing.T, s *stack.Stack, deviceID string) {
	t.Helper()
	stack.Eventually(t, "the lease is gone when idle", func(ctx context.Context) (bool, error) {
		found, err := s.Temporal.DescribeWorkflowExecution(ctx, plan.DeviceWorkflowID(deviceID), "") //nolint:staticcheck // DescribeWorkflow panics without search attributes
		if err != nil {
			return false, err
		}
		status := found.GetWorkflowExecutionInfo().GetStatus()
		return status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, fmt.Errorf("it is %s", status)
	})
}

// hold is a plan that stands still half way to its first room, and how to let it go on.
func hold(t *testing.T, s *stack.Stack, faults ...robot.FaultKind) (*stack.Robot, *stack.Plan, string) {
	t.Helper()
	r := s.Robot(t)
	for _, kind := range faults {
		r.Fault(t, robot.Fault{Kind: kind, Method: "setMoveTo"})
	}
	hold := r.Fault(t, robot.Fault{Kind: robot.FaultHold, Method: "setMoveTo", At: &half})
	p := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	r.AwaitFault(t, hold)
	return r, p, hold
}

func terminate(t *testing.T, s *stack.Stack, p *stack.Plan) {
	t.Helper()
	if err := s.Temporal.TerminateWorkflow(t.Context(), p.ID, "", "the test says so"); err != nil {
		t.Fatal(err)
	}
}

// awaitLease waits until the lease is as the test wants it.
func awaitLease(t *testing.T, s *stack.Stack, deviceID, what string, holds func(lease.View) bool) lease.View {
	t.Helper()
	var v lease.View
	stack.Eventually(t, what, func(context.Context) (bool, error) {
		v = s.Lease(t, deviceID)
		return holds(v), fmt.Errorf("it is %+v", v)
	})
	return v
}

// A plan is terminated while the robot moves for it. The next one has the robot, once that stands; nothing of the
// terminated plan came about.
func terminatedFrees(t *testing.T, s *stack.Stack) {
	r, first, _ := hold(t, s)
	if v := s.Lease(t, r.ID); v.State != lease.Held || v.Holder.PlanID != first.ID {
		t.Errorf("the lease is %+v, want it held by %s", v, first.ID)
	}
	terminate(t, s, first)
	second := s.Submit(t, r, thereAndBack(plan.LeaseReject)) // it would not wait, and need not
	o := wantOutcome(t, second, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "arrived")
	oneMover(t, r, []plan.Outcome{o})
	if m := r.Motions(t); len(m) != 3 || m[0].Completed || !strings.HasPrefix(m[0].OperationID, first.ID) {
		t.Errorf("the motions are %+v, want the first one broken off", m)
	}
	goneWhenIdle(t, s, r.ID)
}

// c13: two plans are accepted while a third is stopping, which takes the robot a while.
func caseC13(t *testing.T, s *stack.Stack) {
	r, first, held := hold(t, s, robot.FaultDeaf)
	first.Cancel(t)
	first.Await(t, "it is stopping", func(v plan.View) bool { return v.State == plan.Cancelling })
	second := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	third := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	refused := s.Submit(t, r, thereAndBack(plan.LeaseReject))
	if o := wantOutcome(t, refused, plan.Failed, "failed"); o.Reason.Code != "DEVICE_BUSY" || o.Reason.Params["holder"] != first.ID {
		t.Errorf("the one that would not wait was refused with %+v", o.Reason)
	}
	v := awaitLease(t, s, r.ID, "two wait", func(v lease.View) bool { return len(v.Queue) == 2 })
	if v.State != lease.Held || v.Holder.PlanID != first.ID {
		t.Errorf("the lease is %+v, want it held by %s until that stands", v, first.ID)
	}
	if m := r.Motions(t); len(m) != 1 {
		t.Errorf("the motions are %+v, while the first plan is stopping", m)
	}
	r.Release(t, held)
	ends := []plan.Outcome{wantOutcome(t, first, plan.Cancelled, "canceled"),
		wantOutcome(t, second, plan.Completed, "completed"), wantOutcome(t, third, plan.Completed, "completed")}
	oneMover(t, r, ends)
	goneWhenIdle(t, s, r.ID)
}

// The robot moves for a plan that is terminated, and does not come back. Nobody is granted it, until a person forgets what
// it did. When it does come back, what it still does for the terminated plan is stopped.
func awayAndForgotten(t *testing.T, s *stack.Stack) {
	r, first, _ := hold(t, s)
	off := r.Fault(t, robot.Fault{Kind: robot.FaultOffline})
	terminate(t, s, first)
	waiting := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	v := awaitLease(t, s, r.ID, "the device is quarantined", func(v lease.View) bool { return v.State == lease.Quarantined })
	if q := v.Quarantine; q.PlanID != first.ID || len(q.Operations) != 1 || q.Operations[0].ID != first.ID+"/there/1" || len(v.Queue) != 1 {
		t.Errorf("the lease is %+v, quarantine %+v", v, v.Quarantine)
	}
	refused := s.Submit(t, r, thereAndBack(plan.LeaseReject))
	if o := wantOutcome(t, refused, plan.Failed, "failed"); o.Reason.Code != "DEVICE_QUARANTINED" {
		t.Errorf("the one that would not wait was refused with %+v", o.Reason)
	}
	if status, answer := s.Post(t, "/v1/devices/"+r.ID+"/forget", `{"why":"it stands in the hall","by":"Kim"}`); status != 200 {
		t.Fatalf("forget: %d %s", status, answer)
	}
	v = awaitLease(t, s, r.ID, "the one that waited has it", func(v lease.View) bool { return v.Holder != nil && v.Holder.PlanID == waiting.ID })
	if len(v.Forgotten) != 1 || v.Forgotten[0].By != "Kim (api)" || v.Forgotten[0].Why != "it stands in the hall" {
		t.Errorf("on record: %+v", v.Forgotten)
	}
	if status, answer := s.Post(t, "/v1/devices/"+r.ID+"/forget", `{"why":"again"}`); status != 409 {
		t.Errorf("forgetting nothing: %d %s", status, answer)
	}
	r.Release(t, off)
	wantOutcome(t, waiting, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "arrived")
	if m := r.Motions(t); m[0].Completed || !strings.HasPrefix(m[0].OperationID, first.ID) {
		t.Errorf("the motions are %+v, want the terminated plan's broken off", m)
	}
	goneWhenIdle(t, s, r.ID)
}

// The plan that moves the robot hears at once that the robot is gone, and that it is back.
func holderHears(t *testing.T, s *stack.Stack) {
	r, p, held := hold(t, s)
	off := r.Fault(t, robot.Fault{Kind: robot.FaultOffline})
	p.AwaitStep(t, "there", plan.StepUnknown)
	r.Release(t, off)
	p.AwaitStep(t, "there", plan.StepRunning)
	r.Release(t, held)
	wantOutcome(t, p, plan.Completed, "completed")
	wantEffects(t, r, "arrived", "arrived")
	goneWhenIdle(t, s, r.ID)
}

// A plan that is cancelled while it waits has moved nothing, and is not missed.
func leavesTheQueue(t *testing.T, s *stack.Stack) {
	r, first, held := hold(t, s)
	second := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	third := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	awaitLease(t, s, r.ID, "two wait", func(v lease.View) bool { return len(v.Queue) == 2 })
	second.Cancel(t)
	wantOutcome(t, second, plan.Cancelled, "canceled")
	awaitLease(t, s, r.ID, "one waits", func(v lease.View) bool { return len(v.Queue) == 1 && v.Queue[0].PlanID == third.ID })
	r.Release(t, held)
	oneMover(t, r, []plan.Outcome{wantOutcome(t, first, plan.Completed, "completed"), wantOutcome(t, third, plan.Completed, "completed")})
	goneWhenIdle(t, s, r.ID)
}

// A plan's last word names an operation that it does not know the end of, and the robot still moves for it. The next one
// has the robot when that stands.
func unsettledRelease(t *testing.T, s *stack.Stack) {
	r, first, _ := hold(t, s)
	operation := first.ID + "/there/1"
	say(t, s, r.ID, lease.Signal{Release: &plan.LeaseRelease{PlanID: first.ID, DeviceID: r.ID, Unsettled: []string{operation}}})
	second := s.Submit(t, r, thereAndBack(plan.LeaseQueue))
	wantOutcome(t, second, plan.Completed, "completed")
	m := r.Motions(t)
	if m[0].OperationID != operation || m[0].Completed || m[0].EndedAt > m[1].StartedAt {
		t.Errorf("the motions are %+v, want %s broken off before the next", m, operation)
	}
	first.Wait(t)
	goneWhenIdle(t, s, r.ID)
}

// The worker and the gateway are killed while six plans take turns.
func TestLaw21HoldsThroughKills(t *testing.T) {
	t.Parallel()
	s := stack.Start(t)
	r := s.Robot(t, "ERRAND_ROBOT_SPEED=1000")
	var plans []*stack.Plan
	for range 6 {
		plans = append(plans, s.Submit(t, r, thereAndBack(plan.LeaseQueue)))
	}
	for i, victim := range []*stack.Process{s.WorkerProc, s.GatewayProc, s.WorkerProc} {
		r.AwaitEffects(t, 3*i+1) // in the middle of a plan
		victim.Kill(t)
		victim.Start(t)
	}
	var ends []plan.Outcome
	for _, p := range plans {
		ends = append(ends, wantOutcome(t, p, plan.Completed, "completed"))
	}
	oneMover(t, r, ends)
	goneWhenIdle(t, s, r.ID)
}
