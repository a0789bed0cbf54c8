package tests

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

var (
	soakPlans  = flag.Int("soak-plans", 12, "how many plans the soak runs")
	soakRobots = flag.Int("soak-robots", 3, "over how many robots")
	soakFor    = flag.Duration("soak-for", 25*time.Second, "how long things go wrong")
	soakSeed   = flag.Uint64("soak-seed", 1, "seed of the soak")
)

const (
	// soakRest is how long after the faults no plan may be open any more.
	soakRest = 2 * time.Minute
	// soakCompleted is the share of the plans that must complete; the rest ends for a stated reason.
	soakCompleted = 0.95
)

// TestSoak runs many plans over many robots while programs are killed, links are cut, and events and answers are lost,
// duplicated and reordered. Then the faults stop: two minutes later no plan is open, nearly all completed, and the ledgers
// agree with the records to the last effect. `make soak` is the long one.
func TestSoak(t *testing.T) {
	t.Parallel()
	s := newSoak(t)
	ctx, stop := context.WithTimeout(t.Context(), *soakFor)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() { s.spoil(ctx) })
	for i := range *soakPlans {
		all.Go(func() { s.say(ctx, i) })
	}
	all.Wait()
	s.mend()
	s.judge(s.await())
}

// soak is one installation and its robots.
type soak struct {
	t      *testing.T
	stack  *stack.Stack
	robots []*stack.Robot
	random *rand.Rand
	mu     sync.Mutex
	plans  map[string]*stack.Robot
	blows  map[string]int // what went wrong, how often
}

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, stack: stack.Start(t, stack.AsShipped, stack.Option("ERRAND_CATALOG="+hastyCatalog(t))), plans: map[string]*stack.Robot{},
		blows: map[string]int{}, random: rand.New(rand.NewPCG(*soakSeed, 77))}
	for range *soakRobots {
		s.robots = append(s.robots, s.stack.Robot(t, robotSpeed))
	}
	return s
}

// say speaks at a moment of its own, and again until somebody takes it: the starter may be the one that is dead.
func (s *soak) say(ctx context.Context, i int) {
	random := rand.New(rand.NewPCG(*soakSeed, uint64(i)))
	r := s.robots[random.IntN(len(s.robots))]
	pause(time.Duration(random.Int64N(int64(*soakFor) * 9 / 10)))
	body := fmt.Sprintf(`{"recognized_text":%q,"utterance_id":"soak-%d-%d","device_id":%q}`, sentence, *soakSeed, i, r.ID)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), soakRest)
	defer cancel()
	for ctx.Err() == nil {
		if id := s.post(ctx, body); id != "" {
			s.mu.Lock()
			s.plans[id] = r
			s.mu.Unlock()
			return
		}
		pause(200 * time.Millisecond)
	}
	s.t.Errorf("utterance %d was never taken", i)
}

func (s *soak) post(ctx context.Context, body string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.stack.API+"/v1/utterances", strings.NewReader(body))
	if err != nil {
		return ""
	}
	req.Header.Set("Authorization", s.stack.Authorization())
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	var taken struct {
		PlanID string `json:"plan_id"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&taken); err != nil || resp.StatusCode >= 300 {
		return ""
	}
	return taken.PlanID
}

// spoil lets one thing after the other go wrong until ctx ends. Whoever was killed is started again within two seconds.
func (s *soak) spoil(ctx context.Context) {
	for ctx.Err() == nil {
		if s.random.IntN(4) == 0 {
			s.kill()
		} else {
			s.fault()
		}
		// On average each robot is struck every ten seconds, and a program dies every quarter of a minute or so.
		pause(time.Duration(s.random.Int64N(int64(20*time.Second) / int64(len(s.robots)+2))))
	}
}

func (s *soak) kill() {
	victims := []*stack.Process{s.stack.WorkerProc, s.stack.GatewayProc, s.stack.StarterProc, s.stack.Server, s.robots[s.random.IntN(len(s.robots))].Process}
	v := victims[s.random.IntN(len(victims))]
	v.Kill(s.t)
	pause(time.Duration(s.random.IntN(2000)) * time.Millisecond)
	v.Start(s.t)
	s.blows["kill "+v.Name]++
}

// soakFaults are the ways in which a link and a robot's reports go wrong while the robot itself does its work.
var soakFaults = []robot.Fault{
	{Kind: robot.FaultDropAnswer}, {Kind: robot.FaultDelayAnswer}, {Kind: robot.FaultDoubleAnswer},
	{Kind: robot.FaultLoseRequest}, {Kind: robot.FaultLateRequest, DelayMs: 1500}, {Kind: robot.FaultCopyRequest},
	{Kind: robot.FaultDuplicateEvent, Times: 5}, {Kind: robot.FaultReorderEvent, Times: 3}, {Kind: robot.FaultDropEvent, Times: 2},
	{Kind: robot.FaultOffline, DurationMs: 3000}, {Kind: robot.FaultSlow, DurationMs: 3000},
}

func (s *soak) fault() {
	f := soakFaults[s.random.IntN(len(soakFaults))]
	c, err := s.robots[s.random.IntN(len(s.robots))].Reach()
	if err != nil {
		return // just being started
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
	defer cancel()
	if _, err := c.AddFault(ctx, f); err == nil {
		s.blows[string(f.Kind)]++
	}
}

// mend takes every fault away.
func (s *soak) mend() {
	for _, r := range s.robots {
		if err := r.Control(s.t).ClearFaults(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
}

// await waits until no plan is open, for two minutes at most.
func (s *soak) await() map[string]plan.Outcome {
	s.t.Helper()
	over := make(map[string]plan.Outcome)
	deadline := time.Now().Add(soakRest)
	for {
		for id := range s.plans {
			if _, seen := over[id]; seen {
				continue
			}
			if v, err := s.stack.Plan(id).Look(s.t.Context()); err == nil && v.Outcome != nil {
				over[id] = *v.Outcome
			}
		}
		if len(over) == len(s.plans) || time.Now().After(deadline) {
			break
		}
		pause(500 * time.Millisecond)
	}
	for id, r := range s.plans {
		if _, seen := over[id]; !seen {
			v, err := s.stack.Plan(id).Look(s.t.Context())
			s.t.Errorf("plan %s on %s is open %v after the faults: %s, waits for %q (%v)", id, r.Name, soakRest, v.State, v.Plan.WaitingFor, err)
		}
	}
	return over
}

// judge holds the outcomes against the ledgers, and prints the counts.
func (s *soak) judge(over map[string]plan.Outcome) {
	s.t.Helper()
	effects := map[string]int{} // by plan and step
	for _, r := range s.robots {
		for _, e := range r.Ledger(s.t) {
			if op, err := plan.ParseOperationID(e.OperationID); err == nil {
				effects[op.Plan+"/"+op.Step]++
			}
		}
	}
	states := map[string]int{}
	total := 0
	for id, o := range over {
		states[string(o.State)]++
		if o.State != plan.Completed && o.Reason == nil {
			s.t.Errorf("plan %s ended %s and says no reason", id, o.State)
		}
		if o.State != plan.Completed {
			s.t.Logf("plan %s ended %s: %s %s", id, o.State, o.Reason.Code, o.Reason.Detail)
		}
		for _, step := range o.Steps {
			n := effects[id+"/"+step.ID]
			total += n
			delete(effects, id+"/"+step.ID)
			contradicted := step.Reason != nil && step.Reason.Code == "VERIFY_CONTRADICTED"
			if n > 1 || (n == 1) != (step.Phase == plan.StepCompleted) && step.Phase != plan.StepUnknown && !contradicted {
				s.t.Errorf("step %s of plan %s is on record as %s, the ledger has %d effects", step.ID, id, step.Phase, n)
			}
		}
	}
	for id, n := range effects {
		s.t.Errorf("the ledger has %d effects of %s, which no record knows", n, id)
	}
	s.t.Logf("%d plans over %d robots for %v: %v; %d effects; went wrong: %s", len(s.plans), len(s.robots), *soakFor, states, total, counts(s.blows))
	if n := states[string(plan.Completed)]; float64(n) < soakCompleted*float64(*soakPlans) && *soakPlans >= 100 {
		s.t.Errorf("%d of %d plans completed, want %.0f %%", n, *soakPlans, 100*soakCompleted)
	}
}

func counts(of map[string]int) string {
	var words []string
	for _, what := range slices.Sorted(maps.Keys(of)) {
		words = append(words, fmt.Sprintf("%s %d", what, of[what]))
	}
	return strings.Join(words, ", ")
}
