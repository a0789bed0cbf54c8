package gemini

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"errand/llm"
)

// apiError is the body of an answer that is no answer.
type apiError struct {
	Message string   `json:"message"`
	Status  string   `json:"status"` // such as RESOURCE_EXHAUSTED
	Details []detail `json:"details"`
}

// detail is one of an error's details: a QuotaFailure, a RetryInfo or an ErrorInfo, by the fields it has.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"` // in seconds, often with a fraction: "38.922534355s"
	Violations []struct {
		QuotaID string `json:"quotaId"`
	} `json:"violations"`
}

// refusal names the kind of an HTTP error (the API's troubleshooting table).
func refusal(x *exchange) *llm.Error {
	e := x.reply.Error
	if e == nil { // not the API's own error: a proxy's, perhaps
		e = &apiError{}
	}
	failure := &llm.Error{Kind: kindOf(x.status, e), Status: x.status, Detail: orStatus(e.Message, x.status)}
	if failure.Kind.Retryable() {
		failure.RetryAfter = e.retryAfter(x.header)
	}
	return failure
}

func kindOf(status int, e *apiError) llm.Kind {
	switch {
	case status == http.StatusTooManyRequests && e.perDay():
		return llm.QuotaSpent
	case status == http.StatusTooManyRequests:
		return llm.RateLimited
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return llm.Denied
	case status == http.StatusBadRequest && (e.reason("API_KEY_INVALID") || e.Status == "FAILED_PRECONDITION"):
		return llm.Denied // a wrong key is a 400, as is one that may not be used from here or without billing
	case status == http.StatusNotFound:
		return llm.NoSuchModel
	case status == http.StatusRequestTimeout:
		return llm.TimedOut
	case status >= http.StatusInternalServerError:
		return llm.Unavailable
	}
	return llm.BadRequest
}

// perDay reports whether a day's quota is among those that are spent. The server names a retry delay then too: it is that
// of the other quotas, and to follow it is in vain.
func (e *apiError) perDay() bool {
	for _, d := range e.Details {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				return true
			}
		}
	}
	return false
}

func (e *apiError) reason(wanted string) bool {
	for _, d := range e.Details {
		if d.Reason == wanted {
			return true
		}
	}
	return false
}

// retryAfter is how long the server asks to be left alone; 0 if it does not say.
func (e *apiError) retryAfter(header http.Header) time.Duration {
	for _, d := range e.Details {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil && delay > 0 {
			return delay
		}
	}
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return 0
}

func orStatus(message string, status int) string {
	if message == "" {
		return http.StatusText(status)
	}
	return message
}
