package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"errand/llm"
	"errand/llm/temporalerr"
)

// modelBeat is how often an activity that asks a model says that it lives, so that another worker takes over soon when this
// one dies. It is well below the heartbeat timeout that workflows give it.
const modelBeat = 2 * time.Second

// asking asks a model on behalf of one activity, and counts the calls. The count goes on over Temporal's attempts: each
// begins anew, but what an earlier one asked was asked.
type asking struct {
	model llm.Model
	calls int
	cost  llm.Meta // of the last call
	total int      // tokens of this attempt's calls
}

// newAsking goes on counting where the last attempt stopped.
func newAsking(ctx context.Context, model llm.Model) *asking {
	a := &asking{model: model}
	if activity.IsActivity(ctx) && activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &a.calls); err != nil {
			activity.GetLogger(ctx).Warn("the count of an earlier attempt's model calls cannot be read", "error", err)
		}
	}
	return a
}

// ask asks once. It says that it lives until there is an answer.
func (a *asking) ask(ctx context.Context, r llm.Request) (llm.Response, error) {
	a.calls++
	if activity.IsActivity(ctx) {
		stop := a.beat(ctx)
		defer stop()
	}
	answer, err := a.model.Generate(ctx, r)
	a.cost = answer.Meta
	if failure := failureOf(err); failure != nil {
		a.cost = failure.Meta
		if failure.Kind == llm.Unconfigured || failure.Kind == llm.BudgetSpent {
			a.calls-- // nothing was asked
		}
	}
	a.total += a.cost.Usage.Total
	return answer, err
}

// beat says that the activity lives, at once and then every modelBeat, with the count.
func (a *asking) beat(ctx context.Context) (stop func()) {
	calls := a.calls
	activity.RecordHeartbeat(ctx, calls)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(modelBeat)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				activity.RecordHeartbeat(ctx, calls)
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// failed is the error for the activity to end with: Temporal tries again what may pass by itself, when the model's server
// says. The count of calls is its last detail, for the workflow that gets no other answer.
func (a *asking) failed(err error) error {
	if llm.KindOf(err) == llm.Canceled {
		// Nobody cancels these activities: the worker is stopping, and another one goes on.
		return fmt.Errorf("the worker stopped while it asked the model: %v", err) //nolint:errorlint // as cancelled it would not be tried again
	}
	return temporalerr.Of(err, a.calls)
}

// note tells an operator what was asked; "" if nothing was.
func (a *asking) note() string {
	if a.calls == 0 {
		return ""
	}
	version := a.cost.ModelVersion
	if version == "" {
		version = a.cost.Model
	}
	return fmt.Sprintf("asked the model %s: %d calls, %d tokens, the last answer after %s", version, a.calls, a.total, a.cost.Latency.Round(time.Millisecond))
}
