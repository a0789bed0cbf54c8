package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"errand/deviceio/wire"
	"errand/internal/border"
	refusals "errand/internal/refusal"
)

// problem is an RFC 9457 problem document: what every refusal of the devices' HTTP routes looks like.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Code is a short, stable name of the problem; of a refused connect it is that of the socket's details.code.
	Code   string         `json:"code"`
	Detail string         `json:"detail"`
	Errors []border.Fault `json:"errors,omitempty"`
	// Details are those of a refused connect.
	Details map[string]any `json:"details,omitempty"`
	// RetryAfterMs is how soon to try again, where that helps; Retry-After says the same in whole seconds.
	RetryAfterMs int64 `json:"retry_after_ms,omitempty"`
}

func (p *problem) Error() string { return p.Detail }

func newProblem(status int, code, detail string) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// later is a problem that will pass.
func later(status int, code, detail string, after time.Duration) *problem {
	p := newProblem(status, code, detail)
	p.RetryAfterMs = after.Milliseconds()
	return p
}

// badDocument refuses a body, with every fault and its path.
func badDocument(err error) *problem {
	status, code, detail, faults := refusals.Of(err)
	p := newProblem(status, code, detail)
	p.Errors = faults
	return p
}

// turnedAway is a refused connect as a problem.
func turnedAway(r *refusal) *problem {
	status := http.StatusForbidden
	switch r.answer.Code {
	case wire.CodeUnavailable:
		status = http.StatusServiceUnavailable
	case wire.CodeInvalidRequest:
		status = http.StatusUnauthorized
	}
	detail := r.answer.Detail()
	if detail == detailBadConnect || detail == detailProtocol {
		status = http.StatusUnprocessableEntity
	}
	p := newProblem(status, detail, r.answer.Message)
	p.Details, p.RetryAfterMs = r.answer.Details, r.answer.RetryAfterMs
	return p
}

func (p *problem) write(w http.ResponseWriter) {
	if p.RetryAfterMs > 0 {
		w.Header().Set("Retry-After", retryAfter(p.RetryAfterMs))
	}
	if p.Status == http.StatusTooManyRequests { // who is turned away for the crowd is not part of it any more
		w.Header().Set("Connection", "close")
	}
	writeJSON(w, p.Status, "application/problem+json", p)
}

// retryAfter is milliseconds in the header's whole seconds, rounded up.
func retryAfter(ms int64) string { return strconv.FormatInt((ms+999)/1000, 10) }

func writeJSON(w http.ResponseWriter, status int, contentType string, body any) {
	text, err := json.Marshal(body)
	if err != nil { // documents of ours: cannot happen
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a caller that hung up needs no answer
}
