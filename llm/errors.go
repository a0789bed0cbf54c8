package llm

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what kind of failure a call ended in, and so what may be done about it.
type Kind string

// The kinds. Each is one of three sorts: it may pass by itself (try again), it says something of this question (decide what
// to do without an answer, or ask differently), or it says something of the installation (a person must act).
const (
	// Unavailable: the model's server is overloaded, failed, or cannot be reached (500, 503, 504, no connection).
	Unavailable Kind = "unavailable"
	// TimedOut: no answer within Limits.Timeout, or before the caller's own deadline.
	TimedOut Kind = "timed_out"
	// RateLimited: too many calls or tokens just now (429); RetryAfter says when there is room, if the server said so.
	RateLimited Kind = "rate_limited"

	// Blocked: the model's safety rules refused the question or the answer. The same question is refused again.
	Blocked Kind = "blocked"
	// CutOff: MaxOutputTokens were spent before the answer was whole, perhaps before it began.
	CutOff Kind = "cut_off"
	// Empty: the model ended without a word.
	Empty Kind = "empty"
	// Malformed: the answer is not what was asked for, such as no JSON where there is a Schema, or ended in a way we do
	// not know.
	Malformed Kind = "malformed"
	// Unrecorded: a cassette has no such question.
	Unrecorded Kind = "unrecorded"

	// QuotaSpent: the day's quota, or all that was paid for, is spent; another try today is in vain.
	QuotaSpent Kind = "quota_spent"
	// BudgetSpent: our own budget refuses the call; nothing was sent.
	BudgetSpent Kind = "budget_spent"
	// Denied: the key is wrong, missing, or may not do this.
	Denied Kind = "denied"
	// NoSuchModel: the server does not have the model.
	NoSuchModel Kind = "no_such_model"
	// BadRequest: the server does not understand the request, or we do not; it is a bug of ours.
	BadRequest Kind = "bad_request"
	// Unconfigured: no model is set up.
	Unconfigured Kind = "unconfigured"

	// Canceled: the caller gave up. It is no failure of the model.
	Canceled Kind = "canceled"
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{Unavailable, TimedOut, RateLimited, Blocked, CutOff, Empty, Malformed, Unrecorded,
		QuotaSpent, BudgetSpent, Denied, NoSuchModel, BadRequest, Unconfigured, Canceled}
}

// Retryable reports whether the same call may succeed later by itself.
func (k Kind) Retryable() bool { return k == Unavailable || k == TimedOut || k == RateLimited }

// Answered reports whether the model itself did this: it was asked, and what came back is of no use. The rest are failures
// to ask.
func (k Kind) Answered() bool { return k == Blocked || k == CutOff || k == Empty || k == Malformed }

// Error is why there is no answer.
type Error struct {
	Kind Kind
	// Status is the HTTP status of the server's answer; 0 if there was none.
	Status int
	// RetryAfter is how long the server asks to be left alone; 0 if it said nothing.
	RetryAfter time.Duration
	// Detail says what failed, for engineers: our own words, and the server's at most. It quotes no answer and no key.
	Detail string
	// Meta is what the call cost all the same, as far as it is known.
	Meta
	// Err is the cause.
	Err error
}

func (e *Error) Error() string {
	text := "the model"
	if e.Model != "" {
		text += " " + e.Model
	}
	text += ": " + string(e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf("; try again after %s", e.RetryAfter)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later by itself.
func (e *Error) Retryable() bool { return e.Kind.Retryable() }

// KindOf returns the kind of an error of Generate, and "" for any other.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
