package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"errand/llm"
)

// reply is the part of a GenerateContentResponse, or of an error, that the library does not tell in full.
type reply struct {
	Candidates []struct {
		FinishReason  finishReason `json:"finishReason"`
		FinishMessage string       `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason        json.RawMessage `json:"blockReason"`
		BlockReasonMessage string          `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage struct {
		Prompt   int `json:"promptTokenCount"`
		Output   int `json:"candidatesTokenCount"`
		Thoughts int `json:"thoughtsTokenCount"`
		Total    int `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	ModelVersion string    `json:"modelVersion"`
	Error        *apiError `json:"error"`
}

// finish is the end of the answer in the words of every model.
func (r *reply) finish() llm.Finish {
	switch {
	case r.blockedPrompt():
		return llm.FinishBlocked
	case len(r.Candidates) == 0:
		return ""
	}
	reason := r.Candidates[0].FinishReason
	switch {
	case reason == "STOP":
		return llm.FinishStop
	case reason == "MAX_TOKENS":
		return llm.FinishCutOff
	case slices.Contains(blockingReasons, reason):
		return llm.FinishBlocked
	case reason == "":
		return llm.FinishUnknown
	}
	return llm.Finish(reason)
}

// blockedPrompt reports whether the question itself was refused. The reason may be a number, of which 0 is none, or missing
// where there is a message.
func (r *reply) blockedPrompt() bool {
	switch string(r.PromptFeedback.BlockReason) {
	case "", "null", "0", `"BLOCK_REASON_UNSPECIFIED"`:
		return r.PromptFeedback.BlockReasonMessage != ""
	}
	return true
}

// message is what the server says of an end besides its name.
func (r *reply) message() string {
	if len(r.Candidates) == 0 {
		return ""
	}
	return r.Candidates[0].FinishMessage
}

// onlyText takes out of an answer every part that is not the model's text. The library takes a thought for text, and gives
// up at parts that are newer than itself. A body that is no answer stays as it is.
func onlyText(body []byte) []byte {
	var answer map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		return body
	}
	candidates, _ := answer["candidates"].([]any)
	for _, candidate := range candidates {
		fields, _ := candidate.(map[string]any)
		content, _ := fields["content"].(map[string]any)
		if parts, ok := content["parts"].([]any); ok {
			content["parts"] = slices.DeleteFunc(parts, func(part any) bool { return !isText(part) })
		}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return body
	}
	return text
}

func isText(part any) bool {
	fields, _ := part.(map[string]any)
	_, words := fields["text"].(string)
	thought, _ := fields["thought"].(bool)
	return words && !thought
}

// finishReason is the API's name for an end. On the wire it is the name, or its number where the client asked for numbers.
type finishReason string

// finishReasons are the API's names in the order of their numbers.
var finishReasons = []finishReason{"", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "LANGUAGE", "BLOCKLIST",
	"PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY"}

// blockingReasons are the ends at which a rule, not the model, ended the answer.
var blockingReasons = []finishReason{"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}

// UnmarshalJSON reads a name or a number; a number newer than we are becomes a name that no one knows.
func (f *finishReason) UnmarshalJSON(text []byte) error {
	var number int
	if err := json.Unmarshal(text, &number); err == nil {
		if *f = finishReason(fmt.Sprintf("FINISH_REASON_%d", number)); number >= 0 && number < len(finishReasons) {
			*f = finishReasons[number]
		}
		return nil
	}
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return fmt.Errorf("finishReason: %w", err)
	}
	if *f = finishReason(name); name == "FINISH_REASON_UNSPECIFIED" {
		*f = ""
	}
	return nil
}
