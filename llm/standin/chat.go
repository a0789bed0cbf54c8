package standin

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// The chat completions of OpenAI-compatible servers: the same replies in another language.

func (s *Server) chatRoutes() {
	s.mux.HandleFunc("POST /v1/chat/completions", s.chat)
	s.mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		models := []any{}
		for _, name := range s.options.Models {
			models = append(models, map[string]any{"id": name, "object": "model", "owned_by": "standin"})
		}
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": models})
	})
}

type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	Temperature         *float64 `json:"temperature"`
	Format              struct {
		Schema struct {
			Schema any `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	var c chatRequest
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case s.options.Key != "" && key != s.options.Key: // without one, the local servers ask for none
		refuseChat(w, refusal{code: http.StatusUnauthorized, message: "Incorrect API key provided.", kind: "invalid_api_key"})
		return
	case err != nil:
		refuseChat(w, *BadRequest(err.Error()).refusal)
		return
	case !s.has(c.Model, ""):
		refuseChat(w, *NotFound(c.Model).refusal)
		return
	}
	q := Question{Model: c.Model, Schema: readSchema(c.Format.Schema.Schema), MaxOutputTokens: max(c.MaxTokens, c.MaxCompletionTokens),
		Temperature: c.Temperature, Body: body, Header: r.Header.Clone()}
	for _, m := range c.Messages {
		if m.Role == "system" {
			q.Instructions = m.Content
		} else {
			q.Contents = append(q.Contents, m.Content)
		}
	}
	s.converse(w, r, q)
}

func (s *Server) converse(w http.ResponseWriter, r *http.Request, q Question) {
	reply := s.reply(q)
	if !s.hold(r.Context(), reply) {
		panic(http.ErrAbortHandler)
	}
	switch {
	case reply.drop:
		drop(w)
	case reply.raw != nil:
		writeRaw(w, reply.raw)
	case reply.refusal != nil:
		refuseChat(w, *reply.refusal)
	default:
		writeJSON(w, http.StatusOK, completion(q, reply))
	}
}

func completion(q Question, r Reply) map[string]any {
	r = r.within(q.MaxOutputTokens)
	prompt, output := q.tokens(), tokens(r.text())
	answer := map[string]any{"id": "standin", "object": "chat.completion", "created": 0, "model": version(q), "choices": []any{},
		"usage": map[string]any{"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}}
	if r.block != nil {
		r.finish = "SAFETY" // there is no word for a blocked question
	} else if r.none {
		return answer
	}
	answer["choices"] = []any{map[string]any{"index": 0, "finish_reason": chatFinish(r.finish),
		"message": map[string]any{"role": "assistant", "content": r.text()}}}
	return answer
}

func chatFinish(reason string) string {
	switch reason {
	case "STOP":
		return "stop"
	case "MAX_TOKENS":
		return "length"
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		return "content_filter"
	}
	return strings.ToLower(reason)
}

func refuseChat(w http.ResponseWriter, e refusal) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.retryAfter.Seconds()))))
	}
	writeJSON(w, e.code, map[string]any{"error": map[string]any{"message": e.message, "type": e.kind, "code": e.kind}})
}
