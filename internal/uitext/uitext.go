// Package uitext makes text fit for Temporal's web UI. A summary there is one line of a limited size, and details are
// Markdown: what came from a person, a device or a catalog is shown as it is, and nothing in it counts as markup.
package uitext

import (
	"encoding/json"
	"strings"
)

// Temporal allows 400 bytes for a summary, wrapped as a payload: that is the JSON and up to 30 bytes more.
const (
	lineRunes = 120
	lineBytes = 370
)

// Line is text as a summary: one line, cut where it is too long.
func Line(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if fits(runes) {
		return string(runes)
	}
	runes = runes[:min(len(runes), lineRunes-1)]
	for !fits(append(runes, '…')) {
		runes = runes[:len(runes)-1]
	}
	return string(append(runes, '…'))
}

func fits(runes []rune) bool {
	encoded, err := json.Marshal(string(runes))
	return err == nil && len(runes) <= lineRunes && len(encoded) <= lineBytes
}

// markup is every character that would begin markup inside a line or a table's cell. An underscore is none inside a word,
// and names are full of them.
var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "|", `\|`,
	"~", `\~`, "&", `\&`, "$", `\$`, "\r", " ", "\n", " ")

// Plain is text in Markdown, in a line or a table's cell.
func Plain(text string) string { return markup.Replace(text) }

// Code is text in Markdown as code, for what is to be copied or told from the words around it; not for a table's cell.
func Code(text string) string {
	text = strings.NewReplacer("\r", " ", "\n", " ").Replace(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || text == "" {
		text = " " + text + " "
	}
	return fence + text + fence
}
