package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"errand/deviceio/wire"
	"errand/plan"
)

// This file is what activities call: Gateway satisfies activities.Link (a main joins the two).

// at returns the device's socket. With an epoch it must be exactly that connection; 0 takes any.
func (g *Gateway) at(deviceID string, epoch int64) (*session, error) {
	s := g.table.get(deviceID)
	if s == nil {
		return nil, fmt.Errorf("device %s: %w", deviceID, plan.ErrNotConnected)
	}
	if epoch != 0 && s.epoch != epoch {
		return nil, fmt.Errorf("device %s: connection %d is gone, %d is here: %w", deviceID, epoch, s.epoch, plan.ErrNotConnected)
	}
	return s, nil
}

// Submit sends one operation over exactly the connection of its route. An answer no is Refused; an error that is not
// plan.ErrNotConnected means that the device may have it.
func (g *Gateway) Submit(ctx context.Context, c plan.Submit) (plan.Submitted, error) {
	held := heldSince(ctx, g.opts.Now())
	s, err := g.at(c.DeviceID, c.Route.ConnectionEpoch)
	if err != nil {
		return plan.Submitted{}, err
	}
	command := wire.CommandSubmitTask
	if c.NodeCommand != "" {
		command = c.NodeCommand
	}
	no, err := g.checkGates(ctx, s, c.CapabilityID, command)
	if err == nil && no == nil {
		no, err = g.movedReport(ctx, c.DeviceID, c.HomeID)
	}
	if err != nil {
		return plan.Submitted{}, err
	}
	if no != nil {
		refused := refusedHere(s, c, no)
		refused.Unasked = true // an earlier submit under this id may still be on its way
		return refused, nil
	}
	if err := s.awaitOpen(ctx); err != nil {
		return plan.Submitted{}, err
	}
	task := wireTask(c)
	// ttlMs counts from when the device gets it, so what passed on the way is taken off. What is too old is not sent: a
	// device would take a ttl of 0 for none (design §6, old intentions do not move robots).
	if task.TTLMs -= g.opts.Now().Sub(held).Milliseconds(); task.TTLMs <= 0 {
		return plan.Submitted{}, fmt.Errorf("submit %s: held for longer than its ttl of %d ms, not sent: %w", c.OperationID, c.TTLMs, plan.ErrNotConnected)
	}
	g.live.expect(c.DeviceID, c.OperationID)
	// A stop that came since the gates were checked finds the operation among the live ones, or is found here.
	if stop, stopped := g.stoppedNow(ctx, c.DeviceID); stopped {
		if no := g.stopReport(stop, g.translate.capability(c.CapabilityID)); no != nil {
			refused := refusedHere(s, c, no)
			refused.Unasked = true
			return refused, nil
		}
	}
	g.owners.note(c.PlanID, Owner{DeviceID: c.DeviceID, HomeID: c.HomeID})
	if c.NodeCommand != "" {
		return g.submitCommand(ctx, s, c)
	}
	raw, err := s.invoke(ctx, wire.CommandSubmitTask, task)
	if failure, ok := notRun(err); ok {
		return refusedHere(s, c, g.translate.reason(failure.Code, nil, failure.Message)), nil
	}
	if err != nil {
		return plan.Submitted{}, err
	}
	answer, err := wire.ParseSubmitAnswer(raw)
	if err != nil {
		return plan.Submitted{}, unreadable(wire.CommandSubmitTask, err)
	}
	return g.translate.submitted(ctx, s, c.OperationID, answer)
}

// heldSince is when the command was given to us: when its activity was scheduled, or now outside of one.
func heldSince(ctx context.Context, now time.Time) time.Time {
	if activity.IsActivity(ctx) {
		if scheduled := activity.GetInfo(ctx).ScheduledTime; scheduled.Before(now) && !scheduled.IsZero() {
			return scheduled
		}
	}
	return now
}

// notRun finds the device's word that the command did not begin: it cannot be read, or may not run now. That is a refusal, and
// not an unknown outcome.
func notRun(err error) (failure *DeviceError, ok bool) {
	ok = errors.As(err, &failure) && wire.NotRun(failure.Code)
	return failure, ok
}

func refusedHere(s *session, c plan.Submit, why *plan.Report) plan.Submitted {
	return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, ConnectionEpoch: s.epoch, Detail: why.Detail, Report: why}
}

// CancelTask asks the device to stop an operation, over whatever connection it has now.
func (g *Gateway) CancelTask(ctx context.Context, c plan.CancelTask) (plan.CancelAnswered, error) {
	s, err := g.at(c.DeviceID, 0)
	if err != nil {
		return plan.CancelAnswered{}, err
	}
	if s.keepsNothing(c.NodeCommand, c.OperationID) {
		return s.cancelCommand(c.OperationID), nil
	}
	if !s.advertises(wire.CommandCancelTask) {
		return plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelRefused, ConnectionEpoch: s.epoch,
			Detail: "the device did not announce " + wire.CommandCancelTask}, nil
	}
	raw, err := s.invoke(ctx, wire.CommandCancelTask, wire.CancelQuery{TaskID: c.TaskID, OperationID: c.OperationID, Reason: c.Reason})
	if err != nil {
		return plan.CancelAnswered{}, err
	}
	answer, err := wire.ParseCancelAnswer(raw)
	if err != nil {
		return plan.CancelAnswered{}, unreadable(wire.CommandCancelTask, err)
	}
	return g.translate.cancelled(ctx, s, c.OperationID, answer)
}

// Status asks the device how an operation stands, over whatever connection it has now.
func (g *Gateway) Status(ctx context.Context, c plan.QueryStatus) (plan.StatusReported, error) {
	s, err := g.at(c.DeviceID, 0)
	if err != nil {
		return plan.StatusReported{}, err
	}
	if s.keepsNothing(c.NodeCommand, c.OperationID) {
		return s.commandStatus(c.OperationID), nil
	}
	if !s.advertises(wire.CommandTaskStatus) {
		return plan.StatusReported{OperationID: c.OperationID, Finding: plan.StatusUnsupported, ConnectionEpoch: s.epoch,
			Detail: "the device did not announce " + wire.CommandTaskStatus}, nil
	}
	// By operation id alone: it names the attempt, and a task id of another store could be anybody's.
	query := wire.StatusQuery{OperationID: c.OperationID}
	if c.OperationID == "" {
		query.TaskID = c.TaskID
	}
	raw, err := s.invoke(ctx, wire.CommandTaskStatus, query)
	if err != nil {
		return plan.StatusReported{}, err
	}
	answer, err := wire.ParseStatusAnswer(raw)
	if err != nil {
		return plan.StatusReported{}, unreadable(wire.CommandTaskStatus, err)
	}
	return g.translate.status(ctx, s, c.OperationID, answer)
}

// Context returns the device's device_context.v1, and records the room catalog in it.
func (g *Gateway) Context(ctx context.Context, deviceID string) (map[string]any, error) {
	s, err := g.at(deviceID, 0)
	if err != nil {
		return nil, err
	}
	return s.planningContext(ctx)
}

// Say tells the person something through the device, if those at it may hear it.
func (g *Gateway) Say(ctx context.Context, c plan.Say) error {
	if err := g.audible(ctx, c.DeviceID, c.HomeID); err != nil {
		return err
	}
	return g.tell(ctx, c.DeviceID, wire.CommandSay, wire.Say{Text: c.Text, Locale: c.Locale})
}

// Ask puts a question to the person through the device, if those at it may hear it; the answer comes as the event assistant.answer.
func (g *Gateway) Ask(ctx context.Context, c plan.Ask) error {
	if err := g.audible(ctx, c.DeviceID, c.HomeID); err != nil {
		return err
	}
	q := c.Question
	return g.tell(ctx, c.DeviceID, wire.CommandAsk, wire.Ask{QuestionID: q.ID, Text: q.Text, Choices: q.Choices, Labels: q.Labels(), ExpiresAt: q.ExpiresAt})
}

func (g *Gateway) tell(ctx context.Context, deviceID, command string, params any) error {
	s, err := g.at(deviceID, 0)
	if err != nil {
		return err
	}
	if !s.mayAsk(ctx, command) {
		return &DeviceError{Command: command, Code: wire.InvokeUnknownCommand, Message: s.lacks(command)}
	}
	_, err = s.invoke(ctx, command, params)
	return err
}

func unreadable(command string, err error) error {
	return fmt.Errorf("%s: %w: %w", command, ErrBadAnswer, err)
}
