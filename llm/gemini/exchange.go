package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"errand/llm"
)

// exchange is what passed over the wire in one call.
type exchange struct {
	status int
	header http.Header
	reply  reply
	end    context.CancelFunc
}

type exchangeKey struct{}

// watch returns a context for one call, and the exchange that its answer will be written to.
func watch(ctx context.Context) (*exchange, context.Context) {
	x := &exchange{}
	ctx, x.end = context.WithCancel(ctx)
	return x, context.WithValue(ctx, exchangeKey{}, x)
}

// wire puts the key on each request and reads each answer before the library does.
type wire struct {
	key  string
	next http.RoundTripper
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Goog-Api-Key", w.key)
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := llm.ReadBody(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		body = onlyText(body)
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if x, ok := r.Context().Value(exchangeKey{}).(*exchange); ok {
		x.keep(answer, body)
	}
	return answer, nil
}

// keep remembers an answer. A 503 ends the call, since the library would try it again.
func (x *exchange) keep(answer *http.Response, body []byte) {
	x.status, x.header = answer.StatusCode, answer.Header
	if err := json.Unmarshal(body, &x.reply); err != nil {
		x.reply = reply{} // what cannot be read is the library's to say, and it does
	}
	if x.status == http.StatusServiceUnavailable {
		x.end()
	}
}

// answered reports whether the model's answer came to the given end.
func (x *exchange) answered(f llm.Finish) bool {
	return x.status == http.StatusOK && x.reply.finish() == f
}

// meta is what the answer tells about itself.
func (x *exchange) meta() llm.Meta {
	if x.status != http.StatusOK {
		return llm.Meta{}
	}
	u := x.reply.Usage
	// What a model thought unseen is in the total alone.
	total := max(u.Total, u.Prompt+u.Output+u.Thoughts)
	return llm.Meta{ModelVersion: x.reply.ModelVersion, Finish: x.reply.finish(),
		Usage: llm.Usage{Prompt: u.Prompt, Output: u.Output, Total: total}}
}
