package border

// Limits bounds one document. A breach of Bytes, Depth, List or Keys stops the reading at once: what comes
// after is not worth the time. Too long strings are all reported. Every field must be positive.
type Limits struct {
	// Bytes is the size of the whole document. Default 1 MiB.
	Bytes int
	// Depth is how many objects and lists may be inside one another. Default 32.
	Depth int
	// StringRunes is the length of one string or key, in characters after NFC. Default 10,000.
	StringRunes int
	// List is the number of items of one list. Default 1,000.
	List int
	// Keys is the number of fields of one object. Default 1,000.
	Keys int
}

// DefaultLimits fits every document of the contract with room to spare.
var DefaultLimits = Limits{Bytes: 1 << 20, Depth: 32, StringRunes: 10_000, List: 1_000, Keys: 1_000}

// maxFaults bounds the report itself: nobody reads the hundred-and-first fault of a document.
const maxFaults = 100
