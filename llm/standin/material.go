package standin

import (
	"encoding/json"
	"strings"
	"unicode"

	"errand/catalog"
)

// material is what a question is made of: the JSON in its texts, and the texts around it.
type material struct {
	values []any
	// plain are the texts of the contents that are more than JSON.
	plain []string
}

// read takes a question apart. Whole texts that are JSON, and JSON objects within texts, are values. The instructions' own
// words are no material: they are the installation's, not anyone's who could be quoted there.
func read(q Question) material {
	var m material
	for _, text := range q.Contents {
		m.take(text)
		if !json.Valid([]byte(text)) {
			m.plain = append(m.plain, text)
		}
	}
	m.take(q.Instructions)
	return m
}

// take adds the JSON objects in a text, and reports whether there are any.
func (m *material) take(text string) bool {
	found := false
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return found
		}
		var value map[string]any
		decoder := json.NewDecoder(strings.NewReader(text[open:]))
		if err := decoder.Decode(&value); err != nil {
			text = text[open+1:]
			continue
		}
		m.values, found = append(m.values, value), true
		text = text[open+int(decoder.InputOffset()):]
	}
}

// find returns the first value under a name that fits, wherever it stands; nil if there is none.
func (m material) find(name string, fits func(any) bool) any {
	for _, value := range m.values {
		if found := findIn(value, name, fits); found != nil {
			return found
		}
	}
	return nil
}

func findIn(value any, name string, fits func(any) bool) any {
	switch v := value.(type) {
	case map[string]any:
		if inner, ok := v[name]; ok && fits(inner) {
			return inner
		}
		for _, key := range sortedKeys(v) {
			if found := findIn(v[key], name, fits); found != nil {
				return found
			}
		}
	case []any:
		for _, item := range v {
			if found := findIn(item, name, fits); found != nil {
				return found
			}
		}
	}
	return nil
}

// text returns the first string under a name; "" if there is none.
func (m material) text(name string) string {
	text, _ := m.find(name, isText).(string)
	return text
}

func (m material) object(name string) map[string]any {
	fields, _ := m.find(name, isObject).(map[string]any)
	return fields
}

func isText(value any) bool   { text, ok := value.(string); return ok && text != "" }
func isObject(value any) bool { _, ok := value.(map[string]any); return ok }

// listOf fits a list whose elements are objects with this field.
func listOf(field string) func(any) bool {
	return func(value any) bool {
		list, _ := value.([]any)
		if len(list) == 0 {
			return false
		}
		fields, _ := list[0].(map[string]any)
		return isText(fields[field])
	}
}

// utterance is what the person said.
func (m material) utterance() string {
	if text := m.text("recognized_text"); text != "" {
		return text
	}
	if text := m.text("utterance"); text != "" {
		return text
	}
	if len(m.plain) > 0 {
		return m.plain[len(m.plain)-1]
	}
	return ""
}

// locale is the language to answer in: the one named, else the utterance's.
func (m material) locale() string {
	if locale := m.text("locale"); locale != "" {
		return locale
	}
	for _, r := range m.utterance() {
		if unicode.Is(unicode.Hangul, r) {
			return "ko"
		}
	}
	return "en"
}

// capabilities are the catalog's, as far as the question shows them. A list that is not the catalog's is none.
func (m material) capabilities() []catalog.Capability {
	var list []catalog.Capability
	if !reread(m.find("capabilities", listOf("id")), &list) {
		return nil
	}
	return list
}

// rooms are the device's own.
func (m material) rooms() []catalog.Room {
	var rooms []catalog.Room
	if !reread(m.find("rooms", listOf("name")), &rooms) {
		return nil
	}
	return rooms
}

// reread turns a decoded value into a type of ours, and reports whether that went well.
func reread(value, into any) bool {
	text, err := json.Marshal(value)
	return err == nil && json.Unmarshal(text, into) == nil
}
