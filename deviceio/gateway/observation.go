package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"errand/catalog"
	"errand/deviceio/wire"
	"errand/plan"
	"errand/plan/router"
)

// Observer hands what a device saw to the lease of the device, and so to the plan that holds it.
type Observer interface {
	// Observe is durable when it returns nil. The same request id again changes nothing. The error is, by errors.Is,
	// ErrNoLease if no plan has anything to do with the device, ErrSignalRefused if that is for good; any other may pass.
	Observe(ctx context.Context, requestID string, o plan.Observation) error
}

// Starter starts a plan, once for its id.
type Starter interface {
	Start(ctx context.Context, s plan.Start) (already bool, err error)
}

// watchAge is how old what a device saw may be to start anything: as old as a spoken wish.
const watchAge = 5 * time.Minute

// observation takes what a device saw (contract.md §5). The plan that holds the device gets it if somebody must decide about
// it; where none does, the catalog's watch for it may start its routine. The rest is on record, without its facts.
func (s *session) observation(ctx context.Context, raw json.RawMessage) (wire.EventAck, error) {
	o, err := wire.ParseObservation(raw)
	if refused := (*wire.RefusedEvent)(nil); errors.As(err, &refused) {
		return s.refuse(ctx, identityOf(refused), raw, refused.Faults.Error())
	} else if err != nil {
		return wire.EventAck{}, err
	}
	id := identity{o.Envelope, ""}
	epoch, err := s.epochOf(ctx, o.BootID)
	if errors.Is(err, errUnknownBoot) {
		return s.refuse(ctx, id, raw, err.Error())
	} else if err != nil {
		return wire.EventAck{}, err
	}
	seen := s.g.translate.observation(s.deviceID, epoch, o)
	e := stray{id: id, epoch: epoch, ack: wire.AckUnmatched, raw: raw, body: known(raw)}
	watch := s.g.watchFor(seen)
	if s.g.opts.Observations == nil || (!seen.RequiresDecision && watch == nil) {
		e.reason = "it needs no decision, and no watch takes it"
		return s.stray(ctx, e)
	}
	requestID, err := s.requestID(stray{id: id, body: seen})
	if err != nil {
		return wire.EventAck{}, err
	}
	switch err = s.g.opts.Observations.Observe(ctx, requestID, seen); {
	case err == nil:
		return wire.EventAck{EventID: o.EventID, Ack: wire.AckApplied}, nil
	case errors.Is(err, ErrSignalRefused):
		e.ack, e.reason = wire.AckRefused, err.Error()
		return s.stray(ctx, e)
	case !errors.Is(err, ErrNoLease):
		return wire.EventAck{}, fmt.Errorf("tell the lease of %s what the device saw: %w", s.deviceID, err)
	case watch == nil:
		e.reason = "no plan has the device, and no watch takes it"
		return s.stray(ctx, e)
	}
	return s.start(ctx, *watch, seen, e)
}

// start starts the routine of a watch, once for the event: its plan is the event's record.
func (s *session) start(ctx context.Context, watch catalog.Watch, seen plan.Observation, e stray) (wire.EventAck, error) {
	now := s.g.opts.Now()
	if seen.ObservedAt == 0 {
		e.reason = "it does not say when it was seen (observed_at), and nothing old starts a routine"
		return s.stray(ctx, e)
	}
	if age := now.Sub(time.UnixMilli(seen.ObservedAt)); age > watchAge {
		e.reason = fmt.Sprintf("it was seen %s ago by the device's clock, and nothing older than %s starts a routine", age.Round(time.Second), watchAge)
		return s.stray(ctx, e)
	}
	doc, ok := router.Routine(s.g.opts.Catalog, watch.Routine)
	if !ok {
		e.reason = fmt.Sprintf("its watch names %q, which is no routine that needs nothing said", watch.Routine)
		return s.stray(ctx, e)
	}
	capabilities := make([]string, len(doc.Steps))
	for i, step := range doc.Steps {
		capabilities[i] = step.Action.CapabilityID
	}
	slice := s.g.opts.Catalog.Slice(capabilities)
	home, err := s.g.opts.Registry.HomeOf(ctx, s.deviceID)
	if err != nil {
		return wire.EventAck{}, fmt.Errorf("find whose %s is: %w", s.deviceID, err)
	}
	saw := seen
	saw.Facts = nil // they are kept nowhere
	start := plan.Start{Saw: &saw, PlanID: "w-" + hash([]byte(s.deviceID + "/" + e.id.BootID + "/" + e.id.EventID))[:32], DeviceID: s.deviceID,
		HomeID: home.ID, AskedAt: min(seen.ObservedAt, now.UnixMilli()), Document: &doc, Slice: &slice, Decider: s.g.opts.Decider}
	if _, err := s.g.opts.Plans.Start(ctx, start); err != nil {
		return wire.EventAck{}, fmt.Errorf("start routine %s for what %s saw: %w", watch.Routine, s.deviceID, err)
	}
	s.log.Info("what the device saw started a routine", "kind", seen.Kind, "routine", watch.Routine, "plan", start.PlanID)
	return wire.EventAck{EventID: seen.EventID, Ack: wire.AckApplied, Reason: "plan " + start.PlanID}, nil
}

// watchFor is the watch that takes what was seen; nil if none does, or nobody could start anything.
func (g *Gateway) watchFor(o plan.Observation) *catalog.Watch {
	watches := g.opts.Catalog.Watches
	i := slices.IndexFunc(watches, func(w catalog.Watch) bool { return w.Kind == o.Kind && o.Confidence >= w.MinConfidence })
	if i < 0 || g.opts.Plans == nil {
		return nil
	}
	return &watches[i]
}
