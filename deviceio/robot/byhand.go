package robot

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// What a person can do to an object by hand.
const (
	HandAdd    = "add"
	HandChange = "change"
	HandRemove = "remove"
)

// Hand is something that a person does to an object at the robot's side: adds an alarm, opens a door, takes a lamp away.
type Hand struct {
	Do   string `json:"do"` // add, change, remove
	Kind Kind   `json:"kind"`
	ID   string `json:"id,omitempty"` // of the object; none to add one
	// Set holds the fields to add it with, or to change: {"open": true, "locked": false}.
	Set map[string]any `json:"set,omitempty"`
}

var handKinds = map[string]string{HandAdd: "added", HandChange: "changed", HandRemove: "removed"}

// ByHand carries out what a person does, and returns the object's id. It is an effect of nobody's operation, and the ledger
// keeps it apart (ReadByHand). What the robot would refuse, such as locking an open door, a hand cannot do either.
func (r *Robot) ByHand(ctx context.Context, h Hand) (id string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return "", r.broken
	}
	id, err = r.world.Objects.handle(h)
	if err != nil {
		return "", err
	}
	r.world.Revision++
	r.world.Sources[h.Kind.area()] = r.deviceTime()
	e := ByHand{Kind: string(h.Kind) + "_" + handKinds[h.Do], TargetID: id, At: r.now(), BootID: r.outbox.BootID(), WorldRevision: r.world.Revision}
	r.note(func(ctx context.Context, tx *sql.Tx) error { return addByHand(ctx, tx, e) })
	set, _ := json.Marshal(h.Set) // for people only
	r.report("by hand: %s %s %s %s", h.Do, h.Kind, id, set)
	return id, r.commit(ctx)
}

// handle changes the objects as a person does.
func (o *Objects) handle(h Hand) (id string, err error) {
	if o.of(h.Kind) == nil {
		return "", fmt.Errorf("%w: kind: %q is none of %v", ErrObject, h.Kind, Kinds())
	}
	if h.Do == HandAdd {
		of, err := o.create(h.Kind, h.Set)
		if err != nil {
			return "", err
		}
		return of.object().ID, nil
	}
	of := o.of(h.Kind).find(h.ID)
	switch {
	case of == nil:
		return "", fmt.Errorf("%w: id: there is no %s %q", ErrObject, h.Kind, h.ID)
	case h.Do == HandRemove:
		o.of(h.Kind).remove(h.ID)
		o.mark(nil)
		return h.ID, nil
	case h.Do == HandChange && len(h.Set) > 0:
		return h.ID, o.change(of, h.Set)
	}
	return "", fmt.Errorf("%w: do: want add, change with fields to set, or remove, not %q", ErrObject, h.Do)
}
