package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Untold is why nobody can tell which objects there are: at a path, the device's context says nothing, or something that
// could stand for more than one thing. What nobody can tell is the same as nothing (law 17).
type Untold struct{ Path, Why string }

// Error gives the path and what is wrong there.
func (u *Untold) Error() string { return u.Path + " " + u.Why }

func absent(path string) *Untold { return &Untold{path, "is not in the device's context, or is stale"} }

// BoundState names how things stand at some paths of a device's context: what a confirmation is bound to (design §6). It
// reads only what may decide something (package fresh). Where the context lacks one of the paths there is no version.
func BoundState(context map[string]any, paths []string) (version string, untold *Untold) {
	if len(paths) == 0 {
		return "", nil
	}
	values := make([]any, len(paths))
	for i, path := range paths {
		value, ok := at(map[string]any{"context": context}, path)
		if !ok {
			return "", absent(path)
		}
		values[i] = value
	}
	raw, err := json.Marshal([]any{paths, values})
	if err != nil { // a context is JSON: it came as such
		return "", absent(paths[0])
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16]), nil
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
