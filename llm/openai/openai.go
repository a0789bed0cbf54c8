package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"

	"errand/llm"
)

// Options say which model to ask, and how.
type Options struct {
	// Endpoint is the base URL up to and including the version, such as "http://127.0.0.1:11434/v1".
	Endpoint string
	// Model is the model's name at that server.
	Model string
	// Key is the API key; "" sends none, as local servers need none.
	Key string
	// Transport carries the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// Model is one model of one server.
type Model struct {
	name   string
	key    string
	client *api.Client
}

var _ llm.Model = (*Model)(nil)

// New returns the model. It connects nowhere yet.
func New(o Options) (*Model, error) {
	if o.Endpoint == "" || o.Model == "" {
		return nil, errors.New("openai: an endpoint and the name of a model are needed")
	}
	config := api.DefaultConfig(o.Key)
	config.BaseURL = strings.TrimSuffix(o.Endpoint, "/")
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	config.HTTPClient = &http.Client{Transport: bounded{o.Transport}}
	return &Model{name: o.Model, key: o.Key, client: api.NewClientWithConfig(config)}, nil
}

// bounded reads each answer before the library does, which would read without end.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := llm.ReadBody(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

// Generate asks once: the library tries nothing again.
func (m *Model) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if r.Schema != nil {
		if err := r.Schema.Validate(); err != nil {
			return llm.Response{}, &llm.Error{Kind: llm.BadRequest, Detail: err.Error(), Meta: llm.Meta{Model: m.name}, Err: err}
		}
	}
	began := time.Now()
	call, cancel := llm.Deadline(ctx, r)
	defer cancel()
	said, err := m.ask(call, m.request(r), r.Limits.OrDefaults().MaxOutputTokens)
	meta := llm.Meta{Model: m.name, ModelVersion: said.Model, Latency: time.Since(began),
		Usage: llm.Usage{Prompt: said.Usage.PromptTokens, Output: said.Usage.CompletionTokens, Total: said.Usage.TotalTokens}}
	if err != nil {
		failure := refusal(err, said.Header())
		if interrupted := llm.Interrupted(ctx, call, meta.Latency); interrupted != nil && failure.Status == 0 {
			failure = interrupted
		}
		failure.Meta, failure.Detail = meta, llm.Quote(failure.Detail, m.key)
		return llm.Response{}, failure
	}
	if len(said.Choices) == 0 {
		return llm.Response{}, &llm.Error{Kind: llm.Empty, Detail: "it gave no choice", Meta: meta}
	}
	choice := said.Choices[0]
	meta.Finish = finish(choice)
	return llm.Accept(r, llm.Response{Text: choice.Message.Content, Meta: meta})
}

// ask sends the request. The library knows which of OpenAI's models reason, and refuses, unsent, what they do not take: those
// get the newer name of the limit, and no temperature.
func (m *Model) ask(ctx context.Context, r api.ChatCompletionRequest, most int) (api.ChatCompletionResponse, error) {
	said, err := m.client.CreateChatCompletion(ctx, r)
	if errors.Is(err, api.ErrReasoningModelMaxTokensDeprecated) {
		r.MaxCompletionTokens, r.Temperature = most, 0
		r.MaxTokens = 0 //nolint:staticcheck // see request
		return m.client.CreateChatCompletion(ctx, r)
	}
	return said, err
}

// request is the question in the API's words. max_tokens is the older name of the limit, deprecated by OpenAI and the one
// that all the other servers know.
func (m *Model) request(r llm.Request) api.ChatCompletionRequest {
	out := api.ChatCompletionRequest{
		Model:     m.name,
		MaxTokens: r.Limits.OrDefaults().MaxOutputTokens, //nolint:staticcheck // see above
		// The library leaves a zero out, and the server then takes 1.
		Temperature: math.SmallestNonzeroFloat32,
	}
	if r.Instructions != "" {
		out.Messages = append(out.Messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleSystem, Content: r.Instructions})
	}
	for _, text := range r.Contents {
		out.Messages = append(out.Messages, api.ChatCompletionMessage{Role: api.ChatMessageRoleUser, Content: text})
	}
	if r.Schema != nil {
		out.ResponseFormat = &api.ChatCompletionResponseFormat{Type: api.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &api.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: r.Schema, Strict: strict(r.Schema)}}
	}
	return out
}

// strict reports whether a schema may be enforced to the letter: OpenAI demands then that every property is required.
func strict(s *llm.Schema) bool {
	if s == nil {
		return true
	}
	for _, property := range s.Properties {
		if !strict(property) {
			return false
		}
	}
	return len(s.Required) == len(s.Properties) && strict(s.Items)
}

func finish(choice api.ChatCompletionChoice) llm.Finish {
	switch {
	case choice.Message.Refusal != "":
		return llm.FinishBlocked
	case choice.FinishReason == api.FinishReasonStop:
		return llm.FinishStop
	case choice.FinishReason == api.FinishReasonLength:
		return llm.FinishCutOff
	case choice.FinishReason == api.FinishReasonContentFilter:
		return llm.FinishBlocked
	case choice.FinishReason == "" || choice.FinishReason == api.FinishReasonNull:
		return llm.FinishUnknown
	}
	return llm.Finish(fmt.Sprint(choice.FinishReason))
}
