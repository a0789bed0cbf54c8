package border

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSegment bounds how much of a hostile key is shown in a path, in characters.
const maxSegment = 64

// Field extends a path by an object's field: Field("steps[1]", "id") is `steps[1].id`.
// A name that would be unreadable that way is quoted: `facts["a.b"]`.
func Field(path, name string) string {
	switch {
	case !plain(name):
		return path + "[" + strconv.Quote(shorten(name)) + "]"
	case path == "":
		return shorten(name)
	}
	return path + "." + shorten(name)
}

// Index extends a path by a list's position, from 0: Index("steps", 1) is `steps[1]`.
func Index(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

func plain(name string) bool {
	for _, r := range name {
		if r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return false
		}
	}
	return name != ""
}

func shorten(name string) string {
	if utf8.RuneCountInString(name) <= maxSegment {
		return name
	}
	return string([]rune(name)[:maxSegment]) + "…"
}

// before orders paths as a reader expects: field by field, list positions by number.
func before(a, b string) int {
	as, bs := strings.FieldsFunc(a, isJoint), strings.FieldsFunc(b, isJoint)
	for i := range min(len(as), len(bs)) {
		an, aerr := strconv.Atoi(as[i])
		bn, berr := strconv.Atoi(bs[i])
		switch {
		case aerr == nil && berr == nil && an != bn:
			return an - bn
		case as[i] != bs[i]:
			return strings.Compare(as[i], bs[i])
		}
	}
	return len(as) - len(bs)
}

func isJoint(r rune) bool { return r == '.' || r == '[' || r == ']' }
