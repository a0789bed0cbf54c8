package router

// An English command may come wrapped in politeness; the templates are written without it.

// askingPrefixes make a command of what is formally a question, and may have its mark.
var askingPrefixes = [][]string{
	{"can", "you"}, {"could", "you"}, {"would", "you"}, {"will", "you"},
}

// wishes come before a command.
var wishes = [][]string{
	{"i", "want", "you", "to"}, {"i", "would", "like", "you", "to"}, {"id", "like", "you", "to"}, {"i", "need", "you", "to"},
}

// thanks come after one.
var thanks = [][]string{{"for", "me"}, {"thanks"}, {"thank", "you"}, {"would", "you"}, {"will", "you"}}

// englishWords unwraps a command. The mark of a question is spent by a prefix that asks politely.
func englishWords(words []string, asked bool) ([]string, bool) {
	for _, tail := range thanks {
		if n := len(words) - len(tail); n > 0 && equal(words[n:], tail) {
			words = words[:n]
			asked = asked && tail[len(tail)-1] != "you" // "…, would you?"
		}
	}
	for _, prefix := range askingPrefixes {
		if len(words) > len(prefix) && equal(words[:len(prefix)], prefix) {
			return words[len(prefix):], false
		}
	}
	for _, prefix := range wishes {
		if len(words) > len(prefix) && equal(words[:len(prefix)], prefix) {
			return words[len(prefix):], asked
		}
	}
	return words, asked
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// englishRooms end the names that homes give their rooms: what else "go to …" may name is no room.
var englishRooms = []string{
	"room", "kitchen", "hall", "hallway", "office", "study", "garage", "balcony", "basement", "attic", "nursery", "den", "lounge", "corridor",
	"entrance", "terrace", "porch", "closet", "pantry", "laundry", "library", "floor", "upstairs", "downstairs",
}
