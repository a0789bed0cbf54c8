package router

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"errand/catalog"
)

// longestMarker bounds the words that may begin a follow-up.
const longestMarker = 5

// FollowUp tells whether a sentence adds to what is under way, by the words that it begins with ("그리고", "끝나면", "and
// then"), and what it asks for without them: "그리고 거실도 청소해줘" asks for "거실 청소해줘" too.
//
// "Too" is taken off as well, where it follows a room that the device has, or ends an English sentence.
func FollowUp(c *catalog.Catalog, text string, rooms []catalog.Room) (wish string, ok bool) {
	text = norm.NFC.String(text)
	fields := strings.Fields(text)
	if utf8.RuneCountInString(text) > maxRunes {
		return "", false
	}
	for n := min(len(fields)-1, longestMarker); n > 0; n-- {
		if marks(c, strings.Join(fields[:n], " ")) {
			return withoutToo(strings.Join(fields[n:], " "), rooms), true
		}
	}
	return "", false
}

// marks reports whether words are one of the catalog's that begin a follow-up.
func marks(c *catalog.Catalog, text string) bool {
	words, asked := read(text)
	if asked {
		return false
	}
	for _, language := range []string{"ko", "en"} {
		for _, template := range c.Controls["follow_up"][language] {
			if len(readTemplate(template, language, []sentence{join(words, false)}, nil)) > 0 {
				return true
			}
		}
	}
	return false
}

// tooWords end an English follow-up.
var tooWords = []string{" too", " as well", " also"}

func withoutToo(wish string, rooms []catalog.Room) string {
	for _, room := range rooms {
		if name := norm.NFC.String(room.Name); name != "" {
			wish = strings.ReplaceAll(wish, name+"도 ", name+" ")
		}
	}
	bare := strings.TrimRight(wish, " .!,~")
	for _, too := range tooWords {
		if at := len(bare) - len(too); at >= 0 && strings.EqualFold(bare[at:], too) {
			return strings.TrimRight(bare[:at], " ,")
		}
	}
	return wish
}
