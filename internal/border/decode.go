package border

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Decode reads one JSON document, checks it against a schema (nil for none) and fills into, a pointer.
// Unknown fields are ignored. Every failure is Faults.
//
// Field names match exactly. encoding/json alone would let "STEPS" fill the field "steps" behind the schema's back.
func Decode(data []byte, lim Limits, s *Schema, into any) error {
	tree, err := Parse(data, lim)
	if err != nil {
		return err
	}
	if s != nil {
		if faults := s.Check(tree); len(faults) > 0 {
			return faults
		}
	}
	return Fill(tree, into)
}

// Fill puts a tree from Parse into a Go value, a pointer, as encoding/json would, but by exact field names only.
func Fill(tree any, into any) error {
	target := reflect.TypeOf(into)
	if target == nil || target.Kind() != reflect.Pointer {
		return fmt.Errorf("border: Fill needs a pointer, got %T", into)
	}
	exact, err := json.Marshal(keepKnown(tree, target))
	if err != nil {
		return Faults{{Code: "bad_value", Message: "cannot be written as JSON: " + err.Error()}}
	}
	if err := json.Unmarshal(exact, into); err != nil {
		return fillFault(err)
	}
	return nil
}

func fillFault(err error) error {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return Faults{{Code: "bad_value", Message: "does not fit: " + err.Error()}}
	}
	return Faults{{Path: mistyped.Field, Code: "wrong_type",
		Message: fmt.Sprintf("must be %s, is a JSON %s", mistyped.Type, mistyped.Value)}}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// keepKnown copies a tree without the keys that are no field of the struct they would fill.
func keepKnown(tree any, t reflect.Type) any {
	if reflect.PointerTo(t).Implements(unmarshaler) || t.Implements(unmarshaler) {
		return tree
	}
	switch node := tree.(type) {
	case []any:
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
			return keepItems(node, t.Elem())
		}
	case map[string]any:
		switch t.Kind() {
		case reflect.Struct:
			return keepFields(node, t)
		case reflect.Map:
			return keepEntries(node, t.Elem())
		}
	}
	if t.Kind() == reflect.Pointer {
		return keepKnown(tree, t.Elem())
	}
	return tree
}

func keepItems(list []any, item reflect.Type) []any {
	kept := make([]any, len(list))
	for i, v := range list {
		kept[i] = keepKnown(v, item)
	}
	return kept
}

func keepEntries(object map[string]any, entry reflect.Type) map[string]any {
	kept := make(map[string]any, len(object))
	for k, v := range object {
		kept[k] = keepKnown(v, entry)
	}
	return kept
}

func keepFields(object map[string]any, t reflect.Type) map[string]any {
	kept := make(map[string]any, len(object))
	for _, field := range reflect.VisibleFields(t) {
		name := jsonName(field)
		if v, ok := object[name]; ok && name != "" {
			kept[name] = keepKnown(v, field.Type)
		}
	}
	return kept
}

// jsonName is the key a field reads, or "" for one that reads none by itself.
func jsonName(field reflect.StructField) string {
	tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case tag == "-" || !field.IsExported():
		return ""
	case tag != "":
		return tag
	case field.Anonymous:
		return "" // its own fields are promoted
	}
	return field.Name
}
