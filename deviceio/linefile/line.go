package linefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumLen is 8 hex digits and a space.
const checksumLen = 9

// Append adds body, which must marshal to an object or a list, as one line.
func Append(to []byte, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return to, fmt.Errorf("write a record: %w", err)
	}
	to = append(to, checksum(text)+" "...)
	return append(append(to, text...), '\n'), nil
}

func checksum(text []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) }

// Parse reads one line without its newline and returns its JSON text, or says what is wrong with it.
func Parse(line []byte) (body []byte, why string) {
	if len(line) <= checksumLen || line[checksumLen-1] != ' ' {
		return nil, "the line is not a checksum, a space and JSON"
	}
	body = line[checksumLen:]
	if string(line[:checksumLen-1]) != checksum(body) {
		return nil, "the checksum does not fit the line"
	}
	return body, ""
}

// Damage says that a file is damaged where no crash of its writer can have damaged it.
type Damage struct {
	Offset int64 // byte at which the bad line starts
	Why    string
}

// Read goes through a whole file and hands take each line's JSON text, with the byte at which the line starts; take says what is
// wrong with a text that cannot follow the ones before it. end is where the whole lines end: what is behind it is a torn
// write. Only the last line may be bad: it was being written when the power went. Anything else bad is damage, and so is a
// file without its first line, which is created whole.
func Read(content []byte, take func(at int64, body []byte) (why string)) (end int64, damage *Damage) {
	for rest := content; len(rest) > 0; rest = content[end:] {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		if !whole && !swallows(line) {
			break
		}
		body, why := Parse(line)
		if why == "" {
			why = take(end, body)
		}
		switch {
		case why != "" && (len(after) > 0 || end == 0 || swallows(line)):
			return end, &Damage{end, why}
		case why != "":
			return end, nil
		}
		end = int64(len(content) - len(after))
	}
	if end == 0 {
		return 0, &Damage{0, fmt.Sprintf("its %d bytes hold no header", len(content))}
	}
	return end, nil
}

// swallows tells whether a bad last line begins with a whole record and goes on behind it. A torn write is the
// beginning of one line; this is two lines whose newline was damaged, and the first had been promised.
func swallows(line []byte) bool {
	if len(line) <= checksumLen {
		return false
	}
	body := line[checksumLen:]
	var sum uint32
	for i := range max(len(body)-2, 0) {
		sum = crc32.Update(sum, castagnoli, body[i:i+1])
		if (body[i] == '}' || body[i] == ']') && fmt.Sprintf("%08x", sum) == string(line[:checksumLen-1]) {
			return true
		}
	}
	return false
}
