package standin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"errand/llm"
)

// maxBody bounds a request in bytes; the API's own bound is 20 MiB.
const maxBody = 20 << 20

func (s *Server) geminiRoutes() {
	s.mux.HandleFunc("POST /v1beta/models/{call}", s.withKey(s.modelCall))
	s.mux.HandleFunc("GET /v1beta/models", s.withKey(func(w http.ResponseWriter, _ *http.Request) {
		models := []any{}
		for _, name := range s.options.Models {
			models = append(models, modelInfo(name))
		}
		writeJSON(w, http.StatusOK, map[string]any{"models": models})
	}))
	s.mux.HandleFunc("GET /v1beta/models/{model}", s.withKey(func(w http.ResponseWriter, r *http.Request) {
		if name := r.PathValue("model"); s.has(name, "gemini") {
			writeJSON(w, http.StatusOK, modelInfo(name))
		} else {
			writeRefusal(w, NotFound(name))
		}
	}))
	s.mux.HandleFunc("/v1beta/", func(w http.ResponseWriter, r *http.Request) {
		writeRefusal(w, refuse(refusal{code: http.StatusNotFound, status: "NOT_FOUND", message: "There is nothing at " + r.URL.Path}))
	})
}

func modelInfo(name string) any {
	return map[string]any{"name": "models/" + name, "version": "standin", "displayName": name,
		"inputTokenLimit": 1048576, "outputTokenLimit": 65536, "supportedGenerationMethods": []string{"generateContent", "countTokens"}}
}

// withKey refuses a request without a key, or with a wrong one. The key is in the query or in a header.
func (s *Server) withKey(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Goog-Api-Key")
		if key == "" {
			key = r.URL.Query().Get("key")
		}
		switch {
		case key == "":
			writeRefusal(w, Forbidden())
		case !s.keyIs(key):
			writeRefusal(w, WrongKey())
		default:
			next(w, r)
		}
	}
}

func (s *Server) modelCall(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeRefusal(w, BadRequest("Request payload size exceeds the limit: 20971520 bytes."))
		return
	}
	if !s.has(model, "gemini") {
		writeRefusal(w, NotFound(model))
		return
	}
	q, fault := readGenerate(body)
	if fault != "" {
		writeRefusal(w, BadRequest(fault))
		return
	}
	q.Model, q.Header = model, r.Header.Clone()
	switch method {
	case "generateContent":
		s.generate(w, r, q)
	case "countTokens":
		writeJSON(w, http.StatusOK, map[string]any{"totalTokens": q.tokens()})
	default:
		writeRefusal(w, refuse(refusal{code: http.StatusNotFound, status: "NOT_FOUND", message: "There is no method " + method + " here"}))
	}
}

func (s *Server) generate(w http.ResponseWriter, r *http.Request, q Question) {
	reply := s.reply(q)
	if !s.hold(r.Context(), reply) {
		panic(http.ErrAbortHandler) // nobody listens, or the server closes: no answer at all
	}
	numbers := strings.Contains(r.URL.Query().Get("$alt"), "enum-encoding=int") && !s.options.NamedEnums
	switch {
	case reply.drop:
		drop(w)
	case reply.raw != nil:
		writeRaw(w, reply.raw)
	case reply.refusal != nil:
		writeRefusal(w, reply)
	default:
		writeJSON(w, http.StatusOK, generated(q, reply, numbers))
	}
}

// requestFields are the names that a GenerateContentRequest may have.
var requestFields = []string{"model", "contents", "systemInstruction", "generationConfig", "tools", "toolConfig", "safetySettings",
	"cachedContent"}

// request is the part of a GenerateContentRequest that is looked at.
type request struct {
	Contents          []turn  `json:"contents"`
	SystemInstruction turn    `json:"systemInstruction"`
	Config            *config `json:"generationConfig"`
}

type turn struct {
	Role  string `json:"role"`
	Parts []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

type config struct {
	ResponseMIMEType string   `json:"responseMimeType"`
	ResponseSchema   any      `json:"responseSchema"`
	MaxOutputTokens  int      `json:"maxOutputTokens"`
	Temperature      *float64 `json:"temperature"`
}

func (t turn) texts() []string {
	var texts []string
	for _, part := range t.Parts {
		texts = append(texts, part.Text)
	}
	return texts
}

// readGenerate reads a request, or says what is wrong with it in the API's words.
func readGenerate(body []byte) (q Question, fault string) {
	var fields map[string]any
	var r request
	if err := errors.Join(json.Unmarshal(body, &fields), json.Unmarshal(body, &r)); err != nil {
		return q, "Invalid JSON payload received. " + err.Error()
	}
	for _, name := range sortedKeys(fields) {
		if !slices.Contains(requestFields, name) {
			return q, fmt.Sprintf("Invalid JSON payload received. Unknown name %q: Cannot find field.", name)
		}
	}
	if len(r.Contents) == 0 {
		return q, "* GenerateContentRequest.contents: contents is not specified"
	}
	q = Question{Instructions: strings.Join(r.SystemInstruction.texts(), "\n"), Body: body}
	for i, t := range r.Contents {
		if !slices.Contains([]string{"", "user", "model", "function"}, t.Role) {
			return q, "Please use a valid role: user, model."
		}
		if len(t.Parts) == 0 {
			return q, fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
		}
		q.Contents = append(q.Contents, t.texts()...)
	}
	fault = q.configure(r.Config)
	return q, fault
}

func (q *Question) configure(c *config) (fault string) {
	if c == nil {
		return ""
	}
	q.MaxOutputTokens, q.Temperature = c.MaxOutputTokens, c.Temperature
	if c.ResponseSchema == nil {
		return ""
	}
	if c.ResponseMIMEType != "application/json" {
		return "* GenerateContentRequest.generation_config.response_schema: only allowed when response_mime_type is application/json"
	}
	q.Schema = readSchema(c.ResponseSchema)
	return schemaFault("GenerateContentRequest.generation_config.response_schema", q.Schema)
}

// schemaFault is what the API says of a schema that it does not take; "" if it takes it.
func schemaFault(path string, s *llm.Schema) string {
	switch {
	case s == nil:
		return "* " + path + ": must be specified"
	case s.Type == llm.Object && len(s.Properties) == 0:
		return "* " + path + ".properties: should be non-empty for OBJECT type"
	case s.Type == llm.Array && s.Items == nil:
		return "* " + path + ".items: missing field."
	case len(s.Enum) > 0 && s.Type != llm.String:
		return "* " + path + ".enum: only allowed for STRING type"
	}
	for _, name := range sortedKeys(s.Properties) {
		if fault := schemaFault(fmt.Sprintf("%s.properties[%s]", path, name), s.Properties[name]); fault != "" {
			return fault
		}
	}
	for i, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Sprintf("* %s.required[%d]: property is not defined", path, i)
		}
	}
	if s.Items != nil {
		return schemaFault(path+".items", s.Items)
	}
	return ""
}
