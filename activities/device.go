package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"errand/catalog/condition"
	"errand/plan"
	"errand/plan/lease"
)

// Device holds the activities that need a connected device.
type Device struct {
	link Link
	// looks paces the verifier's repeated looks; see Verify.
	looks Pace
}

// NewDevice joins the activities to the process that holds the sockets.
func NewDevice(link Link) *Device { return &Device{link: link, looks: everyHalfSecond} }

// Register makes the activities known to the worker of a gateway's own queue, under the names of package plan.
func (d *Device) Register(w worker.ActivityRegistry) {
	register(w, plan.ActivitySubmit, d.Submit)
	register(w, plan.ActivityCancelTask, d.CancelTask)
	register(w, plan.ActivityStatus, d.Status)
	register(w, lease.ActivityTasks, d.Tasks)
	register(w, plan.ActivityContext, d.Context)
	register(w, plan.ActivityPrepare, d.Prepare)
	register(w, plan.ActivityVerify, d.Verify)
	register(w, plan.ActivitySay, d.Say)
	register(w, plan.ActivityAsk, d.Ask)
}

func register(w worker.ActivityRegistry, name string, fn any) {
	w.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
}

// Submit sends one operation, once. Every way it can end is an answer: what became of it is the machine's to judge.
func (d *Device) Submit(ctx context.Context, c plan.Submit) (plan.Submitted, error) {
	if report, err := d.unmet(ctx, c); err != nil {
		return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryUndelivered, Detail: err.Error()}, nil
	} else if report != nil {
		return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryRefused, Unasked: true, Report: report}, nil
	}
	answer, err := d.link.Submit(ctx, c)
	switch {
	case errors.Is(err, ErrNotConnected):
		return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryUndelivered, Detail: err.Error()}, nil
	case err != nil:
		return plan.Submitted{OperationID: c.OperationID, Delivery: plan.DeliveryUnknown, Detail: err.Error()}, nil
	}
	return answer, nil
}

// unmet looks once more before anything is sent: at the preconditions, and at what the step was prepared for. What cannot be
// known is not met (law 17).
func (d *Device) unmet(ctx context.Context, c plan.Submit) (report *plan.Report, err error) {
	if len(c.Preconditions) == 0 && c.Expect == nil {
		return nil, nil
	}
	err = d.lookTwice(ctx, c.DeviceID, func(now map[string]any) (unknown bool) {
		var truth condition.Truth
		if report, truth = holds(c.Preconditions, c.CapabilityID, now, c.Arguments); report == nil {
			report = changed(c.Expect, now)
		}
		return truth == condition.Unknown || (report != nil && report.Code == plan.CodeStateUnknown)
	})
	if err != nil {
		return nil, fmt.Errorf("read the context for %s: %w", c.CapabilityID, err)
	}
	return report, nil
}

// CancelTask asks the device to stop an operation.
func (d *Device) CancelTask(ctx context.Context, c plan.CancelTask) (plan.CancelAnswered, error) {
	answer, err := d.link.CancelTask(ctx, c)
	if err != nil {
		return plan.CancelAnswered{OperationID: c.OperationID, Case: plan.CancelUnreachable, Detail: err.Error()}, nil
	}
	return answer, nil
}

// Status asks the device how an operation stands.
func (d *Device) Status(ctx context.Context, c plan.QueryStatus) (plan.StatusReported, error) {
	if !c.Route.Profile.Status && c.NodeCommand == "" {
		return plan.StatusReported{OperationID: c.OperationID, Finding: plan.StatusUnsupported}, nil
	}
	answer, err := d.link.Status(ctx, c)
	if err != nil {
		return plan.StatusReported{OperationID: c.OperationID, Finding: plan.StatusUnreachable, Detail: err.Error()}, nil
	}
	if answer.Finding == plan.StatusForgotten && c.ReadBack != nil {
		return d.readBack(ctx, c, answer), nil
	}
	return answer, nil
}

// Tasks asks the device what it runs.
func (d *Device) Tasks(ctx context.Context, c lease.ListTasks) (lease.TasksListed, error) {
	operations, partial, err := d.link.Tasks(ctx, c.DeviceID)
	switch {
	case errors.Is(err, ErrCannotTell):
		return lease.TasksListed{Listing: lease.Unlistable, Detail: err.Error()}, nil
	case err != nil:
		return lease.TasksListed{Listing: lease.Unreachable, Detail: err.Error()}, nil
	}
	return lease.TasksListed{Listing: lease.Listed, Operations: operations, Partial: partial}, nil
}

// Context reads the device's context.
func (d *Device) Context(ctx context.Context, c plan.FetchContext) (plan.ContextFetched, error) {
	seen, err := d.link.Context(ctx, c.DeviceID)
	if err != nil {
		return plan.ContextFetched{Detail: err.Error()}, nil
	}
	return plan.ContextFetched{Context: seen}, nil
}

// Say tells the person something through the device. A failure fails the activity, for the record only.
func (d *Device) Say(ctx context.Context, c plan.Say) error {
	if err := d.link.Say(ctx, c); err != nil {
		return fmt.Errorf("say through %s: %w", c.DeviceID, err)
	}
	return nil
}

// Ask puts a question to the person through the device. A failure fails the activity, for the record only.
func (d *Device) Ask(ctx context.Context, c plan.Ask) error {
	if err := d.link.Ask(ctx, c); err != nil {
		return fmt.Errorf("ask %s through %s: %w", c.Question.ID, c.DeviceID, err)
	}
	return nil
}
