package standin

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The refusals below have the bodies that the API sends, field by field.

// RateLimited is a 429 for calls in a minute, with the time after which there is room; it may have a fraction.
func RateLimited(after time.Duration) Reply {
	return exhausted(after, quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"))
}

// QuotaSpent is a 429 for calls in a day. It names a retry delay all the same, as the API does.
func QuotaSpent(after time.Duration) Reply {
	r := exhausted(after, quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"))
	r.refusal.kind = "insufficient_quota"
	return r
}

// RateLimitedBare is a 429 that says no more than that.
func RateLimitedBare() Reply {
	return refuse(refusal{code: http.StatusTooManyRequests, status: "RESOURCE_EXHAUSTED",
		message: "Resource has been exhausted (e.g. check quota).", kind: "rate_limit_exceeded"})
}

// Overloaded is a 503.
func Overloaded() Reply {
	return refuse(refusal{code: http.StatusServiceUnavailable, status: "UNAVAILABLE",
		message: "The model is overloaded. Please try again later.", kind: "server_error"})
}

// InternalError is a 500.
func InternalError() Reply {
	return refuse(refusal{code: http.StatusInternalServerError, status: "INTERNAL",
		message: "An internal error has occurred. Please retry.", kind: "server_error"})
}

// DeadlineExceeded is a 504: the server itself could not answer in time.
func DeadlineExceeded() Reply {
	return refuse(refusal{code: http.StatusGatewayTimeout, status: "DEADLINE_EXCEEDED",
		message: "The request was not completed before its deadline.", kind: "server_error"})
}

// BadRequest is a 400 for a request that the API does not understand.
func BadRequest(message string) Reply {
	return refuse(refusal{code: http.StatusBadRequest, status: "INVALID_ARGUMENT", message: message, kind: "invalid_request_error"})
}

// WrongKey is a 400, and not a 401.
func WrongKey() Reply {
	const message = "API key not valid. Please pass a valid API key."
	return refuse(refusal{code: http.StatusBadRequest, status: "INVALID_ARGUMENT", message: message, kind: "invalid_api_key", details: []any{
		map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
			"metadata": map[string]any{"service": "generativelanguage.googleapis.com"}},
		map[string]any{"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": message},
	}})
}

// Forbidden is a 403.
func Forbidden() Reply {
	return refuse(refusal{code: http.StatusForbidden, status: "PERMISSION_DENIED", kind: "invalid_api_key",
		message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."})
}

// NotFound is a 404 for a model that there is not.
func NotFound(model string) Reply {
	return refuse(refusal{code: http.StatusNotFound, status: "NOT_FOUND", kind: "model_not_found",
		message: fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.", model)})
}

func refuse(r refusal) Reply { return Reply{refusal: &r} }

func exhausted(after time.Duration, violation any) Reply {
	return refuse(refusal{code: http.StatusTooManyRequests, status: "RESOURCE_EXHAUSTED", retryAfter: after, kind: "rate_limit_exceeded",
		message: "You exceeded your current quota, please check your plan and billing details.",
		details: []any{
			map[string]any{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{violation}},
			map[string]any{"@type": "type.googleapis.com/google.rpc.Help", "links": []any{map[string]any{
				"description": "Learn more about Gemini API quotas", "url": "https://ai.google.dev/gemini-api/docs/rate-limits"}}},
			map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": seconds(after)},
		}})
}

func quota(id string) any {
	return map[string]any{"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests", "quotaId": id,
		"quotaDimensions": map[string]any{"location": "global", "model": "gemini-2.5-flash"}, "quotaValue": "10"}
}

// seconds writes a duration as protobuf does: seconds, with a fraction if there is one.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }
