package robot

import (
	"context"
	"fmt"
)

// AddFault scripts a fault and returns its id.
func (r *Robot) AddFault(f Fault) (id string, err error) {
	if err := f.check(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults.added++
	f.ID = fmt.Sprintf("f%d", r.faults.added)
	r.faults.list = append(r.faults.list, &f)
	if f.wholeRobot() && !f.hasMoment() || f.Kind == FaultSilence {
		f.strike(r.now())
	}
	r.faults.cutIfOffline()
	r.wake()
	return f.ID, nil
}

// ReleaseFault ends a fault: what it held goes on at the next tick.
func (r *Robot) ReleaseFault(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.faults.list {
		if f.ID == id {
			f.Released = true
			r.wake()
			return nil
		}
	}
	return fmt.Errorf("%w: there is none with the id %q", ErrFault, id)
}

// ClearFaults ends and forgets every fault.
func (r *Robot) ClearFaults() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.faults.list {
		f.Released = true
	}
	r.faults.list = nil
	r.wake()
}

// Faults lists the faults as they stand.
func (r *Robot) Faults() []Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Fault, len(r.faults.list))
	for i, f := range r.faults.list {
		list[i] = *f
	}
	return list
}

// AwaitFault waits until a fault has struck that often, and returns it.
func (r *Robot) AwaitFault(ctx context.Context, id string, hits int) (Fault, error) {
	var found Fault
	err := r.await(ctx, func() bool {
		for _, f := range r.faults.list {
			if f.ID == id {
				found = *f
			}
		}
		return found.ID == "" || found.Hits >= hits
	})
	if err == nil && found.ID == "" {
		err = fmt.Errorf("%w: there is none with the id %q", ErrFault, id)
	}
	return found, err
}
