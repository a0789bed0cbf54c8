package standin

import (
	"encoding/json"
	"slices"

	"errand/llm"
)

// Rules answers by rules alone: a boundary with a decision, an utterance with a plan. See the package's doc.
func Rules(q Question) Reply {
	m := read(q)
	var answer any
	if boundary := m.object("boundary"); boundary != nil {
		answer = decide(m, q.Schema, boundary)
	} else {
		answer = planFor(m, q.Schema)
	}
	if q.Schema == nil {
		return AnswerJSON(answer)
	}
	return AnswerJSON(fit(answer, q.Schema))
}

// allowed lists the values that a schema allows under a name, wherever it stands; nil if it says nothing.
func allowed(s *llm.Schema, name string) []string {
	if s == nil {
		return nil
	}
	if property := s.Properties[name]; property != nil && len(property.Enum) > 0 {
		return property.Enum
	}
	for _, other := range sortedKeys(s.Properties) {
		if values := allowed(s.Properties[other], name); values != nil {
			return values
		}
	}
	return allowed(s.Items, name)
}

// permits reports whether a schema leaves room for a value under a name.
func permits(s *llm.Schema, name, value string) bool {
	values := allowed(s, name)
	return values == nil || slices.Contains(values, value)
}

// fit gives a value the shape of a schema: what the schema does not have is left out, what it requires and the value lacks
// is there and empty. An object that the schema wants flat, deeper, or as a list of names and values, is turned into that.
func fit(value any, s *llm.Schema) any {
	if s == nil {
		return value
	}
	if value == nil && s.Nullable {
		return nil
	}
	switch s.Type {
	case llm.Object:
		fields, _ := value.(map[string]any)
		return fitObject(fields, s)
	case llm.Array:
		return fitArray(value, s)
	case llm.String:
		return fitText(value, s)
	case llm.Boolean:
		b, _ := value.(bool)
		return b
	default:
		n, ok := value.(float64)
		if !ok {
			return 0
		}
		if s.Type == llm.Integer {
			return int64(n)
		}
		return n
	}
}

func fitObject(fields map[string]any, s *llm.Schema) map[string]any {
	out := make(map[string]any, len(s.Properties))
	for name, property := range s.Properties {
		value, ok := fields[name]
		if !ok {
			value, ok = flattened(fields, name)
		}
		if !ok && property.Type == llm.Object && shares(fields, property) {
			value, ok = fields, true
		}
		switch {
		case ok:
			out[name] = fit(value, property)
		case slices.Contains(s.Required, name):
			out[name] = fit(nil, property)
		}
	}
	return out
}

// flattened finds a field one object deeper.
func flattened(fields map[string]any, name string) (any, bool) {
	for _, key := range sortedKeys(fields) {
		if inner, ok := fields[key].(map[string]any); ok {
			if value, ok := inner[name]; ok {
				return value, true
			}
		}
	}
	return nil, false
}

// shares reports whether an object has any field that the schema has.
func shares(fields map[string]any, s *llm.Schema) bool {
	for name := range s.Properties {
		if _, ok := fields[name]; ok {
			return true
		}
	}
	return false
}

func fitArray(value any, s *llm.Schema) []any {
	out := []any{}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			out = append(out, fit(item, s.Items))
		}
	case map[string]any: // as a list of names and values
		for _, key := range sortedKeys(v) {
			pair := make(map[string]any)
			for name := range s.Items.Properties {
				if slices.Contains([]string{"name", "slot", "key"}, name) {
					pair[name] = key
				} else {
					pair[name] = v[key]
				}
			}
			out = append(out, fit(pair, s.Items))
		}
	}
	return out
}

func fitText(value any, s *llm.Schema) any {
	text, ok := value.(string)
	if !ok && value != nil {
		encoded, err := json.Marshal(value)
		if err != nil {
			return ""
		}
		text = string(encoded)
	}
	switch {
	case len(s.Enum) == 0 || slices.Contains(s.Enum, text):
		return text
	case s.Nullable:
		return nil
	}
	return s.Enum[0]
}
