package temporalerr_test

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"errand/llm"
	"errand/llm/temporalerr"
)

// An activity ends with what Of makes of the model's error.
func ExampleOf() {
	for _, err := range []error{
		&llm.Error{Kind: llm.RateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond},
		&llm.Error{Kind: llm.QuotaSpent, Status: 429},
	} {
		var failure *temporal.ApplicationError
		if errors.As(temporalerr.Of(err), &failure) {
			fmt.Println(failure.Type(), "retryable:", !failure.NonRetryable(), "after:", failure.NextRetryDelay())
		}
	}
	// Output:
	// llm.rate_limited retryable: true after: 1.5s
	// llm.quota_spent retryable: false after: 0s
}
