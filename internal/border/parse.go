package border

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Parse reads one JSON document into a tree of map[string]any, []any, string, float64, bool and nil.
// Every string and key comes out in NFC, so that "안방" typed as loose jamo is the same room (case c14).
//
// It refuses, with Faults: broken JSON (with line and column), anything after the document, invalid UTF-8, half a
// surrogate pair, duplicate keys (also those that only NFC makes equal), a breach of the limits, and numbers that a
// float64 cannot hold: too large, or a whole number that would be rounded (a rounded `seq` would be another event).
func Parse(data []byte, lim Limits) (any, error) {
	if len(data) > lim.Bytes {
		return nil, Faults{{Code: "too_large", Message: fmt.Sprintf(
			"the document has %d bytes, may have %d: send less", len(data), lim.Bytes)}}
	}
	if at, ok := firstInvalidUTF8(data); !ok {
		return nil, Faults{{Code: "bad_utf8", Message: place(data, at) + ": a byte is not UTF-8: encode the document as UTF-8"}}
	}
	r := newReader(data, lim)
	tree, err := r.value("", 0)
	if err == nil || errors.Is(err, errBroken) {
		// The token reader is lenient about where it stops, so the whole document's syntax is judged in one place.
		if syntax := checkSyntax(data); syntax != nil {
			return nil, syntax
		}
	}
	if errors.Is(err, errBroken) {
		return nil, Faults{{Code: "bad_json", Message: "not JSON: it cannot be read as one value"}}
	}
	if err != nil || len(r.faults) > 0 {
		return nil, r.faults.Err()
	}
	return tree, nil
}

// errStop ends the reading after a fault that makes the rest worthless; errBroken says that the JSON itself is.
var (
	errStop   = errors.New("stop reading")
	errBroken = errors.New("broken JSON")
)

// reader walks the tokens of one document and collects faults with their paths.
type reader struct {
	data   []byte
	dec    *json.Decoder
	lim    Limits
	faults Faults
}

func newReader(data []byte, lim Limits) *reader {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return &reader{data: data, dec: dec, lim: lim}
}

// fault records one fault; it fails once the report is full.
func (r *reader) fault(path, code, format string, args ...any) error {
	r.faults = append(r.faults, Fault{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
	if len(r.faults) >= maxFaults {
		return errStop
	}
	return nil
}

// stop records a fault that ends the reading.
func (r *reader) stop(path, code, format string, args ...any) error {
	r.faults = append(r.faults, Fault{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
	return errStop
}

func (r *reader) value(path string, depth int) (any, error) {
	token, raw, err := r.token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		if depth >= r.lim.Depth {
			return nil, r.stop(path, "too_deep", "is nested more than %d deep: flatten it", r.lim.Depth)
		}
		if v == '{' {
			return r.object(path, depth+1)
		}
		return r.list(path, depth+1)
	case string:
		return r.text(path, v, raw)
	case json.Number:
		return r.number(path, v)
	}
	return token, nil // true, false, null
}

func (r *reader) object(path string, depth int) (any, error) {
	object := make(map[string]any)
	spelling := make(map[string]string) // NFC key → as sent
	for r.dec.More() {
		token, raw, err := r.token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, errBroken
		}
		if len(spelling) >= r.lim.Keys {
			return nil, r.stop(path, "too_many", "has more than %d fields", r.lim.Keys)
		}
		name, err := r.text(Field(path, key), key, raw)
		if err != nil {
			return nil, err
		}
		field := Field(path, name)
		if err := r.unique(spelling, name, key, field); err != nil {
			return nil, err
		}
		if object[name], err = r.value(field, depth); err != nil {
			return nil, err
		}
	}
	return object, r.close()
}

// unique faults a key that the object already has, however it was spelled the first time.
func (r *reader) unique(spelling map[string]string, name, key, path string) error {
	first, again := spelling[name]
	spelling[name] = key
	switch {
	case !again:
		return nil
	case first == key:
		return r.fault(path, "duplicate_key", "is given twice: keep one")
	}
	return r.fault(path, "duplicate_key", "is given twice, in two Unicode spellings of the same text: keep one")
}

func (r *reader) list(path string, depth int) (any, error) {
	list := make([]any, 0)
	for r.dec.More() {
		if len(list) >= r.lim.List {
			return nil, r.stop(path, "too_many", "has more than %d items", r.lim.List)
		}
		item, err := r.value(Index(path, len(list)), depth)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, r.close()
}

// text brings a string to NFC and checks its length and its escapes.
func (r *reader) text(path, s string, raw []byte) (string, error) {
	if hasLoneSurrogate(raw) {
		if err := r.fault(path, "bad_text", "holds half of a surrogate pair (\\ud800 to \\udfff): send the whole character"); err != nil {
			return "", err
		}
	}
	s = norm.NFC.String(s)
	if n := utf8.RuneCountInString(s); n > r.lim.StringRunes {
		return s, r.fault(path, "too_long", "has %d characters, may have %d", n, r.lim.StringRunes)
	}
	return s, nil
}

func (r *reader) number(path string, n json.Number) (any, error) {
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		return nil, r.fault(path, "bad_number", "is too large a number for 64 bits")
	}
	whole := !strings.ContainsAny(n.String(), ".eE")
	if whole && strconv.FormatFloat(f, 'f', 0, 64) != n.String() {
		return nil, r.fault(path, "bad_number", "is a whole number that would be rounded to %.0f: send it as a string", f)
	}
	return f, nil
}

// token returns the next token with the bytes it was read from (and the space and punctuation before it).
func (r *reader) token() (json.Token, []byte, error) {
	start := r.dec.InputOffset()
	token, err := r.dec.Token()
	if err != nil {
		return nil, nil, errBroken
	}
	return token, r.data[start:r.dec.InputOffset()], nil
}

// close takes the closing bracket.
func (r *reader) close() error {
	_, _, err := r.token()
	return err
}
