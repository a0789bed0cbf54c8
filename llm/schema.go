package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Type is a type of JSON Schema.
type Type string

// The types of a Schema.
const (
	String  Type = "string"
	Number  Type = "number"
	Integer Type = "integer"
	Boolean Type = "boolean"
	Array   Type = "array"
	Object  Type = "object"
)

// Schema is the shape of an answer: the part of JSON Schema that every model's structured output knows.
// It marshals to JSON Schema; no object of it has more than its Properties.
type Schema struct {
	Type        Type
	Description string
	// Enum lists the values that a string may have.
	Enum []string
	// Items is the shape of an array's elements.
	Items *Schema
	// Properties are an object's; models accept no object without any.
	Properties map[string]*Schema
	Required   []string
	// Nullable allows null too.
	Nullable bool
}

// MarshalJSON writes the schema as JSON Schema 2020-12.
func (s *Schema) MarshalJSON() ([]byte, error) {
	out := map[string]any{"type": s.Type}
	if s.Nullable {
		out["type"] = []Type{s.Type, "null"}
	}
	if s.Description != "" {
		out["description"] = s.Description
	}
	if len(s.Enum) > 0 {
		out["enum"] = s.values()
	}
	if s.Items != nil {
		out["items"] = s.Items
	}
	if s.Type == Object {
		out["properties"], out["additionalProperties"] = s.Properties, false
		out["required"] = append([]string{}, s.Required...)
	}
	return json.Marshal(out)
}

// values is the enumeration as JSON Schema wants it, where a null must be listed to be allowed.
func (s *Schema) values() []any {
	values := make([]any, 0, len(s.Enum)+1)
	for _, value := range s.Enum {
		values = append(values, value)
	}
	if s.Nullable {
		values = append(values, nil)
	}
	return values
}

// Validate reports everything in the schema that some model's server refuses, each with its path.
func (s *Schema) Validate() error { return s.validate("schema") }

func (s *Schema) validate(path string) error {
	if s == nil {
		return fmt.Errorf("%s is nil", path)
	}
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(path+" "+format, args...)) }
	switch s.Type {
	case Object:
		if len(s.Properties) == 0 {
			fault("is an object without properties: models do not accept one")
		}
	case Array:
		if s.Items == nil {
			fault("is an array without items")
		}
	case String, Number, Integer, Boolean:
	default:
		fault("has the type %q, which is none of string, number, integer, boolean, array, object", s.Type)
	}
	if len(s.Enum) > 0 && s.Type != String {
		fault("has an enum, which only a string may have")
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			fault("requires %q, which is no property", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		errs = append(errs, s.Properties[name].validate(path+"."+name))
	}
	if s.Items != nil {
		errs = append(errs, s.Items.validate(path+"[]"))
	}
	return errors.Join(errs...)
}
