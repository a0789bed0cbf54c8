package border

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON Schema (2020-12) of the program's own. It is safe for concurrent use.
type Schema struct {
	compiled func() *jsonschema.Schema
}

// MustCompile compiles a schema that is part of the program, e.g. an embedded file; name appears in its panic.
// The schema must stand alone: no reference to another file or URL is followed. It is compiled when it is first checked
// against: a program uses few of the schemas in it, and a command line should not wait for the others.
func MustCompile(name string, schemaJSON []byte) *Schema {
	return &Schema{compiled: sync.OnceValue(func() *jsonschema.Schema {
		compiled, err := compile(name, schemaJSON)
		if err != nil {
			panic(fmt.Sprintf("border: schema %s does not compile: %v", name, err))
		}
		return compiled
	})}
}

func compile(name string, schemaJSON []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaJSON))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // knows no scheme: nothing is read from disk or network
	url := "schema:///" + name
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

// Check reports every place where a tree from Parse does not fit the schema, ordered by path; nil if it fits.
func (s *Schema) Check(tree any) Faults {
	err := s.compiled().Validate(tree)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return Faults{{Code: "bad_value", Message: "cannot be checked: " + err.Error()}}
	}
	var faults Faults
	leaves(invalid, func(leaf *jsonschema.ValidationError) {
		faults = append(faults, explain(locate(tree, leaf.InstanceLocation), leaf.ErrorKind)...)
	})
	slices.SortStableFunc(faults, func(a, b Fault) int {
		if n := before(a.Path, b.Path); n != 0 {
			return n
		}
		return strings.Compare(a.Message, b.Message)
	})
	faults = slices.Compact(faults)
	return faults[:min(len(faults), maxFaults)]
}

// leaves visits the errors that have no deeper cause: the ones a reader can act on.
func leaves(e *jsonschema.ValidationError, visit func(*jsonschema.ValidationError)) {
	if len(e.Causes) == 0 {
		visit(e)
		return
	}
	for _, cause := range e.Causes {
		leaves(cause, visit)
	}
}

// locate turns the validator's location into our path. The tree tells list positions from keys that are digits.
func locate(tree any, location []string) string {
	path := ""
	for _, segment := range location {
		switch node := tree.(type) {
		case []any:
			i, err := strconv.Atoi(segment)
			if err != nil || i < 0 || i >= len(node) {
				return path
			}
			path, tree = Index(path, i), node[i]
		case map[string]any:
			path, tree = Field(path, segment), node[segment]
		}
	}
	return path
}
