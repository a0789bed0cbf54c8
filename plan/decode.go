package plan

import (
	_ "embed"
	"errors"
	"slices"
	"strconv"
	"strings"

	"errand/catalog"
	"errand/internal/border"
)

//go:embed plan.schema.json
var schemaJSON []byte

var documentSchema = border.MustCompile("plan.schema.json", schemaJSON)

// Schema returns the JSON Schema (2020-12) of a plan document.
func Schema() []byte { return slices.Clone(schemaJSON) }

// Decode reads a plan document: JSON within limits, without duplicate keys, in NFC, of the right shape.
// What is wrong comes as border.Faults, each with its path. It knows no catalog: see Validate, and Read for both.
func Decode(raw []byte) (Document, error) {
	doc, faults, err := decode(raw)
	if err != nil {
		return Document{}, err
	}
	return doc, faults.Err()
}

// Read decodes a document and validates it, and reports the faults of both at once.
// The document is usable only if there are none.
func Read(raw []byte, slice *catalog.Slice, g Grounding) (Document, border.Faults) {
	doc, faults, err := decode(raw)
	if err != nil {
		var parse border.Faults
		if errors.As(err, &parse) {
			return Document{}, parse
		}
		return Document{}, border.Faults{{Code: "unreadable", Message: err.Error()}}
	}
	all := slices.Clip(faults)
	for _, f := range Validate(doc, slice, g) {
		if !shadowed(f.Path, faults) {
			all = append(all, f)
		}
	}
	return doc, all
}

// decode returns what of the document could be read, with the faults of its shape. An error means it is not JSON at all.
func decode(raw []byte) (Document, border.Faults, error) {
	tree, err := border.Parse(raw, border.DefaultLimits)
	if err != nil {
		return Document{}, nil, err
	}
	faults := documentSchema.Check(tree)
	var doc Document
	if err := border.Fill(tree, &doc); err != nil && len(faults) == 0 {
		return Document{}, nil, err // the schema is to catch all of these
	}
	return doc, faults, nil
}

// shadowed reports whether a fault says again what a fault of shape said at the same place, above or below it.
func shadowed(path string, shape border.Faults) bool {
	return slices.ContainsFunc(shape, func(f border.Fault) bool {
		return strings.HasPrefix(path, f.Path) || strings.HasPrefix(f.Path, path)
	})
}

func itoa(n int) string { return strconv.Itoa(n) }
