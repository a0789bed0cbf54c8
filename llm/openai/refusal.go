package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	api "github.com/sashabaranov/go-openai"

	"errand/llm"
)

// refusal names the kind of the library's error.
func refusal(err error, header http.Header) *llm.Error {
	status, code, message := 0, "", err.Error()
	var said *api.APIError
	var other *api.RequestError
	switch {
	case errors.As(err, &said):
		status, code, message = said.HTTPStatusCode, fmt.Sprint(said.Code), said.Message
	case errors.As(err, &other): // the body was not the API's own; it is not quoted
		status, message = other.HTTPStatusCode, http.StatusText(other.HTTPStatusCode)
	}
	failure := &llm.Error{Kind: kindOf(status, code, err), Status: status, Detail: message, Err: err}
	if failure.Kind.Retryable() {
		failure.RetryAfter = retryAfter(header)
	}
	return failure
}

func kindOf(status int, code string, err error) llm.Kind {
	switch {
	case status == 0:
		return unanswered(err)
	case status == http.StatusTooManyRequests && code == "insufficient_quota":
		return llm.QuotaSpent
	case status == http.StatusTooManyRequests:
		return llm.RateLimited
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return llm.Denied
	case status == http.StatusNotFound:
		return llm.NoSuchModel
	case status == http.StatusRequestTimeout:
		return llm.TimedOut
	case code == "content_filter":
		return llm.Blocked
	case status >= http.StatusInternalServerError:
		return llm.Unavailable
	}
	return llm.BadRequest
}

// unanswered tells a request that the library would not send, and an answer it could not read, from a server that is away.
func unanswered(err error) llm.Kind {
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.Is(err, api.ErrChatCompletionInvalidModel):
		return llm.BadRequest
	case errors.Is(err, io.ErrUnexpectedEOF): // cut in the middle: the connection's fault
		return llm.Unavailable
	case errors.As(err, &syntax), errors.As(err, &mistyped), errors.Is(err, llm.ErrTooLarge):
		return llm.Malformed
	}
	return llm.Unavailable
}

// retryAfter is how long the server asks to be left alone; 0 if it does not say. vLLM's proxies give fractions.
func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseFloat(header.Get("Retry-After"), 64)
	if err != nil || seconds <= 0 || seconds > time.Hour.Seconds()*24 {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}
