package standin

import (
	"encoding/json"
	"time"
)

// Reply is one answer of the server, good or bad. Make one with the functions below.
type Reply struct {
	delay time.Duration
	hang  bool
	drop  bool

	parts   []any // of the first candidate
	finish  string
	block   *string // the prompt's blockReason
	none    bool    // no candidates at all
	refusal *refusal
	raw     *rawBody
}

// refusal is an answer that is an error.
type refusal struct {
	code    int
	status  string // the API's name for the code
	message string
	details []any
	// retryAfter is what details say, for APIs that say it in a header.
	retryAfter time.Duration
	// kind is the OpenAI-compatible servers' word for it.
	kind string
}

type rawBody struct {
	code        int
	contentType string
	text        string
}

// Answer says a text and comes to its end.
func Answer(text string) Reply { return Reply{parts: []any{textPart(text)}, finish: "STOP"} }

// AnswerJSON says a value as JSON.
func AnswerJSON(value any) Reply {
	text, err := json.Marshal(value)
	if err != nil {
		panic("standin: a scripted answer that is no JSON: " + err.Error())
	}
	return Answer(string(text))
}

// AnswerInParts says a text in several parts, as long answers come.
func AnswerInParts(texts ...string) Reply {
	r := Reply{finish: "STOP"}
	for _, text := range texts {
		r.parts = append(r.parts, textPart(text))
	}
	return r
}

// Ending says a text and ends with the API's name for an end, such as "SAFETY", or one that no client knows yet.
func Ending(reason, text string) Reply {
	r := Reply{finish: reason, parts: []any{}}
	if text != "" {
		r.parts = append(r.parts, textPart(text))
	}
	return r
}

// CutOff says the beginning of an answer and ends since its tokens are spent; with "" there is not even a beginning.
func CutOff(text string) Reply { return Ending("MAX_TOKENS", text) }

// MalformedCall ends with a function call that the model could not write.
func MalformedCall() Reply { return Ending("MALFORMED_FUNCTION_CALL", "") }

// FunctionCalls answers with calls of these functions, at once.
func FunctionCalls(names ...string) Reply {
	r := Reply{finish: "STOP"}
	for _, name := range names {
		r.parts = append(r.parts, map[string]any{"functionCall": map[string]any{"name": name, "args": map[string]any{}}})
	}
	return r
}

// AnswerAmong says a text among parts that an old client does not know: a thought, which looks like text, a signature, a
// part with nothing in it, and one that no model should say and that makes the client give up. With "" there is no text.
func AnswerAmong(text string) Reply {
	r := Reply{finish: "STOP", parts: []any{
		map[string]any{"text": "**Thinking about it.** It is simple.", "thought": true},
		map[string]any{"thoughtSignature": "c3RhbmRpbg=="},
		map[string]any{"functionResponse": map[string]any{"name": "f", "response": map[string]any{}}}}}
	if text != "" {
		r.parts = append(r.parts, textPart(text))
	}
	r.parts = append(r.parts, map[string]any{})
	return r
}

// BlockedPrompt refuses the question, for a reason such as "SAFETY"; with "" it gives a message and no reason.
func BlockedPrompt(reason string) Reply { return Reply{block: &reason, none: true} }

// NoCandidates answers with nothing, and does not say why.
func NoCandidates() Reply { return Reply{none: true} }

// Raw answers with a body of any kind, such as a proxy's.
func Raw(code int, contentType, text string) Reply {
	return Reply{raw: &rawBody{code: code, contentType: contentType, text: text}}
}

// Hang never answers.
func Hang() Reply { return Reply{hang: true} }

// Drop closes the connection in the middle of the answer.
func Drop() Reply { return Reply{drop: true} }

// After lets the reply wait before it is given.
func (r Reply) After(wait time.Duration) Reply {
	r.delay = wait
	return r
}

func textPart(text string) any { return map[string]any{"text": text} }

// text is the reply's words alone.
func (r Reply) text() string {
	var all string
	for _, part := range r.parts {
		fields, _ := part.(map[string]any)
		if thought, _ := fields["thought"].(bool); !thought {
			words, _ := fields["text"].(string)
			all += words
		}
	}
	return all
}
