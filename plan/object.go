package plan

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"errand/catalog"
	"errand/internal/border"
)

// Bounds of what a device says about its objects: it enters a plan's history, and a person has to hear it.
const (
	// maxObjectID bounds an object's id and its revision, in characters.
	maxObjectID = 128
	// maxLabel bounds what a person tells an object by, in characters.
	maxLabel = 80
)

// Objects lists the objects of an area that fit what a step says about them, in the device's order, each with what a person
// tells it by. There may be thousands: listed are those that a person can be asked about, one more that tells that there are
// more, and the named one, by its id.
//
// One that fits and has no usable id or revision, or an id that another has too, leaves it unknown which are meant: to leave it
// out would make the only one of what is left.
func Objects(context map[string]any, object *catalog.Object, named string, arguments map[string]any, locale string) ([]Target, *Untold) {
	items, path, untold := objectsOf(context, object.Area)
	if untold != nil {
		return nil, untold
	}
	var found []Target
	alike := idsOf(items)
	for i, item := range items {
		fields, _ := item.(map[string]any)
		if !matches(fields, object.Match, arguments) {
			continue
		}
		t, untold := targetOf(fields, alike, border.Index(path, i))
		if untold != nil {
			return nil, untold
		}
		if len(found) > maxChoices && t.ID != named {
			continue
		}
		if t.Label = labelOf(object, locale, fields); t.Label == "" {
			t.Label = t.ID
		}
		found = append(found, t)
	}
	return distinct(found), nil
}

// objectsOf is the list of an area's objects, and where it is.
func objectsOf(context map[string]any, area string) (items []any, path string, untold *Untold) {
	path = "context." + area + ".items"
	fields, _ := context[area].(map[string]any)
	items, known := fields["items"].([]any)
	if !known {
		return nil, path, absent(path)
	}
	return items, path, nil
}

// idsOf counts how many objects have an id.
func idsOf(items []any) map[string]int {
	count := make(map[string]int, len(items))
	for _, item := range items {
		fields, _ := item.(map[string]any)
		if id, ok := fields["id"].(string); ok {
			count[id]++
		}
	}
	return count
}

// targetOf reads one object, as far as it can be told from every other.
func targetOf(fields map[string]any, alike map[string]int, path string) (Target, *Untold) {
	id, _ := fields["id"].(string)
	revision, _ := fields["revision"].(string)
	switch {
	case !usableID(id):
		return Target{}, &Untold{path + ".id", fmt.Sprintf("must be a text of 1 to %d printable characters", maxObjectID)}
	case id == choiceNone:
		return Target{}, &Untold{path + ".id", fmt.Sprintf("is %q, the answer that none of them is meant", id)}
	case alike[id] > 1:
		return Target{}, &Untold{path + ".id", fmt.Sprintf("is the id of %d of them", alike[id])}
	case !usableID(revision):
		return Target{}, &Untold{path + ".revision", fmt.Sprintf("must be a text of 1 to %d printable characters", maxObjectID)}
	}
	return Target{ID: id, Revision: revision}, nil
}

func usableID(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= maxObjectID && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// labelOf is what a person tells an object by: in one line, short enough to be said, without anything that cannot be seen.
func labelOf(object *catalog.Object, locale string, fields map[string]any) string {
	seen := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, catalog.Render(object.Choice.In(locale), spoken(locale, fields)))
	label := []rune(strings.Join(strings.Fields(seen), " "))
	if len(label) > maxLabel {
		return string(label[:maxLabel-1]) + "…"
	}
	return string(label)
}

func matches(fields map[string]any, match map[string]string, arguments map[string]any) bool {
	for slot, field := range match {
		if wanted, given := arguments[slot]; given && !same(fields[field], wanted) {
			return false
		}
	}
	return true
}

// same compares what a person said with what a device has: texts in one spelling of Hangul (case c14), without regard to case
// and outer spaces.
func same(a, b any) bool {
	x, isText := a.(string)
	y, alsoText := b.(string)
	if !isText || !alsoText {
		return reflect.DeepEqual(a, b)
	}
	return plainText(x) == plainText(y)
}

func plainText(s string) string {
	return strings.TrimSpace(cases.Fold().String(norm.NFC.String(s)))
}

// distinct numbers the labels that are the same, so that a person can tell every two apart.
func distinct(found []Target) []Target {
	count, taken := map[string]int{}, map[string]bool{}
	for _, t := range found {
		count[t.Label]++
		taken[t.Label] = true
	}
	nth := map[string]int{}
	for i, t := range found {
		for label := t.Label; count[label] > 1 && taken[found[i].Label]; {
			nth[label]++
			found[i].Label = fmt.Sprintf("%s (%d)", label, nth[label])
		}
		taken[found[i].Label] = true
	}
	return found
}

// Revision is the revision of an object now; there is false if its area is told, and it is not in it.
func Revision(context map[string]any, area, id string) (revision string, there bool, untold *Untold) {
	items, path, untold := objectsOf(context, area)
	if untold != nil {
		return "", false, untold
	}
	for i, item := range items {
		if fields, _ := item.(map[string]any); fields["id"] == id {
			t, untold := targetOf(fields, idsOf(items), border.Index(path, i))
			return t.Revision, true, untold
		}
	}
	return "", false, nil
}
