package standin

import (
	"strings"

	"errand/llm"
)

// geminiTypes are the API's type names in the order of their numbers, from 1.
var geminiTypes = []llm.Type{llm.String, llm.Number, llm.Integer, llm.Boolean, llm.Array, llm.Object}

// readSchema reads a schema of either API: types by number (5), by name ("ARRAY", "array"), or as a list with "null".
func readSchema(value any) *llm.Schema {
	fields, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	s := &llm.Schema{}
	s.Type, s.Nullable = readType(fields["type"])
	if nullable, _ := fields["nullable"].(bool); nullable {
		s.Nullable = true
	}
	s.Description, _ = fields["description"].(string)
	s.Enum = texts(fields["enum"])
	s.Required = texts(fields["required"])
	s.Items = readSchema(fields["items"])
	if properties, ok := fields["properties"].(map[string]any); ok {
		s.Properties = make(map[string]*llm.Schema, len(properties))
		for name, property := range properties {
			s.Properties[name] = readSchema(property)
		}
	}
	return s
}

func readType(value any) (t llm.Type, nullable bool) {
	switch v := value.(type) {
	case float64:
		if n := int(v); n >= 1 && n <= len(geminiTypes) {
			return geminiTypes[n-1], false
		}
	case string:
		return llm.Type(strings.ToLower(v)), false
	case []any:
		for _, one := range v {
			if name, _ := one.(string); name == "null" {
				nullable = true
			} else {
				t = llm.Type(strings.ToLower(name))
			}
		}
	}
	return t, nullable
}

// texts is a list's strings.
func texts(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
