// Command mutate asks whether the tests notice when the code is wrong. It changes one thing at a time in the functions of
// the given packages (a condition, a boundary, a return, a statement), runs the package's tests on each change, and lists
// the changes that no test noticed: the survivors.
//
//	go -C tools run ./mutate -root .. -n 200 -seed 1 plan catalog/value.go
//
// The choice is seeded: the same seed makes the same mutants. Every function gets one before any gets a second. A survivor
// that changes nothing that can be seen is explained in survivors.txt, by its name; any other counts as a hole in the tests.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
)

func main() {
	root := flag.String("root", ".", "root of the module whose code is mutated")
	n := flag.Int("n", 200, "how many mutants")
	seed := flag.Uint64("seed", 1, "seed of the choice")
	least := flag.Float64("least", 95, "per cent of the mutants that must be killed")
	workers := flag.Int("workers", 2, "how many test runs at once")
	explained := flag.String("explained", "mutate/survivors.txt", "file that explains survivors")
	flag.Parse()
	if err := run(*root, flag.Args(), *n, *seed, *least, *workers, *explained); err != nil {
		fmt.Fprintf(os.Stderr, "mutate: %v\n", err)
		os.Exit(1)
	}
}

func run(root string, targets []string, n int, seed uint64, least float64, workers int, explained string) error {
	known, err := readExplained(explained)
	if err != nil {
		return err
	}
	all, functions, err := mutantsOf(root, targets)
	if err != nil {
		return err
	}
	chosen := choose(all, seed)
	fmt.Printf("%d possible mutants in %d functions; seed %d\n", len(all), functions, seed)
	results := tryAll(root, chosen, n, workers)
	return report(results, known, least)
}

// tryAll runs mutants until n of them compiled and were judged.
func tryAll(root string, chosen []mutant, n, workers int) []result {
	var (
		mu      sync.Mutex
		results []result
		next    int
		all     sync.WaitGroup
	)
	take := func() (mutant, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= len(chosen) || len(results) >= n {
			return mutant{}, false
		}
		next++
		return chosen[next-1], true
	}
	for range workers {
		all.Go(func() {
			for {
				m, ok := take()
				if !ok {
					return
				}
				r := try(root, m)
				if r.verdict == stillborn {
					continue
				}
				mu.Lock()
				if len(results) < n {
					results = append(results, r)
					if r.verdict != killed {
						fmt.Printf("%3d %s %s\n", len(results), r.verdict, m)
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return results
}
