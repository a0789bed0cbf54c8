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
	byPlan map[string]Owner
}

// Owner is whose a plan is: its device, "" where that cannot be told, and its home (plan.HomeOf). Neither ever changes.
type Owner struct{ DeviceID, HomeID string }

// note records whose the plan is.
func (o *owners) note(planID string, owner Owner) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byPlan == nil || len(o.byPlan) >= ownersKept {
		o.byPlan = make(map[string]Owner)
	}
	o.byPlan[planID] = owner
}

func (o *owners) of(planID string) (owner Owner, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	owner, ok = o.byPlan[planID]
	return owner, ok
}

// ownerOf tells whose a plan is. What this gateway submitted it knows; of other plans it asks once. A plan that is not there, or does
// not tell its device, is nobody's: the signal itself finds out what comes of it.
func (g *Gateway) ownerOf(ctx context.Context, planID string) (Owner, error) {
	owner, ok := g.owners.of(planID)
	if ok {
		return owner, nil
	}
	owner, err := g.opts.Signaller.OwnerOf(ctx, planID)
	if err != nil && !errors.Is(err, ErrPlanUnknown) {
		return Owner{}, err
	}
	if owner.DeviceID != "" {
		g.owners.note(planID, owner)
	}
	return owner, nil
}

// foreign tells that the plan is another device's.
func (g *Gateway) foreign(ctx context.Context, planID, deviceID string) (bool, error) {
	owner, err := g.ownerOf(ctx, planID)
	return err == nil && owner.DeviceID != "" && owner.DeviceID != deviceID, err
}
