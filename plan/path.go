package plan

import (
	"errors"
	"strings"
)

// ErrPath is returned for text that is not a data path.
var ErrPath = errors.New("not a path: want <step id or output_key>.result or <step id or output_key>.result.<field>")

// DataPath names a value in the result of an earlier step (contract.md §2).
type DataPath struct {
	Source string // a step id or an output_key
	Field  string // "" means the whole envelope of listed fields
}

// ParsePath reads a path: one field segment after ".result", no more.
func ParsePath(s string) (DataPath, error) {
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 3 || !ValidID(parts[0]) || parts[1] != "result" {
		return DataPath{}, ErrPath
	}
	p := DataPath{Source: parts[0]}
	if len(parts) == 3 {
		if !ValidID(parts[2]) {
			return DataPath{}, ErrPath
		}
		p.Field = parts[2]
	}
	return p, nil
}

// source returns the index of the step that a path's source names, or -1. Step ids and output keys never collide.
func (d *Document) source(name string) int {
	for i := range d.Steps {
		if d.Steps[i].ID == name || (d.Steps[i].OutputKey == name && name != "") {
			return i
		}
	}
	return -1
}
