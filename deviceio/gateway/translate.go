package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"errand/catalog"
	"errand/deviceio/wire"
	"errand/plan"
)

// translator is the only place where wire types become plan types and back. On the way in it drops every result field
// that no capability with that task method lists, before anything is stored (law 4).
type translator struct {
	contracts map[string][]catalog.ResultContract // by task method
	reasons   catalog.Slice
}

func newTranslator(c *catalog.Catalog) translator {
	t := translator{contracts: make(map[string][]catalog.ResultContract), reasons: c.Whole()}
	for _, capability := range c.Capabilities {
		t.contracts[capability.TaskMethod] = append(t.contracts[capability.TaskMethod], capability.ResultContract)
	}
	return t
}

// strip keeps what some capability of the task method lists. The machine filters again, by the plan's own slice.
func (t translator) strip(taskMethod string, result map[string]any) map[string]any {
	kept := make(map[string]any)
	for _, contract := range t.contracts[taskMethod] {
		maps.Copy(kept, contract.Filter(result))
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// wireTask is a submit as the device gets it. The workflow id is the plan's id (contract.md §3).
func wireTask(c plan.Submit) wire.Task {
	revision := ""
	if c.Expect != nil && c.Expect.Target != nil {
		revision = c.Expect.Target.Revision
	}
	return wire.Task{ExpectedRevision: revision, TaskMethod: c.TaskMethod, Params: c.Arguments, Source: "cloud", CompletionTarget: c.CompletionTarget,
		TimeoutMs: c.TimeoutMs, TTLMs: c.TTLMs,
		Trace: wire.Trace{CloudWorkflowID: c.PlanID, CloudPlanID: c.PlanID, CloudStepID: c.StepID, CloudOutputKey: c.OutputKey,
			OperationID: c.OperationID, PlanRevision: c.Revision}}
}

// event is a device's report as its plan gets it. The device id is the credential's, the epoch the registry's.
func (t translator) event(deviceID string, epoch int64, e wire.TaskEvent) plan.Event {
	return plan.Event{EventID: e.EventID, DeviceID: deviceID, Epoch: epoch, Seq: e.Seq, Name: plan.EventName(e.EventName),
		OperationID: e.OperationID, TaskID: e.TaskID, TaskMethod: e.TaskMethod, WorkflowID: e.CloudWorkflowID, PlanID: e.CloudPlanID,
		StepID: e.CloudStepID, OutputKey: e.CloudOutputKey, Progress: e.Progress, Stage: e.Stage, Timestamp: e.Timestamp,
		Result: t.strip(e.TaskMethod, e.Result), Report: t.report(e.Reason), EffectCount: e.EffectCount, ExecutorRevision: e.ExecutorRevision}
}

// observation is what a device saw, as a plan gets it.
func (t translator) observation(deviceID string, epoch int64, o wire.Observation) plan.Observation {
	return plan.Observation{EventID: o.EventID, DeviceID: deviceID, Epoch: epoch, Seq: o.Seq, Kind: o.Kind, Confidence: o.Confidence,
		Place: o.Place, ObservedAt: o.ObservedAt, RequiresDecision: o.RequiresCloudDecision, Facts: o.Facts}
}

// report is a structured reason, or nil where none was given. Where the device does not say whether a decision is due, the
// catalog's row for the code says it.
func (t translator) report(r wire.Reason) *plan.Report {
	if r.ReasonCode == "" && r.RequiresCloudDecision == nil {
		return nil
	}
	code := r.ReasonCode
	if code == "" {
		code = catalog.UnknownReason.Code // "a decision is due" must not get lost for want of a code
	}
	report := &plan.Report{Code: code, Params: boundedParams(r.ReasonParams), Recoverability: r.Recoverability, SuggestedAction: r.SuggestedAction}
	if r.RequiresCloudDecision != nil {
		report.RequiresDecision = *r.RequiresCloudDecision
	} else {
		report.RequiresDecision = t.reasons.Reason(code).RequiresDecision
	}
	return report
}

// maxReasonParams bounds the parameters of a reason, in bytes of JSON. They enter the plan's history with each BLOCKED, and
// only fill a sentence.
const maxReasonParams = 4 << 10

// boundedParams leaves out parameters that are too large, and says so in their place.
func boundedParams(params map[string]any) map[string]any {
	text, err := json.Marshal(params)
	if err == nil && len(text) <= maxReasonParams {
		return params
	}
	return map[string]any{"left_out_bytes": len(text)}
}

// submitted is the answer to a submit.
func (t translator) submitted(ctx context.Context, s *session, operationID string, a wire.SubmitAnswer) (plan.Submitted, error) {
	terminal, err := t.stored(ctx, s, operationID, a.TerminalEvent)
	out := plan.Submitted{OperationID: operationID, Delivery: plan.DeliveryAccepted, TaskID: a.TaskID, TaskState: a.TaskState,
		StoreID: a.StoreID, PreStateRevision: a.PreStateRevision, Terminal: terminal, ConnectionEpoch: s.epoch, Report: t.report(a.Reason)}
	if a.Accepted && a.TaskState == wire.TaskUnknown { // it was sent on before, and nobody can tell how it stands: ask
		out.Delivery = plan.DeliveryUnknown
	}
	// A stored terminal event says that the operation was taken and how it ended: it outranks a no to the repetition.
	if ended := terminal != nil && terminal.Name.Terminal(); !a.Accepted && !ended {
		out.Delivery = plan.DeliveryRefused
		if out.Report == nil {
			out.Report = &plan.Report{Code: catalog.UnknownReason.Code, RequiresDecision: true, Detail: "the device refused without a reason"}
		}
	}
	return out, err
}

// cancelled is the answer to a cancel.
func (t translator) cancelled(ctx context.Context, s *session, operationID string, a wire.CancelAnswer) (plan.CancelAnswered, error) {
	terminal, err := t.stored(ctx, s, operationID, a.TerminalEvent)
	out := plan.CancelAnswered{OperationID: operationID, Case: plan.CancelCase(a.Case), StoreID: a.StoreID, Terminal: terminal, ConnectionEpoch: s.epoch}
	if a.ReasonCode != "" {
		out.Detail = a.ReasonCode
	}
	return out, err
}

// status is the answer to a question about an operation. It ranks like an event at (epoch, as_of_seq).
func (t translator) status(ctx context.Context, s *session, operationID string, a wire.StatusAnswer) (plan.StatusReported, error) {
	out := plan.StatusReported{OperationID: operationID, Finding: plan.StatusNotFound, StoreID: a.StoreID, ConnectionEpoch: s.epoch,
		AsOfSeq: a.AsOfSeq, Epoch: s.bootEpoch}
	if !a.Found {
		return out, nil
	}
	if a.OperationID != "" && a.OperationID != operationID {
		return out, unreadable(wire.CommandTaskStatus, fmt.Errorf("asked about %s, answered about %s", operationID, a.OperationID))
	}
	if a.Status == wire.TaskUnknown {
		out.Finding, out.Detail = plan.StatusForgotten, "the device cannot tell how it stands: "+a.ReasonCode
		return out, nil
	}
	var err error
	if a.BootID != "" {
		if out.Epoch, err = s.epochOf(ctx, a.BootID); err != nil {
			return out, unreadable(wire.CommandTaskStatus, err)
		}
	}
	out.Finding, out.TaskID, out.Progress, out.Stage = plan.StatusFound, a.TaskID, a.Progress, a.Stage
	out.Status = phaseOf(a.Status)
	out.Terminal, err = t.stored(ctx, s, operationID, a.TerminalEvent)
	return out, err
}

// stored is a terminal event that came inside an answer about the operation. It may be from a boot so old that the device
// no longer lists it and the registry never saw it: that one is before all others.
func (t translator) stored(ctx context.Context, s *session, operationID string, e *wire.TaskEvent) (*plan.Event, error) {
	if e == nil {
		return nil, nil
	}
	if e.OperationID != "" && e.OperationID != operationID {
		return nil, unreadable("terminal_event", fmt.Errorf("it is of operation %s, not of %s", e.OperationID, operationID))
	}
	if err := belongs(e.Trace, operationID); err != nil {
		return nil, unreadable("terminal_event", err)
	}
	epoch, ok, err := s.lookupEpoch(ctx, e.BootID)
	if err != nil {
		return nil, err
	}
	if !ok {
		s.log.Warn("a stored terminal event is of a boot that was never listed", "event", e.EventID, "boot", e.BootID)
	}
	ev := t.event(s.deviceID, epoch, *e)
	ev.OperationID = operationID
	return &ev, nil
}

// belongs checks that what else a trace names fits the operation.
func belongs(t wire.Trace, operationID string) error {
	op, err := plan.ParseOperationID(operationID)
	if err != nil {
		return nil //nolint:nilerr // asked about by task id: there is nothing to hold it against
	}
	for _, field := range []struct{ name, says, is string }{
		{"cloud_workflow_id", t.CloudWorkflowID, op.Plan}, {"cloud_plan_id", t.CloudPlanID, op.Plan}, {"cloud_step_id", t.CloudStepID, op.Step},
	} {
		if field.says != "" && field.says != field.is {
			return fmt.Errorf("its %s is %q, that of operation %s is %q", field.name, field.says, operationID, field.is)
		}
	}
	return nil
}

// phaseOf is what a status word or an event's name says about the task it is about.
func phaseOf(status string) plan.OpPhase {
	switch plan.EventName(status) {
	case plan.EventQueued:
		return plan.OpAccepted
	case plan.EventStarted, plan.EventRunning, plan.EventProgress, plan.EventStepStarted:
		return plan.OpRunning
	case plan.EventBlocked:
		return plan.OpBlocked
	case plan.EventCompleted, plan.EventStepCompleted, plan.EventWorkflowCompleted:
		return plan.OpCompleted
	case plan.EventFailed, plan.EventStepFailed, plan.EventWorkflowFailed:
		return plan.OpFailed
	case plan.EventCancelled, plan.EventWorkflowCancelled:
		return plan.OpCancelled
	case plan.EventTimedOut:
		return plan.OpTimedOut
	}
	return "" // cannot happen: the schema of the answer lists the words
}

// lookupEpoch finds the epoch of one of the device's boots: declared in this handshake, or recorded before.
func (s *session) lookupEpoch(ctx context.Context, bootID string) (int64, bool, error) {
	if epoch, ok := s.boots[bootID]; ok {
		return epoch, true, nil
	}
	return s.g.opts.Registry.BootEpoch(ctx, s.deviceID, bootID)
}

// epochOf is lookupEpoch for a boot that must be known.
func (s *session) epochOf(ctx context.Context, bootID string) (int64, error) {
	epoch, ok, err := s.lookupEpoch(ctx, bootID)
	if err == nil && !ok {
		err = fmt.Errorf("boot %q: %w", bootID, errUnknownBoot)
	}
	return epoch, err
}
