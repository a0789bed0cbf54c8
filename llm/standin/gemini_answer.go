package standin

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"
)

// finishNumbers are the numbers of the ends, blockNumbers those of the reasons to refuse a question.
var (
	finishNumbers = map[string]int{"STOP": 1, "MAX_TOKENS": 2, "SAFETY": 3, "RECITATION": 4, "OTHER": 5, "LANGUAGE": 6,
		"BLOCKLIST": 7, "PROHIBITED_CONTENT": 8, "SPII": 9, "MALFORMED_FUNCTION_CALL": 10, "IMAGE_SAFETY": 11}
	blockNumbers = map[string]int{"SAFETY": 1, "OTHER": 2, "BLOCKLIST": 3, "PROHIBITED_CONTENT": 4}
)

// generated is the GenerateContentResponse of a reply.
func generated(q Question, r Reply, numbers bool) map[string]any {
	answer := map[string]any{"modelVersion": version(q), "responseId": "standin"}
	prompt := q.tokens()
	usage := map[string]any{"promptTokenCount": prompt, "totalTokenCount": prompt}
	answer["usageMetadata"] = usage
	switch {
	case r.block == nil:
	case *r.block == "":
		answer["promptFeedback"] = map[string]any{"blockReasonMessage": "The prompt was blocked."}
	default:
		answer["promptFeedback"] = map[string]any{"blockReason": enum(*r.block, blockNumbers, numbers), "safetyRatings": []any{}}
	}
	if r.none {
		return answer
	}
	r = r.within(q.MaxOutputTokens)
	content := map[string]any{"role": "model"}
	if len(r.parts) > 0 { // without a part there is no list of them
		content["parts"] = r.parts
	}
	output := tokens(r.text())
	usage["candidatesTokenCount"], usage["totalTokenCount"] = output, prompt+output
	answer["candidates"] = []any{map[string]any{"content": content, "finishReason": enum(r.finish, finishNumbers, numbers),
		"index": 0, "safetyRatings": []any{}}}
	return answer
}

// version never looks like a model's own.
func version(q Question) string { return q.Model + "-standin" }

// within cuts an answer off where its tokens end, as a model does.
func (r Reply) within(most int) Reply {
	text := r.text()
	if most <= 0 || tokens(text) <= most || r.finish != "STOP" {
		return r
	}
	end := most * bytesOfToken
	for !utf8.RuneStart(text[end]) { // never in the middle of a character
		end--
	}
	return CutOff(text[:end])
}

// enum writes a name, or its number for a client that asked for numbers. A name without a number stays a name.
func enum(name string, of map[string]int, numbers bool) any {
	if n, ok := of[name]; ok && numbers {
		return n
	}
	return name
}

// bytesOfToken says, roughly, how much of a text is a token. A Hangul syllable is three bytes.
const bytesOfToken = 4

// tokens counts a text's tokens.
func tokens(text string) int { return (len(text) + bytesOfToken - 1) / bytesOfToken }

func (q Question) tokens() int {
	n := tokens(q.Instructions)
	for _, text := range q.Contents {
		n += tokens(text)
	}
	return n
}

func writeRefusal(w http.ResponseWriter, r Reply) {
	e := r.refusal
	body := map[string]any{"code": e.code, "message": e.message, "status": e.status}
	if len(e.details) > 0 {
		body["details"] = e.details
	}
	writeJSON(w, e.code, map[string]any{"error": body})
}

func writeRaw(w http.ResponseWriter, r *rawBody) {
	w.Header().Set("Content-Type", r.contentType)
	w.WriteHeader(r.code)
	write(w, []byte(r.text))
}

func writeJSON(w http.ResponseWriter, code int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic("standin: an answer that is no JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)
	write(w, text)
}

// write ends the connection if the one who asked is gone.
func write(w http.ResponseWriter, text []byte) {
	if _, err := w.Write(text); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// drop promises more than it says, and closes the connection.
func drop(w http.ResponseWriter) {
	half := []byte(`{"candidates":[{"content":{"parts":[{"te`)
	w.Header().Set("Content-Length", strconv.Itoa(10*len(half)))
	w.WriteHeader(http.StatusOK)
	write(w, half)
	panic(http.ErrAbortHandler)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
