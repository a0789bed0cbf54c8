package lawsdoc

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var write = flag.Bool("write", false, "write docs/laws.md anew")

const (
	root     = "../.."
	pageFile = root + "/docs/laws.md"
)

func scanned(t *testing.T) []test {
	t.Helper()
	tests, err := scan(filepath.FromSlash(root))
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// The page says what the tests say. A test that was renamed, removed or added makes it fail until the page is written anew.
func TestThePageIsWhatTheTestsSay(t *testing.T) {
	want := page(scanned(t))
	file := filepath.FromSlash(pageFile)
	if *write {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // a page for everybody
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("docs/laws.md is not what the tests say (%v): run go test ./tests/lawsdoc -args -write, and look at what changed", err)
	}
}

// A law that is in force is held by a property test and by one on real processes, at least.
func TestEveryLawInForceIsHeld(t *testing.T) {
	tests := scanned(t)
	for i, l := range laws {
		if l.number != i+1 {
			t.Errorf("law %d stands at place %d", l.number, i+1)
		}
		for k, what := range map[kind]string{property: "property test", onProcesses: "test on real processes"} {
			if l.inForce && len(holding(tests, l.number, k)) == 0 {
				t.Errorf("law %d (%s) is in force, and no %s names it", l.number, l.name, what)
			}
		}
	}
	for _, found := range tests {
		for _, n := range found.laws {
			if n < 1 || n > len(laws) {
				t.Errorf("%s.%s names law %d: there is none", found.pkg, found.name, n)
			}
		}
	}
}

func TestScan(t *testing.T) {
	found, err := scanFile("x", "x_test.go", []byte(`package x
		func TestLaw07Once(t *testing.T) { t.Errorf("Law09: not a name") }
		func TestLaw17And20Hedged(t *testing.T) {}
		func TestLawsHold(t *testing.T) {}
		func TestLaw1(t *testing.T) {}
		func TestTable(t *testing.T) {
			t.Run("All of them", func(t *testing.T) {
				for _, c := range []struct{ name string }{{"Law01Order"}, {"CaseC01"}, {"Law09"}} {
					t.Run(c.name, func(t *testing.T) {})
				}
			})
			for name := range map[string]int{"Law02And18Both": 1} { t.Run(name, nil) }
			t.Run("Law03Alone", func(t *testing.T) { t.Run("deeper", nil) })
		}
		func law04(t *testing.T) { t.Run("Law04OfAHelper", nil) }
		func TestLaw05(m *testing.M) {}
		func (s suite) TestLaw06Method(t *testing.T) {}
	`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprint(f.name, f.laws))
	}
	want := []string{"TestLaw07Once[7]", "TestLaw17And20Hedged[17 20]", "TestTable/All_of_them/Law01Order[1]",
		"TestTable/Law02And18Both[2 18]", "TestTable/Law03Alone[3]"}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
