package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"errand/deviceio/registry"
	"errand/deviceio/wire"
)

// Stray is one event that entered no plan's history, and what was done about it (design §6, acknowledging events).
type Stray struct {
	EventID     string `json:"event_id,omitempty" doc:"missing if it could not be read"`
	EventName   string `json:"event_name,omitempty" doc:"of a task event its own name, e.g. COMPLETED; else the kind of event, e.g. semantic.observation" example:"COMPLETED"`
	OperationID string `json:"operation_id,omitempty" doc:"the operation that it says it is about" example:"p-1f0a/move/1"`
	Ack         string `json:"ack" enum:"late,unmatched,refused" doc:"what the device was told: its plan was over, no plan is meant, or it cannot be used"`
	Reason      string `json:"reason" doc:"why, in words"`
	// ReceivedAt is the gateway's clock, at the first time it came: an event sent again is the same line.
	ReceivedAt time.Time `json:"received_at"`
	BootID     string    `json:"boot_id,omitempty"`
	Seq        int64     `json:"seq,omitempty" doc:"its number within the boot"`
	Epoch      int64     `json:"epoch,omitempty" doc:"place of the boot among the device's boots; missing if unknown"`
	// Body is JSON as the gateway kept it.
	Body any `json:"body" doc:"the event as it was kept: without the result fields that no catalog lists"`
}

// StrayList is a page of a device's stray events, the newest first.
type StrayList struct {
	DeviceID string  `json:"device_id"`
	Events   []Stray `json:"events"`
	Next     string  `json:"next,omitempty" doc:"value of the parameter page for the next page; missing on the last"`
}

type straysIn struct {
	ID   string `path:"id" doc:"device id or friendly name"`
	Size int    `query:"size" minimum:"1" maximum:"200" default:"50" doc:"events a page"`
	Page string `query:"page" maxLength:"1024" doc:"next of the page before"`
}

type straysOut struct{ Body StrayList }

func (a *API) strayRoutes() {
	get(a, huma.Operation{OperationID: "list-strays", Path: "/v1/devices/{id}/strays",
		Summary:     "List a device's events that entered no plan's history, the newest first",
		Description: "Late, unmatched and refused events, each with why. They were recorded before the device was answered.",
		Errors:      []int{401, 403, 404, 409, 422, 503}}, a.strays)
}

func (a *API) strays(ctx context.Context, in *straysIn) (*straysOut, error) {
	device, err := a.anyDevice(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if _, err := a.allow(ctx, toLook, device.HomeID); err != nil {
		return nil, err
	}
	page, next, err := a.Registry.StrayPage(ctx, device.ID, in.Size, in.Page)
	if errors.Is(err, registry.ErrPageToken) {
		return nil, problem(http.StatusUnprocessableEntity, "bad_parameter", "page: "+err.Error())
	}
	if err != nil {
		return nil, err
	}
	list := StrayList{DeviceID: device.ID, Events: make([]Stray, 0, len(page)), Next: next}
	for _, e := range page {
		line, err := stray(e)
		if err != nil {
			return nil, err
		}
		list.Events = append(list.Events, line)
	}
	return &straysOut{list}, nil
}

// stray reads what a person asks for first out of the kept body. A refused event is kept in the spelling it came in.
func stray(e registry.StrayEvent) (Stray, error) {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return Stray{}, fmt.Errorf("the kept body of event %q: %w", e.EventID, err)
	}
	text := func(names ...string) string {
		for _, name := range names {
			var s string
			if json.Unmarshal(body[name], &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	kind := ""
	switch {
	case body["question_id"] != nil, body["questionId"] != nil:
		kind = wire.NodeAnswer
	case body["kind"] != nil:
		kind = wire.NodeObservation
	}
	return Stray{EventID: e.EventID, EventName: cmp.Or(text("event_name", "eventName", "status"), kind),
		OperationID: text("operation_id", "operationId"), Ack: e.Ack, Reason: e.Reason, ReceivedAt: e.ReceivedAt,
		BootID: e.BootID, Seq: e.Seq, Epoch: e.Epoch, Body: e.Body}, nil
}
