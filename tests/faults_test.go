package tests

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"errand/catalog/load"
	"errand/deviceio/robot"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/tests/stack"
)

var (
	pairs    = flag.Int("pairs", 6, "how many random pairs of fault modes TestFaultModes runs, besides each mode alone")
	pairSeed = flag.Uint64("pair-seed", 1, "seed of the fault modes: the same seed draws the same pairs, steps, moments and answers")
)

const (
	// together is how many robots are at fault at once: each spends most of its time waiting.
	together = 64
	// patience is how long a plan may take before it must say what it waits for, and is cancelled.
	patience = 20 * time.Second
	// unresolvedAfter bounds the end of a cancelled plan: ttl, timeouts and a minute of grace (design §6 Cancel), and some.
	unresolvedAfter = 100 * time.Second
)

// TestFaultModes lets a robot go wrong in every way it can, one way at a time and in random pairs, while it carries out a
// plan of three steps. Questions are answered by lot. The ledger judges, never the robot's word. `make faults PAIRS=200`
// runs more pairs.
func TestFaultModes(t *testing.T) {
	t.Parallel()
	b := &faultBench{stack: stack.Start(t, stack.AsShipped, stack.Option("ERRAND_CATALOG="+hastyCatalog(t))), starting: make(chan struct{}, 6), running: make(chan struct{}, together)}
	var all sync.WaitGroup
	for _, tr := range faultTrials() {
		b.running <- struct{}{}
		all.Go(func() {
			defer func() { <-b.running }()
			t.Run(tr.name, func(t *testing.T) { b.trial(t, tr) }) // not t.Parallel: that would run two at a time
		})
	}
	all.Wait()
}

// hastyCatalog is the built-in catalog with the timeouts of a robot in a hurry, so that what is overdue is so within the test.
func hastyCatalog(t *testing.T) string {
	timeouts := regexp.MustCompile(`timeouts: \{[^}]*\}`)
	file := filepath.Join(t.TempDir(), "hasty.yaml")
	text := timeouts.ReplaceAll(load.BuiltinFile(), []byte(`timeouts: {queue_ms: 4000, run_ms: 5000}`))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// faultTrial is one robot with one mode of going wrong, or two.
type faultTrial struct {
	name     string
	modes    []faultMode
	faults   []robot.Fault // drawn from the modes when it begins: some count from now
	patience time.Duration
	want     plan.Phase // "" where several ends are right
	random   *rand.Rand // of the faults, the answers and the restarts
}

func (tr faultTrial) String() string {
	text, err := json.Marshal(tr.faults)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("-pair-seed %d, %s: %s", *pairSeed, tr.name, text)
}

// faultTrials lists every mode alone, and the pairs, those first that may take longest.
func faultTrials() []faultTrial {
	var list []faultTrial
	for i, m := range faultModes {
		list = append(list, faultTrial{name: m.name, modes: []faultMode{m}, patience: cmp.Or(m.patience, patience), want: m.want,
			random: rand.New(rand.NewPCG(*pairSeed, uint64(i)))})
	}
	for i := range *pairs {
		random := rand.New(rand.NewPCG(*pairSeed, uint64(1000+i)))
		one, other := faultModes[random.IntN(len(faultModes))], faultModes[random.IntN(len(faultModes))]
		list = append(list, faultTrial{name: fmt.Sprintf("pair %d, %s and %s", i+1, one.name, other.name), modes: []faultMode{one, other},
			patience: patience, random: random})
	}
	slices.SortStableFunc(list, func(a, b faultTrial) int { return cmp.Compare(b.longest(), a.longest()) })
	return list
}

// longest guesses how long a trial may take.
func (tr faultTrial) longest() time.Duration {
	if tr.want == plan.Completed {
		return tr.patience
	}
	return tr.patience + time.Minute
}

// faultBench is the installation that all trials share.
type faultBench struct {
	stack             *stack.Stack
	starting, running chan struct{}
}

func (b *faultBench) trial(t *testing.T, tr faultTrial) {
	b.starting <- struct{}{} // a few at a time, until their plans are on the way
	for _, m := range tr.modes {
		tr.faults = append(tr.faults, m.script(draw{tr.random})...)
	}
	run := &faultRun{t: t, stack: b.stack, trial: tr, robot: b.stack.Robot(t, robotSpeed), answered: map[string]bool{}}
	run.script(false)
	run.plan = b.stack.Say(t, run.robot, sentence)
	_, over := run.until(stack.Patience, run.moving)
	run.script(true)
	<-b.starting
	if !over {
		run.until(stack.Patience, run.struck)
	}
	if v, over := run.until(tr.patience, nil); !over {
		run.waits(v)
		run.cancel()
		if v, over := run.until(unresolvedAfter, nil); !over {
			t.Fatalf("%s: cancelled, and still %s, waiting for %q, after %v", tr, v.State, v.Plan.WaitingFor, unresolvedAfter)
		}
	}
	run.judge()
}

// robotSpeed makes a minute of the world pass in about a second, and leaves the air as good as it was for the time a
// completion may take to become known: a quarter of an hour of the world.
const robotSpeed = stack.Option("ERRAND_ROBOT_SPEED=50")

// faultRun is one plan on one robot.
type faultRun struct {
	t        *testing.T
	stack    *stack.Stack
	trial    faultTrial
	robot    *stack.Robot
	plan     *stack.Plan
	answered map[string]bool
	seen     plan.View // the last one
	died     bool
	hits     int
}

// script makes things go wrong: with a plan on the way also the context, without which there would be no plan.
func (f *faultRun) script(planned bool) {
	for _, fault := range f.trial.faults {
		if spoilsPlanning := fault.Kind == robot.FaultNonsense && fault.Command == wire.CommandContext; spoilsPlanning == planned {
			f.robot.Fault(f.t, fault)
		}
	}
}

// moving reports whether something was submitted.
func (f *faultRun) moving(v plan.View) bool { return len(v.Steps) > 0 && v.Steps[0].OperationID != "" }

// struck reports whether the first of the faults struck.
func (f *faultRun) struck(plan.View) bool {
	if f.died {
		return true // it died of it
	}
	c, err := f.robot.Reach()
	if err != nil {
		return false
	}
	state, err := c.State(f.t.Context())
	return err == nil && len(state.Faults) > 0 && state.Faults[0].Hits > 0
}

// until watches the plan to its end, for as long as it may take or until the moment comes: it answers what is asked, and
// starts a robot that died.
func (f *faultRun) until(limit time.Duration, moment func(plan.View) bool) (v plan.View, over bool) {
	ctx, cancel := context.WithTimeout(f.t.Context(), limit)
	defer cancel()
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		f.revive()
		if seen, err := f.plan.Look(ctx); err == nil {
			f.seen = seen
		}
		v = f.seen
		if v.Outcome != nil || moment != nil && moment(v) {
			return v, v.Outcome != nil
		}
		f.answer(v.Question)
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return v, false
		}
	}
}

// answer answers a question once, by lot. The plan may have outrun it: then nobody is asked any more.
func (f *faultRun) answer(q *plan.Question) {
	if q == nil || f.answered[q.ID] {
		return
	}
	f.answered[q.ID] = true
	choice := q.Choices[f.trial.random.IntN(len(q.Choices))]
	status, answer := f.stack.Post(f.t, "/v1/plans/"+f.plan.ID+"/answer", fmt.Sprintf(`{"question_id":%q,"choice":%q}`, q.ID, choice))
	if status >= 300 && status != http.StatusConflict && status != http.StatusGone {
		f.t.Errorf("%s: answering %s with %s: %d %s", f.trial, q.ID, choice, status, answer)
	}
}

// cancel asks the plan to stop, which may just have ended by itself.
func (f *faultRun) cancel() {
	status, answer := f.stack.Post(f.t, "/v1/plans/"+f.plan.ID+"/cancel", `{"why":"it takes too long"}`)
	if status >= 300 && status != http.StatusConflict {
		f.t.Fatalf("%s: cancel: %d %s", f.trial, status, answer)
	}
}

// revive starts a robot that died, after a while. What else is wrong with it is wrong again.
func (f *faultRun) revive() {
	select {
	case <-f.robot.Ended():
	default:
		return
	}
	f.died = true
	pause(time.Duration(f.trial.random.IntN(2000)) * time.Millisecond)
	f.robot.Start(f.t)
	f.trial.faults = slices.DeleteFunc(f.trial.faults, func(fault robot.Fault) bool {
		return slices.Contains([]robot.FaultKind{robot.FaultCrash, robot.FaultDropTask, robot.FaultLoseStore}, fault.Kind)
	})
	f.script(false)
	f.script(true)
}

// waits holds a plan that goes on to law 18: it says what it waits for, and until when.
func (f *faultRun) waits(v plan.View) {
	f.t.Logf("after %v it waits for %q", f.trial.patience, v.Plan.WaitingFor)
	if v.Plan.WaitingFor == "" || v.Deadline == 0 {
		f.t.Errorf("Law18: %s: plan %s is %s and waits for %q until %d", f.trial, f.plan.ID, v.State, v.Plan.WaitingFor, v.Deadline)
	}
}

// judge holds the outcome against the ledger, once the robot is free of its faults and had the time to do whatever it may
// still be about to do.
func (f *faultRun) judge() {
	f.t.Helper()
	o, how := f.plan.Wait(f.t)
	f.t.Logf("%s, %s: %s", o.State, how, o.TTSResponse)
	if f.trial.want != "" && o.State != f.trial.want {
		f.t.Errorf("%s: plan %s ended %s, want %s: %+v %+v", f.trial, f.plan.ID, o.State, f.trial.want, o.Reason, o.Steps)
	}
	world := f.rest()
	if f.hits == 0 && !f.died {
		f.t.Errorf("%s: nothing went wrong at all", f.trial)
	}
	effects := map[string]int{}
	last := int64(0)
	for _, e := range f.robot.Ledger(f.t) {
		if op, err := plan.ParseOperationID(e.OperationID); err == nil && op.Plan == f.plan.ID {
			effects[op.Step]++
			last = max(last, e.At)
		}
	}
	unknown := o.State == plan.Unresolved
	for _, step := range o.Steps {
		n := effects[step.ID]
		unknown = unknown || step.Phase == plan.StepUnknown
		if n > 1 {
			f.t.Errorf("Law11: %s: step %s of plan %s took effect %d times", f.trial, step.ID, f.plan.ID, n)
		}
		if step.Phase == plan.StepCompleted && step.Receipt != nil && step.Receipt.Verdict == plan.Verified && n == 0 {
			f.t.Errorf("Law20: %s: step %s of plan %s is told as completed and verified, and never was: %+v", f.trial, step.ID, f.plan.ID, step.Receipt)
		}
		if f.trial.want == plan.Completed && n != 1 {
			f.t.Errorf("%s: step %s of plan %s took effect %d times, want once", f.trial, step.ID, f.plan.ID, n)
		}
	}
	if moved := max(world.MovedAt, last); moved > o.EndedAt && !unknown {
		f.t.Errorf("Law15: %s: plan %s was reported %s, and %d ms later the robot moved", f.trial, f.plan.ID, o.State, moved-o.EndedAt)
	}
	if f.t.Failed() {
		v := f.plan.View(f.t)
		for _, e := range v.Journal {
			f.t.Logf("  %d %s %s %s→%s %s", e.N, e.Kind, e.Step, e.From, e.To, e.Text)
		}
	}
}

// struckBy notes what struck, as the robot counted it.
func (f *faultRun) struckBy(faults []robot.Fault) {
	for _, fault := range faults {
		f.hits += fault.Hits
		f.t.Logf("%s struck %d times", fault.Kind, fault.Hits)
	}
}

// rest frees the robot of its faults, and returns the world once a minute of it has passed with nothing to do.
func (f *faultRun) rest() robot.World {
	f.t.Helper()
	var (
		began int64
		state robot.Snapshot
	)
	stack.Eventually(f.t, "the robot has nothing to do for a minute of its time", func(ctx context.Context) (bool, error) {
		f.revive()
		c, err := f.robot.Reach()
		if err != nil {
			return false, err
		}
		if state, err = c.State(ctx); err != nil {
			return false, err
		}
		f.struckBy(state.Faults)
		if err := c.ClearFaults(ctx); err != nil {
			return false, err
		}
		if began == 0 || state.Running != nil || len(state.Queue) > 0 {
			began = state.World.ElapsedMs
		}
		return state.World.ElapsedMs-began > time.Minute.Milliseconds(), nil
	})
	return state.World
}
