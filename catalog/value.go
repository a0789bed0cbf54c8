package catalog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Check says what is wrong with a value, or "" if nothing is. Numbers are float64, as JSON decodes them.
func (s SlotSchema) Check(v any) string {
	switch s.Type {
	case "string":
		text, ok := v.(string)
		if !ok {
			return wrongType("a string", v)
		}
		return s.checkString(text)
	case "number", "integer":
		n, ok := v.(float64)
		if !ok {
			return wrongType("a "+s.Type, v)
		}
		return s.checkNumber(n)
	case "boolean":
		if _, ok := v.(bool); !ok {
			return wrongType("true or false", v)
		}
	case "array":
		return checkTexts(v)
	case "object":
		if _, ok := v.(map[string]any); !ok {
			return wrongType("an object", v)
		}
	default:
		return fmt.Sprintf("the catalog gives it the unknown type %q", s.Type)
	}
	return ""
}

// The bounds of an "array", which is a list of texts.
const (
	maxTexts      = 64
	maxTextInList = 4096
)

func checkTexts(v any) string {
	list, ok := v.([]any)
	if !ok {
		return wrongType("a list of texts", v)
	}
	if len(list) > maxTexts {
		return fmt.Sprintf("has %d texts, may have %d", len(list), maxTexts)
	}
	for i, item := range list {
		if text, ok := item.(string); !ok || utf8.RuneCountInString(text) > maxTextInList {
			return fmt.Sprintf("has at %d what is no text of at most %d characters", i, maxTextInList)
		}
	}
	return ""
}

func (s SlotSchema) checkString(text string) string {
	n := utf8.RuneCountInString(text)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		return fmt.Sprintf("has %d characters, needs at least %d", n, *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		return fmt.Sprintf("has %d characters, may have %d", n, *s.MaxLength)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		return "is not one of " + strings.Join(s.Enum, ", ")
	}
	return ""
}

func (s SlotSchema) checkNumber(n float64) string {
	switch {
	case s.Type == "integer" && n != math.Trunc(n):
		return "is not a whole number"
	case s.Minimum != nil && n < *s.Minimum:
		return fmt.Sprintf("is below %v", *s.Minimum)
	case s.Maximum != nil && n > *s.Maximum:
		return fmt.Sprintf("is above %v", *s.Maximum)
	}
	return ""
}

func wrongType(want string, got any) string {
	return fmt.Sprintf("must be %s, is %s", want, typeName(got))
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// Filter keeps the fields of a raw result that the contract lists with the right type: law 4.
// A null or mistyped field is absent (design §6 Binding). The raw result goes nowhere else.
func (r *ResultContract) Filter(raw map[string]any) map[string]any {
	kept := make(map[string]any)
	for _, f := range r.BindableResultFields {
		if v, ok := raw[f.Name]; ok && f.Schema.Check(v) == "" {
			kept[f.Name] = v
		}
	}
	return kept
}
