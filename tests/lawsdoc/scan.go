package lawsdoc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// test is one test or subtest, and the laws that its name says it holds.
type test struct {
	pkg  string // folder in the tree, with slashes
	name string // as go test -run takes it
	laws []int
}

var (
	lawInName = regexp.MustCompile(`^Law(\d\d)((?:And\d\d)*)[A-Z]`) // a bare Law07 is a label, not a name
	subtest   = regexp.MustCompile(`^Law\d\d[A-Za-z0-9_]*$`)
)

// lawsOf reads the laws out of a name: Law17And20Something is of 17 and 20.
func lawsOf(name string) (numbers []int) {
	found := lawInName.FindStringSubmatch(name)
	if found == nil {
		return nil
	}
	for _, digits := range append([]string{found[1]}, strings.Split(found[2], "And")...) {
		if n, err := strconv.Atoi(digits); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// scan finds the tests below root that name a law, nested modules left out.
func scan(root string) (tests []test, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || isModule(path)):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		found, err := scanFile(filepath.ToSlash(folder), path, source)
		tests = append(tests, found...)
		return err
	})
	slices.SortFunc(tests, func(a, b test) int { return strings.Compare(a.pkg+" "+a.name, b.pkg+" "+b.name) })
	return tests, err
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// scanFile finds the tests of one file. A subtest is a text that begins with a law within a test function: the name in a
// t.Run, or in the table that a t.Run goes through.
func scanFile(pkg, file string, source []byte) (tests []test, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("read the tests of %s: %w", file, err)
	}
	for _, decl := range parsed.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Body == nil || !isTest(fn) {
			continue
		}
		if of := lawsOf(strings.TrimPrefix(fn.Name.Name, "Test")); of != nil {
			tests = append(tests, test{pkg, fn.Name.Name, of})
		}
		tests = append(tests, subtests(pkg, fn.Name.Name, fn.Body)...)
	}
	return tests, nil
}

// isTest reports whether go test runs a function: Test with one parameter, a *testing.T.
func isTest(fn *ast.FuncDecl) bool {
	if !strings.HasPrefix(fn.Name.Name, "Test") || len(fn.Type.Params.List) != 1 {
		return false
	}
	pointer, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	selected, ok := pointer.X.(*ast.SelectorExpr)
	return ok && selected.Sel.Name == "T"
}

// subtests finds the names below a node. What stands within a t.Run with a name of its own runs below that.
func subtests(pkg, under string, node ast.Node) (tests []test) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name, ok := runName(n)
			if !ok {
				return true
			}
			if of := lawsOf(name); of != nil {
				tests = append(tests, test{pkg, under + "/" + name, of})
			}
			for _, argument := range n.Args[1:] {
				tests = append(tests, subtests(pkg, under+"/"+name, argument)...)
			}
			return false
		case *ast.BasicLit:
			if text := textOf(n); subtest.MatchString(text) && lawsOf(text) != nil {
				tests = append(tests, test{pkg, under + "/" + text, lawsOf(text)})
			}
		}
		return true
	})
	return tests
}

// runName is the name in a t.Run("name", ...).
func runName(call *ast.CallExpr) (string, bool) {
	selected, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selected.Sel.Name != "Run" || len(call.Args) != 2 {
		return "", false
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	return strings.ReplaceAll(textOf(literal), " ", "_"), true
}

func textOf(literal *ast.BasicLit) string {
	text, err := strconv.Unquote(literal.Value)
	if literal.Kind != token.STRING || err != nil {
		return ""
	}
	return text
}
