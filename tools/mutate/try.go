package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// verdict says what became of a mutant.
type verdict string

const (
	killed    verdict = "killed"    // a test failed
	timedOut  verdict = "timed out" // the tests did not end: killed too
	survived  verdict = "survived"
	stillborn verdict = "stillborn" // it does not compile
)

type result struct {
	mutant
	verdict verdict
	took    time.Duration // the processor time of the tests, without compilation: however busy the machine is
}

// patience bounds one compilation, and mostProcessor the processor time of one test run, in seconds: a run that takes many
// times what the tests take never ends, however busy the machine is.
const (
	patience      = 5 * time.Minute
	mostProcessor = "30"
)

// suite are the flags of a test run: the first failure is enough, random tests take the same few cases each time, and what
// fails is neither made small nor kept.
var suite = []string{"-test.failfast", "-test.timeout=10m", "-rapid.seed=1", "-rapid.checks=15", "-rapid.shrinktime=1ns", "-rapid.nofailfile"}

// try runs the tests of the mutant's package, and of those that are built on it, with the one file replaced.
func try(root string, m mutant) result {
	r := result{mutant: m}
	var err error
	if r.verdict, r.took, err = tryIn(root, m); err != nil {
		fmt.Fprintf(os.Stderr, "mutate: %s: %v\n", m, err)
		r.verdict = stillborn
	}
	return r
}

func tryIn(root string, m mutant) (v verdict, took time.Duration, err error) {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := writeOverlay(dir, root, m)
	if err != nil {
		return "", 0, err
	}
	for _, pkg := range packagesOf(m.file) {
		tests := filepath.Join(dir, "suite.test")
		if compiled, err := compile(root, overlay, pkg, tests); err != nil || !compiled {
			return stillborn, took, err
		}
		cmd := exec.CommandContext(context.Background(), "/bin/sh", append([]string{"-c", "ulimit -t " + mostProcessor + `; exec "$0" "$@"`, tests}, suite...)...)
		cmd.Dir = filepath.Join(root, pkg)
		output, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			return stillborn, took, err // it could not be started
		}
		took += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		switch {
		case status.Signaled() || strings.Contains(string(output), "panic: test timed out") || strings.Contains(string(output), "SIGXCPU"):
			return timedOut, took, nil
		case err != nil:
			return killed, took, nil
		}
	}
	return survived, took, nil
}

// compile makes the package's tests of the changed file, and reports whether that could be done.
func compile(root, overlay, pkg, tests string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", tests, pkg)
	cmd.Dir = root
	output, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(output), ".go:") { // not the compiler's word about the code
		return false, fmt.Errorf("go test -c %s: %w\n%s", pkg, err, output)
	}
	return err == nil, nil
}

// packagesOf says whose tests judge a file.
func packagesOf(file string) []string {
	own := "./" + filepath.Dir(file)
	if own == "./catalog" {
		return []string{own, "./plan"}
	}
	return []string{own}
}

func writeOverlay(dir, root string, m mutant) (string, error) {
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	changed := string(source[:m.start]) + m.text + string(source[m.end:])
	file := filepath.Join(dir, filepath.Base(m.file))
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, errors.Join(os.WriteFile(file, []byte(changed), 0o600), os.WriteFile(overlay, raw, 0o600))
}

// readExplained reads the survivors that change nothing that can be seen: lines of "name # why".
func readExplained(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	known := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, why, ok := strings.Cut(lines.Text(), " # "); ok && !strings.HasPrefix(name, "#") {
			known[strings.TrimSpace(name)] = why
		}
	}
	return known, nil
}

// report prints the count and the survivors, and fails if too many survived or one is not explained.
func report(results []result, known map[string]string, least float64) error {
	counts := map[verdict]int{}
	operators := map[string]int{}
	var longest time.Duration
	unexplained := 0
	for _, r := range results {
		counts[r.verdict]++
		operators[r.operator]++
		if r.verdict != timedOut {
			longest = max(longest, r.took)
		}
		if r.verdict == survived {
			why, ok := known[r.name()]
			if !ok {
				why = "not explained"
				unexplained++
			}
			fmt.Printf("survived: %s # %s\n", r.mutant, why)
		}
	}
	dead := counts[killed] + counts[timedOut]
	share := 100 * float64(dead) / float64(max(len(results), 1))
	fmt.Printf("%d mutants (%v): %d killed, %d of them by not ending, %d survived (%d not explained): %.1f %%; the longest test run took %v of processor time\n",
		len(results), operators, dead, counts[timedOut], counts[survived], unexplained, share, longest.Round(100*time.Millisecond))
	switch {
	case share < least:
		return fmt.Errorf("%.1f %% of the mutants were killed, want %.0f %%", share, least)
	case unexplained > 0:
		return fmt.Errorf("%d survivors are not explained", unexplained)
	}
	return nil
}
