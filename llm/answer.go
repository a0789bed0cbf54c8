package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Accept holds what a model said against the promise of Generate that an answer is whole: it returns the response, or the
// *Error that says what is wrong with it. Every implementation of Model ends with it, so that the rule is in one place.
//
// The end is looked at before the text: of an answer that was cut off, what there is may well be valid JSON.
func Accept(r Request, answer Response) (Response, error) {
	refuse := func(kind Kind, format string, args ...any) (Response, error) {
		return Response{}, &Error{Kind: kind, Detail: fmt.Sprintf(format, args...), Meta: answer.Meta}
	}
	switch answer.Finish {
	case FinishStop:
	case FinishCutOff:
		return refuse(CutOff, "the answer was cut off at %d tokens, after %d characters of it: allow it more, or ask for less",
			r.Limits.OrDefaults().MaxOutputTokens, len([]rune(answer.Text)))
	case FinishBlocked:
		return refuse(Blocked, "its safety rules refused to answer")
	default:
		return refuse(Malformed, "the answer ended with %q, which is no end that we know", answer.Finish)
	}
	if strings.TrimSpace(answer.Text) == "" {
		return refuse(Empty, "it ended without a word")
	}
	if r.Schema != nil && !json.Valid([]byte(answer.Text)) {
		return refuse(Malformed, "the answer is %s", notJSON(answer.Text))
	}
	return answer, nil
}

// notJSON says where a text stops being JSON, without quoting it.
func notJSON(text string) string {
	var value any
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal([]byte(text), &value), &syntax) {
		return fmt.Sprintf("not one JSON value: wrong at byte %d of %d", syntax.Offset, len(text))
	}
	return "not one JSON value"
}

// Quote returns a text that others wrote as an error's Detail may have it: bounded, and without the secret.
func Quote(text, secret string) string {
	const most, leastSecret = 300, 8 // a shorter one is no secret, and may be part of any word
	if len(secret) >= leastSecret {
		text = strings.ReplaceAll(text, secret, "(the key)")
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// Deadline returns a context that ends with the call's own timeout or with ctx, whichever comes first.
func Deadline(ctx context.Context, r Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.Limits.OrDefaults().Timeout)
}

// Interrupted tells whether a failed call failed because time was up or the caller gave up, and if so returns the *Error.
// ctx is the caller's context, call the one that Deadline made of it, waited how long the call took.
func Interrupted(ctx, call context.Context, waited time.Duration) *Error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &Error{Kind: Canceled, Detail: "the caller gave up", Err: context.Cause(ctx)}
	case call.Err() != nil:
		return &Error{Kind: TimedOut, Detail: fmt.Sprintf("no answer within %s", waited.Round(time.Millisecond)), Err: call.Err()}
	}
	return nil
}
