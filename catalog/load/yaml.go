package load

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"golang.org/x/text/unicode/norm"

	"errand/internal/border"
)

// Bounds of a catalog file: a hundred times what the built-in one needs.
const (
	maxBytes = 4 << 20
	maxDepth = 32
)

// position is a place in a file, from 1.
type position struct{ line, column int }

// document is a YAML file as a tree of JSON values, with the place of each path.
type document struct {
	tree   any
	places map[string]position
	faults border.Faults // what YAML allows and a catalog does not
}

// readYAML reads exactly one document without duplicate keys, anchors, aliases, tags and merge keys:
// a catalog is read by people, and says in each place what holds there. All text comes out in NFC.
func readYAML(data []byte) (*document, *brokenYAML) {
	if len(data) > maxBytes {
		return nil, &brokenYAML{position{1, 1}, fmt.Sprintf("the file has %d bytes, may have %d", len(data), maxBytes)}
	}
	if strings.TrimSpace(string(data)) == "" {
		return nil, &brokenYAML{position{1, 1}, "the file is empty: a catalog has at least catalog_version, capabilities, reasons and sentences"}
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, brokenBy(err)
	}
	root, broken := onlyDocument(file)
	if broken != nil {
		return nil, broken
	}
	d := &document{places: map[string]position{}}
	d.tree = d.value(root, "", 0)
	return d, nil
}

// brokenYAML says why a file cannot be read at all.
type brokenYAML struct {
	at      position
	message string
}

func brokenBy(err error) *brokenYAML {
	var located yaml.Error
	if errors.As(err, &located) {
		return &brokenYAML{placeOf(located.GetToken()), "not YAML: " + located.GetMessage()}
	}
	return &brokenYAML{position{1, 1}, "not YAML: " + err.Error()}
}

func placeOf(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{t.Position.Line, t.Position.Column}
}

// startOf finds where a node begins. A block mapping's own token is its first colon; a reader looks at its first key.
func startOf(node ast.Node) position {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return placeOf(n.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		return placeOf(n.Key.GetToken())
	}
	return placeOf(node.GetToken())
}

// onlyDocument takes the one document with content.
func onlyDocument(file *ast.File) (ast.Node, *brokenYAML) {
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
			continue
		case root != nil:
			return nil, &brokenYAML{placeOf(doc.Body.GetToken()), "a second YAML document begins here: a catalog is one document, put the rest into another file"}
		}
		root = doc.Body
	}
	if root == nil {
		return nil, &brokenYAML{position{1, 1}, "the file has only comments: a catalog has at least catalog_version, capabilities, reasons and sentences"}
	}
	return root, nil
}

func (d *document) fault(path, code, format string, args ...any) {
	d.faults = append(d.faults, border.Fault{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

// value converts a node, and remembers where each path stands.
func (d *document) value(node ast.Node, path string, depth int) any {
	if _, known := d.places[path]; !known && node != nil {
		d.places[path] = startOf(node)
	}
	if depth > maxDepth {
		d.fault(path, "too_deep", "is nested more than %d deep", maxDepth)
		return nil
	}
	switch n := node.(type) {
	case *ast.MappingNode:
		return d.object(n.Values, path, depth)
	case *ast.MappingValueNode:
		return d.object([]*ast.MappingValueNode{n}, path, depth)
	case *ast.SequenceNode:
		list := make([]any, len(n.Values))
		for i, item := range n.Values {
			list[i] = d.value(item, border.Index(path, i), depth+1)
		}
		return list
	}
	return d.scalar(node, path)
}

func (d *document) object(pairs []*ast.MappingValueNode, path string, depth int) any {
	object := make(map[string]any, len(pairs))
	for _, pair := range pairs {
		key, ok := pair.Key.(*ast.StringNode)
		if !ok {
			d.fault(path, "bad_key", "has the key %s, which is no plain text: quote it, and write merged keys out", pair.Key)
			continue
		}
		name := norm.NFC.String(key.Value)
		field := border.Field(path, name)
		if _, twice := object[name]; twice {
			again := fmt.Sprintf("%s (again)", field)
			d.places[again] = placeOf(key.Token)
			d.fault(again, "duplicate_key", "is given twice in the same object: keep one")
			continue
		}
		d.places[field] = placeOf(key.Token)
		object[name] = d.value(pair.Value, field, depth+1)
	}
	return object
}

func (d *document) scalar(node ast.Node, path string) any {
	switch n := node.(type) {
	case *ast.StringNode:
		return norm.NFC.String(n.Value)
	case *ast.LiteralNode:
		return norm.NFC.String(n.Value.Value)
	case *ast.BoolNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.IntegerNode:
		return d.integer(n, path)
	case *ast.NullNode, nil:
		return nil
	}
	d.fault(path, "bad_value", "uses %s, which a catalog does not: write the value out", strings.ToLower(node.Type().String()))
	return nil
}

func (d *document) integer(n *ast.IntegerNode, path string) any {
	const exact = 1 << 53 // what a float64 holds without rounding
	switch v := n.Value.(type) {
	case int64:
		if v >= -exact && v <= exact {
			return float64(v)
		}
	case uint64:
		if v <= exact {
			return float64(v)
		}
	}
	d.fault(path, "bad_number", "is too large a whole number")
	return nil
}
