package device

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"errand/deviceio/wire"
)

// Event is what a device tells the cloud. Make one with TaskEvent, Answer or Observation.
type Event struct {
	// Name is the node event, e.g. wire.NodeTaskEvent.
	Name string
	// Key and Droppable are as in Entry.
	Key       string
	Droppable bool
	// Urgent events are sent out of turn, and never wait for room; see EmergencyStop.
	Urgent bool
	// Body makes the payload with the envelope inside.
	Body func(wire.Envelope) any
}

// TaskEvent reports on a task. The envelope of e is filled in. Only PROGRESS may be dropped when the outbox is full.
//
// To report an event exactly once although the process may die between doing and reporting, give it a Key:
//
//	ev := device.TaskEvent(e)
//	ev.Key = e.OperationID + "/" + e.EventName
func TaskEvent(e wire.TaskEvent) Event {
	return Event{Name: wire.NodeTaskEvent, Droppable: e.EventName == wire.TaskProgress,
		Body: func(env wire.Envelope) any { e.Envelope = env; return e }}
}

// Answer reports what a person answered to assistant.ask. One question has one answer: the question is the key.
func Answer(a wire.AnswerEvent) Event {
	return Event{Name: wire.NodeAnswer, Key: "answer/" + a.QuestionID,
		Body: func(env wire.Envelope) any { a.Envelope = env; return a }}
}

// Observation reports a semantic observation (contract.md §5): kind, confidence, place, observed_at,
// requires_cloud_decision and small facts; never a frame or a credential.
func Observation(fields map[string]any) Event {
	return Event{Name: wire.NodeObservation, Body: func(env wire.Envelope) any {
		body := map[string]any{"event_id": env.EventID, "boot_id": env.BootID, "seq": env.Seq}
		for name, v := range fields {
			if _, taken := body[name]; !taken {
				body[name] = v
			}
		}
		return body
	}}
}

// EmergencyStop reports that the device was stopped, such as by its button, and when: stop first, then tell. The gateway latches
// it, refuses every motion and cancels what the device still runs for it, until a person releases the device there. It is
// sent out of turn: an event in front of it may have to wait for the cloud, and a stop does not.
func EmergencyStop(why string, at time.Time) Event {
	e := Observation(map[string]any{"kind": wire.KindEmergencyStop, "observed_at": at.UnixMilli(), "requires_cloud_decision": true,
		"facts": map[string]any{"why": why}})
	e.Urgent = true
	return e
}

// Emit keeps an event on disk and returns its id; from then on it reaches the cloud, in order, whatever happens to
// the process or the network. It does not wait for the cloud. An event that the cloud would refuse is refused here,
// with the same *wire.RefusedEvent, and not kept.
func (c *Client) Emit(ctx context.Context, e Event) (eventID string, err error) {
	env, err := c.outbox.Put(ctx, Entry{Event: e.Name, Key: e.Key, Droppable: e.Droppable, Urgent: e.Urgent,
		Payload: func(env wire.Envelope) (any, error) { return payload(e, env) }})
	return env.EventID, err
}

// payload writes the event and reads it back as the gateway will.
func payload(e Event, env wire.Envelope) (json.RawMessage, error) {
	raw, err := json.Marshal(e.Body(env))
	if err != nil {
		return nil, fmt.Errorf("write the event %s: %w", e.Name, err)
	}
	switch e.Name {
	case wire.NodeTaskEvent:
		_, err = wire.ParseTaskEvent(raw)
	case wire.NodeAnswer:
		_, err = wire.ParseAnswerEvent(raw)
	default:
		if len(raw) > wire.MaxTaskEvent {
			err = fmt.Errorf("the event %s has %d bytes, may have %d", e.Name, len(raw), wire.MaxTaskEvent)
		}
	}
	return raw, err
}
