package tests

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"errand/tests/stack"
)

var (
	consentTrials = flag.Int("consent-trials", 8, "how many random histories of questions, answers and changes to run")
	consentSeed   = flag.Uint64("consent-seed", 1, "what they are drawn from")
	consentTrial  = flag.Int("consent-trial", -1, "run only this one")
)

// consentRobots is how many histories run at once, each on a robot of its own.
const consentRobots = 8

// TestLaw16NoEffectWithoutConsent runs random histories on a real server: alarms are to be deleted while people answer rightly,
// wrongly, late, twice or not at all, others change the alarms by hand, the plan is amended, replanned by a model, paused,
// cancelled and carried on in new runs, and processes die. The ledger judges: nothing was deleted that nobody had said yes to,
// as it was then.
//
//	make consents TRIALS=500 SEED=1
func TestLaw16NoEffectWithoutConsent(t *testing.T) {
	t.Parallel()
	m, s := withMind(t, stack.AsShipped)
	child := addChild(t, s)
	var next atomic.Int64
	var sum tally
	var all sync.WaitGroup
	for i := range consentRobots {
		all.Go(func() {
			t.Run(fmt.Sprint("robot ", i+1), func(t *testing.T) { // not t.Parallel: it mostly waits, and would keep others from running
				robot := s.Robot(t)
				for n := int(next.Add(1)) - 1; n < *consentTrials; n = int(next.Add(1)) - 1 {
					if *consentTrial >= 0 && n != *consentTrial {
						continue
					}
					h := &consentHistory{T: t, mind: m, stack: s, robot: robot, child: child, n: n, sum: &sum,
						rand: rand.New(rand.NewPCG(*consentSeed, uint64(n)))} //nolint:gosec // a trial must be the same again
					h.run()
				}
			})
		})
	}
	all.Wait()
	t.Log(sum.words())
	if *consentTrials >= 100 && (sum.yes == 0 || sum.effect == 0 || sum.ends["completed"] == 0) {
		t.Error("nobody said yes, or nothing was deleted: the run shows nothing")
	}
}

// addChild makes a user who may command and hear, and not confirm; it returns the user's authorization.
func addChild(t *testing.T, s *stack.Stack) string {
	t.Helper()
	status, answer := s.Post(t, "/v1/users", `{"user_id":"child","home_id":"home","may_command":true,"may_hear":true}`)
	var added struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(answer, &added); err != nil || status != http.StatusCreated || added.Token == "" {
		t.Fatalf("add a child: %d %s", status, answer)
	}
	return "Bearer " + added.Token
}

// tally counts what happened in all histories, for the log: a run in which nobody was ever asked shows nothing.
type tally struct {
	mu     sync.Mutex
	moves  map[string]int
	ends   map[string]int
	yes    int
	effect int
}

func (t *tally) count(in *map[string]int, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if *in == nil {
		*in = map[string]int{}
	}
	(*in)[what]++
}

func (t *tally) words() string {
	return fmt.Sprintf("%d times somebody said yes, %d deleted; ends %v; moves %v", t.yes, t.effect, t.ends, t.moves)
}
