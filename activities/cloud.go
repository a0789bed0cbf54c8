package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"errand/plan"
)

// Performer carries out one kind of step in the cloud and returns its result, of which the step's contract lets through
// what it lists. An error that is a *Reason says why in a way that the reason table knows; any other is EXECUTOR_FAILED.
// What has an effect must know the operation id of an effect it had already: it is the idempotency key.
type Performer func(ctx context.Context, c plan.Perform) (map[string]any, error)

// Reason is a structured reason as an error.
type Reason struct{ plan.Report }

func (r *Reason) Error() string { return r.Code + ": " + r.Detail }

// Cloud carries out steps in the cloud: performers by task method.
type Cloud map[string]Performer

// BuiltinCloud has the performers of the built-in catalog.
func BuiltinCloud() Cloud { return Cloud{"reportAirQuality": reportAirQuality} }

// beat is how often a step tells that its worker is alive, and hears that it is to stop.
const beat = 2 * time.Second

// Register makes the activity known to a worker.
func (p Cloud) Register(w worker.ActivityRegistry) { register(w, plan.ActivityPerform, p.Perform) }

// Perform carries out one step, once.
func (p Cloud) Perform(ctx context.Context, c plan.Perform) (plan.Performed, error) {
	performer, ok := p[c.TaskMethod]
	if !ok {
		return failedFor(&Reason{plan.Report{Code: "UNSUPPORTED_METHOD",
			Detail: fmt.Sprintf("no performer %q is set up in this worker; there are %v", c.TaskMethod, slices.Sorted(maps.Keys(p)))}})
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go heartbeat(ctx, ticker(beat)(ctx))
	result, err := performer(ctx, c)
	if err != nil && ctx.Err() != nil {
		return plan.Performed{}, temporal.NewCanceledError()
	}
	if err != nil {
		return failedFor(err)
	}
	return plan.Performed{Result: result}, nil
}

func failedFor(err error) (plan.Performed, error) {
	var reason *Reason
	if errors.As(err, &reason) {
		return plan.Performed{Report: &reason.Report}, nil
	}
	return plan.Performed{Report: &plan.Report{Code: "EXECUTOR_FAILED", Detail: err.Error()}}, nil
}

func heartbeat(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ticks:
			activity.RecordHeartbeat(ctx)
		case <-ctx.Done():
			return
		}
	}
}
