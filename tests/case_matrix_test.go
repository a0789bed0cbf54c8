package tests

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"errand/tests/stack"
)

var (
	caseTrials = flag.Int("case-trials", 3, "how many trials TestCases runs of each case")
	caseSeed   = flag.Uint64("case-seed", 1, "seed of the cases: the same seed draws the same steps, times, numbers and crosses")
	onlyCase   = flag.String("case", "", "run the trials of this case only, such as c05")
	onlyTrial  = flag.Int("trial", 0, "run only the trial of this number")
)

// hardCase is an event sequence that hurt the users of a neighbouring system. Its name says what happens.
type hardCase struct {
	id, name string
	// lasts is about how long a trial takes: a cross strikes somewhere within.
	lasts time.Duration
	// run draws how it happens this time, calls begin, makes it happen, and holds the end against the case's right outcome.
	run func(*caseTrial)
}

// hardCases are the public cases.
var hardCases = []hardCase{
	{id: "c01", name: "lost acknowledgement", lasts: 13 * time.Second, run: lostAcknowledgement},
	{id: "c02", name: "late success", lasts: 12 * time.Second, run: lateSuccess},
	{id: "c03", name: "event before its wait", lasts: 6 * time.Second, run: eventBeforeItsWait},
	{id: "c04", name: "two performers", lasts: 12 * time.Second, run: twoPerformers},
	{id: "c05", name: "never acknowledged, then cancelled", lasts: 10 * time.Second, run: neverAcknowledged},
	{id: "c06", name: "cancel beaten by completion", lasts: 6 * time.Second, run: cancelBeaten},
	{id: "c07", name: "failed is not done", lasts: 6 * time.Second, run: failedIsNotDone},
	{id: "c08", name: "restart without a word", lasts: 12 * time.Second, run: restartWithoutAWord},
	{id: "c09", name: "unchanged or dead", lasts: 6 * time.Second, run: unchangedOrDead},
	{id: "c10", name: "same name in two places", lasts: 4 * time.Second, run: sameNameTwice},
	{id: "c11", name: "the same again and again", lasts: 6 * time.Second, run: againAndAgain},
	{id: "c12", name: "approved A, ran B", lasts: 5 * time.Second, run: approvedAnother},
	{id: "c13", name: "queued while stopping", lasts: 8 * time.Second, run: queuedWhileStopping},
	{id: "c14", name: "spelling of Hangul", lasts: 5 * time.Second, run: spellingOfHangul},
}

// TestCases runs the public cases on real processes, each in many ways: what happens, at which step, how far on, how long and
// how often are drawn from a seed, and a cross strikes on top, at a drawn moment. The ledger and the plan's record judge.
// `make cases` runs more of it, and one trial alone.
func TestCases(t *testing.T) {
	t.Parallel()
	cases, numbers := chosenCases(t), make([]int, *caseTrials)
	for i := range numbers {
		numbers[i] = i + 1
	}
	if *onlyTrial > 0 {
		numbers = []int{*onlyTrial}
	}
	var next atomic.Int64
	for slot := range min(slots, len(numbers)) {
		t.Run(fmt.Sprintf("installation-%d", slot+1), func(t *testing.T) {
			t.Parallel()
			s := stack.Start(t, stack.AsShipped)
			for i := next.Add(1); int(i) <= len(numbers); i = next.Add(1) {
				caseRound(t, s, cases, numbers[i-1])
			}
		})
	}
}

func chosenCases(t *testing.T) (chosen []hardCase) {
	for _, h := range hardCases {
		if *onlyCase == "" || *onlyCase == h.id {
			chosen = append(chosen, h)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("-case %s: there is no such case here", *onlyCase)
	}
	return chosen
}

// caseRound runs the trials of one number side by side on one installation, a robot each. One cross strikes them all: a trial begins
// so that it is struck at the moment that it drew, whether it runs in company or alone.
func caseRound(t *testing.T, s *stack.Stack, cases []hardCase, n int) {
	var ready, all sync.WaitGroup
	begin, strikeAfter := make(chan struct{}), time.Duration(0)
	x := drawCross(n)
	trials := make([]*caseTrial, len(cases))
	for i, h := range cases {
		trials[i] = newCaseTrial(h, n, x)
		strikeAfter = max(strikeAfter, trials[i].struckAfter)
	}
	for _, c := range trials {
		ready.Add(1)
		waiting := sync.OnceFunc(ready.Done)
		c.begin = func() {
			waiting()
			<-begin
			pause(strikeAfter - c.struckAfter)
		}
		all.Go(func() {
			defer waiting()
			t.Run(fmt.Sprintf("%s %s/%d", c.hard.id, c.hard.name, n), func(t *testing.T) { c.carryOut(t, s) }) // not t.Parallel: that would run two at a time
		})
	}
	defer all.Wait()
	ready.Wait()
	close(begin)
	pause(strikeAfter)
	x.strike(t, s, trials)
}

// cross is what happens on top of a case.
type cross struct {
	kind crossKind
	away time.Duration // how long what was killed stays away, or between two new runs
	runs int           // how many new runs are asked for
}

type crossKind string

// The crosses. Each number of trials has one, in turn; nothing on top comes last, since the tests of the laws run much the same without.
const (
	crossNothing crossKind = "nothing"
	crossWorker  crossKind = "worker restart"
	crossGateway crossKind = "gateway restart"
	crossNewRun  crossKind = "new run" // continue-as-new
)

var crosses = []crossKind{crossWorker, crossGateway, crossNewRun, crossNothing}

func drawCross(n int) cross {
	random := rand.New(rand.NewPCG(*caseSeed, uint64(n)))
	return cross{kind: crosses[(n-1)%len(crosses)], away: time.Duration(random.IntN(1500)) * time.Millisecond, runs: 1 + random.IntN(3)}
}

// strike lets the cross happen now, to all trials: kill -9 and start, or a continue-as-new of each plan.
func (x cross) strike(t *testing.T, s *stack.Stack, trials []*caseTrial) {
	t.Helper()
	restart := func(p *stack.Process) {
		p.Kill(t)
		pause(x.away)
		p.Start(t)
	}
	switch x.kind {
	case crossWorker:
		restart(s.WorkerProc)
	case crossGateway:
		restart(s.GatewayProc)
	case crossNewRun:
		for range x.runs {
			for _, c := range trials {
				c.renew(t)
			}
			pause(x.away)
		}
	case crossNothing:
	}
}

// newCaseTrial draws what every trial has: when its cross strikes. What else it draws is its case's.
func newCaseTrial(h hardCase, n int, x cross) *caseTrial {
	number := uint64(n)<<32 | uint64(h.id[1])<<8 | uint64(h.id[2])
	c := &caseTrial{hard: h, n: n, cross: x, draw: draw{rand.New(rand.NewPCG(*caseSeed, number))}}
	if x.kind != crossNothing {
		c.struckAfter = time.Duration(c.Int64N(int64(h.lasts))).Truncate(time.Millisecond)
	}
	return c
}

// String tells all there is to know about a trial, and how to run it again.
func (c *caseTrial) String() string {
	struck := string(c.cross.kind)
	switch c.cross.kind {
	case crossWorker, crossGateway:
		struck += fmt.Sprintf(" after %v, away for %v", c.struckAfter, c.cross.away)
	case crossNewRun:
		struck += fmt.Sprintf(" after %v, %d times, %v apart", c.struckAfter, c.cross.runs, c.cross.away)
	case crossNothing:
	}
	return fmt.Sprintf("case %s, %s: trial %d of seed %d, crossed with %s; %s\nagain: make cases CASE=%s TRIAL=%d SEED=%d  (go test ./tests -run TestCases -args -case %s -trial %d -case-seed %d)",
		c.hard.id, c.hard.name, c.n, *caseSeed, struck, strings.Join(c.drawn, "; "), c.hard.id, c.n, *caseSeed, c.hard.id, c.n, *caseSeed)
}

// pick draws one of several, and notes which.
func pick[T any](c *caseTrial, what string, from ...T) T {
	one := from[c.IntN(len(from))]
	c.note("%s: %v", what, one)
	return one
}

// between draws a time, and notes it.
func (c *caseTrial) between(what string, least, most time.Duration) time.Duration {
	d := least + time.Duration(c.Int64N(int64(most-least)+1)).Truncate(time.Millisecond)
	c.note("%s: %v", what, d)
	return d
}

// fraction draws how far a task is when it happens, and notes it.
func (c *caseTrial) fraction(what string) *float64 {
	f := float64(c.IntN(96)) / 100
	c.note("%s: %.2f", what, f)
	return &f
}

func (c *caseTrial) note(format string, args ...any) {
	c.drawn = append(c.drawn, fmt.Sprintf(format, args...))
}

// planStep is a step of the plan that every trial carries out.
type planStep struct {
	index              int
	id, method, effect string
}

func (s planStep) String() string { return s.id }

var planSteps = []planStep{{0, "move", "setMoveTo", "arrived"}, {1, "purify", "setStationaryPurify", "purified"}, {2, "return", "setReturnToStation", "docked"}}

// anyStep draws the step at which it happens.
func (c *caseTrial) anyStep() planStep { return pick(c, "step", planSteps...) }
