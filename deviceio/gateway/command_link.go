package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"errand/deviceio/wire"
	"errand/plan"
)

// submitCommand sends an operation to a node as one invoke and does not wait for its result, which comes as an event. What the
// node says instead of beginning comes that way too. An error means that the node may have it.
func (g *Gateway) submitCommand(ctx context.Context, s *session, c plan.Submit) (plan.Submitted, error) {
	inv := &invocation{id: g.newID(), submit: c, epoch: s.epoch}
	frame, err := s.commandFrame(inv)
	if err != nil {
		return plan.Submitted{}, err
	}
	running, err := s.invoked.add(inv)
	switch {
	case errors.Is(err, errBuried):
		return refusedHere(s, c, g.translate.reason("TOMBSTONED", nil, err.Error())), nil
	case err != nil:
		return plan.Submitted{}, err
	case running != nil: // a copy of this submit was faster
		return accepted(s, running), nil
	}
	g.owners.note(c.PlanID, Owner{DeviceID: c.DeviceID, HomeID: c.HomeID})
	if ctx.Err() != nil {
		s.invoked.forget(inv)
		return plan.Submitted{}, fmt.Errorf("%s: %w: %w", c.NodeCommand, plan.ErrNotConnected, context.Cause(ctx))
	}
	if err := s.line.write(frame); err != nil {
		s.drop()
		return plan.Submitted{}, fmt.Errorf("%s: %w: %w", c.NodeCommand, ErrSocketLost, err)
	}
	s.invoked.start(inv, time.Duration(c.TimeoutMs)*time.Millisecond, func() { s.overdue(inv) })
	return accepted(s, inv), nil
}

func accepted(s *session, inv *invocation) plan.Submitted {
	return plan.Submitted{OperationID: inv.submit.OperationID, Delivery: plan.DeliveryAccepted, TaskID: inv.id, ConnectionEpoch: s.epoch}
}

// commandFrame writes the invoke. Its id is new each time: reusing one in flight kills the first run.
func (s *session) commandFrame(inv *invocation) (wire.Frame, error) {
	params := inv.submit.Arguments
	if params == nil {
		params = map[string]any{}
	}
	text, err := json.Marshal(params)
	if err != nil {
		return wire.Frame{}, fmt.Errorf("%s: write its parameters: %w", inv.submit.NodeCommand, err)
	}
	return wire.NewEvent(wire.EventInvoke, wire.InvokeRequest{ID: inv.id, NodeID: s.deviceID, Command: inv.submit.NodeCommand,
		ParamsJSON: string(text), TimeoutMs: inv.submit.TimeoutMs, IdempotencyKey: inv.submit.OperationID})
}

// overdue ends the wait for a result. The node would go on (it ignores the outer timeout), so it is told to stop; what it did is
// not known, and the plan is told so. A result that comes all the same is late, and counts (law 10).
func (s *session) overdue(inv *invocation) {
	c := inv.submit
	if s.invoked.giveUp(c.OperationID) == nil {
		return
	}
	s.log.Warn("a command took too long: it is cancelled, and what it did is not known", "command", c.NodeCommand, "operation", c.OperationID)
	s.cancelInvoke(inv)
	ctx, cancel := context.WithTimeout(context.Background(), s.g.opts.SignalTimeout)
	defer cancel()
	doubt := plan.Signal{Doubt: &plan.Doubt{DeviceID: s.deviceID, OperationID: c.OperationID,
		Why: fmt.Sprintf("no result of %s within %d ms: it was told to stop", c.NodeCommand, c.TimeoutMs)}}
	if err := s.g.opts.Signaller.Signal(ctx, c.PlanID, s.deviceID+"/"+inv.id+"/overdue", doubt); err != nil {
		s.log.Warn("a plan could not be told that its command took too long: it asks by itself", "operation", c.OperationID, "error", err)
	}
}

// commandStatus tells how an operation of a node stands: it runs, or nobody will ever tell. With a way to read back it looks for
// what the operation would have left behind (activities judge it).
func (s *session) commandStatus(operationID string) plan.StatusReported {
	out := plan.StatusReported{OperationID: operationID, Finding: plan.StatusForgotten, ConnectionEpoch: s.epoch,
		Detail: "a plain node keeps nothing of what it did, and this one is at it no more"}
	if inv := s.invoked.inFlight(operationID); inv != nil {
		out.Finding, out.Status, out.TaskID, out.Epoch, out.Detail = plan.StatusFound, plan.OpRunning, inv.id, s.bootEpoch, ""
	}
	return out
}

// cancelCommand tells a node to stop an operation. What it had done by then nobody will tell. One that is not in flight is kept
// from being sent over this connection.
func (s *session) cancelCommand(operationID string) plan.CancelAnswered {
	out := plan.CancelAnswered{OperationID: operationID, Case: plan.CancelTombstoned, ConnectionEpoch: s.epoch}
	inv := s.invoked.giveUp(operationID)
	switch {
	case inv != nil:
		s.cancelInvoke(inv)
		out.Case = plan.CancelStopping
	case s.invoked.inFlight(operationID) != nil: // its result is here, and is being recorded
		out.Case = plan.CancelStopping
	default:
		s.invoked.bury(operationID)
	}
	return out
}

// keepsNothing tells whether an operation is one that only this connection knows of: a node's command, by what is asked or by
// what is in flight, or anything that was asked of a device which has no TaskManager at all.
func (s *session) keepsNothing(command, operationID string) bool {
	return command != "" || s.invoked.inFlight(operationID) != nil || (s.declared == nil && !s.advertises(wire.CommandSubmitTask))
}

// Read carries out a read-only command of a node and returns its whole result, which is for a look and goes nowhere (law 4).
func (g *Gateway) Read(ctx context.Context, deviceID string, look plan.ReadBack) (map[string]any, error) {
	s, err := g.at(deviceID, 0)
	if err != nil {
		return nil, err
	}
	capability := g.translate.command(look.NodeCommand)
	if capability == nil || !capability.Enabled || !s.mayAsk(ctx, look.NodeCommand) {
		return nil, &DeviceError{Command: look.NodeCommand, Code: wire.InvokeUnknownCommand, Message: "it is not enabled in the catalog, or " + s.lacks(look.NodeCommand)}
	}
	raw, err := s.invoke(ctx, look.NodeCommand, look.Params)
	if err != nil {
		return nil, err
	}
	var result map[string]any
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, unreadable(look.NodeCommand, err)
	}
	return result, nil
}
