package robot

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"syscall"

	"errand/deviceio/wire"
	"errand/internal/border"
)

// Commands lists what the robot can be asked, as announced at connect. submitWorkflow is among them to be refused in
// the contract's own words: this robot takes one task at a time for now.
func Commands() []string {
	return []string{wire.CommandSubmitTask, wire.CommandSubmitFlow, wire.CommandTaskStatus, wire.CommandCancelTask,
		wire.CommandContext, wire.CommandSay, wire.CommandAsk}
}

// Invoke answers one request of the cloud. An answer that says no is an answer; an error means that nothing was done.
func (r *Robot) Invoke(ctx context.Context, command string, params json.RawMessage) (any, error) {
	arrived, err := r.arrive(ctx, command, params)
	if err != nil {
		return nil, err
	}
	answer, about, err := r.serve(arrived, command, params)
	if err != nil {
		return nil, err
	}
	return r.spoil(ctx, command, about, answer)
}

// serve carries out a request; about is the operation it is about, if any.
func (r *Robot) serve(ctx context.Context, command string, params json.RawMessage) (answer any, about string, err error) {
	switch command {
	case wire.CommandSubmitTask:
		spec, err := wire.ParseTask(params)
		if err != nil {
			return r.unreadable(err), "", nil
		}
		answer, err := r.Submit(ctx, spec)
		return answer, spec.OperationID, err
	case wire.CommandSubmitFlow:
		return wire.SubmitAnswer{StoreID: r.store.id,
			Reason: *because(ReasonUnsupportedMethod, map[string]any{"command": command, "instead": wire.CommandSubmitTask})}, "", nil
	case wire.CommandTaskStatus:
		q, err := wire.ParseStatusQuery(params)
		if err != nil {
			return nil, "", invalidRequest(err)
		}
		answer, err := r.Status(ctx, q)
		return answer, q.OperationID, err
	case wire.CommandCancelTask:
		q, err := wire.ParseCancelQuery(params)
		if err != nil {
			return nil, "", invalidRequest(err)
		}
		answer, err := r.Cancel(ctx, q)
		return answer, q.OperationID, err
	case wire.CommandContext:
		return r.Context(), "", nil
	}
	answer, err = r.converse(ctx, command, params)
	return answer, "", err
}

// converse serves what is for the person.
func (r *Robot) converse(ctx context.Context, command string, params json.RawMessage) (any, error) {
	switch command {
	case wire.CommandSay:
		s, err := wire.ParseSay(params)
		if err != nil {
			return nil, invalidRequest(err)
		}
		return map[string]any{"said": true}, r.Say(ctx, s)
	case wire.CommandAsk:
		q, err := wire.ParseAsk(params)
		if err != nil {
			return nil, invalidRequest(err)
		}
		return map[string]any{"asked": true, "question_id": q.QuestionID}, r.Ask(ctx, q)
	}
	return nil, &wire.InvokeError{Code: wire.InvokeUnknownCommand, Message: "this robot does not know " + command}
}

func invalidRequest(err error) error {
	return &wire.InvokeError{Code: wire.InvokeInvalidRequest, Message: err.Error()}
}

// unreadable answers a submit that is not one: a structured reason, with the path of the first fault.
func (r *Robot) unreadable(err error) wire.SubmitAnswer {
	code, path := ReasonInvalidParameter, ""
	if faults, ok := errors.AsType[border.Faults](err); ok && len(faults) > 0 {
		path = faults[0].Path
		if faults[0].Code == "required" {
			code = ReasonMissingParameter
		}
	}
	return wire.SubmitAnswer{StoreID: r.store.id, Reason: *because(code, map[string]any{"parameter": path, "why": err.Error()})}
}

// killSelf ends the process as a power cut does: no deferred call runs, nothing is flushed.
func killSelf() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}
