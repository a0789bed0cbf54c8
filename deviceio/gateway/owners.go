package gateway

import (
	"context"
	"errors"
	"sync"
)

// ownersKept is how many plans are remembered with their devices. A plan's device never changes, so that what is
// forgotten is only asked for again.
const ownersKept = 4096

// owners remembers whose plan it is (design §6, Who is speaking). A device is heard by its own plans only: the history of
// another's plan would grow by what a stranger says, and its open question would be answered by one.
type owners struct {
	mu     sync.Mutex
	byPlan map[string]string
}

// note records that the plan is the device's.
func (o *owners) note(planID, deviceID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byPlan == nil || len(o.byPlan) >= ownersKept {
		o.byPlan = make(map[string]string)
	}
	o.byPlan[planID] = deviceID
}

func (o *owners) of(planID string) (deviceID string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	deviceID, ok = o.byPlan[planID]
	return deviceID, ok
}

// foreign tells that the plan is another device's. What this gateway submitted it knows; of other plans it asks once.
// A plan that is not there, or does not tell its device, is nobody's: the signal itself finds out what comes of it.
func (g *Gateway) foreign(ctx context.Context, planID, deviceID string) (bool, error) {
	owner, ok := g.owners.of(planID)
	if !ok {
		var err error
		owner, err = g.opts.Signaller.DeviceOf(ctx, planID)
		if err != nil && !errors.Is(err, ErrPlanUnknown) {
			return false, err
		}
		if owner != "" {
			g.owners.note(planID, owner)
		}
	}
	return owner != "" && owner != deviceID, nil
}
