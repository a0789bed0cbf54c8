package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"errand/catalog"
	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// The emergency stop is the gateway's own (design §6): it needs neither Temporal nor a lease nor a model. It is latched in the
// registry, by a person through the API or by the device itself, and every gateway looks there many times a second. While it is
// in force
//
//   - a gateway submits nothing to the device but what only reads (reasonStopped);
//   - what the device does, and what may still be on its way to it, is cancelled on the device, again until it stands still, also
//     when the device connects later or the gateway is started anew (halt.go);
//   - the plans that have or want the device are told, as soon as Temporal takes it, and end with the reason EMERGENCY_STOP.
//
// Only a person's release ends it, and nothing begins again by itself then.

// byDevice is who stopped a device that told of its own stop.
const byDevice = "device"

// stops are the stops in force, as last seen in the registry, and which of all stops are being told to plans.
type stops struct {
	mu      sync.Mutex
	inForce map[string]registry.Stop // by device: its first one
	telling map[string]bool          // by device and stop
}

// of is the stop of a device, as last seen. The registry has the last word (checkGates).
func (s *stops) of(deviceID string) (registry.Stop, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stop, ok := s.inForce[deviceID]
	return stop, ok
}

// stoppedNow is the stop of a device that is latched here and not released: what was seen last may be behind a release. Where that
// cannot be read, it is in force.
func (g *Gateway) stoppedNow(ctx context.Context, deviceID string) (registry.Stop, bool) {
	stop, latched := g.stops.of(deviceID)
	if !latched {
		return registry.Stop{}, false
	}
	if now, stopped, err := g.opts.Registry.StopOf(ctx, deviceID); err == nil {
		return now, stopped
	}
	return stop, true
}

// latch takes up a stop at once that is in the registry by now.
func (s *stops) latch(stop registry.Stop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inForce[stop.DeviceID].ID != stop.ID {
		s.inForce = maps.Clone(s.inForce)
		if s.inForce == nil {
			s.inForce = make(map[string]registry.Stop)
		}
		s.inForce[stop.DeviceID] = stop
	}
}

// see takes up what the registry lists, and returns the devices whose stop is new here.
func (s *stops) see(all []registry.Stop) (fresh []string) {
	now := make(map[string]registry.Stop)
	for _, stop := range all {
		if _, first := now[stop.DeviceID]; !first && stop.InForce() {
			now[stop.DeviceID] = stop
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for deviceID, stop := range now {
		if s.inForce[deviceID].ID != stop.ID { // also one that came right behind a release
			fresh = append(fresh, deviceID)
		}
	}
	s.inForce = now
	return fresh
}

// begin notes that a stop is being told; false if it is already.
func (s *stops) begin(stop registry.Stop) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.telling[telling(stop)] {
		return false
	}
	if s.telling == nil {
		s.telling = make(map[string]bool)
	}
	s.telling[telling(stop)] = true
	return true
}

func (s *stops) end(stop registry.Stop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.telling, telling(stop))
}

func telling(stop registry.Stop) string { return stop.DeviceID + " " + stop.ID }

// watchStops looks for stops and releases until ctx ends, and returns when nothing started for it runs any more.
func (g *Gateway) watchStops(ctx context.Context) {
	var tellers sync.WaitGroup
	defer tellers.Wait()
	look := time.NewTicker(g.opts.StopInterval)
	defer look.Stop()
	for {
		if err := g.lookForStops(ctx, &tellers); err != nil && ctx.Err() == nil {
			g.log.Error("it could not be seen which devices were stopped: nothing is sent to them while that is so; it is tried again",
				"in", g.opts.StopInterval, "error", err)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

func (g *Gateway) lookForStops(ctx context.Context, tellers *sync.WaitGroup) error {
	soon, cancel := context.WithTimeout(ctx, g.opts.LeaseTTL)
	defer cancel()
	all, err := g.opts.Registry.Stops(soon)
	if err != nil {
		return err
	}
	for _, deviceID := range g.stops.see(all) {
		stop, _ := g.stops.of(deviceID)
		g.log.Warn("EMERGENCY STOP: the device is moved by nobody until a person releases it", "device", deviceID, "by", stop.By, "why", stop.Why)
		if s := g.table.get(deviceID); s != nil {
			go s.halt()
		}
	}
	for _, stop := range all {
		if !stop.Told && g.stops.begin(stop) {
			tellers.Go(func() {
				defer g.stops.end(stop)
				g.tellStop(ctx, stop)
			})
		}
	}
	return nil
}

// tellAgain is how long a stop that Temporal did not take is kept before it is told again.
const tellAgain = time.Second

// tellStop tells the plans that have or want the device, through its lease, until that took it or has nobody to tell.
func (g *Gateway) tellStop(ctx context.Context, stop registry.Stop) {
	for {
		err := g.observeStop(ctx, stop)
		if err == nil {
			err = g.opts.Registry.StopTold(ctx, stop)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		g.log.Warn("the plans could not be told that their device was stopped: it is tried again", "device", stop.DeviceID, "in", tellAgain, "error", err)
		select {
		case <-time.After(tellAgain):
		case <-ctx.Done():
			return
		}
	}
}

func (g *Gateway) observeStop(ctx context.Context, stop registry.Stop) error {
	if g.opts.Observations == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.opts.SignalTimeout)
	defer cancel()
	err := g.opts.Observations.Observe(ctx, stop.DeviceID+"/stop/"+stop.ID, plan.Observation{EventID: "stop/" + stop.ID, DeviceID: stop.DeviceID,
		Kind: plan.KindEmergencyStop, ObservedAt: stop.At.UnixMilli(), RequiresDecision: true,
		Facts: map[string]any{"by": stop.By, "why": stop.Why}})
	if errors.Is(err, ErrNoLease) || errors.Is(err, ErrSignalRefused) {
		return nil // nobody wants the device, or never will hear it: the gate tells whoever comes
	}
	return err
}

// stopReport is why a stopped device is not asked to do this; nil if it may be. What only reads moves nothing.
func (g *Gateway) stopReport(stop registry.Stop, capability *catalog.Capability) *plan.Report {
	if capability != nil && capability.Impact == catalog.ReadOnly {
		return nil
	}
	report := g.translate.reason(plan.EmergencyStop, map[string]any{"by": stop.By, "at": stop.At.UnixMilli()},
		fmt.Sprintf("stopped by %s at %s; release the device first", stop.By, stop.At.UTC().Format(time.RFC3339)))
	report.RequiresDecision = false // whatever a catalog says, or does not say: a person decided
	return report
}

// nameStop gives the end of what a stop cancelled its reason, where the device gave none of its own.
func (g *Gateway) nameStop(ev *plan.Event) {
	stop, stopped := g.stops.of(ev.DeviceID)
	if !stopped || phaseOf(string(ev.Name)) != plan.OpCancelled {
		return
	}
	if ev.Report == nil || slices.Contains([]string{"CANCEL_REQUESTED", catalog.UnknownReason.Code}, ev.Report.Code) {
		ev.Report = g.stopReport(stop, nil)
	}
}

// ownStop finds a device's word that it was stopped.
func ownStop(f wire.Frame) (wire.Observation, bool) {
	node, err := wire.ParseNodeEvent(f.Params)
	if err != nil {
		return wire.Observation{}, false
	}
	return stopWithin(node)
}

func stopWithin(node wire.NodeEvent) (wire.Observation, bool) {
	if node.Event != wire.NodeObservation {
		return wire.Observation{}, false
	}
	o, err := wire.ParseObservation(node.Body())
	return o, err == nil && o.Kind == wire.KindEmergencyStop
}

// takeStop latches a device's own stop, out of turn: the events in front of it may wait for Temporal, and this one must not. Its
// row in the registry is the event's record. It reports whether f was such an event.
func (s *session) takeStop(f wire.Frame) bool {
	o, ok := ownStop(f)
	if !ok {
		return false
	}
	if !s.latching.CompareAndSwap(false, true) { // one at a time: a device cannot have us do more
		s.again(f.ID, "the stop is being recorded")
		return true
	}
	go func() {
		defer s.latching.Store(false)
		ctx, cancel := context.WithTimeout(s.ctx, s.g.opts.SignalTimeout)
		defer cancel()
		ack, err := s.recordStop(ctx, o)
		if err != nil {
			s.unrecorded(f.ID, err)
			return
		}
		s.reply(f.ID, ack)
	}()
	return true
}

// recordStop records the device's own stop, which is the event's record, and acknowledges it.
func (s *session) recordStop(ctx context.Context, o wire.Observation) (wire.EventAck, error) {
	if err := s.admitted(ctx); err != nil {
		return wire.EventAck{}, err
	}
	why, _ := o.Facts["why"].(string)
	stop := registry.Stop{DeviceID: s.deviceID, ID: o.EventID, At: s.g.opts.Now(), By: byDevice, Why: why}
	if err := s.latch(ctx, stop); err != nil {
		s.log.Error("the device's emergency stop could not be recorded: it must send it again", "error", err)
		return wire.EventAck{}, err
	}
	s.g.counters.acks.WithLabelValues(wire.NodeObservation, wire.AckApplied).Inc()
	return wire.EventAck{EventID: o.EventID, Ack: wire.AckApplied, Reason: "stopped until a person releases it"}, nil
}

// latch records the device's stop, and halts the device unless it was released since.
func (s *session) latch(ctx context.Context, stop registry.Stop) error {
	if err := s.g.opts.Registry.StopDevice(ctx, stop); err != nil {
		return err
	}
	if inForce, ok, err := s.g.opts.Registry.StopOf(ctx, s.deviceID); err != nil || !ok {
		return err
	} else {
		s.g.stops.latch(inForce)
	}
	if at := s.g.table.get(s.deviceID); at != nil {
		go at.halt()
	}
	return nil
}
