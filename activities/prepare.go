package activities

import (
	"context"
	"errors"
	"fmt"

	"errand/catalog/condition"
	"errand/plan"
)

// Prepare looks at what a step would act on, and moves nothing: its candidates, the state that a confirmation is bound to, and
// its preconditions. What cannot be told is a reason of its own, and never taken for true (law 17).
func (d *Device) Prepare(ctx context.Context, c plan.Prepare) (plan.Prepared, error) {
	out := plan.Prepared{OperationID: c.OperationID}
	err := d.lookTwice(ctx, c.DeviceID, func(now map[string]any) (unknown bool) { return d.prepared(c, now, &out) })
	if err != nil {
		out.Unseen, out.Detail = errors.Is(err, ErrNotConnected), err.Error()
	}
	if err != nil && !out.Unseen {
		out.Report = &plan.Report{Code: plan.CodeStateUnknown, Detail: err.Error()}
	}
	return out, nil
}

// lookTwice shows what may decide something of a device's context, and shows it once more if the first look could not tell: a
// source may just be on its way. What is unknown after that stays so.
func (d *Device) lookTwice(ctx context.Context, deviceID string, look func(now map[string]any) (unknown bool)) error {
	for n := 1; ; n++ {
		seen, err := d.link.Context(ctx, deviceID)
		if err != nil {
			return err
		}
		if unknown := look(freshened(seen)); !unknown || n == 2 || d.looks(ctx) != nil {
			return nil
		}
	}
}

// prepared fills in one look, and reports whether it could not tell everything.
func (d *Device) prepared(c plan.Prepare, seen map[string]any, out *plan.Prepared) (unknown bool) {
	out.Report, out.Candidates, out.StateVersion = nil, nil, ""
	if c.Object != nil {
		found, untold := plan.Objects(seen, c.Object, c.Named, c.Arguments, c.Locale)
		if untold != nil {
			out.Report = unclear(untold)
			return true
		}
		out.Candidates = found
	}
	version, untold := plan.BoundState(seen, c.Binds)
	if untold != nil {
		out.Report = unclear(untold)
		return true
	}
	out.StateVersion = version
	report, truth := holds(c.Preconditions, c.CapabilityID, seen, c.Arguments)
	out.Report = report
	return truth == condition.Unknown
}

func unclear(u *plan.Untold) *plan.Report {
	return &plan.Report{Code: plan.CodeStateUnknown, Params: map[string]any{"path": u.Path}, Detail: u.Error()}
}

// holds evaluates preconditions. The report is nil if all of them are true.
func holds(preconditions []string, capability string, seen, arguments map[string]any) (*plan.Report, condition.Truth) {
	for _, expression := range preconditions {
		truth, err := judge(expression, seen, arguments, nil, 0)
		if err != nil {
			return &plan.Report{Code: "PRECONDITION_FAILED", Params: map[string]any{"precondition": expression},
				Detail: fmt.Sprintf("precondition of %s: %v", capability, err)}, condition.False
		}
		if truth != condition.True {
			return &plan.Report{Code: "PRECONDITION_FAILED", Params: map[string]any{"precondition": expression},
				Detail: fmt.Sprintf("%s: %q is %v", capability, expression, truth)}, truth
		}
	}
	return nil, condition.True
}

// changed says what is no longer as a step was prepared for; nil if all of it is. An object that is gone and one that has
// another revision are told apart: the first cannot be acted on at all.
func changed(e *plan.Expect, seen map[string]any) *plan.Report {
	if e == nil {
		return nil
	}
	version, untold := plan.BoundState(seen, e.Binds)
	switch {
	case untold != nil:
		return unclear(untold)
	case version != e.StateVersion:
		return &plan.Report{Code: plan.CodeStateChanged, Detail: fmt.Sprintf("%v changed since it was looked at", e.Binds)}
	case e.Target == nil:
		return nil
	}
	revision, there, untold := plan.Revision(seen, e.Area, e.Target.ID)
	switch {
	case untold != nil:
		return unclear(untold)
	case !there:
		return &plan.Report{Code: plan.CodeTargetGone, Params: map[string]any{"id": e.Target.ID}, Detail: e.Area + " has it no more"}
	case revision != e.Target.Revision:
		return &plan.Report{Code: plan.CodeStateChanged, Params: map[string]any{"id": e.Target.ID},
			Detail: fmt.Sprintf("%s %s is at revision %s, and was chosen at %s", e.Area, e.Target.ID, revision, e.Target.Revision)}
	}
	return nil
}
