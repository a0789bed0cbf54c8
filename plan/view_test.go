package plan_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"errand/plan"
)

// What people see of a step names its operation, the device's own task, how far it is, and in the end its verdict.
func TestAViewTellsAStepsOperation(t *testing.T) {
	s := runningMove(t)
	s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: 80, Name: plan.EventProgress, OperationID: "p-1/move/1", Progress: 0.5, Stage: "on the way"})
	move := s.state.View().Steps[0]
	if move.OperationID != "p-1/move/1" || move.TaskID != "t1" || move.Progress == nil || *move.Progress != (plan.Progress{Fraction: 0.5, Stage: "on the way"}) {
		t.Errorf("move is told as %+v, %+v", move, move.Progress)
	}
	if move.CapabilityID != "move" || move.OutputKey != "arrival" || move.Arguments["room"] != "안방" || move.Verdict != "" || move.Why != "under way (on the way)" {
		t.Errorf("move is told as %+v", move)
	}
	s.until("purify", func() bool { return s.submits["p-1/purify/1"] == 1 })
	if move = s.state.View().Steps[0]; move.Progress != nil || move.Verdict != plan.Unverified || move.Until != 0 {
		t.Errorf("when it is done, move is told as %+v", move)
	}
}

// Either half of a progress is told; an event that has none leaves it as it was.
func TestAViewTellsTheLastProgress(t *testing.T) {
	s := runningMove(t)
	for i, c := range []struct {
		progress float64
		stage    string
		want     *plan.Progress
	}{
		{0, "", nil}, {0.25, "", &plan.Progress{Fraction: 0.25}}, {0, "docking", &plan.Progress{Stage: "docking"}}, {0, "", &plan.Progress{Stage: "docking"}},
	} {
		s.take(plan.Event{EventID: "x", DeviceID: testDevice, Epoch: 1, Seq: int64(80 + i), Name: plan.EventProgress, OperationID: "p-1/move/1", Progress: c.progress, Stage: c.stage})
		if got := s.state.View().Steps[0].Progress; !reflect.DeepEqual(got, c.want) {
			t.Errorf("after %v %q the progress is %+v, want %+v", c.progress, c.stage, got, c.want)
		}
	}
}

// Law 20: what is told as done, and with which result, is what is completed.
func TestLaw20AViewCountsTheCompletedAlone(t *testing.T) {
	s := newSim(t, threeSteps())
	s.until("verifying", func() bool { return s.phase("purify") == plan.StepVerifying })
	v := s.state.View()
	if !slices.Equal(v.Plan.CompletedStepIDs, []string{"move"}) {
		t.Errorf("completed are %v", v.Plan.CompletedStepIDs)
	}
	move := v.Plan.StepResults["move"]
	if move.Status != "completed" || move.EventName != "COMPLETED" || move.TaskMethod != "do_move" || move.Result["area_id"] != "6" {
		t.Errorf("move's result is told as %+v", move)
	}
	if got := slices.Sorted(maps.Keys(v.Plan.StepResults)); !slices.Equal(got, []string{"move", "purify"}) || v.Plan.StepResults["purify"].Status != "verifying" {
		t.Errorf("results of %v are told: %+v", got, v.Plan.StepResults)
	}
}

// A view names what is waited for, and of a decision what about.
func TestLaw18AViewNamesWhatIsWaitedFor(t *testing.T) {
	for name, want := range map[string]string{
		"planning": "planner", "waiting for the device": "device", "submit out": "step:move", "running": "step:move", "asking": "answer:p-1.1",
		"deciding": "decision:ASK_ME", "paused between steps": "resume", "verifying": "step:purify", "before another try": "step:move",
	} {
		if v := waits()[name](t).state.View(); v.Plan.WaitingFor != want {
			t.Errorf("%s: waits for %q, want %q", name, v.Plan.WaitingFor, want)
		}
	}
	s := runningMove(t)
	s.take(plan.CancelRequest{By: "kim"})
	if v := s.state.View(); v.Plan.WaitingFor != "step:move" {
		t.Errorf("while it is cancelled it waits for %q", v.Plan.WaitingFor)
	}
}

// A step's wait ends at the time that is told, to the millisecond.
func TestLaw18AViewTellsTheEndOfAStepsWait(t *testing.T) {
	const queue, run, slack = 60_000, 120_000, 10_000
	since := func(ms int64) func(*sim) int64 { return func(s *sim) int64 { return s.now + ms } }
	deadline := func(s *sim) int64 { return s.state.Deadline }
	for name, c := range map[string]struct {
		reach func(*testing.T) *sim
		until func(*sim) int64
	}{
		"submit out": {stuck["submit out"], deadline},
		"not delivered": {func(t *testing.T) *sim {
			s := stuck["submit out"](t)
			s.answer(request[plan.Submit](s), notSent)
			return s
		}, func(s *sim) int64 { return s.state.StartBy }},
		"taken": {func(t *testing.T) *sim {
			s := newSim(t, threeSteps())
			s.until("taken", func() bool { return s.phase("move") == plan.StepAccepted })
			return s
		}, since(queue + run + slack)},
		"running":      {runningMove, since(run + slack)},
		"given time":   {waits()["blocked, with time to go on by itself"], since(60_000)},
		"another try":  {waits()["before another try"], since(10_000)},
		"cancel out":   {func(t *testing.T) *sim { s := runningMove(t); s.take(plan.CancelRequest{By: "kim"}); return s }, since(run + slack)},
		"lost, cancel": {func(t *testing.T) *sim { s := lostSubmit(t); s.take(plan.CancelRequest{By: "kim"}); return s }, func(s *sim) int64 { return s.state.Cancel.GiveUpAt }},
		"taken, cancel": {func(t *testing.T) *sim {
			s := runningMove(t)
			s.device.stubborn = true
			s.take(plan.CancelRequest{By: "kim"})
			s.answer(request[plan.CancelTask](s), fine)
			return s
		}, since(3_000)},
		"dead": {func(t *testing.T) *sim {
			s := runningMove(t)
			s.happens(plan.EventFailed, 80, "ASK_ME", false)
			return s
		}, since(0)},
	} {
		s := c.reach(t)
		want := c.until(s)
		if name == "dead" {
			want = 0
		}
		if got := s.state.View().Steps[0].Until; got != want {
			t.Errorf("%s: until %d, want %d (now %d)", name, got, want, s.now)
		}
	}
	s := newSim(t, threeSteps())
	s.until("verifying", func() bool { return s.phase("purify") == plan.StepVerifying })
	if got := s.state.View().Steps[1].Until; got != s.now+20_000 {
		t.Errorf("verifying until %d, now %d", got, s.now)
	}
	if got := s.state.View().Steps[2].Until; got != 0 {
		t.Errorf("what is to come waits until %d", got)
	}
}

func TestANamespaceNeedsFiveAttributes(t *testing.T) {
	want := []string{"ErrandDevice", "ErrandState", "ErrandStep", "ErrandReason", "ErrandHome"}
	if got := plan.SearchAttributes(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
