package tests

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"errand/deviceio/robot"
	"errand/plan"
	"errand/tests/stack"
)

var (
	trials = flag.Int("trials", 20, "how many trials the kill matrix runs")
	seed   = flag.Uint64("seed", 1, "seed of the kill matrix: the same seed kills the same programs after the same times")
)

// slots is how many installations the kill matrix runs at once.
const slots = 2

// The kill matrix: kill -9 of worker, gateway, starter, robot and Temporal, one at a time and all at once, at random
// moments of a three-step plan; then they are started again. Every plan ends completed, the ledger has exactly one effect
// for each step, and nothing moves after the reported outcome. `make kill TRIALS=500` runs more of it.
func TestKillMatrix(t *testing.T) {
	t.Parallel()
	var next atomic.Int64
	for slot := range slots {
		t.Run(fmt.Sprintf("installation-%d", slot+1), func(t *testing.T) {
			t.Parallel()
			k := newKillBench(t)
			for {
				n := int(next.Add(1))
				if n > *trials || t.Failed() {
					return
				}
				k.trial(t, n)
			}
		})
	}
}

// killBench is one installation with one robot, used for one trial after the other.
type killBench struct {
	stack    *stack.Stack
	robot    *stack.Robot
	programs []*stack.Process // in the order in which they can start
}

func newKillBench(t *testing.T) *killBench {
	s := stack.Start(t, stack.AsShipped)
	r := s.Robot(t)
	return &killBench{stack: s, robot: r, programs: []*stack.Process{s.Server, s.GatewayProc, s.WorkerProc, s.StarterProc, r.Process}}
}

// trial is number n of the seed: who dies when, for how long.
type trial struct {
	n       int
	victims []*stack.Process
	at      time.Duration // from the utterance
	away    time.Duration // until they are started again
}

func (k *killBench) draw(n int) trial {
	random := rand.New(rand.NewPCG(*seed, uint64(n)))
	tr := trial{n: n, at: time.Duration(random.IntN(5000)) * time.Millisecond, away: time.Duration(random.IntN(2000)) * time.Millisecond}
	if which := random.IntN(len(k.programs) + 1); which < len(k.programs) {
		tr.victims = k.programs[which : which+1]
	} else {
		tr.victims = k.programs
	}
	return tr
}

func (tr trial) String() string {
	var names []string
	for _, p := range tr.victims {
		names = append(names, p.Name)
	}
	return fmt.Sprintf("trial %d: kill %s after %v, start again after %v", tr.n, strings.Join(names, ", "), tr.at, tr.away)
}

func (k *killBench) trial(t *testing.T, n int) {
	tr := k.draw(n)
	utterance := fmt.Sprintf("u-%d-%d", *seed, n)
	started := make(chan string, 1)
	ctx, cancel := context.WithTimeout(t.Context(), stack.Patience)
	defer cancel()
	go func() { started <- k.say(ctx, utterance) }()
	pause(tr.at)
	for _, p := range tr.victims {
		p.Kill(t)
	}
	pause(tr.away)
	for _, p := range tr.victims {
		p.Start(t)
	}
	id := <-started
	if id == "" {
		t.Fatalf("%s: the utterance was never taken", tr)
	}
	o, how := k.stack.Plan(id).Wait(t)
	if o.State != plan.Completed {
		t.Errorf("%s: plan %s ended %s, its run %s: %+v", tr, id, o.State, how, o)
	}
	k.judge(t, tr, id)
}

// judge holds a finished plan against the ledger: one effect for each step, and a robot at rest.
func (k *killBench) judge(t *testing.T, tr trial, id string) {
	t.Helper()
	count := map[string]int{}
	for _, e := range k.robot.Ledger(t) {
		if op, err := plan.ParseOperationID(e.OperationID); err == nil && op.Plan == id {
			count[op.Step+" "+e.Kind]++
		}
	}
	for _, effect := range []string{"move arrived", "purify purified", "return docked"} {
		if count[effect] != 1 {
			t.Errorf("%s: plan %s has %d of %q in the ledger: %v", tr, id, count[effect], effect, count)
		}
	}
	if len(count) != 3 {
		t.Errorf("%s: plan %s has other effects too: %v", tr, id, count)
	}
	var state robot.Snapshot
	stack.Eventually(t, "the robot tells its state", func(ctx context.Context) (bool, error) {
		var err error
		state, err = k.robot.Control(t).State(ctx)
		return err == nil, err
	})
	if state.Running != nil || len(state.Queue) > 0 {
		t.Errorf("%s: after the outcome the robot runs %+v, queue %d", tr, state.Running, len(state.Queue))
	}
}

// say sends the utterance again, under the same id, until somebody takes it: the starter may be the one that dies.
func (k *killBench) say(ctx context.Context, utterance string) string {
	body := fmt.Sprintf(`{"recognized_text":%q,"utterance_id":%q,"device_id":%q}`, sentence, utterance, k.robot.ID)
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.stack.API+"/v1/utterances", strings.NewReader(body))
		if err != nil {
			return ""
		}
		req.Header.Set("Authorization", k.stack.Authorization())
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			var taken struct {
				PlanID string `json:"plan_id"`
			}
			err := json.NewDecoder(resp.Body).Decode(&taken)
			_ = resp.Body.Close() // read to its end or broken
			if err == nil && resp.StatusCode < 300 && taken.PlanID != "" {
				return taken.PlanID
			}
		}
		pause(100 * time.Millisecond)
	}
	return ""
}

// pause lets the trial's drawn time pass: here time itself is what is varied.
func pause(d time.Duration) { <-time.After(d) }
