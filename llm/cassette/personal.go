package cassette

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// reference matches what stands in the place of a personal string: its number in the request's list, and the form in which
// it stood there.
var reference = regexp.MustCompile(`\{\{personal:(\d+)(?::(\w+))?\}\}`)

// errUnrecognised means that an answer tells something personal in a form that cannot be taken out and put back.
var errUnrecognised = errors.New("the answer tells a personal string in a form that cannot be replaced")

// forms are the ways in which an answer may tell a string. "" is as it is.
var forms = map[string]func(string) string{
	"":      func(s string) string { return s },
	"lower": strings.ToLower,
	"json":  inJSON,
	"ascii": func(s string) string { return inASCII(s, `\u%04x`) },
	"ASCII": func(s string) string { return inASCII(s, `\u%04X`) },
}

// redact replaces every personal string in a text by a reference.
func redact(text string, personal []string) (string, error) {
	if reference.MatchString(text) {
		return "", fmt.Errorf("%w: it has something that looks like a reference", errUnrecognised)
	}
	type form struct{ told, reference string }
	var all []form
	for i, s := range personal {
		if s == "" {
			continue
		}
		for name, write := range forms {
			mark := fmt.Sprintf("{{personal:%d}}", i)
			if name != "" {
				mark = fmt.Sprintf("{{personal:%d:%s}}", i, name)
			}
			all = append(all, form{told: write(s), reference: mark})
		}
	}
	// The longest first, so that no string is replaced in the middle of another; among forms that are the same, the plain one.
	slices.SortFunc(all, func(a, b form) int {
		return cmp.Or(cmp.Compare(len(b.told), len(a.told)), cmp.Compare(a.told, b.told), cmp.Compare(len(a.reference), len(b.reference)),
			cmp.Compare(a.reference, b.reference))
	})
	pairs := make([]string, 0, 2*len(all))
	for _, f := range all {
		pairs = append(pairs, f.told, f.reference)
	}
	kept := strings.NewReplacer(pairs...).Replace(text)
	if tells(kept, personal) {
		return "", errUnrecognised
	}
	if whole, err := restore(kept, personal); err != nil || whole != text {
		return "", fmt.Errorf("%w: put back, it is not the same", errUnrecognised)
	}
	return kept, nil
}

// restore puts the personal strings back.
func restore(text string, personal []string) (string, error) {
	var failed error
	whole := reference.ReplaceAllStringFunc(text, func(mark string) string {
		found := reference.FindStringSubmatch(mark)
		i, err := strconv.Atoi(found[1])
		write := forms[found[2]]
		if err != nil || i >= len(personal) || write == nil {
			failed = fmt.Errorf("the recorded answer refers to %s, and the question has %d personal strings", mark, len(personal))
			return mark
		}
		return write(personal[i])
	})
	return whole, failed
}

// tells reports whether a text, or a string in it if it is JSON, still tells something personal, in whatever case.
func tells(text string, personal []string) bool {
	told := strings.ToLower(reference.ReplaceAllString(text, "\x00"))
	var value any
	if json.Unmarshal([]byte(text), &value) == nil {
		told += "\x00" + strings.ToLower(reference.ReplaceAllString(leaves(value), "\x00"))
	}
	return slices.ContainsFunc(personal, func(s string) bool { return s != "" && strings.Contains(told, strings.ToLower(s)) })
}

// leaves joins all strings of a JSON value, names included.
func leaves(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		all := ""
		for _, item := range v {
			all += leaves(item) + "\x00"
		}
		return all
	case map[string]any:
		all := ""
		for name, item := range v {
			all += name + "\x00" + leaves(item) + "\x00"
		}
		return all
	}
	return ""
}

// inJSON writes a string as it stands within a JSON string.
func inJSON(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil { // a string always encodes
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// inASCII writes what is not ASCII as escapes, as some models do.
func inASCII(s, escape string) string {
	var b strings.Builder
	for _, r := range inJSON(s) {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, escape, unit)
		}
	}
	return b.String()
}
