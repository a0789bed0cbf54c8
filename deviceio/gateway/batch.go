package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// batchAnswer is the answer to a batch of events.
type batchAnswer struct {
	// Acks has one entry for each event, in their order.
	Acks []batchAck `json:"acks"`
	// Decisions has what was decided last in the plans that the batch asked a decision of, as far as it is ready.
	Decisions []batchDecision `json:"decisions,omitempty"`
}

// batchAck is one event's acknowledgement: what a socket answers. Without ok the event is recorded nowhere, and is to be sent again; so
// are all behind it, which were not looked at.
type batchAck struct {
	OK bool `json:"ok"`
	wire.EventAck
}

// batchDecision is the latest decision of one plan, in the shape that all decisions have (contract.md §7), and what it asks the person.
type batchDecision struct {
	PlanID   string               `json:"plan_id"`
	Decision *plan.ReplanDecision `json:"replan_decision,omitempty"`
	Question *plan.Question       `json:"question,omitempty"`
}

// resend is how soon a batch of which not all was recorded is to be sent again.
const resend = time.Second

// batch answers POST /v1/task-events and POST /v1/observations, whose bare events are of the kind.
func (g *Gateway) batch(kind string) deviceRoute {
	return func(w http.ResponseWriter, r *http.Request, d registry.Device) *problem {
		body, bad := readBody(w, r, wire.MaxBatchBytes)
		if bad != nil {
			return bad
		}
		b, err := wire.ParseBatch(body, kind)
		if err != nil {
			return badDocument(err)
		}
		if retry, ok := g.flood.event(r.Context(), d.ID, len(b.Events)); !ok {
			return tooMany("too many events", retry)
		}
		s := newSession(g, nil, wire.Connect{Device: wire.DeviceIdentity{ID: d.ID}, Errand: b.Errand})
		defer s.cancel(nil)
		if b.Errand != nil {
			if bad := g.describe(r.Context(), s, *b.Errand); bad != nil {
				return bad
			}
		}
		answer, complete := s.takeAll(r.Context(), b.Events)
		if !complete {
			w.Header().Set("Retry-After", retryAfter(resend.Milliseconds()))
			writeJSON(w, http.StatusServiceUnavailable, "application/json", answer)
			return nil
		}
		writeJSON(w, http.StatusOK, "application/json", answer)
		return nil
	}
}

// describe records what the device says of itself, as a handshake does.
func (g *Gateway) describe(ctx context.Context, s *session, e wire.Errand) *problem {
	var err error
	if s.boots, err = g.opts.Registry.Boots(ctx, s.deviceID, e.Boots); errors.Is(err, registry.ErrBootOrder) {
		g.log.Error("a device contradicts the recorded order of its boots", "device", s.deviceID, "error", err)
		return newProblem(http.StatusConflict, detailBootOrder, err.Error())
	}
	if err == nil {
		err = g.opts.Registry.Describe(ctx, s.deviceID, plan.Profile(e.Profile), e.StoreID, e.RetentionS*1000)
	}
	if err != nil {
		return g.registryDown("record what a device says of itself", s.deviceID, err)
	}
	return nil
}

// takeAll takes events in their order, and stops at the first that could not be recorded: what is behind it must not overtake it.
func (s *session) takeAll(ctx context.Context, events []wire.NodeEvent) (answer batchAnswer, complete bool) {
	answer.Acks = make([]batchAck, len(events))
	complete = true
	asked := newAsked()
	for i, e := range events {
		if !complete {
			answer.Acks[i].Reason = "not looked at: an event before it could not be recorded"
			continue
		}
		ack, err := s.takeOne(ctx, e)
		if err != nil {
			s.log.Warn("an event could not be recorded: the device must send it again", "event", e.Event, "error", err)
			s.g.counters.unrecorded.Inc()
			answer.Acks[i].Reason, complete = "not recorded: "+err.Error(), false
			continue
		}
		answer.Acks[i] = batchAck{OK: true, EventAck: ack}
		asked.note(e, ack)
	}
	answer.Decisions = s.decisions(ctx, asked)
	return answer, complete
}

// takeOne takes one event in the device's turn, as one over a socket is taken.
func (s *session) takeOne(ctx context.Context, e wire.NodeEvent) (wire.EventAck, error) {
	if s.g.draining.Load() {
		return wire.EventAck{}, errors.New("the gateway is shutting down")
	}
	ctx, cancel := context.WithTimeout(ctx, s.g.opts.SignalTimeout)
	defer cancel()
	if o, ok := stopWithin(e); ok { // out of turn, as over a socket
		return s.recordStop(ctx, o)
	}
	leave, err := s.g.lanes.enter(ctx, s.deviceID)
	if err != nil {
		return wire.EventAck{}, err
	}
	defer leave()
	if err := s.admitted(ctx); err != nil {
		return wire.EventAck{}, err
	}
	ack, known, err := s.acknowledge(ctx, e)
	if err == nil && !known {
		ack, err = s.refuse(ctx, identity{}, e.Payload, "event: "+e.Event+" is none that a device sends here")
	}
	if err == nil {
		s.g.counters.acks.WithLabelValues(e.Event, ack.Ack).Inc()
	}
	return ack, err
}

// asked is what the events of a batch want decided: plans by their ids, and the plan that holds the device.
type asked struct {
	plans  map[string]bool
	holder bool
}

func newAsked() *asked { return &asked{plans: make(map[string]bool)} }

// note looks whether an event that was applied wants a decision.
func (a *asked) note(e wire.NodeEvent, ack wire.EventAck) {
	if ack.Ack != wire.AckApplied || ack.Reason == reasonLiveOnly {
		return
	}
	switch e.Event {
	case wire.NodeTaskEvent:
		t, err := wire.ParseTaskEvent(e.Body())
		if err != nil || t.ReasonCode == "" && t.RequiresCloudDecision == nil {
			return
		}
		if planID, err := destination(t.Trace); err == nil && planID != "" {
			a.plans[planID] = true
		}
	case wire.NodeObservation:
		a.holder = true
	}
}

// decisionWait bounds the look at a plan's decision: what is not ready by then comes with a later answer, or as a command.
const decisionWait = 2 * time.Second

// decisions looks what was decided in the plans. Not to know is no failure: the events are taken.
func (s *session) decisions(ctx context.Context, a *asked) (found []batchDecision) {
	views := s.g.opts.Views
	if views == nil || len(a.plans) == 0 && !a.holder {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, decisionWait)
	defer cancel()
	if a.holder {
		if standing, err := views.Lease(ctx, s.deviceID); err == nil && standing.Holder != nil {
			a.plans[standing.Holder.PlanID] = true
		}
	}
	for planID := range a.plans {
		owner, err := s.g.ownerOf(ctx, planID)
		if err != nil || s.g.audible(ctx, s.deviceID, owner.HomeID) != nil {
			continue // those at the device hear nothing of it
		}
		v, err := views.View(ctx, planID)
		if err != nil {
			s.log.Debug("a plan's decision could not be seen", "plan", planID, "error", err)
			continue
		}
		if v.Decision != nil || v.Question != nil {
			found = append(found, batchDecision{PlanID: planID, Decision: v.Decision, Question: v.Question})
		}
	}
	return found
}

var _ json.Marshaler = batchAck{}

// MarshalJSON leaves out the fields of an acknowledgement where there is none.
func (b batchAck) MarshalJSON() ([]byte, error) {
	if b.OK {
		return json.Marshal(struct {
			OK bool `json:"ok"`
			wire.EventAck
		}{true, b.EventAck})
	}
	return json.Marshal(struct {
		OK     bool   `json:"ok"`
		Reason string `json:"reason"`
	}{false, b.Reason})
}
