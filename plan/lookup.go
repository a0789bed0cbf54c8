package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"errand/catalog"
)

// BoundState names how things stand at some paths of a device's context: what a confirmation is bound to (design §6). It
// reads only what may decide something (package fresh). absent is the first path that the context does not have: then there
// is no version, since what nobody knows is the same as nothing (law 17).
func BoundState(context map[string]any, paths []string) (version, absent string) {
	if len(paths) == 0 {
		return "", ""
	}
	values := make([]any, len(paths))
	for i, path := range paths {
		value, ok := at(map[string]any{"context": context}, path)
		if !ok {
			return "", path
		}
		values[i] = value
	}
	raw, err := json.Marshal([]any{paths, values})
	if err != nil { // a context is JSON: it came as such
		return "", paths[0]
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16]), ""
}

// at follows a path of names, such as "context.security.state".
func at(tree map[string]any, path string) (any, bool) {
	var value any = tree
	for name := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[name]; !ok {
			return nil, false
		}
	}
	return value, value != nil
}

// Objects lists the objects of an area that fit what a step says about them, in the device's order, each with what a person
// tells it by. known is false if the context does not say what there is.
func Objects(context map[string]any, object *catalog.Object, arguments map[string]any, locale string) (found []Target, known bool) {
	area, _ := context[object.Area].(map[string]any)
	items, known := area["items"].([]any)
	for _, item := range items {
		fields, _ := item.(map[string]any)
		id, _ := fields["id"].(string)
		if id == "" || !matches(fields, object.Match, arguments) {
			continue
		}
		revision, _ := fields["revision"].(string)
		found = append(found, Target{ID: id, Revision: revision, Label: catalog.Render(object.Choice.In(locale), spoken(locale, fields))})
	}
	return distinct(found), known
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
		return a == b
	}
	return plainText(x) == plainText(y)
}

func plainText(s string) string {
	return strings.TrimSpace(cases.Fold().String(norm.NFC.String(s)))
}

// distinct numbers the labels that are the same, so that a person can tell every two apart.
func distinct(found []Target) []Target {
	count := map[string]int{}
	for _, t := range found {
		count[t.Label]++
	}
	nth := map[string]int{}
	for i, t := range found {
		if count[t.Label] > 1 {
			nth[t.Label]++
			found[i].Label = fmt.Sprintf("%s (%d)", t.Label, nth[t.Label])
		}
	}
	return found
}

// ObjectState is whether an object is there.
type ObjectState int

// The states of an object in a context.
const (
	ObjectThere  ObjectState = iota
	ObjectGone               // its area is told, and it is not in it
	ObjectUntold             // nobody tells what there is
)

// Revision is the revision of an object now.
func Revision(context map[string]any, area, id string) (revision string, state ObjectState) {
	all, known := Objects(context, &catalog.Object{Area: area}, nil, "")
	if !known {
		return "", ObjectUntold
	}
	for _, t := range all {
		if t.ID == id {
			return t.Revision, ObjectThere
		}
	}
	return "", ObjectGone
}
