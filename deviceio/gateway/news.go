package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"errand/plan"
)

// LeaseTeller tells the workflow that holds a device's lease that the device came or went. Whoever waits for the device
// finds it in the registry as well: this only makes it quick, and lets the plan that moves the device know.
type LeaseTeller interface {
	// Link returns nil if nobody wants the device now. ErrSignalRefused is for good; any other error may pass.
	Link(ctx context.Context, deviceID string, change plan.DeviceChange) error
}

// news tells of each device's latest connection or its end, one at a time and at most once in a while: a device that
// flaps floods nobody, and what it was in between is of no interest.
type news struct {
	teller  LeaseTeller // nil: nobody is told
	pause   time.Duration
	timeout time.Duration
	failed  func(deviceID string, err error)

	quit   context.Context // from its end on there is no pause
	mu     sync.Mutex
	latest map[string]*bulletin
	busy   sync.WaitGroup
}

// bulletin is the latest about one device, while somebody is telling it.
type bulletin struct {
	change plan.DeviceChange
	epoch  int64
	told   bool
}

func epochOf(c plan.DeviceChange) int64 {
	if c.Route != nil {
		return c.Route.ConnectionEpoch
	}
	return c.Gone
}

// add takes up a change. One about an older connection than the latest is no news.
func (n *news) add(deviceID string, change plan.DeviceChange) {
	if n.teller == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	b, telling := n.latest[deviceID]
	if telling && epochOf(change) < b.epoch {
		return
	}
	if telling {
		b.change, b.epoch, b.told = change, epochOf(change), false
		return
	}
	if n.latest == nil {
		n.latest = make(map[string]*bulletin)
	}
	n.latest[deviceID] = &bulletin{change: change, epoch: epochOf(change)}
	n.busy.Go(func() { n.tell(deviceID) })
}

// tell tells the latest, pauses, and goes on for as long as there is something newer, or it could not be told.
func (n *news) tell(deviceID string) {
	for {
		change, ok := n.take(deviceID)
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(n.quit), n.timeout)
		err := n.teller.Link(ctx, deviceID, change)
		cancel()
		if err != nil {
			n.failed(deviceID, err)
		}
		last := n.quit.Err() != nil
		if err != nil && !last && !errors.Is(err, ErrSignalRefused) {
			n.again(deviceID, change)
		}
		select {
		case <-time.After(n.pause):
		case <-n.quit.Done():
		}
	}
}

// settle waits until all news is told, or ctx ends: what is not told by then, the registry tells.
func (n *news) settle(ctx context.Context) {
	told := make(chan struct{})
	go func() { n.busy.Wait(); close(told) }()
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// take returns the latest if it was not told yet; otherwise the telling is over.
func (n *news) take(deviceID string) (plan.DeviceChange, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.latest[deviceID]
	if b.told {
		delete(n.latest, deviceID)
		return plan.DeviceChange{}, false
	}
	b.told = true
	return b.change, true
}

// again puts back what could not be told, unless there is something newer.
func (n *news) again(deviceID string, change plan.DeviceChange) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if b := n.latest[deviceID]; b.change == change {
		b.told = false
	}
}

// route is how the device can be reached over this connection, as the registry tells it too.
func (s *session) route() *plan.Route {
	r := &plan.Route{GatewayID: s.g.id, TaskQueue: s.g.TaskQueue(), ConnectionEpoch: s.epoch, BootEpoch: s.bootEpoch}
	if e := s.declared; e != nil {
		r.StoreID, r.RetentionMs = e.StoreID, e.RetentionS*1000
		r.Profile = plan.Profile{Status: e.Profile.Status, Dedupe: e.Profile.Dedupe, Outbox: e.Profile.Outbox}
	}
	return r
}
