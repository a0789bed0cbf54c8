package explore

import (
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"errand/plan"
)

var (
	faultsOf = flag.Int("faults", 0, "how many faults a history may have; 0 is what each shape says")
	wide     = flag.Bool("wide", false, "as many faults as each shape says for make explore: it takes minutes")
	only     = flag.String("shape", "", "explore only shapes whose name contains this")
)

// TestEveryHistory explores every shape to its fixed point, two at a time, and says what it covered.
func TestEveryHistory(t *testing.T) {
	if raced {
		t.Skip("it takes ten times as long with the race detector, and finds no more: make test runs it without")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	began, spent := time.Now(), processor(t)
	shapes := slices.DeleteFunc(Shapes(), func(sh *Shape) bool { return !strings.Contains(sh.Name, *only) })
	for _, sh := range shapes {
		switch {
		case *faultsOf > 0:
			sh.Faults = *faultsOf
		case *wide:
			sh.Faults = sh.Wide
		}
	}
	t.Logf("%-26s %6s %10s %12s %10s %8s", "shape", "faults", "states", "transitions", "ends", "time")
	results := exploreAll(t, shapes)
	total := sum(results)
	t.Logf("%v in %.0f s, %.0f s of processors", total, time.Since(began).Seconds(), (processor(t) - spent).Seconds())
	t.Log(total.laws())
	for i, r := range results {
		for _, v := range r.Broken {
			t.Errorf("%s: %v\n%s", r.Shape, v, Shortest(shapes[i], plan.Step, shapes[i].Faults, v.Law))
		}
	}
	for _, law := range Laws {
		if total.met[law.Number] == 0 && *only == "" {
			t.Errorf("Law%02d was never met: %s", law.Number, law.Met)
		}
	}
}

// exploreAll explores on two processors, and tells of each shape when it is through.
func exploreAll(t *testing.T, shapes []*Shape) []Result {
	t.Helper()
	results := make([]Result, len(shapes))
	todo := make(chan int)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for i := range todo {
				began := time.Now()
				r := Explore(shapes[i], plan.Step, shapes[i].Faults)
				results[i] = r
				t.Logf("%-26s %6d %10d %12d %10d %7.1fs   by faults %v",
					r.Shape, r.Faults, count(r.States), r.Transitions, r.Ends, time.Since(began).Seconds(), r.States)
			}
		})
	}
	for i := range shapes {
		todo <- i
	}
	close(todo)
	workers.Wait()
	return results
}

// processor is the processor time that this process has used.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func count(states []int) (n int) {
	for _, s := range states {
		n += s
	}
	return n
}

type totals struct {
	shapes, states    int
	transitions, ends int64
	met               [numberOfLaws]int64
}

func (n totals) String() string {
	return fmt.Sprintf("%d shapes, %d states, %d transitions, %d ends", n.shapes, n.states, n.transitions, n.ends)
}

func sum(results []Result) (n totals) {
	for _, r := range results {
		n.shapes++
		n.states += count(r.States)
		n.transitions += r.Transitions
		n.ends += r.Ends
		for i := range r.Met {
			n.met[i] += r.Met[i]
		}
	}
	return n
}

// laws tells how often each law had something to say.
func (n totals) laws() string {
	var out strings.Builder
	out.WriteString("how often each law was met:\n")
	for _, law := range Laws {
		fmt.Fprintf(&out, "  Law%02d %12d  %s\n", law.Number, n.met[law.Number], law.Met)
	}
	return out.String()
}
