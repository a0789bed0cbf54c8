package gemini

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"errand/llm"
)

// Options say which model to ask, and how.
type Options struct {
	// Key is the API key.
	Key string
	// Model is the model's name, such as "gemini-2.5-flash".
	Model string
	// Endpoint is the server's base URL; "" means Google's. A stand-in has its own.
	Endpoint string
	// Transport carries the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// Model is one Gemini model.
type Model struct {
	name   string
	key    string
	client *client
}

var _ llm.Model = (*Model)(nil)

// New returns the model. It connects nowhere yet: whether key and model are right is known at the first question.
func New(ctx context.Context, o Options) (*Model, error) {
	if o.Key == "" || o.Model == "" {
		return nil, errors.New("gemini: a key and the name of a model are needed")
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	c, err := newClient(ctx, o, &http.Client{Transport: wire{key: o.Key, next: o.Transport}})
	if err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	return &Model{name: o.Model, key: o.Key, client: c}, nil
}

// Close lets go of the connections.
func (m *Model) Close() error { return m.client.close() }

// Generate asks once.
func (m *Model) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if r.Schema != nil {
		if err := r.Schema.Validate(); err != nil {
			return llm.Response{}, &llm.Error{Kind: llm.BadRequest, Detail: err.Error(), Meta: llm.Meta{Model: m.name}, Err: err}
		}
	}
	began := time.Now()
	call, cancel := llm.Deadline(ctx, r)
	defer cancel()
	seen, heard := watch(call)
	text, err := m.client.ask(heard, r)
	meta := seen.meta()
	meta.Model, meta.Latency = m.name, time.Since(began)
	if failure := m.failure(ctx, call, seen, err, meta.Latency); failure != nil {
		failure.Meta, failure.Detail = meta, llm.Quote(failure.Detail, m.key)
		return llm.Response{}, failure
	}
	answer, err := llm.Accept(r, llm.Response{Text: text, Meta: meta})
	var refused *llm.Error
	if said := seen.reply.message(); said != "" && errors.As(err, &refused) {
		refused.Detail += ": " + llm.Quote(said, m.key)
	}
	return answer, err
}

// failure tells why there is nothing to accept, from what the wire showed rather than from what the library made of it;
// nil if there is an answer.
func (m *Model) failure(ctx, call context.Context, seen *exchange, err error, waited time.Duration) *llm.Error {
	switch {
	case seen.status >= http.StatusBadRequest:
		return refusal(seen)
	case err == nil || seen.answered(llm.FinishBlocked):
		if len(seen.reply.Candidates) == 0 && !seen.answered(llm.FinishBlocked) {
			return &llm.Error{Kind: llm.Empty, Status: seen.status, Detail: "it gave no candidate"}
		}
		return nil
	}
	if interrupted := llm.Interrupted(ctx, call, waited); interrupted != nil {
		return interrupted
	}
	if seen.status == 0 && !errors.Is(err, llm.ErrTooLarge) {
		return &llm.Error{Kind: llm.Unavailable, Detail: "no answer from the server: " + err.Error(), Err: err}
	}
	return &llm.Error{Kind: llm.Malformed, Status: seen.status, Detail: "the answer cannot be read: " + err.Error(), Err: err}
}
