package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
	"errand/plan"
)

// identity is how an event is told from others, as far as it could be read.
type identity struct {
	wire.Envelope
	OperationID string
}

// identityOf is what could be read of an event that could not be read as a whole.
func identityOf(r *wire.RefusedEvent) identity {
	return identity{wire.Envelope{EventID: r.EventID, BootID: r.BootID, Seq: r.Seq}, r.OperationID}
}

// stray is an event that enters no plan's history, and is recorded before it is acknowledged.
type stray struct {
	id          identity
	epoch       int64
	ack, reason string
	raw         json.RawMessage // as it came: only its hash is kept
	body        any             // what may be kept
}

// stray records an event and acknowledges it the way the record says: for one sent again, as the first time.
func (s *session) stray(ctx context.Context, e stray) (wire.EventAck, error) {
	body, err := json.Marshal(e.body)
	if err != nil {
		return wire.EventAck{}, fmt.Errorf("write the event's record: %w", err)
	}
	kept, err := s.g.opts.Registry.KeepStray(ctx, registry.StrayEvent{DeviceID: s.deviceID, EventID: e.id.EventID, BodyHash: hash(e.raw),
		BootID: e.id.BootID, Seq: e.id.Seq, Epoch: e.epoch, Ack: e.ack, Reason: e.reason, Body: body})
	if err != nil {
		return wire.EventAck{}, err
	}
	s.log.Warn("an event is in no plan's history", "event", e.id.EventID, "operation", e.id.OperationID, "ack", kept.Ack, "reason", kept.Reason)
	return wire.EventAck{EventID: e.id.EventID, Ack: kept.Ack, Reason: kept.Reason}, nil
}

// refuse records an event that cannot be used. If it names an operation, that plan asks the device: the event may have
// been the completion it waits for.
func (s *session) refuse(ctx context.Context, id identity, raw json.RawMessage, why string) (wire.EventAck, error) {
	ack, err := s.stray(ctx, stray{id: id, ack: wire.AckRefused, reason: why, raw: raw, body: known(raw)})
	if err != nil {
		return wire.EventAck{}, err
	}
	op, unreadable := plan.ParseOperationID(id.OperationID)
	if unreadable != nil {
		return ack, nil //nolint:nilerr // nobody can be asked; the event is on record
	}
	if foreign, err := s.g.foreign(ctx, op.Plan, s.deviceID); foreign || err != nil {
		return ack, err // its own plans are asked to doubt, nobody else's
	}
	doubt := plan.Signal{Doubt: &plan.Doubt{DeviceID: s.deviceID, OperationID: id.OperationID, Why: "refused event " + id.EventID + ": " + why}}
	err = s.g.opts.Signaller.Signal(ctx, op.Plan, s.deviceID+"/"+hash(raw)+"/doubt", doubt)
	if err != nil && !errors.Is(err, ErrPlanOver) && !errors.Is(err, ErrPlanUnknown) && !errors.Is(err, ErrSignalRefused) {
		return wire.EventAck{}, fmt.Errorf("tell plan %s about a refused event: %w", op.Plan, err)
	}
	return ack, nil
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// keepable are the fields of an event that could not be read which may be kept: those the contract names (contract.md §4
// and §5, in both spellings), and never a result, whose fields are nobody's before a catalog lists them (law 4).
var keepable = []string{
	"event_id", "eventId", "boot_id", "bootId", "seq", "event_name", "eventName", "status", "task_id", "taskId", "task_method", "taskMethod",
	"cloud_workflow_id", "cloudWorkflowId", "cloud_plan_id", "cloudPlanId", "cloud_step_id", "cloudStepId", "cloud_output_key", "cloudOutputKey",
	"operation_id", "operationId", "plan_revision", "planRevision", "progress", "stage", "timestamp", "reason_code", "reasonCode",
	"requires_cloud_decision", "requiresCloudDecision", "recoverability", "question_id", "questionId", "choice", "speaker_id", "speakerId",
	"kind", "confidence", "place", "observed_at", "observedAt",
}

// keptBytes is the longest value kept of one such field.
const keptBytes = 512

// known picks the keepable fields out of an event, as far as it is JSON at all. What was left out is seen by its size.
func known(raw json.RawMessage) map[string]json.RawMessage {
	kept := map[string]json.RawMessage{"_bytes": json.RawMessage(fmt.Sprint(len(raw)))}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return kept
	}
	for _, name := range keepable {
		if v, ok := fields[name]; ok && len(v) <= keptBytes && v[0] != '{' && v[0] != '[' {
			kept[name] = v
		}
	}
	return kept
}

// readIdentity reads the envelope of an event that has no parser of its own, in either spelling.
func readIdentity(raw json.RawMessage) identity {
	var snake wire.Envelope
	var camel struct {
		EventID string `json:"eventId"`
		BootID  string `json:"bootId"`
	}
	// What cannot be read stays empty, and is refused for that.
	_ = json.Unmarshal(raw, &snake)
	_ = json.Unmarshal(raw, &camel)
	if snake.EventID == "" {
		snake.EventID = camel.EventID
	}
	if snake.BootID == "" {
		snake.BootID = camel.BootID
	}
	return identity{Envelope: snake}
}
