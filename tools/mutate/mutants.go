package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one change of one file: the bytes from start to end become text.
type mutant struct {
	file       string // relative to the root
	function   string
	operator   string
	line       int
	start, end int
	text       string
	// was and is show the change to people: of an operator, with what stands on both sides of it.
	was, is string
	// nth counts the mutants of a function that look the same, from 1.
	nth int
}

// name is stable as long as the function's text is, wherever it stands: what survivors.txt knows it by.
func (m mutant) name() string {
	name := fmt.Sprintf("%s %s %s: %s → %s", m.file, m.function, m.operator, oneLine(m.was), oneLine(m.is))
	if m.nth > 1 {
		name += fmt.Sprintf(" (%d)", m.nth)
	}
	return name
}

// count tells apart the mutants of a function that look the same.
func count(found []mutant) {
	seen := map[string]int{}
	for i := range found {
		name := found[i].name()
		seen[name]++
		found[i].nth = seen[name]
	}
}

func (m mutant) String() string { return fmt.Sprintf("%s:%d %s", m.file, m.line, m.name()) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// mutantsOf lists every mutant of the targets: folders, or single files.
func mutantsOf(root string, targets []string) (all []mutant, functions int, err error) {
	for _, target := range targets {
		pattern := target
		if !strings.HasSuffix(target, ".go") {
			pattern = filepath.Join(target, "*.go")
		}
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			return nil, 0, fmt.Errorf("%s: no Go files (%v)", target, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			found, n, err := mutantsOfFile(root, file)
			if err != nil {
				return nil, 0, err
			}
			all, functions = append(all, found...), functions+n
		}
	}
	return all, functions, nil
}

func mutantsOfFile(root, file string) ([]mutant, int, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, err
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, 0, err
	}
	relative, err := filepath.Rel(root, file)
	if err != nil {
		return nil, 0, err
	}
	var all []mutant
	functions := 0
	for _, decl := range tree.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		w := &walker{file: relative, function: functionName(fn), fset: fset, source: source}
		w.walk(fn.Type, fn.Body)
		count(w.found)
		if len(w.found) > 0 {
			functions++
		}
		all = append(all, w.found...)
	}
	return all, functions, nil
}

func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// choose puts the mutants in a seeded order: one of each function first, then another of each, and so on.
func choose(all []mutant, seed uint64) []mutant {
	random := rand.New(rand.NewPCG(seed, 0))
	byFunction := map[string][]mutant{}
	var names []string
	for _, m := range all {
		key := m.file + " " + m.function
		if byFunction[key] == nil {
			names = append(names, key)
		}
		byFunction[key] = append(byFunction[key], m)
	}
	slices.Sort(names)
	for _, key := range names {
		list := byFunction[key]
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	var order []mutant
	for round := 0; len(order) < len(all); round++ {
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, key := range names {
			if round < len(byFunction[key]) {
				order = append(order, byFunction[key][round])
			}
		}
	}
	return order
}
