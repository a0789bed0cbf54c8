package lawsdoc

import (
	"fmt"
	"slices"
	"strings"
)

// kind is where a test holds a law.
type kind int

const (
	property    kind = iota // in the pure packages
	onProcesses             // the whole, on a real server
	ofParts                 // everything between
)

// pure are the packages without Temporal, network, clock or randomness: laws are held there over simulated and random worlds.
var pure = []string{"plan", "catalog"}

func (t test) kind() kind {
	switch {
	case t.pkg == "tests":
		return onProcesses
	case slices.ContainsFunc(pure, func(p string) bool { return t.pkg == p || strings.HasPrefix(t.pkg, p+"/") }):
		return property
	}
	return ofParts
}

// holding lists the tests of one kind that name a law.
func holding(tests []test, number int, k kind) (list []test) {
	for _, t := range tests {
		if slices.Contains(t.laws, number) && t.kind() == k {
			list = append(list, t)
		}
	}
	return list
}

const head = `# The laws, and the tests that hold them

These are the rules that Errand never breaks, whatever goes wrong. Each test below names its law, and is run by ` + "`make test`" + `. This page
is made from the tests themselves (` + "`go test ./tests/lawsdoc -args -write`" + `), and ` + "`make test`" + ` fails when the two differ.

Property tests are of the pure packages, where whole worlds are simulated, many of them at random. Tests on real processes
run the real Temporal server, worker, gateway, API and robots. Tests of parts are of all that lies between.

| law | | it says | property tests | on real processes | of parts |
|---|---|---|---|---|---|
`

// page writes the page.
func page(tests []test) string {
	var b strings.Builder
	b.WriteString(head)
	for _, l := range laws {
		fmt.Fprintf(&b, "| [%d](#law-%d) | %s | %s | %s | %s | %s |\n", l.number, l.number, l.name, l.says,
			count(tests, l, property), count(tests, l, onProcesses), count(tests, l, ofParts))
	}
	for _, l := range laws {
		fmt.Fprintf(&b, "\n## Law %d\n\n**%s.** %s\n", l.number, l.name, l.says)
		if !l.inForce {
			b.WriteString("\nNot all of it is built yet.\n")
		}
		for k, title := range []string{"Property tests", "On real processes", "Of parts"} {
			b.WriteString(section(title, holding(tests, l.number, kind(k))))
		}
	}
	return b.String()
}

func count(tests []test, l law, k kind) string {
	if n := len(holding(tests, l.number, k)); n > 0 {
		return fmt.Sprint(n)
	}
	return "none yet"
}

func section(title string, tests []test) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s:", title)
	if len(tests) == 0 {
		return b.String() + " none yet.\n"
	}
	b.WriteString("\n\n")
	for _, t := range tests {
		fmt.Fprintf(&b, "- `%s.%s`\n", t.pkg, t.name)
	}
	return b.String()
}
