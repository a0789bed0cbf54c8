package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"errand/plan"
)

const (
	// lookEvery is how often the registry is asked for a route.
	lookEvery = 200 * time.Millisecond
	// settleFor is how long a refuted connection must have stayed alive in the registry to be believed again:
	// its gateway was slow, not gone.
	settleFor = 10 * time.Second
)

// Finder finds devices, for all plans, from any gateway.
type Finder struct {
	directory Directory
	ticks     func(ctx context.Context) <-chan time.Time
	now       func() time.Time
}

// NewFinder looks in the given directory.
func NewFinder(directory Directory) *Finder {
	return &Finder{directory: directory, ticks: ticker(lookEvery), now: time.Now}
}

func ticker(every time.Duration) func(context.Context) <-chan time.Time {
	return func(ctx context.Context) <-chan time.Time {
		t := time.NewTicker(every)
		context.AfterFunc(ctx, t.Stop)
		return t.C
	}
}

// Register makes the activity known to the worker of the gateways' common queue.
func (f *Finder) Register(w worker.ActivityRegistry) {
	register(w, plan.ActivityAwaitDevice, f.AwaitDevice)
}

// AwaitDevice returns a route to the device as soon as there is one, however long that takes. It heartbeats, so that
// another gateway takes over when this one dies.
func (f *Finder) AwaitDevice(ctx context.Context, c plan.AwaitDevice) (plan.DeviceFound, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ticks := f.ticks(ctx)
	began := f.now()
	for {
		route, ok, err := f.directory.Route(ctx, c.DeviceID)
		if err != nil {
			return plan.DeviceFound{}, fmt.Errorf("find device %s: %w", c.DeviceID, err)
		}
		if ok && (route.ConnectionEpoch > c.Newer || f.now().Sub(began) >= settleFor) {
			return plan.DeviceFound{Route: route}, nil
		}
		activity.RecordHeartbeat(ctx)
		select {
		case <-ticks:
		case <-ctx.Done():
			return plan.DeviceFound{}, fmt.Errorf("find device %s: %w", c.DeviceID, context.Cause(ctx))
		}
	}
}
