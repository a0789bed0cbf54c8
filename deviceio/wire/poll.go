package wire

import (
	"encoding/json"
	"fmt"

	"errand/internal/border"
)

// This file is what travels over HTTP to and from an app that holds no socket (contract.md §3 and §10). Each document inside is the one
// that a socket carries.

// Limits of the HTTP documents.
const (
	MaxBatchEvents = 100
	MaxBatchBytes  = 1 << 20
)

// Batch is the body of POST /v1/task-events and POST /v1/observations.
type Batch struct {
	// Errand is what connect carries: what the device can be relied on for, and its boots. It may be left out where nothing of it changed.
	Errand *Errand
	// Events are in the order in which they are to be taken, as they were sent.
	Events []NodeEvent
}

// batchFrame is a Batch without its events, which are read one by one: a bad one is refused by itself.
type batchFrame struct {
	Errand *Errand `json:"errand"`
}

// ParseBatch reads a batch whose bare events are of the kind: either events, a list, or event, one. An item is the bare document, or
// {"event": name, "payload": document} for one of another kind. Failures are border.Faults.
func ParseBatch(raw []byte, kind string) (Batch, error) {
	if len(raw) > MaxBatchBytes {
		return Batch{}, border.Faults{{Code: "too_large", Message: fmt.Sprintf("has %d bytes, may have %d: send fewer events at once", len(raw), MaxBatchBytes)}}
	}
	var head batchFrame
	kept, err := batchDoc.readAround(raw, &head, "events", "event")
	if err != nil {
		return Batch{}, err
	}
	items, err := itemsOf(kept)
	if err != nil {
		return Batch{}, err
	}
	b := Batch{Errand: head.Errand}
	for _, item := range items {
		b.Events = append(b.Events, nodeEvent(item, kind))
	}
	return b, nil
}

// itemsOf splits the events without reading them.
func itemsOf(fields map[string]json.RawMessage) ([]json.RawMessage, error) {
	list, one := fields["events"], fields["event"]
	var items []json.RawMessage
	switch {
	case (list == nil) == (one == nil):
		return nil, border.Faults{{Path: "events", Code: "required", Message: "give either events, a list in order, or event, one"}}
	case one != nil:
		return []json.RawMessage{one}, nil
	case json.Unmarshal(list, &items) != nil:
		return nil, border.Faults{{Path: "events", Code: "wrong_type", Message: "must be a list"}}
	case len(items) == 0 || len(items) > MaxBatchEvents:
		return nil, border.Faults{{Path: "events", Code: "too_many", Message: fmt.Sprintf("has %d events, may have 1 to %d", len(items), MaxBatchEvents)}}
	}
	return items, nil
}

// nodeEvent is an item as a socket would carry it.
func nodeEvent(item json.RawMessage, kind string) NodeEvent {
	fields, _ := members(item) // what cannot be split is refused as an event of the kind
	if name := text(fields["event"]); name != "" && fields["payload"] != nil {
		return NodeEvent{Event: name, Payload: fields["payload"]}
	}
	return NodeEvent{Event: kind, Payload: item}
}

// ParseResponses reads the body of POST /v1/devices/{id}/responses: either responses, a list, or one response by itself. A response has
// the request_id, and either ok:true with a payload, or ok:false with an error{code, message}. Failures are border.Faults.
func ParseResponses(raw []byte) ([]InvokeResult, error) {
	if len(raw) > MaxPayload {
		return nil, border.Faults{{Code: "too_large", Message: fmt.Sprintf("has %d bytes, may have %d", len(raw), MaxPayload)}}
	}
	fields, faults := members(raw)
	if len(faults) > 0 {
		return nil, faults
	}
	items := []json.RawMessage{raw}
	if list, ok := fields["responses"]; ok {
		if json.Unmarshal(list, &items) != nil || len(items) == 0 || len(items) > MaxBatchEvents {
			return nil, border.Faults{{Path: "responses", Code: "wrong_type", Message: fmt.Sprintf("must be a list of 1 to %d responses", MaxBatchEvents)}}
		}
	}
	var all []InvokeResult
	for i, item := range items {
		r, err := parseResponse(item)
		if err != nil && len(items) > 1 {
			err = under(fmt.Sprintf("responses[%d]", i), err)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func parseResponse(raw json.RawMessage) (InvokeResult, error) {
	var r struct {
		RequestID string       `json:"request_id"`
		OK        bool         `json:"ok"`
		Error     *InvokeError `json:"error"`
	}
	kept, err := responseDoc.readAround(raw, &r, "payload")
	if err != nil {
		return InvokeResult{}, err
	}
	return InvokeResult{ID: r.RequestID, OK: r.OK, Payload: kept["payload"], Error: r.Error}, nil
}

// Request is one command in the answer to GET /v1/devices/{id}/requests.
type Request struct {
	RequestID string          `json:"request_id"` // its answer names it
	Command   string          `json:"command"`
	Params    json.RawMessage `json:"params"`
	// TimeoutMs is how long its answer is waited for, from now on.
	TimeoutMs int64 `json:"timeout_ms"`
}

// Requests is the answer to GET /v1/devices/{id}/requests. Each list may be empty; each command is told again until it is answered.
type Requests struct {
	Tasks     []Request `json:"device_task_requests"`     // taskmanager.submitTask
	Workflows []Request `json:"device_workflow_requests"` // taskmanager.submitWorkflow
	Others    []Request `json:"device_requests"`          // all other commands
}

// Add puts a command into its list.
func (r *Requests) Add(q Request) {
	switch q.Command {
	case CommandSubmitTask:
		r.Tasks = append(r.Tasks, q)
	case CommandSubmitFlow:
		r.Workflows = append(r.Workflows, q)
	default:
		r.Others = append(r.Others, q)
	}
}
