package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// clean makes text from outside safe to print on a terminal: a control character in it could move the cursor or
// rewrite what is there. New lines stay.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\u202e' || r == '\u2066') {
			return '\ufffd'
		}
		return r
	}, s)
}

// value shows a JSON value on one line.
func value(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return clean(string(text))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return clean(s)
}
