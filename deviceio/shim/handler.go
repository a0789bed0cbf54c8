package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"errand/deviceio/device"
	"errand/deviceio/wire"
	"errand/internal/border"
)

// Commands lists what the shim answers, as announced at connect.
func Commands() []string {
	return []string{wire.CommandSubmitTask, wire.CommandTaskStatus, wire.CommandCancelTask, wire.CommandContext}
}

var _ device.Handler = (*Shim)(nil)

// Invoke answers one command of the cloud. An answer that says no is an answer; an error means that it cannot be told now.
func (s *Shim) Invoke(ctx context.Context, command string, params json.RawMessage) (any, error) {
	switch command {
	case wire.CommandSubmitTask:
		t, err := wire.ParseTask(params)
		if err != nil {
			return s.unreadable(err), nil
		}
		return s.Submit(ctx, t)
	case wire.CommandTaskStatus:
		q, err := wire.ParseStatusQuery(params)
		if err != nil {
			return nil, invalidRequest(err)
		}
		return s.Status(ctx, q)
	case wire.CommandCancelTask:
		q, err := wire.ParseCancelQuery(params)
		if err != nil {
			return nil, invalidRequest(err)
		}
		return s.Cancel(ctx, q)
	case wire.CommandContext:
		return s.Context(ctx)
	}
	return nil, &wire.InvokeError{Code: wire.InvokeUnknownCommand, Message: "this device does not know " + command}
}

func invalidRequest(err error) error {
	return &wire.InvokeError{Code: wire.InvokeInvalidRequest, Message: err.Error()}
}

// notNow says that a question has no answer at the moment: it is asked again.
func notNow(format string, args ...any) error {
	return &wire.InvokeError{Code: wire.InvokeUnavailable, Message: fmt.Sprintf(format, args...)}
}

// unreadable answers a submit that is not one: a structured reason, with the path of the first fault.
func (s *Shim) unreadable(err error) wire.SubmitAnswer {
	code, path := ReasonInvalidParameter, ""
	if faults, ok := errors.AsType[border.Faults](err); ok && len(faults) > 0 {
		path = faults[0].Path
		if faults[0].Code == "required" {
			code = ReasonMissingParameter
		}
	}
	return wire.SubmitAnswer{StoreID: s.StoreID(), Reason: *because(code, map[string]any{"parameter": path, "why": err.Error()})}
}
