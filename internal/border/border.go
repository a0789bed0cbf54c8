// Package border reads documents that come from outside: JSON with limits, without duplicate keys, in Unicode NFC,
// checked against a JSON Schema. Everything wrong is reported at once, each fault with the path of its field.
package border

import "strings"

// Fault is one thing wrong with a document.
type Fault struct {
	// Path names the field, e.g. `steps[1].input_from.arrival`; "" is the document itself.
	Path string `json:"path"`
	// Code is a short, stable name: unknown_capability, duplicate_key, too_long, ...
	Code string `json:"code"`
	// Message is a sentence: what is wrong, and what to do.
	Message string `json:"message"`
}

func (f Fault) String() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// Faults is every fault of a document, in document order. It is an error; test with errors.As.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the faults as an error, or nil if there are none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}
