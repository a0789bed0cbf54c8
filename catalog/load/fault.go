package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"errand/internal/border"
)

// Fault is one thing wrong with a catalog file.
type Fault struct {
	File string
	// Line and Column count from 1, the column in characters.
	Line, Column int
	// Path is the same place in the document, e.g. `routines[0].steps[1].input_from.area_id`; "" is the file itself.
	Path    string
	Message string
}

func (f Fault) String() string {
	at := fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column)
	if f.Path == "" {
		return at + f.Message
	}
	return at + f.Path + ": " + f.Message
}

// Faults is everything wrong with a catalog file, in the file's order. It is an error; test with errors.As.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// locate gives each fault its place in the file. What is missing stands where its parent does.
func (d *document) locate(file string, faults border.Faults) Faults {
	located := make(Faults, len(faults))
	for i, f := range faults {
		at := d.place(f.Path)
		path, _ := strings.CutSuffix(f.Path, " (again)")
		located[i] = Fault{File: file, Line: at.line, Column: at.column, Path: path, Message: f.Message}
	}
	slices.SortStableFunc(located, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(located)
}

// place finds a path, or the nearest of its parents that the file has.
func (d *document) place(path string) position {
	for {
		if at, ok := d.places[path]; ok {
			return at
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return position{1, 1}
		}
		path = path[:cut]
	}
}
