package cassette

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"errand/llm"
)

// fileVersion is the version of the files' format.
const fileVersion = 1

// exchange is one file: a question, by its hashes, and what became of it.
type exchange struct {
	Version int    `json:"version"`
	Hash    string `json:"hash"`
	// Purpose is the request's, for people.
	Purpose string `json:"purpose,omitempty"`
	// Question lists the parts of the question that the hash covers, so that a miss can say what differs.
	Question []part   `json:"question"`
	Answer   *answer  `json:"answer,omitempty"`
	Failure  *failure `json:"failure,omitempty"`
}

// part is one part of a question: how long it is, in bytes, and its hash.
type part struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

type answer struct {
	// Text is the answer's, with references for what is personal.
	Text string `json:"text"`
	llm.Meta
}

type failure struct {
	Kind   llm.Kind `json:"kind"`
	Status int      `json:"status,omitempty"`
	Detail string   `json:"detail,omitempty"`
	llm.Meta
}

// parts takes a question apart, always in the same order.
func parts(r llm.Request) ([]part, error) {
	list := []part{hashed("instructions", []byte(r.Instructions))}
	for i, text := range r.Contents {
		list = append(list, hashed(fmt.Sprintf("contents[%d]", i), []byte(text)))
	}
	for _, other := range []struct {
		name  string
		value any
	}{{"schema", r.Schema}, {"max_output_tokens", r.Limits.OrDefaults().MaxOutputTokens}, {"personal", r.Personal}} {
		text, err := json.Marshal(other.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", other.name, err)
		}
		list = append(list, hashed(other.name, text))
	}
	return list, nil
}

func hashed(name string, text []byte) part {
	sum := sha256.Sum256(text)
	return part{Name: name, Bytes: len(text), SHA256: hex.EncodeToString(sum[:])}
}

// key is the hash of a whole question: of the names, lengths and hashes of its parts.
func key(list []part) string {
	h := sha256.New()
	for _, p := range list {
		fmt.Fprintf(h, "%s %d %s\n", p.Name, p.Bytes, p.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

var notInNames = regexp.MustCompile(`[^a-z0-9_-]+`)

// fileName is the exchange's file: what it is for, and enough of the hash to be its own.
func (x *exchange) fileName() string {
	purpose := notInNames.ReplaceAllString(x.Purpose, "-")
	if purpose == "" {
		purpose = "question"
	}
	return purpose + "-" + x.Hash[:24] + ".json"
}
