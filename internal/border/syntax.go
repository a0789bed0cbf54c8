package border

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// checkSyntax says where the JSON is broken, or nil.
func checkSyntax(data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return Faults{{Code: "bad_json", Message: "the document is empty: send one JSON value"}}
	}
	var whole json.RawMessage
	err := json.Unmarshal(data, &whole)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &syntax):
		return Faults{{Code: "bad_json", Message: "not JSON: " + err.Error()}}
	}
	// Offset counts the bytes read, the offending one included.
	at := max(0, int(syntax.Offset)-1)
	return Faults{{Code: "bad_json", Message: place(data, at) + ": not JSON: " + syntax.Error()}}
}

// place names a byte offset for a person: line and column from 1, the column in characters.
func place(data []byte, at int) string {
	head := data[:min(at, len(data))]
	line := bytes.Count(head, []byte{'\n'}) + 1
	column := utf8.RuneCount(head[bytes.LastIndexByte(head, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// firstInvalidUTF8 finds the first byte that is not UTF-8; ok is true if there is none.
func firstInvalidUTF8(data []byte) (at int, ok bool) {
	if utf8.Valid(data) {
		return 0, true
	}
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			return at, false
		}
		at += size
	}
	return 0, true
}

// hasLoneSurrogate looks for a \u escape that is half a character. encoding/json would silently put U+FFFD there,
// and two different names would become one.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first, ok := escape(raw[i:])
		if !ok {
			i++ // a short escape such as \n or \\
			continue
		}
		i += 5
		if !utf16.IsSurrogate(first) {
			continue
		}
		second, ok := escape(raw[i+1:])
		if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// escape reads `\uXXXX` at the start of b.
func escape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
