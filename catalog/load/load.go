package load

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"errand/catalog"
	"errand/internal/border"
)

//go:embed catalog.schema.json
var schemaJSON []byte

//go:embed builtin.yaml home.yaml home_routines.yaml nodes.yaml
var files embed.FS

// builtinYAML is one file in several: the robot's, and in it what a home assistant does and the commands of plain nodes.
var builtinYAML = assembled("builtin.yaml", "home.yaml", "home_routines.yaml", "nodes.yaml")

// assembled puts each part where the whole says that it stands. That each is there is a matter of the program, not of its input.
func assembled(whole string, parts ...string) []byte {
	read := func(name string) []byte {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("load: the built-in catalog lacks a file: %v", err))
		}
		return text
	}
	text := read(whole)
	for _, part := range parts {
		place := []byte("  # " + part + " stands here\n")
		if !bytes.Contains(text, place) {
			panic("load: " + whole + " has no place for " + part)
		}
		text = bytes.Replace(text, place, read(part), 1)
	}
	return text
}

var schema = sync.OnceValue(func() *border.Schema { return border.MustCompile("catalog.schema.json", schemaJSON) })

// Schema returns the JSON Schema (2020-12) of a catalog file, for editors.
func Schema() []byte { return bytes.Clone(schemaJSON) }

// Parse reads a catalog file; name is what faults call it. The catalog comes with its digest.
// A failure is Faults: everything wrong with the file, in its order.
func Parse(name string, data []byte) (*catalog.Catalog, error) {
	d, broken := readYAML(data)
	if broken != nil {
		return nil, Faults{{File: name, Line: broken.at.line, Column: broken.at.column, Message: broken.message}}
	}
	c, faults := d.check()
	if len(faults) > 0 {
		return nil, d.locate(name, faults)
	}
	c.Digest = Digest(c)
	return c, nil
}

// check judges the tree by the schema and then as a whole. Both are reported together: an author who mends
// one should not then meet the other. What the whole says about a place that the schema faulted already is left out.
func (d *document) check() (*catalog.Catalog, border.Faults) {
	shape := slices.Concat(d.faults, schema().Check(d.tree))
	var c catalog.Catalog
	if err := border.Fill(d.tree, &c); err != nil {
		if len(shape) == 0 {
			shape = border.Faults{{Code: "bad_value", Message: err.Error()}}
		}
		return nil, shape
	}
	complete(&c)
	faults := shape
	for _, f := range Lint(&c) {
		if !touched(shape, f.Path) {
			faults = append(faults, f)
		}
	}
	return &c, faults
}

// complete fills in what a node command says by itself: it is the method, and its result is the completion.
func complete(c *catalog.Catalog) {
	for i := range c.Capabilities {
		capability := &c.Capabilities[i]
		if capability.NodeCommand == "" {
			continue
		}
		if capability.TaskMethod == "" {
			capability.TaskMethod = capability.NodeCommand
		}
		if capability.CompletionTarget == "" {
			capability.CompletionTarget = capability.NodeCommand + ".result"
		}
	}
}

// touched reports whether a fault stands at the path, above it or below it.
func touched(faults border.Faults, path string) bool {
	for _, f := range faults {
		if within(path, f.Path) || within(f.Path, path) {
			return true
		}
	}
	return false
}

func within(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && (rest == "" || parent != "" && (rest[0] == '.' || rest[0] == '['))
}

// Digest names the content of a catalog: "sha256:" and the hex SHA-256 of its JSON without the digest itself.
// The JSON is canonical, since fields come in the order of the type and map keys sorted.
func Digest(c *catalog.Catalog) string {
	bare := *c
	bare.Digest = ""
	text, err := json.Marshal(bare)
	if err != nil {
		// Only a routine argument that is no JSON value could do this, and no file can hold one.
		panic(fmt.Sprintf("load: a catalog that is not JSON: %v", err))
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// builtin is parsed once. It is part of the program: a fault in it is a defect, found by the tests.
var builtin = sync.OnceValue(func() []byte {
	c, err := Parse("builtin.yaml", builtinYAML)
	if err != nil {
		panic("load: the built-in catalog is broken:\n" + err.Error())
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("load: the built-in catalog is not JSON: %v", err))
	}
	return text
})

// Builtin returns the built-in catalog: a home robot that moves, cleans, purifies, guards and comes when called, what it does as
// a home assistant (home.yaml, home_routines.yaml), and the commands of a plain OpenClaw node (nodes.yaml).
// Each call returns a copy of its own.
func Builtin() *catalog.Catalog {
	var c catalog.Catalog
	if err := json.Unmarshal(builtin(), &c); err != nil {
		panic(fmt.Sprintf("load: the built-in catalog does not come back from JSON: %v", err))
	}
	return &c
}

// BuiltinFile returns the text of the built-in catalog, to start one's own from.
func BuiltinFile() []byte { return bytes.Clone(builtinYAML) }
